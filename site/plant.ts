// One plant: the panel that shows it whole, with its texts and how to reach it with the API; its deletion, and its return.

import { base, idOf, placesBefore, readView, titlePage, writeView } from './address.js'
import { connect, connectAside, isRefusal, isThere, statusOf } from './api.js'
import type { StoredPlant, Tagged } from './client.js'
import { copy, find, make, makeTabs, refocus, showState, watchPerson } from './elements.js'
import { parseExact, printLine } from './exact-json.js'
import { whileBusy } from './form.js'
import { silhouetteOf } from './icons.js'
import { explain, hush, say, sayWhy } from './messages.js'
import { displayed, isSame, jsonOf, seen, shownText, withoutId } from './properties.js'
import { type Sent, snippetsOf } from './snippets.js'
import { tint } from './tags.js'
import { boxed, shown } from './texts.js'

const dialog = find('#plant', HTMLDialogElement)
const error = find('#plant-error')
const head = find('.about', HTMLElement, dialog)
const link = find('#plant-link')
/** Where there is room, the panel stands beside the table. */
const isWide = matchMedia('(min-width: 80rem) and (min-height: 25rem)')
/** What the dialog returns if the address has closed it, not a person. */
const byPage = 'page'
let shownId: string | undefined
/** What had the focus when the panel was opened, to which a browser gives it back. */
let opener: Element | null = null
/** Plants that were deleted here and are not back. */
let deleted: StoredPlant[] = []
/** The newest of the deletions and returns. */
let latest: Promise<unknown> = Promise.resolve()
/** The request that a person chose last. */
let chosen = 'GET'

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
  if (pressFor(event, dialog) || event.target !== find('#plant-title')) return
  // From its title, to the plant in the next or the previous row.
  const other = rowBeside(document.querySelector('tr[aria-current="true"]'), event.key)
  other?.querySelector<HTMLElement>('a.name')?.click()
  other?.scrollIntoView({ block: 'nearest' })
  if (other) event.preventDefault()
})

