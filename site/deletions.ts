// Deletions: a person sees them at once, before the server has answered, and can take them back.

import { connect, connectAside, isRefusal, isThere, statusOf } from './api.js'
import type { StoredPlant } from './client.js'
import { find, refocus } from './elements.js'
import { announce, announceFailure, hush } from './messages.js'
import { noteChangesOfShown, openPlant, plantShown } from './plant.js'
import { hideRow, isLeaving } from './rows.js'
import { showEarly } from './table.js'

interface Deletion {
  /** The plant as the page showed it. */
  readonly known: StoredPlant
  /** What was deleted; undefined if nothing was. */
  readonly gone: Promise<StoredPlant | undefined>
}

/** Those that nobody has taken back, also those under way. */
let deletions: Deletion[] = []

let underWay = 0
// The browser asks whether to leave the page.
addEventListener('beforeunload', (event) => underWay > 0 && event.preventDefault())

/**
 * Deletes a plant. Says so if it is not gone, or may not be. Rejects if the token is refused.
 *
 * @param readAnew shows the plants as they are.
 */
export async function remove(plant: StoredPlant, readAnew: () => Promise<unknown>): Promise<void> {
  const { id } = plant
  if (isLeaving(id)) return
  hush()
  underWay += 1
  const done = deleteOne(plant)
  const deletion = { known: plant, gone: done.then((gone) => gone.plant).catch(() => undefined) }
  deletions.push(deletion)
  if (plantShown(id) !== undefined) openPlant(undefined)
  const settle = hideRow(id)
  offerUndo()
  announce(sentenceOf(plant))
  try {
    const { doubt } = await done
    if (doubt !== undefined) throw doubt
    settle(true)
  } catch (refusal) {
    settle(false)
    if ((await deletion.gone) === undefined) forget(deletion)
    if (statusOf(refusal) === 401) throw refusal
    announceFailure(plant, 'deleted', refusal)
  } finally {
    underWay -= 1
    await readAnew()
    // A list that was asked for before the deletion had the plant.
    settle(false)
  }
}

/** Returns the plant that is gone, or may be: then with the refusal that leaves it open. */
async function deleteOne(known: StoredPlant): Promise<{ readonly plant: StoredPlant; readonly doubt?: unknown }> {
  const { id } = known
  let plant = known
  try {
    const { etag, ...there } = await connect().getPlant(id)
    plant = there
    // Another client may have changed the plant since: what is deleted is what can come back.
    await connect().deletePlant(id, { ifMatch: etag })
  } catch (refusal) {
    // It may be gone by this request, whose answer was lost, or by somebody else's.
    if (await isGone(id)) return { plant }
    if (plant === known || !isRefusal(refusal) || !refusal.mayBeDone) throw refusal
    return { plant, doubt: refusal }
  }
  return { plant }
}

const sentenceOf = ({ name }: StoredPlant): string => `Deleted ${JSON.stringify(name)}.`

/** Offers to bring back the plant that was deleted last, if it is not back yet. Without a keyboard, it has no other way. */
function offerUndo(): void {
  const undo = find('#undo', HTMLButtonElement)
  const last = deletions.at(-1)?.known
  undo.title = last === undefined ? '' : sentenceOf(last)
  undo.hidden = last === undefined
}

/** Whether a plant with this id could come back. */
export const mayReturn = (id: bigint): boolean => deletions.some(({ known }) => known.id === id)

function forget(deletion: Deletion | undefined): void {
  deletions = deletions.filter((each) => each !== deletion)
  offerUndo()
}

async function isGone(id: bigint): Promise<boolean> {
  const found = await connectAside()
    .getPlant(id)
    .catch((refusal: unknown) => refusal)
  return statusOf(found) === 404
}

/** Receives a plant that was created or changed. */
type OnChanged = (plant: StoredPlant, sentence: string) => Promise<void>

/** Takes back the deletion that a person began last: its row is there at once. */
export async function undoLast(onChanged: OnChanged): Promise<void> {
  const last = deletions.at(-1)
  forget(last)
  if (last === undefined) return
  hush()
  announce(`Bringing ${JSON.stringify(last.known.name)} back.`)
  refocus(undefined, document.querySelector('#table:focus, #table :focus'))
  const settle = showEarly(last.known)
  const plant = await last.gone
  if (plant === undefined) settle(true)
  else await restore(plant, onChanged, last, settle)
}

/** Creates a plant again. Offers to show the one that has its id if somebody has taken it since. */
export async function restore(
  plant: StoredPlant,
  onChanged: OnChanged,
  deletion?: Deletion,
  settle = showEarly(plant),
): Promise<void> {
  const { id, name } = plant
  let isBack = false
  try {
    await connect().createPlant(plant)
    isBack = true
  } catch (refusal) {
    if (statusOf(refusal) !== 409) {
      if (deletion !== undefined) deletions.push(deletion)
      if (statusOf(refusal) === 401) throw refusal
      return announceFailure(plant, 'back', refusal)
    }
    isBack = await isThere(plant)
    if (!isBack) {
      announce(`There is another plant with the id ${id} now.`, id)
      return void noteChangesOfShown([id])
    }
  } finally {
    settle(isBack)
    offerUndo()
  }
  await onChanged(plant, `${JSON.stringify(name)} is back.`)
  refocus(id, find('#plants-title'))
}
