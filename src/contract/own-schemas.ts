// Copies the schema of a plant from a user's document (`--document`) into the server's document.

import { OperatorError } from '../domain/errors.ts'
import { toJson } from './plant.ts'
import {
  isSchema,
  mapSchema,
  type Property,
  partsOf,
  propertiesOf,
  referredBy,
  type Schema,
  schemasInPlace,
  targetOf,
} from './schemas.ts'

/** The keywords that are copied. Others have no effect or, like `$id`, would change what references mean. */
const keywords = new Set([
  ...['$ref', 'type', 'enum', 'const', 'title', 'description', 'default', 'examples', 'deprecated', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern'],
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'properties', 'required', 'patternProperties'],
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'minProperties', 'maxProperties'],
  ...['dependentSchemas', 'dependentRequired', 'items', 'prefixItems', 'contains', 'minContains', 'maxContains'],
  ...['unevaluatedItems', 'minItems', 'maxItems', 'uniqueItems', 'readOnly', 'writeOnly', 'contentEncoding'],
])
/** A schema with only these keywords requires no more than its properties do. */
const plain = ['type', 'title', 'description', 'required', 'properties', 'allOf', '$ref', 'examples', 'deprecated']

/**
 * The schemas Plant and NewPlant made from a user's document, and the schemas that they refer to.
 *
 * @param own the user's document, in which references are resolved.
 * @param root its schema for a new plant.
 * @param bundled the schemas of the server's document.
 * @param isOld whether the document is OpenAPI 3.0.
 * @throws OperatorError that says what is rejected.
 */
export function plantSchemas(own: Schema, root: Schema, bundled: Schema, isOld: boolean): Schema {
  const bundle = new Bundle(own, Object.keys(bundled), isOld)
  const theirs = bundle.take(root)
  const document = { components: { schemas: Object.fromEntries(bundle.schemas) } }
  const ended = new Set<Schema>()
  for (const schema of [theirs, ...bundle.schemas.values()]) assertEnds(document, schema, ended)
  const parts = partsOf(document, theirs)
  if (parts.some(({ type }) => type !== undefined && ![type].flat().includes('object'))) {
    throw new OperatorError('POST /plants: a plant must have the type object')
  }
  const { Plant: ours } = bundled as { readonly Plant: Schema }
  const [id, ...others] = limited(propertiesOf(document, theirs), ours['properties'] as Schema)
  const { title, description } = theirs
  const required = others.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  const says = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) }
  const plants = {
    Plant: {
      type: 'object',
      description: 'A plant without its id',
      required,
      properties: Object.fromEntries(others.map(({ name, schema }) => [name, schema])),
    },
    NewPlant: {
      description: 'A new plant, with its id',
      ...says,
      allOf: [
        { $ref: '#/components/schemas/Plant' },
        { type: 'object', required: ['id'], properties: { id: id?.schema } },
        ...(isPlain(parts) ? [] : [theirs]),
      ],
    },
  }
  return { ...reachedFrom(plants, bundle.schemas), ...plants }
}

/** The schemas that `from` refers to, directly or through others. */
function reachedFrom(from: unknown, schemas: ReadonlyMap<string, Schema>): Schema {
  const reached = new Map<string, Schema>()
  const visit = (value: unknown): void => {
    for (const [, name = ''] of toJson(value).matchAll(/"#\/components\/schemas\/([\w.-]+)"/g)) {
      const schema = schemas.get(name)
      if (schema === undefined || reached.has(name)) continue
      reached.set(name, schema)
      visit(schema)
    }
  }
  visit(from)
  return Object.fromEntries(reached)
}

class Bundle {
  readonly schemas = new Map<string, Schema>()
  readonly #own: Schema
  readonly #isOld: boolean
  readonly #taken: Set<string>
  /** By reference. */
  readonly #names = new Map<string, string>()

  constructor(own: Schema, taken: readonly string[], isOld: boolean) {
    this.#own = own
    this.#taken = new Set(taken)
    this.#isOld = isOld
  }

