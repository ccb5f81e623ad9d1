// Deletes a plant at once, and can undo it for a while.

import { connect } from './api.js'
import type { StoredPlant, Tagged } from './client.js'
import { find, refocus } from './elements.js'
import { whileBusy } from './form.js'
import { closeToast, hush } from './messages.js'

/** Receives a plant that is gone, or back. */
type OnChanged = (id: bigint, sentence: string, isGone?: boolean) => Promise<void>

const undoer = find('#undo', HTMLButtonElement)
let deleted: Omit<Tagged<StoredPlant>, 'etag'> | undefined

export async function remove(id: bigint, button: HTMLButtonElement, onChanged: OnChanged): Promise<void> {
  hush()
  const plant = await whileBusy(button, async () => {
    const { etag, ...read } = await connect().getPlant(id)
    // Another client may have changed the plant since: what is deleted is what can come back.
    await connect().deletePlant(id, { ifMatch: etag })
    return read
  })
  if (plant === undefined) return
  deleted = plant
  await onChanged(id, `Deleted ${JSON.stringify(plant.name)}.`, true)
  undoer.textContent = 'Undo'
  undoer.hidden = false
}

/** Creates the plant again that was deleted last, while this is offered: still if it failed. */
export async function undo(onChanged: OnChanged): Promise<void> {
  const plant = deleted
  if (undoer.hidden || plant === undefined) return
  await whileBusy(undoer, () => connect().createPlant(plant))
  closeToast()
  await onChanged(plant.id, `${JSON.stringify(plant.name)} is back.`)
  refocus(plant.id)
}
