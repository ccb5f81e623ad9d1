// The table of plants: searches while the user types, and shows one page at a time. The address says which.

import {
  hrefOf,
  idOf,
  type Place,
  placesBefore,
  plantsOf,
  rangeOf,
  readView,
  sizes,
  type View,
  writeView,
} from './address.js'
import { connect, connectAside } from './api.js'
import type { Change, ListQuery, PlantPage, StoredPlant, Summary } from './client.js'
import { attempts, find, make } from './elements.js'
import { whileBusy } from './form.js'
import { readLater } from './live.js'
import { explain, hush, say, spoken } from './messages.js'
import { openPlant } from './plant.js'
import { focusFirst, listedCount, putEarly, refreshRows, showRows, showsChange, table } from './rows.js'
import { drawTags } from './tags.js'

const typingPauseMs = 100
/** Plants a request of an export. */
const exportedPlants = 1_000
/** Pages without a match to skip before asking the reader whether to continue. */
const emptyPagesMax = 20

const prefix = find('#prefix', HTMLInputElement)
const tagFilter = find('#tag-filter', HTMLInputElement)
const createNamed = find('#create-named', HTMLButtonElement)
const size = find('#size', HTMLSelectElement)
const first = find('#first', HTMLButtonElement)
const previous = find('#previous', HTMLButtonElement)
const next = find('#next', HTMLButtonElement)
/** The number of the newest load: an older one shows nothing. */
let newest = 0
const beginRefresh = attempts()
let loading = Promise.resolve()
let refreshing = Promise.resolve()
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

for (const field of [prefix, tagFilter]) {
  field.form?.addEventListener('submit', (event) => {
    event.preventDefault()
    const id = idOf(prefix.value)
    if (field === prefix && id !== undefined) openPlant(String(id))
  })
  field.addEventListener('input', () => {
    clearTimeout(timer)
    // Of the history, the first letter is a step, and no other.
    const isStep = view[field === prefix ? 'name' : 'tag'] === ''
    timer = setTimeout(() => search(prefix.value, tagIn(), isStep), typingPauseMs)
  })
}
prefix.addEventListener('keydown', ({ key }) => {
  if (key === 'ArrowDown') focusFirst()
})
prefix.form?.addEventListener('reset', () => {
  prefix.focus()
  return search('', tagIn())
})
size.addEventListener('change', () => show({ ...view, size: Number(size.value), after: undefined, from: 1 }, []))
first.addEventListener('click', () => turnTo(first, () => []))
previous.addEventListener('click', () => turnTo(previous, () => before))
next.addEventListener('click', () => {
  const { after, from } = view
  const following = (): Place[] => (nextAfter === undefined ? [] : [{ after: nextAfter, from: from + listedCount() }])
  return turnTo(next, () => [...before, { after, from }, ...following()])
})

/** Shows what the address says. */
export async function openTable(): Promise<void> {
  const wanted = readView()
  prefix.value = wanted.name
  tagFilter.value = wanted.tag
  await show(wanted, placesBefore(), false)
}

/** Whether the table shows a view, whatever plant is open. */
export function showsView(wanted: View): boolean {
  return hrefOf({ ...wanted, plant: undefined }) === hrefOf({ ...view, plant: undefined })
}

export function showAll(): Promise<void> {
  prefix.value = tagFilter.value = ''
  find('#plants-title').focus()
  return search('', '')
}

/** Shows what an action has made of the current page, or the page before it if nothing is left. */
export async function refreshAll(): Promise<boolean> {
  await refresh([])
  let last: unknown
  // Another action may go to the page before, too: both go there once.
  while (last !== loading || (!hasFailed && listedCount() === 0 && nextAfter === undefined && before.length > 0)) {
    if (last === loading) void showLastOf(before)
    last = loading
    await last
  }
  return !hasFailed
}

/**
 * Shows what has changed on the current page, without moving the focus.
 *
 * @param changes empty: anything may have changed.
 */
export async function refresh(changes: readonly Change[]): Promise<void> {
  // It may be for one of these changes.
  await loading
  if (current === undefined) await show(view, before, false, true)
  else if (hasFailed || changes.length === 0 || !changes.every(showsChange)) {
    refreshing = refreshPage(current)
    // A newer one may overtake it.
    for (let last: unknown; last !== refreshing; await last) last = refreshing
  }
  await loading
}

async function refreshPage(asked: ListQuery): Promise<void> {
  const mine = newest
  const isNewest = beginRefresh()
  // Another page was requested, or is shown, or this one was requested again.
  const isOld = (): boolean => mine !== newest || asked !== current || !isNewest()
  try {
    const { value: page } = await connectAside().listPlants(asked).pages().next()
    if (!page || isOld()) return
    const { plants, next } = found(page, view.name)
    nextAfter = next
    succeed()
    refreshRows(plants)
    showPlace()
  } catch (refusal) {
    if (!isOld()) fail(refusal)
  }
}

/**
 * Shows a plant on the page before the server has it, if it belongs there. Returns what is called once it is known
 * whether the server has.
 */
export function showEarly(plant: StoredPlant): (isThere: boolean) => void {
  const { name, tag, after } = view
  const isFound = idOf(name) === undefined && plant.name.startsWith(name) && (tag === '' || plant.tag === tag)
  const isAfter = after === undefined || plant.id > BigInt(after)
  const isBefore = nextAfter === undefined || plant.id <= BigInt(nextAfter)
  const isKnown = !hasFailed && listedCount() > 0 && table.ariaBusy === null
  return isKnown && isFound && isAfter && isBefore ? putEarly(plant) : () => {}
}

