// Remembers the revisions of plants that are read again and again. A revision is a hash, which costs more than finding
// the plant.

import { type Plant, revisionOf } from './plant.ts'

const slotBits = 13
const slots = 2 ** slotBits
/** Longer plants are not remembered: all of them together take at most some megabytes. */
const charactersMax = 192

export class Revisions {
  /** By the last bits of the id; the newest one stays. */
  readonly #remembered: (readonly [json: string, revision: string] | undefined)[] = new Array(slots).fill(undefined)
  /** The id that was read last in each slot. Remembering a plant that is read once costs more than it saves. */
  readonly #lastIds = new BigInt64Array(slots)

  /** Returns the revision of a plant. A remembered one is used only for an equal plant, so it is never out of date. */
  of({ id, json }: Plant): string {
    const slot = Number(BigInt.asUintN(slotBits, id))
    const known = this.#remembered[slot]
    if (known?.[0] === json) return known[1]
    const revision = revisionOf(json)
    if (this.#lastIds[slot] !== id) this.#lastIds[slot] = id
    else if (json.length <= charactersMax) this.#remembered[slot] = [json, revision]
    return revision
  }
}
