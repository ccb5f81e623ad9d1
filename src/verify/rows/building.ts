// Builds the most common rows: a create that is kept, and one that is refused.

import type { ErrorCode } from '../../domain/errors.ts'
import { type NewPlant, plantJson } from '../../domain/plant.ts'
import { isPlant, locates, refusal, status } from '../checks.ts'
import type { RowRequest } from '../message.ts'
import type { Row, Step } from '../row.ts'

/** The document's rule and its place. */
export type Source = Pick<Row, 'document' | 'where'>

/** A valid create, whose plant can be read afterwards. */
export function kept(title: string, says: Source, plant: NewPlant, request: RowRequest): Row {
  return {
    title,
    level: 'complete',
    ...says,
    ids: [plant.id],
    kept: plant,
    steps: [{ request, checks: createdChecks(plant) }, read(plant)],
  }
}

/** The same for a plant with only a name. */
export function keptWith(title: string, says: Source, id: bigint, request: RowRequest): Row {
  return kept(title, says, { id, name: 'n' }, { body: plantJson(id, 'n'), ...request })
}

/** A create that is refused and creates nothing. */
export function refused(title: string, says: Source, code: ErrorCode, request: RowRequest, id: bigint): Row {
  return {
    title,
    level: 'complete',
    ...says,
    ids: [id],
    steps: [{ request: { body: plantJson(id, 'n'), ...request }, checks: refusal(code) }],
  }
}

export function createdChecks({ id, ...plant }: NewPlant): Step['checks'] {
  return [status(200), isPlant(plant), locates(id)]
}

export function create(plant: NewPlant, headers?: Readonly<Record<string, string>>): Step {
  const body = plantJson(plant.id, plant.name, plant.tag)
  return { request: { body, ...(headers !== undefined && { headers }) }, checks: createdChecks(plant) }
}

export function read(plant: NewPlant): Step {
  return { request: { method: 'GET', target: `/plants/${plant.id}` }, checks: [status(200), isPlant(plant)] }
}

export function isMissing(id: bigint): Step {
  return { request: { method: 'GET', target: `/plants/${id}` }, checks: refusal('unknownPlant') }
}
