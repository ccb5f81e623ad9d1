// One plant: the panel that shows it whole, with its texts and how to reach it with the API.

import { base, idOf, placesBefore, readView, titlePage, writeView } from './address.js'
import { connect, connectAside, isRefusal } from './api.js'
import type { StoredPlant, Tagged } from './client.js'
import { attempts, copy, find, make, makeTabs, refocus, showState } from './elements.js'
import { readLater } from './live.js'
import { explain, hush, say, sayWhy } from './messages.js'
import { displayed, jsonOf, seen, shownText, withoutId } from './properties.js'
import { type Sent, snippetsOf } from './snippets.js'
import { paint, tint } from './tags.js'
import { boxed, shown } from './texts.js'

const dialog = find('#plant', HTMLDialogElement)
const error = find('#plant-error')
const head = find('.head', HTMLElement, dialog)
const link = find('#plant-link')
/** Where there is room, the panel stands beside the table. */
const isWide = matchMedia('(min-width: 80rem) and (min-height: 25rem)')
/** What the dialog returns if the address has closed it, not a person. */
const byPage = 'page'
let shownId: string | undefined
/** What had the focus when the panel was opened, to which a browser gives it back. */
let opener: Element | null = null
/** Whether a person has pressed keys since the plant was asked for: the panel would take the next ones. */
let hasGoneOn = false
const beginLook = attempts()
/** What the panel shows. */
let filled: StoredPlant | undefined
/** The request that a person chose last. */
let chosen = 'GET'

function noteKey({ key, repeat }: KeyboardEvent): void {
  hasGoneOn ||= !(repeat || /^(?:Alt|Control|Meta|Shift)$/.test(key))
}
// Before the listeners that open a plant.
addEventListener('keydown', noteKey, true)
link.addEventListener('click', () => copy(new URL(`?plant=${shownId}`, base).href, link))
dialog.addEventListener('close', () => {
  // The event may come when the next plant is already asked for, or shown.
  if (!dialog.open && dialog.returnValue !== byPage) openPlant(undefined)
})
// A dialog beside others does not close by itself.
document.addEventListener('keydown', ({ key, target }) => {
  const isAround = target instanceof Element && target.matches('body, #plant *, #table *')
  if (key === 'Escape' && isAround && document.querySelector('dialog:modal') === null) dialog.close()
})

dialog.addEventListener('keydown', (event) => {
  // A field that has the focus by then would get the key.
  if (pressFor(event, dialog)) return event.preventDefault()
  if (event.target !== find('#plant-title')) return
  // From its title, to the plant in the next or the previous row.
  const other = rowBeside(document.querySelector('tr[aria-current="true"]'), event.key)
  other?.querySelector<HTMLElement>('a.name')?.click()
  other?.scrollIntoView({ block: 'nearest' })
  if (other) event.preventDefault()
})

/** The row to which a key leads from another one: null at an end, undefined for another key, or from no row. */
export function rowBeside(row: Element | null, key: string): Element | null | undefined {
  if (row === null) return undefined
  const all = [...document.querySelectorAll('tr[data-id]:not([inert])')]
  const at = all.indexOf(row)
  return { ArrowDown: all[at + 1] ?? null, ArrowUp: all[at - 1] ?? null, Home: all[0], End: all.at(-1) }[key]
}

