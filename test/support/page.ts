// The plants of a page, whose JSON a store has rendered, with exact ids.

import type { NewPlant } from '../../src/domain/plant.ts'
import type { PlantQuery, Store } from '../../src/domain/store.ts'

/** The plants of one page of a store. */
export async function listPage(store: Store, query: PlantQuery): Promise<NewPlant[]> {
  return plantsOf((await store.listPlants(query)).json)
}

/** The plants of a JSON text. */
export function plantsOf(json: Uint8Array): NewPlant[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(json)
  return JSON.parse(text, (key, value, { source = '' }: { readonly source?: string } = {}) =>
    key === 'id' ? BigInt(source) : value,
  )
}
