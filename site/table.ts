// The table of plants: searches while the user types, and shows one page at a time.

import { connect } from './api.js'
import type { ListQuery, PlantPage, StoredPlant } from './client.js'
import type { DialogName } from './dialogs.js'
import { find } from './find.js'
import { whileBusy } from './form.js'
import { shown } from './plant-text.js'
import { putText, textIn } from './text-field.js'

interface TableOptions {
  /** Receives the plant whose button was pressed, and the button. */
  readonly onEdit: (plant: StoredPlant, button: HTMLButtonElement) => Promise<void>
  readonly onRemove: (plant: StoredPlant, button: HTMLButtonElement) => Promise<void>
  /** Called before another page is shown. */
  readonly onLoad: () => void
  readonly onRefusal: (refusal: unknown) => void
}

interface Table {
  /** Shows the first page of the search. */
  search(): Promise<void>
  /** Reloads the current page, or shows the previous page if the current one is now empty. */
  reload(): Promise<void>
  /** Reloads after an action on a plant. Keeps the keyboard focus on that plant, or on the plant in its place. */
  reloadAround(id: bigint, action: DialogName): Promise<void>
  /** Explains, as a sentence to append to another, why the table does not show an existing plant. */
  whyHidden(id: string): string
  /** Shows what has changed on the current page, without moving the focus. Plants that are gone are only marked. */
  refresh(): Promise<void>
  filterByTag(tag: string): Promise<void>
}

const pagePlants = 25
const typingPauseMs = 150
/** Pages without a match to skip before asking the reader whether to continue. */
const emptyPagesMax = 20
/** Phones show rows as cards; explicit roles preserve the table for screen readers. */
const roles = new Map([
  ['table', 'table'],
  ['thead', 'rowgroup'],
  ['tbody', 'rowgroup'],
  ['tr', 'row'],
  ['th', 'columnheader'],
  ['td', 'cell'],
])