  /** Converts a schema for the server's document, and adds the schemas that it refers to. */
  take(schema: Schema): Schema {
    return mapSchema(schema, (each) => {
      const { $ref: reference, ...others } = this.#isOld ? upgrade(each) : each
      const unknown = ['$dynamicRef', '$recursiveRef'].find((keyword) => Object.hasOwn(others, keyword))
      if (unknown !== undefined) throw new OperatorError(`${unknown} is not supported; use $ref`)
      const kept = Object.fromEntries(Object.entries(others).filter(([keyword]) => keywords.has(keyword)))
      if (reference === undefined) return kept
      // OpenAPI 3.0 ignores the keywords beside a reference.
      return { ...(this.#isOld ? {} : kept), $ref: `#/components/schemas/${this.#nameOf(String(reference))}` }
    }) as Schema
  }

  #nameOf(reference: string): string {
    const known = this.#names.get(reference)
    if (known !== undefined) return known
    const name = this.#newName(reference)
    this.#names.set(reference, name)
    this.#taken.add(name)
    this.schemas.set(name, this.take(this.#find(reference)))
    return name
  }

  #newName(reference: string): string {
    const last = (reference.split('/').at(-1) ?? '').replaceAll(/[^\w.-]/g, '_') || 'Schema'
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? last : `${last}${number}`
      if (!this.#taken.has(name)) return name
    }
  }

  #find(reference: string): Schema {
    if (!reference.startsWith('#')) {
      throw new OperatorError(`$ref: ${JSON.stringify(reference)} points outside the document; nothing is fetched`)
    }
    const target = reference.startsWith('#/') ? targetOf(this.#own, reference) : undefined
    if (typeof target === 'boolean') return target ? {} : { not: {} }
    if (!isSchema(target)) throw new OperatorError(`$ref: there is no ${reference}`)
    return target
  }
}

/** Converts a schema from the dialect of OpenAPI 3.0, such as `nullable`. */
function upgrade({ nullable, example, ...schema }: Schema): Schema {
  const upgraded: Record<string, unknown> = { ...schema }
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue
    delete upgraded[exclusive]
    if (schema[exclusive] !== true || schema[bound] === undefined) continue
    upgraded[exclusive] = schema[bound]
    delete upgraded[bound]
  }
  if (example !== undefined) upgraded['examples'] = [example]
  if (nullable !== true || schema['type'] === undefined) return upgraded
  upgraded['type'] = [schema['type'], 'null']
  if (Array.isArray(schema['enum']) && !schema['enum'].includes(null)) upgraded['enum'] = [...schema['enum'], null]
  return upgraded
}

/** Rejects a schema that applies itself to the same value: validation would never end. */
function assertEnds(document: Schema, schema: Schema, ended: Set<Schema>, within = new Set<Schema>()): void {
  if (within.has(schema)) throw new OperatorError('$ref: a schema refers to itself endlessly')
  if (ended.has(schema)) return
  within.add(schema)
  for (const each of [referredBy(document, schema), ...schemasInPlace(schema)]) {
    if (isSchema(each)) assertEnds(document, each, ended, within)
  }
  within.delete(schema)
  ended.add(schema)
}

/** Whether a schema does nothing but declare properties, each once. */
function isPlain(parts: readonly Schema[]): boolean {
  const properties = parts.flatMap((part) => Object.entries((part['properties'] ?? {}) as Schema))
  const names = new Set(properties.map(([name]) => name))
  const isOwn = (property: unknown): boolean =>
    isSchema(property) && !Object.hasOwn(property, 'allOf') && !Object.hasOwn(property, '$ref')
  return (
    names.size === properties.length &&
    properties.every(([, property]) => isOwn(property)) &&
    parts.every((part) => Object.keys(part).every((keyword) => plain.includes(keyword)))
  )
}

/** Checks the properties, and adds the server's own limits to `id`, `name` and `tag`, which it reads itself. */
function limited(properties: readonly Property[], ours: Schema): readonly Property[] {
  const wrong = properties.find(({ name }) => !name.isWellFormed() || name.includes('\0'))
  if (wrong !== undefined) throw new OperatorError('the name of a property contains NUL or an unpaired surrogate')
  if (properties.some(({ name }) => name === 'etag')) {
    throw new OperatorError('a plant cannot have a property etag: the client keeps the ETag of a plant under this name')
  }
  for (const [needed, type] of Object.entries({ id: 'integer', name: 'string', tag: 'string' })) {
    const found = properties.find(({ name }) => name === needed)
    if (found === undefined && needed === 'tag') continue
    if (found === undefined) throw new OperatorError(`a plant must have the property ${needed}`)
    if (found.schema['type'] !== type) throw new OperatorError(`${needed}: must have the type ${type}`)
  }
  return properties.map(({ name, isRequired, schema }) => {
    if (name === 'id') return { name, isRequired: true, schema: { ...schema, format: 'int64' } }
    if (name !== 'name' && name !== 'tag') return { name, isRequired, schema }
    const { type: _, description: __, examples: ___, maxLength, ...texts } = ours[name] as Schema
    const bounded = { maxLength: Math.min(Number(maxLength), Number(schema['maxLength'] ?? maxLength)) }
    // With another pattern, `toPlants` still rejects NUL and unpaired surrogates.
    const limits = schema['pattern'] === undefined ? { ...texts, ...schema } : schema
    return { name, isRequired: isRequired || name === 'name', schema: { ...limits, ...bounded } }
  })
}
