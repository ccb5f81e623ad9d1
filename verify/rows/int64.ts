// Ids: every int64 is exact in every spelling; nothing else is accepted.

import { int64Max, int64Min } from '../../src/domain/plant.ts'
import { refusal } from '../checks.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { plantJson } from '../plant.ts'
import type { Circumstances, Row } from '../row.ts'
import { create, isExactAnyway, kept, notJson, read, refusing, row, type Source, unless } from './building.ts'

const says: Source = {
  document: 'id is an integer of 64 bits; a JSON number with no fraction is an integer, however it is written',
  where: 'the schema NewPlant',
}

export function int64Rows({ ids }: Circumstances): readonly Row[] {
  return [...exactRows(ids), ...writtenRows(ids), ...refusedRows(ids), ...invalidRows(ids), ...strayRows()]
}

function exactRows(ids: Circumstances['ids']): Row[] {
  const [near, taken] = [ids.next(), ids.next()]
  const plants = [1n, 2n, 3n].map((offset) => ({ id: near + offset, name: `n${offset}` }))
  const plant = { id: taken, name: 'n', tag: 't' }
  const apart = row(
    'neighbouring ids beyond 2^53 are kept apart, exact to the last digit',
    {
      document: 'id is an int64, and Location has the path of the plant',
      where: 'the schema NewPlant, createPlant and getPlant',
    },
    plants.map(({ id }) => id),
    ...plants.map((each) => create(each)),
    ...plants.map(read),
  )
  const once = row(
    'an id that is taken is refused, and its plant stays as it is',
    {
      document: 'an id that is taken is refused with 409; the existing plant is never overwritten',
      where: 'createPlant, 409',
    },
    [taken],
    create(plant),
    { request: { body: plantJson(taken, 'n', 't') }, checks: refusal('idTaken') },
    { request: { body: plantJson(taken, 'other') }, checks: refusal('idTaken') },
    read(plant),
  )
  return [unless(isExactAnyway(ids), apart), { ...once, kept: plant }]
}

function writtenRows(ids: Circumstances['ids']): Row[] {
  const written = (how: string, write: (id: bigint) => string): Row => {
    // No double has it.
    const id = ids.next() + 1n
    return kept(`an id written ${how}`, says, { id, name: 'n' }, { body: plantJson(write(id), 'n') })
  }
  return [
    written('with a fraction of zero', (id) => `${id}.0`),
    written('with many zeros behind the point', (id) => `${id}.${'0'.repeat(20)}`),
    written('with an exponent', (id) => shifted(id, 'e3')),
    written('with an exponent in upper case', (id) => shifted(id, 'E3')),
    written('with a plus sign in its exponent', (id) => shifted(id, 'e+3')),
    written('with a negative exponent', (id) => `${id}0e-1`),
    written('with a leading zero in its exponent', (id) => shifted(id, 'e03')),
  ]
}

function refusedRows(ids: Circumstances['ids']): Row[] {
  const refuse = refusing(ids, says, 'invalidPlant', 'an id ')
  const bad = (what: string, write: (id: bigint) => string): Row =>
    refuse(what, (id) => plantJson(write(id), strayName))
  return [
    bad('with a fraction', (id) => `${id}.5`),
    bad('with a fraction that a double does not have', (id) => `${id}.0000001`),
    bad('in quotes', (id) => `"${id}"`),
    bad('in an array', (id) => `[${id}]`),
  ]
}

/** Bodies that are not JSON. */
function invalidRows(ids: Circumstances['ids']): Row[] {
  const refuse = refusing(ids, notJson, 'invalidJson', 'an id written ')
  const bad = (how: string, write: (id: bigint) => string): Row => refuse(how, (id) => plantJson(write(id), strayName))
  return [
    bad('with a leading zero', (id) => String(id).replace(/(\d)/, '0$1')),
    bad('with a plus sign', (id) => `+${id}`),
    bad('with a point and nothing behind it', (id) => `${id}.`),
    bad('with an exponent and nothing behind it', (id) => `${id}e`),
    bad('with underscores', (id) => String(id).replace(/(\d)(\d{3})$/, '$1_$2')),
    bad('in hexadecimal', (id) => `0x${(id < 0n ? -id : id).toString(16)}`),
  ]
}

/** Values that a faulty server could map to ids outside the range. */
function strayRows(): Row[] {
  const bad = (what: string, literal: string, strays: readonly bigint[]): Row => {
    const step = { request: { body: plantJson(literal, strayName) }, checks: refusal('invalidPlant') }
    return { ...row(`an id ${what}`, says, [], step), strays }
  }
  return [
    bad('past the end of int64', String(int64Max + 1n), strayIds.tooLarge),
    bad('before the beginning of int64', String(int64Min - 1n), strayIds.tooLarge),
    bad('that is null', 'null', strayIds.zero),
    bad('that is true', 'true', strayIds.one),
    bad('that is an empty string', '""', strayIds.zero),
    bad('that is an object', '{}', strayIds.zero),
  ]
}

/** Writes the id as a thousandth with an exponent of 3. */
function shifted(id: bigint, exponent: string): string {
  const [sign, digits] = id < 0n ? ['-', String(-id)] : ['', String(id)]
  const padded = digits.padStart(4, '0')
  return `${sign}${padded.slice(0, -3)}.${padded.slice(-3)}${exponent}`
}
