// JSON Schemas of a document: their parts, and whether a value is valid.

import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonValue } from './json.ts'

/** References lead into the document, such as `#/components/schemas/Plant`. */
export type Schema = { readonly [keyword: string]: unknown }

export interface Property {
  readonly name: string
  readonly isRequired: boolean
  /** Its schemas, merged into one. */
  readonly schema: Schema
}

const documentName = 'document'

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value of the document, or the one that it refers to; empty if there is none. */
export function follow(document: unknown, value: unknown): Schema {
  if (!isSchema(value)) return {}
  const reference = value['$ref']
  if (typeof reference !== 'string') return value
  const [, ...keys] = reference.split('/')
  const found = keys.reduce<unknown>((at, key) => {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Schema)[name] : undefined
  }, document)
  return isSchema(found) ? found : {}
}

/** A schema and its parts by references and `allOf`, in order. */
export function partsOf(document: unknown, schema: Schema, known = new Set<Schema>()): readonly Schema[] {
  if (known.has(schema)) return []
  known.add(schema)
  const target = typeof schema['$ref'] === 'string' ? [follow(document, schema)] : []
  const parts = [...target, ...((schema['allOf'] ?? []) as readonly unknown[])].filter(isSchema)
  return [...parts.flatMap((part) => partsOf(document, part, known)), schema]
}

/** The properties that a schema declares or requires, through references and `allOf`. */
export function propertiesOf(document: unknown, schema: Schema): readonly Property[] {
  const parts = partsOf(document, schema)
  const required = new Set(parts.flatMap((part) => (part['required'] ?? []) as readonly string[]))
  const declared = parts.flatMap((part) => Object.entries((part['properties'] ?? {}) as Schema))
  const byName = Map.groupBy(declared, ([name]) => name)
  const names = new Set([...byName.keys(), ...required])
  return [...names].map((name) => ({
    name,
    isRequired: required.has(name),
    schema: { allOf: (byName.get(name) ?? []).map(([, each]) => each) },
  }))
}

/** A schema and its parts, merged into one object. */
export function merged(document: unknown, schema: Schema): Schema {
  const entries = partsOf(document, schema).flatMap((part) => Object.entries(part))
  const { $ref: _, allOf: __, ...rest } = Object.fromEntries(entries)
  return rest
}

/** Validates values by schemas. Returns what is wrong with a value; undefined for a valid one. */
export class Judge {
  readonly #ajv = new Ajv2020({
    strict: false,
    logger: false,
    validateSchema: false,
    ownProperties: true,
    multipleOfPrecision: 6,
  })
  readonly #compiled = new WeakMap<Schema, ValidateFunction>()

  /** @param document where references lead. */
  constructor(document: Schema) {
    addFormats.default(this.#ajv)
    // No pattern for text without unpaired surrogates works in every tool.
    const isWellFormed = (isWanted: boolean, text: string): boolean => !isWanted || text.isWellFormed()
    this.#ajv.addKeyword({ keyword: 'x-wellFormed', type: 'string', validate: isWellFormed })
    this.#ajv.addSchema(forAjv(document) as Schema, documentName)
  }

  /** @param subject the name of the whole value, such as `the body`. */
  whyNot(schema: Schema, value: JsonValue, subject: string): string | undefined {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(forAjv(schema) as Schema)
    this.#compiled.set(schema, validate)
    if (validate(withNumbers(value))) return undefined
    const [{ instancePath, message } = { instancePath: '', message: 'it is not valid' }] = validate.errors ?? []
    return `${instancePath.slice(1).replaceAll('/', '.') || subject}: ${message}`
  }
}

/** Ajv does not support bigints. Ids are compared with all their digits elsewhere. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(withNumbers)
  if (!isSchema(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNumbers(each)]))
}

function forAjv(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(forAjv)
  if (!isSchema(value)) return withNumbers(value)
  const entries = Object.entries(value).map(([key, each]) => {
    const isReference = key === '$ref' && typeof each === 'string'
    return [key, isReference ? `${documentName}${each}` : forAjv(each)]
  })
  return Object.fromEntries(entries)
}