/** Presses the button of a plant for which a key stands: in its row, or in the panel. Returns whether there is one. */
export function pressFor({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, part: Element): boolean {
  const action = { c: 'copy', e: 'edit', Delete: 'remove', Backspace: 'remove' }[key]
  if (action === undefined || ctrlKey || metaKey || altKey) return false
  const button = part.querySelector<HTMLElement>(`[data-action="${action}"]:not(.no-writes .writes)`)
  button?.click()
  return button !== null
}

/**
 * Shows a plant, or none. "Back" leads from the plants that are opened one after another to the table.
 *
 * @param known what is shown until the server has answered.
 */
export function openPlant(id: string | undefined, known?: StoredPlant): void {
  const view = readView()
  if (id !== undefined) hush()
  if (id !== view.plant) writeView({ ...view, plant: id }, placesBefore(), id === undefined || view.plant === undefined)
  void showPlant(id, known)
}

/** Shows a plant that the address names, or none. */
export async function showPlant(id: string | undefined, known?: StoredPlant): Promise<void> {
  // A dialog in front may have kept it from being shown.
  if (id === shownId && (id === undefined || dialog.open)) return
  const before = shownId
  shownId = id
  hasGoneOn = false
  markShown()
  if (id === undefined) {
    dialog.close(byPage)
    titlePage()
    return refocus(before, opener)
  }
  if (idOf(id) === undefined) {
    giveUp()
    return say(find('#table-error'), `The address names no plant: ${JSON.stringify(id)} is no id.`)
  }
  if (known !== undefined) {
    reveal(known)
    return noteChangesOfShown([BigInt(id)], connect())
  }
  try {
    const plant = await connect().getPlant(id)
    if (shownId !== id) return
    if (hasGoneOn) giveUp()
    else reveal(plant)
  } catch (refusal) {
    if (shownId !== id) return
    giveUp()
    explain(refusal)
  }
}

/** Shows no plant. "Back" does not lead to the one that the address named. */
function giveUp(): void {
  shownId = undefined
  markShown()
  dialog.close(byPage)
  writeView({ ...readView(), plant: undefined }, placesBefore(), false)
}

function reveal(plant: StoredPlant): void {
  fill(plant)
  if (document.querySelector('dialog[open]') !== null) return
  dialog.returnValue = ''
  opener = document.activeElement
  // A touch beside a sheet closes it; one beside a panel is for the table.
  dialog.setAttribute('closedby', isWide.matches ? 'none' : 'any')
  if (isWide.matches) dialog.show()
  else dialog.showModal()
}

/** Marks the row of the plant that is shown. */
export function markShown(): void {
  for (const row of document.querySelectorAll<HTMLElement>('[data-id]'))
    row.ariaCurrent = row.dataset['id'] === shownId ? 'true' : null
}

/** The plant of the panel, if that is open and has this id. */
export function plantShown(id: bigint): StoredPlant | undefined {
  return dialog.open && filled?.id === id ? filled : undefined
}

/** Shows what a person has made of the plant, if it is the one that is shown. */
export async function showInPanel(plant: StoredPlant): Promise<void> {
  if (shownId !== String(plant.id)) return
  fill(plant)
  await noteChangesOfShown([plant.id])
}

/**
 * Shows what has become of the plant, if it is among those that changed.
 *
 * @param ids empty: any may have changed.
 */
export async function noteChangesOfShown(ids: readonly bigint[], client = connectAside()): Promise<void> {
  const id = shownId
  if (id === undefined || (ids.length > 0 && !ids.includes(BigInt(id)))) return
  const isNewest = beginLook()
  const plant = await client.getPlant(id).catch((refusal: unknown) => refusal)
  if (shownId !== id || !isNewest()) return
  const hadFocus = dialog.contains(document.activeElement)
  if (!isRefusal(plant)) fill(plant as Tagged<StoredPlant>)
  else if (plant.status === 404) noteDeletion()
  else if (plant.status === 401) explain(plant)
  else {
    sayWhy(error, plant)
    readLater(plant)
  }
  const isInSight = dialog.contains(document.activeElement) && document.activeElement?.checkVisibility()
  if (hadFocus && !isInSight) find('#plant-title').focus({ preventScroll: true })
}

function noteDeletion(): void {
  find('#plant-said').textContent = ''
  showState(dialog, 'deleted')
}

/** @param plant without an ETag if it is that of the table. */
function fill(plant: StoredPlant | Tagged<StoredPlant>): void {
  filled = plant
  const { etag, ...content } = plant as Tagged<StoredPlant>
  const { id, name } = content
  error.textContent = ''
  for (const button of dialog.querySelectorAll<HTMLButtonElement>('[data-action]')) button.value = String(id)
  find('#plant-title').replaceChildren(shown(name))
  paint(head, content)
  titlePage(name)
  const beside = displayed.filter((property) => property.name !== 'name')
  const facts = beside.flatMap((property) => {
    const text = shownText(property, plant)
    const node = text === undefined ? shown(text) : seen(property, plant, text)
    if (property.name === 'tag') tint(node, text ?? '')
    return [make('dt', property.title), make('dd', boxed(property.title, text, node))]
  })
  find('#plant-facts').replaceChildren(...facts)
  const url = new URL(`plants/${id}`, base)
  const type = ['content-type', 'application/json'] as const
  const guard = etag === undefined ? [] : [['if-match', etag] as const]
  const requests: Readonly<Record<string, Sent>> = {
    GET: { method: 'GET', url, fields: [] },
    PUT: { method: 'PUT', url, fields: [type, ...guard], body: jsonOf(plant, withoutId) },
    DELETE: { method: 'DELETE', url, fields: guard },
  }
  const code = make('div')
  const choose = (name: string): void => {
    chosen = name
    const sent = requests[name]
    if (sent === undefined) return
    const version = ['The ETag ', make('code', etag), ' is the version of this plant.'] as const
    const rest = sent.method !== 'GET' && ' If it has changed, the request is rejected.'
    code.replaceChildren(snippetsOf(sent), make('p.hint', etag !== undefined && [version, rest]))
  }
  const tabs = makeTabs('Request', Object.keys(requests), chosen, choose)
  find('#plant-requests').replaceChildren(tabs, code)
  showState(dialog, 'there')
}