/** Creates the table of plants. */
export function createTable({ onEdit, onRemove, onLoad, onRefusal }: TableOptions): Table {
  const form = find('#search', HTMLFormElement)
  const prefix = find('#prefix', HTMLInputElement)
  const clear = find('#clear', HTMLButtonElement)
  const first = find('#first', HTMLButtonElement)
  const previous = find('#previous', HTMLButtonElement)
  const next = find('#next', HTMLButtonElement)
  const table = find('#table', HTMLTableElement)
  const rows = find('tbody', HTMLTableSectionElement, table)
  giveRoles(table)
  let newest = 0
  /** The queries of the pages up to the current one. A page only knows its successor. */
  let pages: readonly ListQuery[] = []
  let nextQuery: ListQuery | undefined
  /** The query whose plants are shown: that of the last page, or of one behind it if pages had no match. */
  let current: ListQuery | undefined
  const plantOfRow = new WeakMap<HTMLTableRowElement, StoredPlant>()
  let timer: number | undefined

  const isFiltered = (): boolean => prefix.value + textIn(form, 'tagFilter') !== ''
  const queryOf = (): ListQuery => {
    const [name, tag] = [prefix.value, textIn(form, 'tagFilter')]
    return { limit: pagePlants, ...(name !== '' && { name }), ...(tag !== '' && { tag }) }
  }

  function putFilters(tag: string): void {
    prefix.value = ''
    putText(form, 'tagFilter', tag)
  }

  function search(): Promise<void> {
    clearTimeout(timer)
    return show([queryOf()])
  }

  /** Shows the last of the given pages, unless a newer page was requested meanwhile. */
  async function show(wanted: readonly ListQuery[]): Promise<void> {
    newest += 1
    const mine = newest
    onLoad()
    try {
      let plants: readonly StoredPlant[] = []
      let from = wanted.at(-1)
      for (let passed = 0; plants.length === 0 && from !== undefined && passed < emptyPagesMax; passed += 1) {
        const page = await readPage(from)
        if (mine !== newest) return
        plants = page.plants
        current = from
        from = page.next === undefined ? undefined : { ...from, after: page.next }
      }
      pages = wanted
      nextQuery = from
      rows.replaceChildren(...plants.map(toRow))
      showPlace(plants.length)
    } catch (refusal) {
      if (mine === newest) onRefusal(refusal)
    }
  }

  function showPlace(count: number): void {
    showPager()
    clear.hidden = !isFiltered()
    find('#status').textContent = describe(count, pages.length, nextQuery !== undefined)
  }

  function showPager(): void {
    first.disabled = pages.length === 1
    previous.disabled = pages.length === 1
    next.disabled = nextQuery === undefined
    find('#pager').hidden = first.disabled && next.disabled
  }

  /** Shows another page from the top, and moves the keyboard focus there. */
  async function turnTo(button: HTMLButtonElement, wanted: readonly ListQuery[]): Promise<void> {
    await whileBusy(button, () => show(wanted))
    showPager()
    toTop()
  }

  function toTop(): void {
    table.focus({ preventScroll: true })
    table.scrollIntoView()
  }

  function toRow(plant: StoredPlant): HTMLTableRowElement {
    const row = document.createElement('tr')
    const id = String(plant.id)
    row.dataset['id'] = id
    plantOfRow.set(row, plant)
    row.insertCell().textContent = id
    row.insertCell().append(shown(plant.name))
    row.insertCell().append(...(plant.tag === undefined ? [] : [shown(plant.tag)]))
    const actions = document.createElement('div')
    actions.className = 'actions'
    actions.append(
      button('edit', 'Edit', id, (button) => onEdit(plant, button)),
      button('remove', 'Delete', id, (button) => onRemove(plant, button)),
    )
    row.insertCell().append(actions)
    giveRoles(row)
    return row
  }

  const rowOf = (id: string): HTMLTableRowElement | undefined => [...rows.rows].find((row) => row.dataset['id'] === id)

  async function reload(): Promise<void> {
    if (JSON.stringify(pages[0]) !== JSON.stringify(queryOf())) return search()
    await show(pages)
    while (rows.rows.length === 0 && nextQuery === undefined && pages.length > 1) await show(pages.slice(0, -1))
  }

  async function refresh(): Promise<void> {
    const mine = newest
    const query = current
    if (query === undefined) return
    try {
      const { plants, next: after } = await readPage(query)
      // Another page was requested, or is shown.
      if (mine !== newest || query !== current) return
      nextQuery = after === undefined ? undefined : { ...query, after }
      const shownRows = new Map([...rows.rows].map((row) => [row.dataset['id'], row]))
      for (const plant of plants) {
        refreshRow(plant, shownRows.get(String(plant.id)))
        shownRows.delete(String(plant.id))
      }
      const last = plants.at(-1)?.id
      for (const [id = '', row] of shownRows) {
        // Others are on the next page now.
        if (nextQuery !== undefined && last !== undefined && BigInt(id) > last) row.remove()
        else markGone(row)
      }
      showPlace(plants.length)
    } catch (refusal) {
      if (mine === newest) onRefusal(refusal)
    }
  }

  function refreshRow(plant: StoredPlant, row: HTMLTableRowElement | undefined): void {
    const old = row && plantOfRow.get(row)
    const isSame = old?.name === plant.name && old.tag === plant.tag && row?.className !== 'gone'
    if (isSame) return
    if (row === undefined || row.className === 'gone') {
      const fresh = toRow(plant)
      fresh.className = 'fresh'
      row?.remove()
      rows.insertBefore(fresh, [...rows.rows].find(({ dataset }) => BigInt(dataset['id'] ?? 0) > plant.id) ?? null)
      return
    }
    // The buttons stay, because one of them may have the focus, or get it back from a dialog.
    plantOfRow.set(row, plant)
    row.className = 'fresh'
    row.cells[1]?.replaceChildren(shown(plant.name))
    row.cells[2]?.replaceChildren(...(plant.tag === undefined ? [] : [shown(plant.tag)]))
  }

  function markGone(row: HTMLTableRowElement): void {
    if (row.className === 'gone') return
    if (row.contains(document.activeElement)) table.focus({ preventScroll: true })
    row.className = 'gone'
    row.cells[row.cells.length - 1]?.replaceChildren('Deleted')
  }

  async function reloadAround(id: bigint, action: DialogName): Promise<void> {
    const place = rowOf(String(id))?.rowIndex ?? 0
    await reload()
    // A row that was marked as gone has given its focus to the table.
    if (document.activeElement !== document.body && document.activeElement !== table) return
    const row = rowOf(String(id)) ?? table.rows[Math.min(place, rows.rows.length)]
    const target = row?.querySelector(`[data-action="${action}"]`)
    if (target instanceof HTMLElement) target.focus()
    else find('#plants-title').focus()
  }

  function whyHidden(id: string): string {
    if (rowOf(id) !== undefined) return ''
    if (!isFiltered()) return ' It is on another page of the table below.'
    return pages.length === 1 && nextQuery === undefined
      ? ' The search below does not show it.'
      : ' This page of the search below does not show it.'
  }

  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(search, typingPauseMs)
  })
  clear.addEventListener('click', () => {
    putFilters('')
    prefix.focus()
    return whileBusy(clear, search)
  })
  first.addEventListener('click', () => turnTo(first, pages.slice(0, 1)))
  previous.addEventListener('click', () => turnTo(previous, pages.slice(0, -1)))
  next.addEventListener('click', () => nextQuery && turnTo(next, [...pages, nextQuery]))

  return {
    search,
    reload,
    reloadAround,
    whyHidden,
    refresh,
    filterByTag: async (tag) => {
      putFilters(tag)
      await search()
      toTop()
    },
  }
}

/** Reads the first page of a query. */
async function readPage(query: ListQuery): Promise<PlantPage> {
  const { done, value } = await connect().listPlants(query).pages().next()
  return done === true ? { plants: [], next: undefined } : value
}

function describe(count: number, page: number, hasMore: boolean): string {
  if (count === 0 && hasMore) return 'Nothing found yet. The next page continues the search.'
  if (count === 0) return page === 1 ? 'No plant matches.' : 'There are no more plants.'
  const plants = count === 1 ? '1 plant' : `${count} plants`
  return page === 1 && !hasMore ? plants : `Page ${page}: ${plants}`
}

function giveRoles(part: Element): void {
  for (const element of [part, ...part.querySelectorAll('*')]) {
    const role = roles.get(element.localName)
    if (role !== undefined) element.role = role
  }
}

function button(
  action: DialogName,
  text: string,
  id: string,
  onClick: (made: HTMLButtonElement) => Promise<void>,
): HTMLButtonElement {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = text
  made.ariaLabel = `${text} plant ${id}`
  made.dataset['action'] = action
  made.addEventListener('click', () => onClick(made))
  return made
}
