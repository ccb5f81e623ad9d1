// The rows of the table: one plant each.

import type { Change, StoredPlant } from './client.js'
import { printLine } from './exact-json.js'
import { find } from './find.js'
import { makeIcon } from './icons.js'
import { copy, make, makeButton } from './make.js'
import { shown } from './plant-text.js'
import { displayed, isSame, isUsual, type PlantProperty, shownText, withoutId } from './properties.js'

export interface RowActions {
  /** Receives the id of a plant, and the button of its row for this. */
  readonly onEdit: (id: bigint, button: HTMLButtonElement) => Promise<void>
  readonly onRemove: (id: bigint, button: HTMLButtonElement) => Promise<void>
  readonly onOpen: (id: string) => void
  readonly onTag: (tag: string) => void
  /** The address of a plant. */
  readonly hrefOf: (id: string) => string
}

/** Phones show rows as cards; explicit roles preserve the table for screen readers. */
const roles = new Map([
  ['table', 'table'],
  ['thead', 'rowgroup'],
  ['tbody', 'rowgroup'],
  ['tr', 'row'],
  ['th', 'columnheader'],
  ['td', 'cell'],
])

/** More columns than these need a window that scrolls. */
const columnsMax = 5

/** The rows that a table shows. Others may change their plants. */
export class Rows {
  readonly #table: HTMLTableElement
  readonly #body: HTMLTableSectionElement
  readonly #actions: RowActions
  readonly #plants = new WeakMap<HTMLTableRowElement, StoredPlant>()
  /** The length of the longest id so far. */
  #idLength = 3

  constructor(table: HTMLTableElement, actions: RowActions) {
    this.#table = table
    this.#body = find('tbody', HTMLTableSectionElement, table)
    this.#actions = actions
    makeHead(table)
    giveRoles(table)
    this.#body.addEventListener('keydown', (event) => this.#onKey(event))
  }

  /** Including rows whose plant is gone. */
  get length(): number {
    return this.#body.rows.length
  }

