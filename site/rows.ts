// The rows of the table: one plant each. Others may change their plants.

import { hrefOf, readView } from './address.js'
import type { Change, StoredPlant } from './client.js'
import { find, isHere, make } from './elements.js'
import { printLine } from './exact-json.js'
import { makeIcon, silhouetteOf } from './icons.js'
import { markShown, openPlant, pressFor, rowBeside } from './plant.js'
import { displayed, isSame, type PlantProperty, seen, shownText, withoutId } from './properties.js'
import { tint } from './tags.js'
import { shown } from './texts.js'

/** More columns than these need a window that scrolls. */
const columnsMax = 5

export const table = find('#table', HTMLTableElement)
const body = find('#page', HTMLTableSectionElement)
const plants = new WeakMap<HTMLTableRowElement, StoredPlant>()
/** The plants of the page, as the server has listed them last. */
let listed: readonly StoredPlant[] = []
/** The plants whose deletion is under way, each with what ends it: they have no rows. */
const leaving = new Map<bigint, unknown>()
/** The plants that are on their way to the server: they have rows before they are listed. */
const coming = new Map<bigint, StoredPlant>()
/** The length of the longest id so far. */
let idLength = 3
const mayMove = matchMedia('(prefers-reduced-motion: no-preference)')
/** In pixels: the height of a row with a name of two lines. */
const slideMax = 80

makeHead()
table.addEventListener('click', onClick)
table.addEventListener('keydown', onKey)

const rows = body.rows

export function findRow(id: bigint): HTMLTableRowElement | undefined {
  return [...rows].find((row) => row.dataset['id'] === String(id))
}

/** Moves the focus to the first row that a key reaches. */
export function focusFirst(): void {
  table.querySelector<HTMLElement>('tr:not([inert]) a.name')?.focus()
}

/** How many plants the page has, as the server has listed them last. */
export const listedCount = (): number => listed.length

/** Whether a change is shown already, such as one made here. */
export function showsChange({ kind, plant }: Change): boolean {
  const there = listed.find(({ id }) => id === plant.id)
  return kind === 'deleted' ? there === undefined : there !== undefined && isSame(there, plant)
}

/** Shows another page. */
export function showRows(page: readonly StoredPlant[]): void {
  listed = page
  coming.clear()
  draw(true)
  // Columns that stay where they are in the next search.
  idLength = Math.max(idLength, ...page.map(({ id }) => String(id).length))
  table.style.setProperty('--id-width', String(idLength))
}

/** Shows what has changed on the page, and marks what is new. */
export function refreshRows(page: readonly StoredPlant[]): void {
  listed = page
  draw()
}

/** Brings the rows to what is listed, leaving and coming. Those that stay are not moved: one may have the focus. */
function draw(isAnother = false): void {
  const staying = listed.filter(({ id }) => !leaving.has(id))
  const known = new Set(staying.map(({ id }) => id))
  const wanted = inOrder([...staying, ...[...coming.values()].filter(({ id }) => !known.has(id))])
  const ids = new Set(wanted.map(({ id }) => String(id)))
  settle(() => {
    if (isAnother) for (const row of [...rows]) drop(row)
    const there = new Map([...rows].map((row) => [row.dataset['id'], row]))
    for (const [id = '', row] of there) if (!ids.has(id)) drop(row)
    let next = body.firstElementChild
    for (const plant of wanted) {
      const old = there.get(String(plant.id))
      const row = old ?? toRow(plant)
      if (old === undefined) body.insertBefore(row, next)
      next = row.nextElementSibling
      row.inert = !known.has(plant.id)
      row.ariaBusy = row.inert ? 'true' : null
      const before = old && plants.get(old)
      if (before !== undefined && isSame(before, plant)) continue
      if (old !== undefined) putTexts(row, plant)
      // Of all that is new at once, nothing is marked.
      if (there.size > 0) row.classList.add('fresh')
    }
  })
  markShown()
}

