// The operations on plants.

import type { Store } from '../domain/store.ts'
import type { Handlers } from './operations.ts'

export function plantHandlers(store: Store): Pick<Handlers, 'createPlant'> {
  return {
    async createPlant({ body: { id, name, tag }, headers: { 'Idempotency-Key': key }, caller }) {
      if (caller === undefined) throw new TypeError('createPlant is called by the holder of a token')
      const plant = tag === undefined ? { name } : { name, tag }
      const outcome = await store.createPlant(
        { id, ...plant },
        key === undefined ? undefined : { tokenId: caller.id, key },
      )
      return {
        status: 200,
        headers: { location: `/plants/${id}`, ...(outcome === 'replayed' && { 'idempotency-replayed': 'true' }) },
        body: plant,
      }
    },
  }
}
