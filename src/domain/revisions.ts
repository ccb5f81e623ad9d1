// Caches the revisions of plants that are read repeatedly. A revision is a hash, which costs more than finding the
// plant.

import { type Plant, revisionOf } from './plant.ts'

const slotBits = 13
const slots = 2 ** slotBits
/** Longer plants are not cached, so that the cache takes at most a few megabytes. */
const charactersMax = 192

export class Revisions {
  /** By the last bits of the id. Of several ids with the same bits, the newest entry stays. */
  readonly #remembered: (readonly [json: string, revision: string] | undefined)[] = new Array(slots).fill(undefined)
  /** The last id read in each slot. A plant is cached at its second read; caching each costs more than it saves. */
  readonly #lastIds = new BigInt64Array(slots)

  /** Returns the revision of a plant. A cached one is used only for an equal plant, so it is never out of date. */
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
