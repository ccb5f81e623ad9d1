// JSON Schemas of dialect 2020-12 as values: their subschemas, and the properties that they declare.

import { OperatorError } from '../domain/errors.ts'

/** A JSON Schema. References lead into the document, such as `#/components/schemas/Plant`. */
export type Schema = { readonly [keyword: string]: unknown }

/** Keywords that contain schemas. `inPlace`: these schemas apply to the same value as the schema around them. */
const inPlace = {
  one: ['not', 'if', 'then', 'else'],
  list: ['allOf', 'anyOf', 'oneOf'],
  map: ['dependentSchemas'],
}
const within = {
  one: ['items', 'contains', 'additionalProperties', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties'],
  list: ['prefixItems'],
  map: ['properties', 'patternProperties', '$defs', 'definitions'],
}
const one = new Set([...inPlace.one, ...within.one])
const list = new Set([...inPlace.list, ...within.list])
const map = new Set([...inPlace.map, ...within.map])

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Applies `change` to a schema and all its subschemas, innermost first. Boolean schemas stay unchanged. */
export function mapSchema(schema: unknown, change: (schema: Schema) => Schema): unknown {
  if (!isSchema(schema)) return schema
  const go = (value: unknown): unknown => mapSchema(value, change)
  return change(
    Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => {
        if (one.has(keyword)) return [keyword, go(value)]
        if (list.has(keyword) && Array.isArray(value)) return [keyword, value.map(go)]
        if (!map.has(keyword) || !isSchema(value)) return [keyword, value]
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, go(each)]))]
      }),
    ),
  )
}

/** The schemas that apply to the same value: subschemas, and the target of a reference. */
export function schemasInPlace(document: unknown, schema: Schema): readonly Schema[] {
  return [
    ...('$ref' in schema ? [targetOf(document, schema['$ref'])] : []),
    ...inPlace.one.map((keyword) => schema[keyword]),
    ...inPlace.list.flatMap((keyword) => schema[keyword] ?? []),
    ...inPlace.map.flatMap((keyword) => Object.values(schema[keyword] ?? {})),
  ].filter(isSchema)
}

/**
 * The target of a reference such as `#/components/schemas/Plant`.
 *
 * @throws OperatorError if it points outside the document, or to nothing.
 */
export function targetOf(document: unknown, reference: unknown): unknown {
  const [start, ...keys] = String(reference).split('/')
  if (!start?.startsWith('#')) {
    throw new OperatorError(`$ref: ${JSON.stringify(reference)} points outside the document; nothing is fetched`)
  }
  const isPath = start === '#' && keys.length > 0
  const target = keys.reduce<unknown>((at, key) => {
    const name = decode(key).replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Schema)[name] : undefined
  }, document)
  if (isPath && target !== undefined) return target
  throw new OperatorError(`$ref: there is no ${reference}`)
}

function decode(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    // A percent sign that encodes nothing.
    return key
  }
}

export interface Property {
  readonly name: string
  readonly isRequired: boolean
  /** With references and `allOf` replaced by the keywords that they contribute. */
  readonly schema: Schema
}

/** The properties that a schema declares or requires, through references and `allOf`, `id` first. */
export function propertiesOf(document: unknown, schema: Schema): readonly Property[] {
  const parts = partsOf(document, schema)
  const required = new Set(parts.flatMap(({ required = [] }) => required as readonly string[]))
  const found = new Map<string, Schema>()
  for (const { properties = {} } of parts) {
    for (const [name, property] of Object.entries(properties as Schema)) {
      const ofProperty = isSchema(property) ? partsOf(document, property) : []
      const known = found.get(name)
      found.set(name, merge(known === undefined ? ofProperty : [known, ...ofProperty]))
    }
  }
  for (const name of required) if (!found.has(name)) found.set(name, {})
  const all = [...found].map(([name, each]) => ({ name, isRequired: required.has(name), schema: each }))
  return [...all.filter(({ name }) => name === 'id'), ...all.filter(({ name }) => name !== 'id')]
}

/** A schema after the schemas that it includes by reference and `allOf`, in order. */
export function partsOf(document: unknown, schema: Schema, known = new Set<Schema>()): readonly Schema[] {
  if (known.has(schema)) return []
  known.add(schema)
  const { $ref, allOf = [] } = schema as { readonly $ref?: string; readonly allOf?: readonly unknown[] }
  const parts = [...($ref === undefined ? [] : [targetOf(document, $ref)]), ...allOf].filter(isSchema)
  return [...parts.flatMap((part) => partsOf(document, part, known)), schema]
}

function merge(parts: readonly Schema[]): Schema {
  const { $ref: _, allOf: __, ...merged } = Object.fromEntries(parts.flatMap((part) => Object.entries(part))) as Schema
  return merged
}
