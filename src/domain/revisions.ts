// Remembers the revisions of plants that are read again and again. A revision is a hash, which costs more than finding
// the plant.

import { type NewPlant, revisionOf } from './plant.ts'

const slotBits = 13
const slots = 2 ** slotBits
/** Longer plants are not remembered: all of them together take at most some megabytes. */
const charactersMax = 128

interface Remembered {
  readonly id: bigint
  readonly name: string
  readonly tag: string | undefined
  readonly revision: string
}

export class Revisions {
  /** By the last bits of the id; the newest one stays. */
  readonly #remembered: (Remembered | undefined)[] = new Array(slots).fill(undefined)
  /** The id that was read last in each slot. To remember a plant that is read once costs more than it saves. */
  readonly #lastIds = new BigInt64Array(slots)

  /** Returns `revisionOf(plant)`. What is remembered is used only for an equal plant, so it cannot be out of date. */
  of({ id, name, tag }: NewPlant): string {
    const slot = Number(BigInt.asUintN(slotBits, id))
    const known = this.#remembered[slot]
    if (known !== undefined && known.id === id && known.name === name && known.tag === tag) return known.revision
    const revision = revisionOf({ id, name, tag })
    if (this.#lastIds[slot] !== id) this.#lastIds[slot] = id
    else if (name.length + (tag?.length ?? 0) <= charactersMax) this.#remembered[slot] = { id, name, tag, revision }
    return revision
  }
}
