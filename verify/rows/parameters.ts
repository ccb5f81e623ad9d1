// Parameters of every operation: values that their schemas do not allow, repeated ones and unknown ones are refused.

import { ok, refusal } from '../checks.ts'
import type { Operation, Parameter } from '../document.ts'
import { int64Max, int64Min } from '../ids.ts'
import type { JsonValue } from '../json.ts'
import type { Plants } from '../plant.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import type { Schema } from '../schemas.ts'
import { pathOf, prepare, requestOf, sendInEveryWay } from './operations.ts'

/** Texts that some programs accept as an integer with these digits. */
function oddIntegers(digits: string): readonly string[] {
  const around = ['#.0', '#.', '#e0', '0#', '+#', '--#', '#-', '#n', '#L', '#,0', '#;0', "'#'", '"#"']
  const spaced = ['#\n', '\n#', '# ', ' #', '#\t', '\t#']
  return [
    ...[...around, ...spaced].map((form) => form.replace('#', digits)),
    digits.replace(/(\d)(\d{3})$/, '$1_$2'),
    ...['０１２３４５６７８９', '٠١٢٣٤٥٦٧٨٩'].map((all) =>
      digits.replaceAll(/\d/g, (digit) => all.charAt(Number(digit))),
    ),
  ]
}
const noIntegers = ['ten', '', ' ', '1\0', '0x10', '0b1', '1.5', '.1', '-0', '1e3']
/** Values in a query that are not text. */
const broken = ['%ff', '%ed%a0%80', '%', '%zz']
const odd = [...['', ' ', 'a b', '\0', 'n\u00e4', 'x'], ...['"n', 'n"', 'W/x', '*, "x"', '"a" "b"']]

export function parameterRows({ plants }: Circumstances): readonly Row[] {
  const { operations } = plants.document
  return [
    ...operations.flatMap((operation) => queryRows(plants, operation)),
    ...operations.flatMap((operation) => headerRows(plants, operation)),
    ...operations.filter((each) => each.hasPlant).flatMap(pathRows),
  ]
}

function queryRows(plants: Plants, operation: Operation): readonly Row[] {
  const own = operation.parameters.filter(({ place }) => place === 'query')
  if (own.length === 0) return []
  const path = pathOf(operation, 0n)
  const all = plants.document.operations.flatMap(({ parameters }) => parameters)
  const others = all.filter(({ name, place }) => place === 'query' && own.every((each) => each.name !== name))
  const unknown = [
    ...['colour=green', 'colour', 'offset=1', 'page=2', 'sort=name', '=a'],
    ...new Set(others.map(({ name }) => `${name}=a`)),
    ...own.flatMap(({ name }) => [`${name[0]?.toUpperCase()}${name.slice(1)}=1`, `${name}%5B%5D=1`]),
  ]
  // Values that are allowed, with which lists are short.
  const known = own.map((each) => [each, String(each.example ?? plants.sampleOf(each.schema))] as const)
  const repeated = known.flatMap(([{ name }, value]) =>
    [value, '2'].map((other) => `${name}=${encodeURIComponent(value)}&${name}=${encodeURIComponent(other)}`),
  )
  const place = 'schemas/Error: invalidParameter'
  return [
    ...[...unknown, ...repeated, ...own.flatMap((parameter) => wrongQueries(plants, parameter))].map((query) =>
      row(`${operation.id}: the query ${query.slice(0, 40)} is refused`, place, (store) =>
        sendInEveryWay(store, operation, { target: `${path}?${query}` }, refusal('invalidParameter')),
      ),
    ),
    row(`${operation.id}: parameters within their bounds are served`, place, async (store) => {
      for (const [{ name, schema }, value] of known) {
        const { minimum = value, maximum = value, enum: all = [value] } = schema
        const values = new Set([minimum, ...(all as readonly unknown[]), ...(name === 'limit' ? [maximum] : [])])
        for (const each of values) await store.call('GET', `${path}?${name}=${encodeURIComponent(String(each))}`, ok)
      }
    }),
  ]
}

function wrongQueries(plants: Plants, { name, schema }: Parameter): readonly string[] {
  const bounds = [schema['minimum'], schema['maximum']].filter((bound) => typeof bound === 'bigint')
  const beyond = [int64Max + 1n, int64Min - 1n, ...bounds.flatMap((bound) => [bound - 1n, bound + 1n])]
  const named = (schema['enum'] ?? []) as readonly string[]
  const capitals = named.map((value) => `${value[0]?.toUpperCase()}${value.slice(1)}`)
  const values =
    schema['type'] === 'integer'
      ? [...oddIntegers('1000'), ...noIntegers, ...beyond.map(String)]
      : [...odd, tooLong(schema), ...capitals, named.join()]
  const wrong = [...new Set(values)].filter((value) => isWrong(plants, schema, value))
  return [...wrong.map((value) => `${name}=${encodeURIComponent(value)}`), ...broken.map((value) => `${name}=${value}`)]
}

function isWrong(plants: Plants, schema: Schema, text: string): boolean {
  const isInteger = schema['type'] === 'integer' && /^(?:0|-?[1-9]\d*)$/.test(text)
  const value: JsonValue = isInteger ? BigInt(text) : text
  // The schema validates a rounded number.
  if (isInteger && schema['format'] === 'int64') return BigInt.asIntN(64, value as bigint) !== value
  return plants.judge.whyNot(schema, value, 'the value') !== undefined
}

function tooLong({ maxLength = 299 }: Schema): string {
  return 'a'.repeat(Number(maxLength) + 1)
}

function headerRows(plants: Plants, operation: Operation): readonly Row[] {
  const own = operation.parameters.filter(({ place, schema }) => place === 'header' && schema['pattern'] !== undefined)
  return own.map(({ name, schema }) => {
    const values = [...odd.filter((value) => value !== '\0' && value.trim() === value), tooLong(schema)]
    const wrong = values.filter((value) => isWrong(plants, schema, value))
    // Only streams read this one.
    const accept = name === 'Last-Event-ID' ? { Accept: 'text/event-stream' } : {}
    return row(
      `${operation.id} refuses a ${name} that is not allowed`,
      'schemas/Error: invalidHeader',
      async (store, id) => {
        await prepare(store, operation, id)
        for (const value of wrong) {
          const headers = { [name]: Buffer.from(value).toString('latin1'), ...accept }
          const request = requestOf(operation, id, plants, { headers, isEnough: () => true })
          await store.send(request, refusal('invalidHeader'))
        }
        if (operation.hasPlant) await store.read({ id, name: 'n' })
      },
    )
  })
}

/** Any id that a faulty server could derive is in the range; a long one, clamped to int64, would be the greatest. */
function pathRows(operation: Operation): readonly Row[] {
  const long = operation.method === 'GET' ? [`${int64Max + 1n}`, `${int64Min - 1n}`, '9'.repeat(5_000), '-0'] : []
  const refuses = (title: string, isForProxies: boolean, write: (digits: string) => readonly string[]): Row =>
    row(`${operation.id} refuses ${title}`, { place: 'parameters/PlantId', isForProxies }, async (store, id) => {
      for (const text of write(String(id))) {
        const target = pathOf(operation, encodeURI(text))
        await store.send({ ...requestOf(operation, id, store.plants), target }, refusal('invalidParameter'))
      }
    })
  return [
    refuses('an id that is not allowed', false, (id) => [...oddIntegers(id), 'seven', ...long]),
    refuses('an id with NUL behind it', true, (id) => [`${id}\0`]),
  ]
}
