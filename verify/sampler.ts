// Makes samples of schemas: values that are valid, as json.ts reads them.

import { decodeJson, type JsonValue, toJson } from './json.ts'
import { isSchema, type Judge, merged, propertiesOf, type Schema } from './schemas.ts'

/** Schemas may contain themselves. */
const depthMax = 8
const samplesMax = 500
const itemsMax = 100
const charactersMax = 65_536
const formats: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'sample@plants.example',
  hostname: 'plants.example',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://plants.example/',
  uuid: '0b9b8a6e-5b5e-4f4f-9a51-6a3f1f0c2d4e',
}

/**
 * @param document where references lead.
 * @returns a function that makes a sample of a schema: a value that the schema names, or else one within its bounds. It is
 * invalid if neither is found, such as for a pattern without an example.
 */
export function makeSampler(document: Schema, judge: Judge): (schema: Schema) => JsonValue {
  let count = 0
  const sampleOf = (schema: Schema, depth: number): JsonValue => {
    count += 1
    if (depth > depthMax || count > samplesMax) return null
    let first: JsonValue | undefined
    for (const value of valuesOf(schema, (inner) => sampleOf(inner, depth + 1))) {
      const sample = decodeJson(Buffer.from(toJson(value)))
      if (judge.whyNot(schema, sample, 'the sample') === undefined) return sample
      first ??= sample
    }
    return first ?? null
  }
  /** Values that may be valid, the best ones first. */
  function* valuesOf(schema: Schema, sample: (inner: Schema) => JsonValue): Generator<unknown, void, undefined> {
    const { anyOf, oneOf = anyOf, ...whole } = merged(document, schema)
    yield* namedIn(whole)
    for (const each of (oneOf ?? []) as readonly Schema[]) yield sample({ allOf: [whole, each] })
    for (const type of typesOf(whole)) {
      if (type === 'object') yield objectOf(schema, sample)
      else if (type === 'array') yield* arraysOf(whole, sample)
      else yield* scalarsOf(type, whole)
    }
  }
  const objectOf = (schema: Schema, sample: (inner: Schema) => JsonValue): object => {
    const properties = propertiesOf(document, schema).filter(({ isRequired }) => isRequired)
    return Object.fromEntries(properties.map(({ name, schema }) => [name, sample(schema)]))
  }
  return (schema) => {
    count = 0
    return sampleOf(schema, 0)
  }
}

function arraysOf(
  { minItems = 0, prefixItems = [], items }: Schema,
  sample: (inner: Schema) => JsonValue,
): readonly unknown[] {
  const first = prefixItems as readonly Schema[]
  const ofLength = (length: number): readonly JsonValue[] =>
    Array.from({ length: Math.min(length, itemsMax) }, (_, at) => sample(first[at] ?? (isSchema(items) ? items : {})))
  return [ofLength(Math.max(Number(minItems), 1)), ofLength(Number(minItems))]
}

/** The values that a schema names, the binding ones first. */
function namedIn({ const: only, enum: some = [], examples = [], example, default: usual }: Schema): readonly unknown[] {
  const all = [only, ...(some as readonly unknown[]), example, ...[examples].flat(), usual]
  return all.filter((value) => value !== undefined)
}

function typesOf({ type, properties, items, minimum, maximum }: Schema): readonly unknown[] {
  if (type !== undefined) return [type].flat()
  if (properties !== undefined) return ['object']
  if (items !== undefined) return ['array']
  return minimum === undefined && maximum === undefined ? ['string'] : ['number']
}

function scalarsOf(type: unknown, schema: Schema): readonly unknown[] {
  if (type === 'integer' || type === 'number') return numbersOf(schema)
  if (type === 'boolean') return [true, false]
  if (type === 'null') return [null]
  const { format, minLength = 0, maxLength = Infinity } = schema
  const text = formats[String(format)] ?? 'sample'.padEnd(Math.min(Number(minLength), charactersMax), 'e')
  return [text, text.slice(0, Number(maxLength))]
}

function numbersOf(schema: Schema): readonly unknown[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = 1 } = schema
  const least = Number(minimum ?? exclusiveMinimum ?? Number(maximum ?? exclusiveMaximum ?? 2) - 2)
  const most = Number(maximum ?? exclusiveMaximum ?? least + 2)
  const step = Number(multipleOf)
  const between = [1, (least + most) / 2, least + 1, most - 1]
  const multiples = [Math.ceil(least / step), Math.floor(most / step), Math.floor(least / step) + 1]
  const bounds = [minimum, maximum, exclusiveMinimum, exclusiveMaximum].filter((bound) => bound !== undefined)
  const exact = bounds.flatMap((bound) => (typeof bound === 'bigint' ? [bound, bound + 1n, bound - 1n] : [bound]))
  // Doubles beside a large bound are outside of it, which the judge does not see.
  return [...exact, ...between, ...multiples.map((each) => step * each)].filter((each) => Number.isFinite(Number(each)))
}
