// Properties that the bundled document does not have: kept as they are sent, replaced and removed.

import { toJson } from '../../src/contract/plant.ts'
import { field, isPlant, newField, sameField, status } from '../checks.ts'
import type { FurtherProperty } from '../plant.ts'
import type { Circumstances, OneStep, Row } from '../row.ts'
import { createdChecks, get, put, row } from './building.ts'
import { etagForm } from './etags.ts'
import { listUpTo } from './listing.ts'

export function furtherRows(circumstances: Circumstances): readonly Row[] {
  return circumstances.plants.further.map((property) => furtherRow(circumstances, property))
}

function furtherRow({ ids }: Circumstances, { name: property, isRequired, sample }: FurtherProperty): Row {
  const id = ids.next() + 1n
  const plant = { name: 'n', [property]: sample }
  const whole = { id, ...plant }
  const without = { name: 'n' }
  const tagged = [status(200), field('ETag', etagForm)]
  const removed: readonly OneStep[] = [
    put(id, toJson(without), [...tagged, isPlant(without), newField('ETag')]),
    get(id, [status(200), isPlant({ id, ...without })]),
    put(id, toJson(plant), [...tagged, isPlant(plant), sameField('ETag', 1)]),
  ]
  return row(
    `the property ${property} is kept as it is sent`,
    { document: `a plant has the property ${property}`, where: 'createPlant' },
    [id],
    { request: { body: toJson(whole) }, checks: createdChecks(whole) },
    get(id, [...tagged, isPlant(whole)]),
    ...(isRequired ? [] : removed),
    put(id, toJson(plant), [...tagged, isPlant(plant), sameField('ETag', 1)]),
    listUpTo(id, `after=${id - 1n}`, [whole]),
  )
}