function inOrder(some: readonly StoredPlant[]): readonly StoredPlant[] {
  return some.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/**
 * Shows a plant in its place before the server has it. Returns what is called once it is known whether the server has.
 */
export function putEarly(plant: StoredPlant): (isThere: boolean) => void {
  coming.set(plant.id, plant)
  draw()
  return (isThere) => {
    // Another page is shown, or it comes once more.
    if (coming.get(plant.id) !== plant) return
    coming.delete(plant.id)
    if (isThere) {
      leaving.delete(plant.id)
      listed = inOrder([...listed.filter(({ id }) => id !== plant.id), plant])
    }
    draw()
  }
}

/** A plant as its row shows it. */
export function plantInRow(id: bigint): StoredPlant | undefined {
  const row = findRow(id)
  return row && plants.get(row)
}

/** Shows a plant in its row, if it has one. */
export function updateRow(plant: StoredPlant): void {
  refreshRows(listed.map((each) => (each.id === plant.id ? plant : each)))
}

export const isLeaving = (id: bigint): boolean => leaving.has(id)

/**
 * Takes the row of a plant away before it is deleted. Its focus goes to the row in its place. Returns what is called once
 * the plant is gone, and once that is listed, or once it is known that the plant stays.
 */
export function hideRow(id: bigint): (isGone: boolean) => void {
  const row = findRow(id)
  const beside = row && (rowBeside(row, 'ArrowDown') ?? rowBeside(row, 'ArrowUp'))
  const hadFocus = row && isHere(row)
  const settle = (isGone: boolean): void => {
    // It came back, and its next deletion may be under way.
    if (leaving.get(id) !== settle) return
    if (isGone) listed = listed.filter((plant) => plant.id !== id)
    else leaving.delete(id)
    draw()
  }
  leaving.set(id, settle)
  draw()
  if (hadFocus) (beside?.querySelector<HTMLElement>('a.name') ?? find('#plants-title')).focus()
  return settle
}

function drop(row: HTMLTableRowElement): void {
  if (row.contains(document.activeElement)) table.focus({ preventScroll: true })
  row.remove()
}

/** Changes the rows. Those that move by a row or so, such as into the place of one that is gone, slide there. */
function settle(change: () => void): void {
  const tops = new Map(mayMove.matches ? [...rows].map((row) => [row.dataset['id'], row.offsetTop]) : [])
  change()
  if (tops.size === 0) return
  // All are read before one is animated: the browser would lay out the page for each.
  const moved = [...rows].map((row) => [row, (tops.get(row.dataset['id']) ?? row.offsetTop) - row.offsetTop] as const)
  for (const [row, by] of moved) {
    if (by !== 0 && Math.abs(by) < slideMax) row.animate({ translate: [`0 ${by}px`, '0'], easing: 'ease-out' }, 200)
  }
}

/** Opens the plant of a row. */
function onClick(event: MouseEvent): void {
  const { target, ctrlKey, metaKey, shiftKey } = event
  const row = target instanceof Element ? target.closest<HTMLTableRowElement>('[data-id]') : null
  if (!(target instanceof Element) || row === null || target.closest('button')) return
  const isLink = target.closest('a') !== null
  // A person may want a tab or a window of its own, or be selecting text.
  if (isLink ? ctrlKey || metaKey || shiftKey : getSelection()?.isCollapsed === false) return
  event.preventDefault()
  openPlant(row.dataset['id'], plants.get(row))
}

/** The keys of a row: it has one tab stop, its link. */
function onKey(event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, altKey } = event
  const row = target instanceof Element ? target.closest<HTMLTableRowElement>('[data-id]') : null
  if (row === null || ctrlKey || metaKey || altKey) return
  const step = rowBeside(row, key)
  if (step !== undefined) step?.querySelector<HTMLElement>('a.name')?.focus()
  else if (!pressFor(event, row)) return
  event.preventDefault()
}

/** Gives the table a column for each property, before that of the actions. */
function makeHead(): void {
  const heads = displayed.map(({ title, kind }) => make(`th.${kind}`, { scope: 'col' }, title))
  find('thead tr', HTMLElement, table).prepend(...heads)
  find('colgroup', HTMLElement, table).prepend(...displayed.map(() => make('col')))
  table.classList.toggle('wide', displayed.length > columnsMax)
  table.style.setProperty('--columns', String(displayed.length))
}

function toRow(plant: StoredPlant): HTMLTableRowElement {
  const id = String(plant.id)
  const tool = (action: 'edit' | 'remove', title: string): HTMLElement =>
    make('button.quiet.writes', doing(action, id, title), { 'aria-label': `${title} plant ${id}` }, makeIcon(action))
  const row = make(
    'tr',
    { 'data-id': id },
    make('td', make('button.id.quiet', doing('copy', id, 'Copy the id'), { 'aria-label': `Copy id ${id}` }, id)),
    withoutId.map(({ kind }) => make(`td.${kind}`)),
    make('td', make('div.row.actions', tool('edit', 'Edit'), tool('remove', 'Delete'))),
  )
  putTexts(row, plant)
  return row
}

/** Of a button that does an action of the page. A row has one tab stop, so it is none. */
function doing(action: string, value: string, title: string): Readonly<Record<string, string>> {
  return { type: 'button', tabindex: '-1', 'data-action': action, value, title }
}

/** Shows the properties of a plant in its row, which keeps the focus. */
function putTexts(row: HTMLTableRowElement, plant: StoredPlant): void {
  plants.set(row, plant)
  const hadFocus = row.contains(document.activeElement)
  for (const [at, property] of withoutId.entries()) row.cells[at + 1]?.replaceChildren(...nodesOf(property, plant))
  if (hadFocus && !row.contains(document.activeElement)) row.querySelector<HTMLElement>('a.name')?.focus()
}

function nodesOf(property: PlantProperty, plant: StoredPlant): Node[] {
  const text = shownText(property, plant, printLine)
  if (text === undefined) return []
  const { tag = '' } = plant
  if (property.name === 'name') {
    const picture = tint(make('i.row', silhouetteOf(text, tag)), tag)
    return [make('a.name', { href: hrefOf({ ...readView(), plant: String(plant.id) }) }, picture, shown(text))]
  }
  if (property.name !== 'tag') return [make('div.cut', seen(property, plant, text))]
  if (text === '') return [shown(text)]
  return [tint(make('button.chip.quiet', doing('tag', text, 'Show the plants with this tag'), shown(text)), text)]
}
