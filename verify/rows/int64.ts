// Ids: every int64 is exact in every spelling; nothing else is accepted.

import { isCreated, refusal } from '../checks.ts'
import { int64Max, int64Min } from '../ids.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { plantJson } from '../plant.ts'
import { near, none, type Row, row, take } from '../row.ts'
import { noObjects } from './bodies.ts'

type Write = (id: bigint) => string

const says =
  'id is an integer of 64 bits; a JSON number with no fraction is an integer, however it is written (the ' +
  'schema NewPlant)'
const taken = 'an id that is taken is refused with 409; the existing plant is never overwritten (createPlant, 409)'
const exact = 'id is an int64, and Location has the path of the plant (the schema NewPlant, createPlant and getPlant)'

/** No double has these ids. */
const spellings: readonly (readonly [how: string, write: Write])[] = [
  ['with a fraction of zero', (id) => `${id}.0`],
  ['with many zeros behind the point', (id) => `${id}.${'0'.repeat(20)}`],
  ['with an exponent', (id) => shifted(id, 'e3')],
  ['with an exponent in upper case', (id) => shifted(id, 'E3')],
  ['with a plus sign in its exponent', (id) => shifted(id, 'e+3')],
  ['with a negative exponent', (id) => `${id}0e-1`],
  ['with a leading zero in its exponent', (id) => shifted(id, 'e03')],
]

const fractions = ['.5', `.${'0'.repeat(30)}1`].map(
  (fraction): Write =>
    (id) =>
      `${id}${fraction}`,
)
const noIntegers: readonly Write[] = [...fractions, (id) => `"${id}"`, (id) => `[${id}]`]
const noNumbers: readonly Write[] = [
  (id) => String(id).replace(/(\d)/, '0$1'),
  (id) => `+${id}`,
  (id) => `${id}.`,
  (id) => `${id}e`,
  (id) => String(id).replace(/(\d)(\d{3})$/, '$1_$2'),
  (id) => `0x${(id < 0n ? -id : id).toString(16)}`,
]
const refused = [
  ['an id that is no integer is refused', 'invalidPlant', noIntegers],
  ['an id that is no number of JSON is refused', 'invalidJson', noNumbers],
] as const

/** Values that a faulty server could map to ids outside the range. */
const astray: readonly (readonly [what: string, literal: string, strays: readonly bigint[]])[] = [
  ['past the end of int64', String(int64Max + 1n), strayIds.tooLarge],
  ['before the beginning of int64', String(int64Min - 1n), strayIds.tooLarge],
  ['that is null', 'null', strayIds.zero],
  ['that is true', 'true', strayIds.one],
  ['that is an empty string', '""', strayIds.zero],
  ['that is an object', '{}', strayIds.zero],
]

export const int64Rows: readonly Row[] = [
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
  ...spellings.map(([how, write]) =>
    row(`an id written ${how}`, says, near(1), async (store, id) => {
      await store.send({ body: plantJson(write(id), 'n') }, isCreated({ id, name: 'n' }))
      await store.read({ id, name: 'n' })
    }),
  ),
  ...refused.map(([title, code, writes]) =>
    row(title, says, take(1), async (store, id) => {
      for (const write of writes) {
        const body = plantJson(write(id), strayName)
        await store.send({ body, isInvalid: code === 'invalidPlant' }, refusal(code))
      }
      await store.isMissing(id)
    }),
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

/** Writes the id as a thousandth with an exponent of 3. */
function shifted(id: bigint, exponent: string): string {
  const [sign, digits] = id < 0n ? ['-', String(-id)] : ['', String(id)]
  const padded = digits.padStart(4, '0')
  return `${sign}${padded.slice(0, -3)}.${padded.slice(-3)}${exponent}`
}
