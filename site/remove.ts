// Deletes a plant at once, and creates one again that was deleted.

import { connect, isThere, statusOf } from './api.js'
import type { StoredPlant } from './client.js'
import { find, refocus } from './elements.js'
import { parseExact, printLine } from './exact-json.js'
import { whileBusy } from './form.js'
import { closeToast, hush } from './messages.js'
import { openPlant } from './plant.js'

/** Receives a plant that is gone, or back. */
type OnChanged = (id: bigint, sentence: string, isGone?: boolean) => Promise<void>

export async function remove(id: bigint, button: HTMLButtonElement, onChanged: OnChanged): Promise<void> {
  hush()
  const plant = await whileBusy(button, async () => {
    const { etag, ...read } = await connect().getPlant(id)
    // Another client may have changed the plant since: what is deleted is what can come back.
    await connect().deletePlant(id, { ifMatch: etag })
    return read
  })
  if (plant === undefined) return
  await onChanged(id, `Deleted ${JSON.stringify(plant.name)}.`, true)
  const undoer = find('#undo', HTMLButtonElement)
  undoer.value = printLine(plant)
  undoer.textContent = 'Undo'
  undoer.hidden = false
}

/** Creates the plant again that a button has as JSON. Shows the one that has its id if somebody has taken it since. */
export async function restore(button: HTMLButtonElement, onChanged: OnChanged): Promise<void> {
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
  closeToast()
  await onChanged(BigInt(id), sentence)
  refocus(id)
}
