// Deletes a plant at once, and can undo it for a while.

import { connect, statusOf } from './api.js'
import type { StoredPlant } from './client.js'
import { find } from './elements.js'
import { whileBusy } from './form.js'
import { hush } from './messages.js'

/** Receives a plant that is gone, or back. */
type OnChanged = (id: bigint, sentence: string, isGone?: boolean) => Promise<void>

const triesMax = 3

const undoer = find('#undo', HTMLButtonElement)
let deleted: StoredPlant | undefined

export async function remove(id: bigint, button: HTMLButtonElement, onChanged: OnChanged): Promise<void> {
  hush()
  const plant = await whileBusy(button, () => removeNewest(id))
  if (plant === undefined) return
  deleted = plant
  await onChanged(id, `Deleted ${JSON.stringify(plant.name)}.`, true)
  undoer.hidden = false
}

/** Creates the plant again that was deleted last, while this is offered: still if it failed. */
export async function undo(onChanged: OnChanged): Promise<void> {
  const plant = deleted
  if (undoer.hidden || plant === undefined) return
  await whileBusy(undoer, () => connect().createPlant(plant))
  hush()
  await onChanged(plant.id, `${JSON.stringify(plant.name)} is back.`)
}

/** Deletes the version that it returns: another client may change the plant at any time. */
async function removeNewest(id: bigint): Promise<StoredPlant> {
  for (let tries = 1; ; tries += 1) {
    const { etag, ...plant } = await connect().getPlant(id)
    try {
      await connect().deletePlant(id, { ifMatch: etag })
      return plant as StoredPlant
    } catch (refusal) {
      if (statusOf(refusal) !== 412 || tries === triesMax) throw refusal
    }
  }
}
