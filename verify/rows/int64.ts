// Ids: every int64 is exact in every spelling; nothing else is accepted.

import { refusal } from '../checks.ts'
import { int64Max, int64Min } from '../ids.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, none, type Row, row, take } from '../row.ts'
import { noObjects } from './bodies.ts'
import { bodiesOf, type Write } from './operations.ts'

const says =
  'id is an integer of 64 bits; a JSON number with no fraction is an integer, however it is written (the ' +
  'schema NewPlant)'
const taken = 'an id that is taken is refused with 409; the existing plant is never overwritten (createPlant, 409)'
const exact = 'id is an int64, and Location has the path of the plant (the schema NewPlant, createPlant and getPlant)'

/** Digits, each in JSON of another form, of ids that no double has. */
type Spell = (id: string) => string
const exponents: readonly Spell[] = ['e1', 'E1', 'e+1', 'e01'].map(
  (exponent) => (id: string) => id.replace(/(\d*)(\d)$/, (_, digits, last) => `${digits || 0}.${last}${exponent}`),
)
const integers: readonly Spell[] = [
  ...exponents,
  ...['.0', `.${'0'.repeat(20)}`, '0e-1'].map((end) => (id: string) => `${id}${end}`),
]
const noIntegers: readonly Spell[] = [
  ...['.5', `.${'0'.repeat(30)}1`].map((fraction) => (id: string) => `${id}${fraction}`),
  (id) => `"${id}"`,
  (id) => `[${id}]`,
]
const noNumbers: readonly Spell[] = [
  ...['.', 'e'].map((end) => (id: string) => `${id}${end}`),
  (id) => id.replace(/(\d)/, '0$1'),
  (id) => `+${id}`,
  (id) => id.replace(/(\d)(\d{3})$/, '$1_$2'),
  (id) => `0x${BigInt(id.replace('-', '')).toString(16)}`,
]

const spelt =
  (spell: Spell): Write =>
  (start) =>
    `${start.replace(/-?\d+/, spell)}"name":"n"}`

const spellingRows = bodiesOf((_, isNew) =>
  isNew
    ? [
        { what: 'an id however it is written', says, sent: integers.map(spelt) },
        { what: 'an id that is no integer', says, code: 'invalidPlant', sent: noIntegers.map(spelt) },
        { what: 'an id that is no number of JSON', says, code: 'invalidJson', sent: noNumbers.map(spelt) },
      ]
    : [],
)

/** Values that a faulty server could map to ids outside the range. */
const astray: readonly (readonly [what: string, literal: string, strays: readonly bigint[]])[] = [
  ['past the end of int64', String(int64Max + 1n), strayIds.tooLarge],
  ['before the beginning of int64', String(int64Min - 1n), strayIds.tooLarge],
  ['that is null', 'null', strayIds.zero],
  ['that is true', 'true', strayIds.one],
  ['that is an empty string', '""', strayIds.zero],
  ['that is an object', '{}', strayIds.zero],
]

const idRows: readonly Row[] = [
  row(
    'neighbouring ids beyond 2^53 are kept apart, exact to the last digit',
    { document: exact, unless: ({ ids }) => ids.whyExactAnyway },
    // In most ranges, the last ones have more digits.
    (range) => [...range.near(3), ...range.near(3, range.takeEnd(1))],
    async (store, ...own) => {
      const plants = own.map((id, at) => ({ id, name: `n${at}` }))
      for (const plant of plants) await store.create(plant)
      for (const plant of plants) await store.read(plant)
    },
  ),
  row(
    'an id that is taken is refused, and its plant stays as it is',
    { document: taken, turn: 'first' },
    take(1),
    async (store, id) => {
      const plant = { id, name: 'n', tag: 't' }
      await store.create(plant)
      await store.refuses('idTaken', plant)
      await store.refuses('idTaken', { id, name: 'other' })
      await store.read(plant)
    },
  ),
  ...astray.map(([what, literal, strays]) =>
    row(`an id ${what} is refused`, { document: says, strays }, none, (store) =>
      store.send({ body: plantJson(literal, strayName) }, refusal('invalidPlant')),
    ),
  ),
  row('a body without an id is no plant', { document: says, strays: strayIds.zero }, none, async (store) => {
    for (const body of [`{"name":"${strayName}"}`, '{}', ...noObjects]) {
      await store.send({ body }, refusal('invalidPlant'))
    }
  }),
]

export function int64Rows(run: Circumstances): readonly Row[] {
  return [...idRows, ...spellingRows(run)]
}
