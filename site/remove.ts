// Deletes a plant at once, and can undo it for a while.

import { connect, statusOf } from './api.js'
import type { StoredPlant } from './client.js'
import { find } from './find.js'
import { whileBusy } from './form.js'

interface RemovalOptions {
  /** Called before a request. */
  readonly onStart: () => void
  readonly onDeleted: (id: bigint, sentence: string) => Promise<void>
  readonly onRestored: (id: bigint, sentence: string) => Promise<void>
  readonly onRefusal: (refusal: unknown) => void
}

export interface Removal {
  remove(id: bigint, button: HTMLButtonElement): Promise<void>
  /** Creates the plant again that was deleted last, while this is offered. */
  undo(): Promise<void>
  /** Offers it no more. */
  forget(): void
}

const undoMs = 10_000
const triesMax = 3

const undoer = find('#undo', HTMLButtonElement)

export function createRemoval({ onStart, onDeleted, onRestored, onRefusal }: RemovalOptions): Removal {
  let deleted: StoredPlant | undefined
  let timer: number | undefined
  undoer.addEventListener('click', undo)

  function offer(plant: StoredPlant | undefined): void {
    clearTimeout(timer)
    deleted = plant
    undoer.hidden = plant === undefined
    if (plant === undefined) return
    timer = setTimeout(() => {
      // Not while a person is about to press it.
      if (undoer.matches(':hover, :focus')) return offer(plant)
      onStart()
    }, undoMs)
  }

  async function remove(id: bigint, button: HTMLButtonElement): Promise<void> {
    onStart()
    try {
      const plant = await whileBusy(button, () => removeNewest(id))
      if (plant === undefined) return
      await onDeleted(id, `Plant ${id} was deleted.`)
      offer(plant)
    } catch (refusal) {
      onRefusal(refusal)
    }
  }

  async function undo(): Promise<void> {
    const plant = deleted
    if (plant === undefined) return
    onStart()
    try {
      await connect().createPlant(plant)
      await onRestored(plant.id, `Plant ${plant.id} is back.`)
    } catch (refusal) {
      onRefusal(refusal)
    }
  }

  return { remove, undo, forget: () => offer(undefined) }
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
