// Plants of the bundled document, and the plants and changes of a page, whose JSON a store has rendered, with exact ids.

import assert from 'node:assert/strict'
import { loadContract } from '../../src/contract/contract.ts'
import { toPlants } from '../../src/contract/plant.ts'
import type { LoggedChange } from '../../src/domain/change.ts'
import type { PlantPage, PlantQuery, Store } from '../../src/domain/store.ts'
import type { NewPlant } from '../../verify/plant.ts'

export const toPlant = toPlants(loadContract().properties.map(({ name }) => name))

/** The plants of one page of a store. */
export async function listPage(store: Store, query: PlantQuery): Promise<NewPlant[]> {
  return plantsOf((await readPage(store, query)).json)
}

/** Rejects where a store that has the page at once throws. */
export async function readPage(store: Pick<Store, 'listPlants'>, query: PlantQuery): Promise<PlantPage> {
  return store.listPlants(query)
}

/** The plants of a JSON text. */
export function plantsOf(json: Uint8Array): NewPlant[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(json)
  return parse(text) as NewPlant[]
}

interface ParsedChange {
  readonly time: string
  readonly kind: string
  readonly plant: NewPlant
  readonly callerId?: string
}

/** Changes without their positions, which must be those in the JSON. */
export function changesOf(changes: readonly LoggedChange[]): readonly ParsedChange[] {
  return changes.map(({ position, kind, json }) => {
    const { position: its, ...change } = parse(json) as ParsedChange & { readonly position: string }
    assert.deepEqual([its, change.kind], [position, kind])
    return change
  })
}

function parse(text: string): unknown {
  return JSON.parse(text, (key, value, { source = '' }: { readonly source?: string } = {}) =>
    key === 'id' ? BigInt(source) : value,
  )
}