function succeed(): void {
  // What else is said there stays.
  if (hasFailed) find('#table-error').textContent = ''
  hasFailed = false
}

function fail(refusal: unknown): void {
  hasFailed = true
  readLater(refusal)
  showPlace()
  explain(refusal)
}

export async function filterByTag(tag: string, name = prefix.value): Promise<void> {
  prefix.value = name
  tagFilter.value = tag
  const searching = search(prefix.value, tag)
  document.querySelector<HTMLElement>('#chips > [aria-pressed="true"]')?.focus({ preventScroll: true })
  await searching
  if (document.activeElement === document.body) table.focus({ preventScroll: true })
}

/** @param summary undefined if it is unknown. */
export function showTotals(summary: Summary | undefined): void {
  totals = summary
  drawTags(totals, view.tag)
  if (listedCount() > 0) showPlace()
}

/** What is searched, on all pages. */
export async function* searched(): AsyncGenerator<StoredPlant> {
  const { name } = view
  for await (const page of connect()
    .listPlants({ limit: exportedPlants, ...currentQuery() })
    .pages()) {
    const { plants, next } = found(page, name)
    yield* plants
    if (next === undefined) return
  }
}

/** The current search, without its page. A number is an id, which one plant has at most. */
function currentQuery(): ListQuery {
  const { name, tag } = view
  const id = idOf(name)
  return {
    ...(name !== '' && (id === undefined ? { name } : { limit: 1, after: idOf(String(id - 1n))?.toString() })),
    ...(tag !== '' && { tag }),
  }
}

/** What of a page is searched. */
function found({ plants, next }: PlantPage, name: string): PlantPage {
  const wanted = idOf(name)
  return wanted === undefined ? { plants, next } : { plants: plants.filter(({ id }) => id === wanted), next: undefined }
}

/** An input drops the line breaks that a tag may have. */
function tagIn(): string {
  return tagFilter.value === view.tag.replaceAll(/[\r\n]/g, '') ? view.tag : tagFilter.value
}

/** Shows the first page of another search. */
function search(name: string, tag: string, isStep = true): Promise<void> {
  clearTimeout(timer)
  scrollTo({ top: 0 })
  return show({ name, tag, size: view.size, from: 1 }, [], isStep)
}

/**
 * Shows a page, unless a newer one was requested meanwhile.
 *
 * @param isAside whether nobody has asked for it: what was said before stays.
 */
function show(wanted: View, places: readonly Place[], isStep = true, isAside = false): Promise<void> {
  view = wanted
  before = places
  writeView({ ...wanted, plant: readView().plant }, places, isStep)
  if (!isAside) hush()
  drawTags(totals, view.tag)
  loading = load(isAside)
  return loading
}

async function load(isAside: boolean): Promise<void> {
  newest += 1
  const mine = newest
  table.ariaBusy = isAside ? null : 'true'
  try {
    let plants: readonly StoredPlant[] = []
    const query = { limit: view.size, after: view.after, ...currentQuery() }
    let after = query.after?.toString()
    let passed = 0
    const client = isAside ? connectAside() : connect()
    for await (const page of client.listPlants({ ...query, after }).pages()) {
      if (mine !== newest) return
      current = { ...query, after }
      ;({ plants, next: after } = found(page, view.name))
      passed += 1
      if (plants.length > 0 || after === undefined || passed === emptyPagesMax) break
    }
    nextAfter = after
    succeed()
    showRows(plants)
    showPlace()
  } catch (refusal) {
    if (mine !== newest) return
    current = undefined
    fail(refusal)
  } finally {
    if (mine === newest) table.ariaBusy = null
  }
}

function showPlace(): void {
  showPager()
  table.classList.toggle('old', hasFailed)
  const id = idOf(view.name)
  find('#show-all').hidden = listedCount() > 0 || hasFailed || view.name + view.tag === ''
  createNamed.hidden = listedCount() > 0 || hasFailed || view.name === '' || id !== undefined
  createNamed.value = view.name
  say(find('span', HTMLElement, createNamed), `Create ${JSON.stringify(view.name)}`)
  const ofBefore = listedCount() === 0 ? '' : 'Showing the previous results.'
  const tagged = totals?.tags.find(({ tag }) => tag.toLowerCase() === view.name.toLowerCase())
  const showTagged = find('#show-tagged', HTMLButtonElement)
  showTagged.hidden = createNamed.hidden || tagged === undefined
  showTagged.value = tagged?.tag ?? ''
  say(showTagged, `Show ${plantsOf(tagged?.plants ?? 0)} with this tag`)
  const sentence = hasFailed ? ofBefore : rangeOf(listedCount(), view, nextAfter !== undefined, totals)
  const [title = '', ...rest] = sentence.split(/(?=\n)/)
  const status = find('#status')
  // Nothing is read out twice.
  if (status.textContent !== sentence) status.replaceChildren(make('span', spoken(title)), ...rest)
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
    await showLastOf(find())
  })
  showPager()
  // A person who has moved the focus keeps it where it is.
  const { activeElement } = document
  if (activeElement === button || activeElement === document.body) table.focus({ preventScroll: true })
  scrollTo({ top: 0 })
}

/** @param places none for the first page. */
function showLastOf(places: readonly Place[]): Promise<void> {
  return show({ ...view, after: undefined, from: 1, ...places.at(-1) }, places.slice(0, -1))
}
