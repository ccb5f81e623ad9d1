// Remembers the revisions of plants that were read lately. A revision is a hash, which costs more than finding the plant.

import { type NewPlant, revisionOf } from './plant.ts'

/** A power of two. */
const slots = 8_192
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

  /** Returns `revisionOf(plant)`. What is remembered is used only for an equal plant, so it cannot be out of date. */
  of({ id, name, tag }: NewPlant): string {
    const slot = Number(BigInt.asUintN(64, id) & slotBits)
    const known = this.#remembered[slot]
    if (known !== undefined && known.id === id && known.name === name && known.tag === tag) return known.revision
    const revision = revisionOf({ id, name, tag })
    if (name.length + (tag?.length ?? 0) <= charactersMax) this.#remembered[slot] = { id, name, tag, revision }
    return revision
  }
}

const slotBits = BigInt(slots - 1)