  /** The number of plants. */
  get count(): number {
    return [...this.#body.rows].filter(({ className }) => className !== 'gone').length
  }

  find(id: string): HTMLTableRowElement | undefined {
    return [...this.#body.rows].find((row) => row.dataset['id'] === id)
  }

  /** Whether a change is shown already, such as one made here. */
  shows({ kind, plant }: Change): boolean {
    const row = this.find(String(plant.id))
    if (kind === 'deleted') return row === undefined
    const there = row && this.#plants.get(row)
    return row?.className !== 'gone' && there !== undefined && isSame(there, plant)
  }

  show(plants: readonly StoredPlant[]): void {
    this.#body.replaceChildren(...plants.map((plant) => this.#make(plant)))
    // Columns that stay where they are in the next search.
    this.#idLength = Math.max(this.#idLength, ...plants.map(({ id }) => String(id).length))
    this.#table.style.setProperty('--id-width', String(this.#idLength))
  }

  /** The keys of a row: it has one tab stop, its link. */
  #onKey(event: KeyboardEvent): void {
    const { target, key, ctrlKey, metaKey, altKey } = event
    const row = target instanceof Element ? target.closest('tr') : null
    if (row === null || ctrlKey || metaKey || altKey) return
    const steps = new Map<string, Element | null>([
      ['ArrowDown', row.nextElementSibling],
      ['ArrowUp', row.previousElementSibling],
    ])
    const buttons = new Map([
      ['e', 'edit'],
      ['Delete', 'remove'],
    ])
    const action = row.querySelector<HTMLElement>(`[data-action="${buttons.get(key)}"]`)
    if (steps.has(key)) steps.get(key)?.querySelector<HTMLElement>('a.name')?.focus()
    else if (action !== null && !document.body.matches('.no-writes')) action.click()
    else return
    event.preventDefault()
  }

  /** Shows what has changed, and marks it. Plants that are gone keep their row, unless they are on the next page now. */
  refresh(plants: readonly StoredPlant[], hasMore: boolean): void {
    const left = new Map([...this.#body.rows].map((row) => [row.dataset['id'], row]))
    for (const plant of plants) {
      this.#refreshRow(plant, left.get(String(plant.id)))
      left.delete(String(plant.id))
    }
    const last = plants.at(-1)?.id
    for (const [id = '', row] of left) {
      if (hasMore && last !== undefined && BigInt(id) > last) row.remove()
      else this.#markGone(row)
    }
  }

  #make(plant: StoredPlant): HTMLTableRowElement {
    const row = toRow(plant, this.#actions)
    this.#plants.set(row, plant)
    return row
  }

  #refreshRow(plant: StoredPlant, row: HTMLTableRowElement | undefined): void {
    const old = row && this.#plants.get(row)
    if (old !== undefined && isSame(old, plant) && row?.className !== 'gone') return
    if (row === undefined || row.className === 'gone') {
      const fresh = this.#make(plant)
      fresh.className = 'fresh'
      row?.remove()
      const next = [...this.#body.rows].find(({ dataset }) => BigInt(dataset['id'] ?? 0) > plant.id)
      this.#body.insertBefore(fresh, next ?? null)
      return
    }
    // The buttons stay, because one of them may have the focus, or get it back from a dialog.
    this.#plants.set(row, plant)
    row.className = 'fresh'
    putTexts(row, plant, this.#actions)
  }

  #markGone(row: HTMLTableRowElement): void {
    if (row.className === 'gone') return
    if (row.contains(document.activeElement)) this.#table.focus({ preventScroll: true })
    row.className = 'gone'
    row.querySelector('a.name')?.replaceWith(shown(this.#plants.get(row)?.name ?? ''))
    row.cells[row.cells.length - 1]?.replaceChildren('Deleted')
  }
}

/** Gives a table a column for each property, before that of the actions. */
function makeHead(table: HTMLTableElement): void {
  const classes = new Map([
    ['id', 'ids'],
    ['tag', 'tags'],
  ])
  const heads = displayed.map(({ title }) => make('th', '', title))
  for (const head of heads) head.scope = 'col'
  find('thead tr', HTMLElement, table).prepend(...heads)
  find('colgroup', HTMLElement, table).prepend(...displayed.map(({ name }) => make('col', classes.get(name) ?? '')))
  table.classList.toggle('wide', displayed.length > columnsMax)
  table.style.setProperty('--columns', String(displayed.length))
}

function toRow(plant: StoredPlant, actions: RowActions): HTMLTableRowElement {
  const id = String(plant.id)
  const row = make('tr', '')
  row.dataset['id'] = id
  row.addEventListener('click', ({ target }) => {
    const isFree = target instanceof Element && target.closest('a, button') === null && getSelection()?.isCollapsed
    if (isFree === true && row.className !== 'gone') actions.onOpen(id)
  })
  const copier = makeButton(id, () => copy(id, copier))
  copier.className = 'id'
  copier.title = 'Copy the id'
  copier.tabIndex = -1
  const tools = make(
    'div',
    'actions',
    action('edit', 'Edit', id, (button) => actions.onEdit(plant.id, button)),
    action('remove', 'Delete', id, (button) => actions.onRemove(plant.id, button)),
  )
  row.append(make('td', '', copier), ...withoutId.map(() => make('td', '')), make('td', 'writes', tools))
  putTexts(row, plant, actions)
  giveRoles(row)
  return row
}

/** Shows the properties of a plant in its row. */
function putTexts(row: HTMLTableRowElement, plant: StoredPlant, actions: RowActions): void {
  for (const [at, property] of withoutId.entries()) {
    const cell = row.cells[at + 1]
    cell?.replaceChildren(...nodesOf(property, plant, actions))
    if (!isUsual(property) && cell !== undefined) cell.dataset['title'] = property.title
  }
}

function nodesOf(property: PlantProperty, plant: StoredPlant, actions: RowActions): Node[] {
  const text = shownText(property, plant, printLine)
  if (property.name === 'name') return [linkTo(plant, actions)]
  if (text === undefined) return []
  if (property.name === 'tag') return [tagOf(text, actions)]
  return [make('div', 'cut', shown(text))]
}

function linkTo({ id, name }: StoredPlant, actions: RowActions): Node {
  const link = make('a', 'name cut', shown(name))
  link.href = actions.hrefOf(String(id))
  link.addEventListener('click', (event) => {
    // A person may want a tab or a window of its own.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    actions.onOpen(String(id))
  })
  return link
}

function tagOf(tag: string, { onTag }: RowActions): Node {
  if (tag === '') return shown(tag)
  const button = makeButton(shown(tag), () => onTag(tag))
  button.className = 'chip'
  button.title = 'Show the plants with this tag'
  button.tabIndex = -1
  return button
}

function giveRoles(part: Element): void {
  for (const element of [part, ...part.querySelectorAll('*')]) {
    const role = roles.get(element.localName)
    if (role !== undefined) element.role = role
  }
}

function action(
  name: 'edit' | 'remove',
  text: string,
  id: string,
  onClick: (made: HTMLButtonElement) => Promise<void>,
): HTMLButtonElement {
  const made = makeButton(makeIcon(name), onClick)
  made.ariaLabel = `${text} plant ${id}`
  made.title = text
  made.tabIndex = -1
  made.dataset['action'] = name
  return made
}