/** The row to which a key leads from another one: null at an end, undefined for another key, or from no row. */
export function rowBeside(row: Element | null, key: string): Element | null | undefined {
  if (row === null) return undefined
  const all = [...document.querySelectorAll('tr[data-id]')]
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
  markShown()
  if (id === undefined) {
    dialog.close(byPage)
    titlePage()
    return refocus(before, opener)
  }
  if (idOf(id) === undefined) {
    openPlant(undefined)
    return say(find('#table-error'), `The address names no plant: ${JSON.stringify(id)} is no id.`)
  }
  if (known !== undefined) {
    reveal(known)
    return noteChangesOfShown([BigInt(id)], connect())
  }
  const hasLeft = watchPerson()
  try {
    const plant = await connect().getPlant(id).finally(hasLeft)
    if (shownId !== id) return
    if (hasLeft()) return openPlant(undefined)
    reveal(plant)
  } catch (refusal) {
    if (shownId !== id) return
    shownId = undefined
    openPlant(undefined)
    explain(refusal)
  }
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

/** Shows what has become of the plant, if it is among those that changed. */
export async function noteChangesOfShown(ids: readonly bigint[], client = connectAside()): Promise<void> {
  const id = shownId
  if (id === undefined || !ids.includes(BigInt(id))) return
  const plant = await client.getPlant(id).catch((refusal: unknown) => refusal)
  if (shownId !== id) return
  const hadFocus = dialog.contains(document.activeElement)
  if (!isRefusal(plant)) fill(plant as Tagged<StoredPlant>)
  else if (plant.status === 404) showState(dialog, 'deleted')
  else if (plant.status === 401) explain(plant)
  else sayWhy(error, plant)
  const isInSight = dialog.contains(document.activeElement) && document.activeElement?.checkVisibility()
  if (hadFocus && !isInSight) find('#plant-title').focus({ preventScroll: true })
}

/** @param plant without an ETag if it is that of the table. */
function fill(plant: StoredPlant | Tagged<StoredPlant>): void {
  const { etag, ...content } = plant as Tagged<StoredPlant>
  const { id, name, tag = '' } = content
  error.textContent = ''
  for (const button of dialog.querySelectorAll<HTMLButtonElement>('[data-action]')) button.value = String(id)
  find('#plant-again', HTMLButtonElement).value = printLine(content)
  find('#plant-title').replaceChildren(shown(name))
  find('.glyph', HTMLElement, tint(head, tag)).replaceChildren(silhouetteOf(name, tag))
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
  const match = ['if-match', etag ?? ''] as const
  const requests: Readonly<Record<string, Sent>> = {
    GET: { method: 'GET', url, fields: [] },
    PUT: { method: 'PUT', url, fields: [type, match], body: jsonOf(plant, withoutId) },
    DELETE: { method: 'DELETE', url, fields: [match] },
  }
  const code = make('div')
  const choose = (name: string): void => {
    chosen = name
    const sent = requests[name]
    if (sent === undefined) return
    const version = ['The ETag ', make('code', etag), ' is the version of this plant.'] as const
    const guard = sent.fields.includes(match) && ' If it has changed, the request is rejected.'
    code.replaceChildren(snippetsOf(sent), make('p.hint', etag !== undefined && [version, guard]))
  }
  const tabs = makeTabs('Request', Object.keys(requests), chosen, choose)
  find('#plant-requests').replaceChildren(tabs, code)
  showState(dialog, 'there')
}

/** Receives a plant that is gone, or back. */
type OnChanged = (id: bigint, sentence: string, isGone?: boolean) => Promise<void>

/** Deletes a plant at once. */
export async function remove(id: bigint, button: HTMLButtonElement, onChanged: OnChanged): Promise<void> {
  hush()
  const run = async (): Promise<StoredPlant> => {
    const { etag, ...plant } = await connect().getPlant(id)
    // Another client may have changed the plant since: what is deleted is what can come back.
    await connect()
      .deletePlant(id, { ifMatch: etag })
      .catch(async (refusal) => {
        // It may be gone by this request, whose answer was lost, or by somebody else's.
        if (!(await isGone(id))) throw refusal
      })
    deleted.push(plant)
    offerUndo().hidden = false
    return plant
  }
  const plant = await whileBusy(button, () => inTurn(run))
  if (plant !== undefined) await onChanged(id, sentenceOf(plant), true)
}

/** Does one after another, so that it is the last deletion that is undone. */
function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
  const mine = latest.then(run)
  latest = mine.catch(() => {})
  return mine
}

const sentenceOf = ({ name }: StoredPlant): string => `Deleted ${JSON.stringify(name)}.`

/** Offers to bring back the plant that was deleted last, if it is not back yet. */
function offerUndo(): HTMLButtonElement {
  const undo = find('#undo', HTMLButtonElement)
  const last = deleted.at(-1)
  undo.value = last === undefined ? '' : printLine(last)
  undo.title = last === undefined ? '' : sentenceOf(last)
  return undo
}

async function isGone(id: bigint): Promise<boolean> {
  const found = await connectAside()
    .getPlant(id)
    .catch((refusal: unknown) => refusal)
  return statusOf(found) === 404
}

/** Creates the plant again that a button has as JSON. Shows the one that has its id if somebody has taken it since. */
export async function restore(button: HTMLButtonElement, onChanged: OnChanged): Promise<void> {
  const done = await inTurn(() => bringBack(button))
  if (done === undefined) return
  await onChanged(done.id, done.sentence)
  refocus(done.id, find('#plants-title'))
}

/** Undefined if no deletion is left to undo. */
async function bringBack(button: HTMLButtonElement): Promise<{ id: bigint; sentence: string } | undefined> {
  if (button.value === '') return undefined
  const plant = parseExact(button.value) as StoredPlant
  const { id, name } = plant
  let sentence = `${JSON.stringify(name)} is back.`
  await whileBusy(button, async () => {
    try {
      await connect().createPlant(plant)
    } catch (refusal) {
      if (statusOf(refusal) !== 409) throw refusal
      if (await isThere(plant)) return
      sentence = `Somebody has created a plant with the id ${id} since.`
      openPlant(String(id))
    }
  })
  deleted = deleted.filter((each) => !isSame(each, plant))
  // Without a keyboard, the button alone brings back the others.
  offerUndo().hidden = deleted.length === 0
  return { id: BigInt(id), sentence }
}
