// JSON Schemas of dialect 2020-12 as values: their subschemas, and the properties that they declare.

import { OperatorError } from '../domain/errors.ts'

/** A JSON Schema. References lead into the document, such as `#/components/schemas/Plant`. */
export type Schema = { readonly [keyword: string]: unknown }

/** Keywords whose schemas, one or a list, apply to the same value as the schema around them. */
const inPlace = ['not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf']
const within = ['items', 'prefixItems', 'contains', 'additionalProperties', 'propertyNames', 'unevaluatedItems']
const nested = new Set([...inPlace, ...within, 'unevaluatedProperties'])
const named = new Set(['properties', 'patternProperties', 'dependentSchemas'])

export function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function mapValues(object: object, change: (value: unknown, key: string) => unknown): Schema {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}

/** Applies `change` to a schema, or to a list, and all subschemas, innermost first. Boolean schemas stay unchanged. */
export function mapSchema(schema: unknown, change: (schema: Schema) => Schema): unknown {
  const go = (value: unknown): unknown => mapSchema(value, change)
  if (Array.isArray(schema)) return schema.map(go)
  if (!isObject(schema)) return schema
  const mapped = mapValues(schema, (value, keyword) => {
    if (nested.has(keyword)) return go(value)
    return named.has(keyword) && isObject(value) ? mapValues(value, go) : value
  })
  return change(mapped)
}

/** The schemas that apply to the same value: subschemas, and the target of a reference. */
export function schemasInPlace(document: unknown, schema: Schema): readonly Schema[] {
  return [
    ...('$ref' in schema ? [targetOf(document, schema['$ref'])] : []),
    ...inPlace.flatMap((keyword) => schema[keyword] ?? []),
    ...Object.values(schema['dependentSchemas'] ?? {}),
  ].filter(isObject)
}

/** The target of a reference. Throws OperatorError if it points outside the document, or to nothing. */
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
      const ofProperty = isObject(property) ? partsOf(document, property) : []
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
  const parts = [...($ref === undefined ? [] : [targetOf(document, $ref)]), ...allOf].filter(isObject)
  return [...parts.flatMap((part) => partsOf(document, part, known)), schema]
}

function merge(parts: readonly Schema[]): Schema {
  const { $ref: _, allOf: __, ...merged } = Object.fromEntries(parts.flatMap((part) => Object.entries(part))) as Schema
  return merged
}
