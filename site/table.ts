// The table of plants: searches while the user types, and shows one page at a time. The address says which.

import { hrefOf, idIn, type Place, placesBefore, readView, sizes, type View, writeView } from './address.js'
import { connect, connectAside, readPage } from './api.js'
import type { Change, ListQuery, PlantStoreClient, StoredPlant, Summary } from './client.js'
import { find } from './find.js'
import { whileBusy } from './form.js'
import { rangeOf } from './range.js'
import { type RowActions, Rows } from './rows.js'
import { putText, textIn } from './text-field.js'

interface TableOptions extends Pick<RowActions, 'onEdit' | 'onRemove'> {
  readonly onOpen: (id: string) => void
  /** Called before another page is shown. */
  readonly onLoad: () => void
  /** Receives the view that is shown. */
  readonly onView: (view: View) => void
  readonly onRefusal: (refusal: unknown) => void
}

export interface Table {
  /** Shows what the address says. */
  open(): Promise<void>
  /** Reloads the current page, or shows the previous page if the current one is now empty. */
  reload(): Promise<void>
  /** Reloads after an action on a plant. Keeps the keyboard focus on that plant, or on the plant in its place. */
  reloadAround(id: bigint): Promise<void>
  /** Explains, as a sentence to append to another, why the table does not show an existing plant. */
  whyHidden(id: string): string
  /**
   * Shows what has changed on the current page, without moving the focus. Plants that are gone are only marked.
   *
   * @param changes empty: anything may have changed.
   */
  refresh(changes: readonly Change[]): Promise<void>
  filterByTag(tag: string): Promise<void>
  /** Moves the focus to the first plant. */
  focus(): void
  /** Undefined if they are unknown. */
  showTotals(summary: Summary | undefined): void
  /** The current search, without its page. */
  query(): ListQuery
}

const typingPauseMs = 150
/** Pages without a match to skip before asking the reader whether to continue. */
const emptyPagesMax = 20

/** Creates the table of plants. */
export function createTable(options: TableOptions): Table {
  const { onLoad, onView, onRefusal } = options
  const form = find('#search', HTMLFormElement)
  const prefix = find('#prefix', HTMLInputElement)
  const tagForm = find('#tag-form', HTMLFormElement)
  const clear = find('#clear', HTMLButtonElement)
  const size = find('#size', HTMLSelectElement)
  const first = find('#first', HTMLButtonElement)
  const previous = find('#previous', HTMLButtonElement)
  const next = find('#next', HTMLButtonElement)
  const table = find('#table', HTMLTableElement)
  let newest = 0
  let loading = Promise.resolve()
  let view = readView()
  /** The pages before this one. Empty if a link led here. */
  let before: readonly Place[] = []
  let nextAfter: string | undefined
  /** The query whose plants are shown: that of the view, or one behind it if pages had no match. */
  let current: ListQuery | undefined
  /** Whether what is shown is not what the view asks for. */
  let hasFailed = false
  let totals: Summary | undefined
  let timer: number | undefined

  const rows = new Rows(table, {
    ...options,
    onTag: (tag) => void filterByTag(tag),
    hrefOf: (id) => hrefOf({ ...view, plant: id }),
  })
  const isFiltered = (): boolean => view.name + view.tag !== ''
  const query = (): ListQuery => ({
    ...(view.name !== '' && idIn(view) === undefined && { name: view.name }),
    ...(view.tag !== '' && { tag: view.tag }),
  })
  const queryFrom = (after: string | undefined): ListQuery => ({
    ...query(),
    limit: view.size,
    ...(after !== undefined && { after }),
  })
  /** Where the view begins: a number that is searched is an id. */
  const startOf = (wanted: View): string | undefined => {
    const id = idIn(wanted)
    return wanted.after ?? (id === undefined ? undefined : String(id - 1n))
  }

  /** Shows a page, unless a newer one was requested meanwhile. */
  function show(wanted: View, places: readonly Place[], isStep = true, client = connect()): Promise<void> {
    loading = load(wanted, places, isStep, client)
    return loading
  }

  async function load(
    wanted: View,
    places: readonly Place[],
    isStep: boolean,
    client: PlantStoreClient,
  ): Promise<void> {
    newest += 1
    const mine = newest
    view = wanted
    before = places
    writeView({ ...wanted, plant: readView().plant }, places, isStep)
    onLoad()
    onView(view)
    table.ariaBusy = 'true'
    try {
      let plants: readonly StoredPlant[] = []
      let from = startOf(view)
      for (let passed = 0; passed === 0 || (plants.length === 0 && from !== undefined && passed < emptyPagesMax); ) {
        const asked = queryFrom(from)
        const page = await readPage(asked, client)
        if (mine !== newest) return
        plants = page.plants
        current = asked
        from = page.next
        passed += 1
      }
      nextAfter = from
      hasFailed = false
      rows.show(plants)
      showPlace()
    } catch (refusal) {
      if (mine !== newest) return
      hasFailed = true
      showPlace()
      onRefusal(refusal)
    } finally {
      if (mine === newest) table.ariaBusy = null
    }
  }

  function showPlace(): void {
    showPager()
    clear.hidden = !isFiltered()
    find('#status').textContent = hasFailed ? ofBefore() : rangeOf(rows.count, view, nextAfter !== undefined, totals)
  }

  function ofBefore(): string {
    return rows.length === 0 ? '' : 'Below are the plants from before.'
  }

  function showPager(): void {
    first.disabled = view.after === undefined
    previous.disabled = before.length === 0
    // What is shown tells nothing of the page after the one that is wanted.
    next.disabled = nextAfter === undefined || hasFailed
    size.value = String(view.size)
    const isWhole = [first, previous, next].every(({ disabled }) => disabled) && view.size === sizes[0]
    find('#pager').hidden = isWhole
  }

  /**
   * Shows another page from the top, and moves the keyboard focus there.
   *
   * @param find returns the pages up to that page.
   */
  async function turnTo(button: HTMLButtonElement, find: () => readonly Place[]): Promise<void> {
    await whileBusy(button, async () => {
      // A search may be under way.
      await loading
      const places = find()
      await show({ ...view, after: undefined, from: 1, ...places.at(-1) }, places.slice(0, -1))
    })
    showPager()
    toTop()
  }

  function toTop(): void {
    table.focus({ preventScroll: true })
    scrollTo({ top: 0 })
  }

  async function reload(): Promise<void> {
    await show(view, before, false, connectAside())
    while (!hasFailed && rows.length === 0 && nextAfter === undefined && before.length > 0) await toPrevious()
  }

  function toPrevious(): Promise<void> {
    return show({ ...view, after: undefined, ...before.at(-1) }, before.slice(0, -1))
  }

  async function refresh(changes: readonly Change[]): Promise<void> {
    // It may be for one of these changes.
    await loading
    if (hasFailed) return reload()
    const mine = newest
    const asked = current
    if (asked === undefined || (changes.length > 0 && changes.every((change) => rows.shows(change)))) return
    try {
      const { plants, next: after } = await readPage(asked, connectAside())
      // Another page was requested, or is shown.
      if (mine !== newest || asked !== current) return
      nextAfter = after
      rows.refresh(plants, nextAfter !== undefined)
      showPlace()
    } catch (refusal) {
      if (mine === newest) onRefusal(refusal)
    }
  }

  async function reloadAround(id: bigint): Promise<void> {
    const place = rows.find(String(id))?.rowIndex ?? 0
    await reload()
    // A row that was marked as gone has given its focus to the table.
    if (document.activeElement !== document.body && document.activeElement !== table) return
    const row = rows.find(String(id)) ?? table.rows[Math.min(place, rows.length)]
    const target = row?.querySelector('a.name')
    if (target instanceof HTMLElement) target.focus()
    else find('#plants-title').focus()
  }

  function whyHidden(id: string): string {
    if (rows.find(id) !== undefined) return ''
    if (!isFiltered()) return ' It is on another page of the table below.'
    return view.after === undefined && nextAfter === undefined
      ? ' The search does not show it.'
      : ' This page of the search does not show it.'
  }

  /** Shows the first page of another search. */
  function search(name: string, tag: string, isStep = true): Promise<void> {
    clearTimeout(timer)
    return show({ name, tag, size: view.size, from: 1 }, [], isStep)
  }

  async function filterByTag(tag: string): Promise<void> {
    putText(tagForm, 'tagFilter', tag)
    await search(prefix.value, tag)
    toTop()
  }

  function onType(): void {
    clearTimeout(timer)
    // Each letter is a step of the search, not of the history.
    const isStep = !isFiltered()
    timer = setTimeout(() => search(prefix.value, textIn(tagForm, 'tagFilter'), isStep), typingPauseMs)
  }

  for (const each of [form, tagForm]) {
    each.addEventListener('submit', (event) => event.preventDefault())
    each.addEventListener('input', onType)
  }
  clear.addEventListener('click', () => {
    prefix.value = ''
    putText(tagForm, 'tagFilter', '')
    prefix.focus()
    return whileBusy(clear, () => search('', ''))
  })
  size.addEventListener('change', () => {
    const chosen = sizes.find((each) => String(each) === size.value) ?? sizes[0]
    return show({ ...view, size: chosen, after: undefined, from: 1 }, [])
  })
  const here = (): Place => ({ ...(view.after !== undefined && { after: view.after }), from: view.from })
  const following = (): readonly Place[] =>
    nextAfter === undefined ? [] : [{ after: nextAfter, from: view.from + rows.length }]
  first.addEventListener('click', () => turnTo(first, () => []))
  previous.addEventListener('click', () => turnTo(previous, () => before))
  next.addEventListener('click', () => turnTo(next, () => [...before, here(), ...following()]))

  return {
    open: async () => {
      const wanted = readView()
      prefix.value = wanted.name
      putText(tagForm, 'tagFilter', wanted.tag)
      await show(wanted, placesBefore(), false)
    },
    reload,
    reloadAround,
    whyHidden,
    refresh,
    filterByTag,
    focus: () => table.querySelector<HTMLElement>('a.name')?.focus(),
    query,
    showTotals: (summary) => {
      totals = summary
      if (rows.length > 0) showPlace()
    },
  }
}
