// Copies the schema of a plant from a user's document (`--document`) into the server's document.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { OperatorError } from '../domain/errors.ts'
import { toJson } from './plant.ts'
import {
  isObject,
  mapSchema,
  type Property,
  partsOf,
  propertiesOf,
  type Schema,
  schemasInPlace,
  targetOf,
} from './schemas.ts'

/** Compiles its meta-schema at the first use, for several milliseconds. */
const metaSchema = new Ajv2020({ strict: false, logger: false })
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
 * @throws OperatorError that says what is rejected.
 */
export function plantSchemas(own: Schema, root: Schema, bundled: Schema): Schema {
  const copied = new Map<string, Schema>()
  const theirs = copySchemas(own, root, bundled, copied)
  const document = { components: { schemas: Object.fromEntries(copied) } }
  const ended = new Set<Schema>()
  for (const schema of [theirs, ...copied.values()].filter(isObject)) assertEnds(document, schema, ended)
  const parts = partsOf(document, theirs)
  if (parts.some(({ type }) => type !== undefined && ![type].flat().includes('object'))) {
    throw new OperatorError('POST /plants: a plant must have the type object')
  }
  const { Plant: ours } = bundled as { readonly Plant: Schema }
  const [id, ...others] = limited(propertiesOf(document, theirs), ours['properties'] as Schema)
  const { title, description } = theirs
  const plants = {
    Plant: {
      type: 'object',
      description: 'A plant without its id',
      required: others.filter(({ isRequired }) => isRequired).map(({ name }) => name),
      properties: Object.fromEntries(others.map(({ name, schema }) => [name, schema])),
    },
    NewPlant: {
      ...(title !== undefined && { title }),
      description: description ?? 'A new plant, with its id',
      allOf: [
        { $ref: '#/components/schemas/Plant' },
        { type: 'object', required: ['id'], properties: { id: id?.schema } },
        ...(isPlain(parts) ? [] : [theirs]),
      ],
    },
  }
  return { ...reachedFrom(plants, copied), ...plants }
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

/** Converts a schema. @param copied receives the schemas that it refers to, under names that are free in `bundled`. */
function copySchemas(own: Schema, root: Schema, bundled: Schema, copied: Map<string, Schema>): Schema {
  const isOld = !String(own['openapi']).startsWith('3.1')
  const taken = new Set(Object.keys(bundled))
  const nameOfReference = new Map<string, string>()
  return copy(root, 'POST /plants: ')

  function copy(source: unknown, place: string): Schema {
    const schema = mapSchema(source, (each) => {
      const { $ref, ...others } = isOld ? upgrade(each) : each
      const unknown = ['$dynamicRef', '$recursiveRef'].find((keyword) => Object.hasOwn(others, keyword))
      if (unknown !== undefined) throw new OperatorError(`${unknown} is not supported; use $ref`)
      const kept = Object.fromEntries(Object.entries(others).filter(([keyword]) => keywords.has(keyword)))
      if ($ref === undefined) return kept
      // OpenAPI 3.0 ignores the keywords beside a reference.
      return { ...(isOld ? {} : kept), $ref: `#/components/schemas/${copyTarget(String($ref))}` }
    })
    // The meta-schema does not accept bigints.
    if (metaSchema.validateSchema({ not: JSON.parse(toJson(schema)) }) === true) return schema as Schema
    const { instancePath = '', message, params } = metaSchema.errors?.[0] ?? {}
    const allowed: readonly string[] | undefined = params?.['allowedValues']
    const why = `${message}${allowed === undefined ? '' : `: ${allowed.join(', ')}`}`
    throw new OperatorError(`${place}${instancePath.replace('/not', '')} ${why}`)
  }

  function copyTarget(reference: string): string {
    const known = nameOfReference.get(reference)
    if (known !== undefined) return known
    const last = (reference.split('/').at(-1) ?? '').replaceAll(/[^\w.-]/g, '_') || 'Schema'
    let name = last
    for (let number = 2; taken.has(name); number += 1) name = `${last}${number}`
    taken.add(name)
    nameOfReference.set(reference, name)
    copied.set(name, copy(targetOf(own, reference), reference))
    return name
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
  // It only adds a type: an `enum` without null still rejects null (OpenAPI 3.0.3, "nullable").
  if (nullable === true && schema['type'] !== undefined) upgraded['type'] = [schema['type'], 'null']
  return upgraded
}

/** Rejects a schema that applies itself to the same value: validation would never end. */
function assertEnds(document: Schema, schema: Schema, ended: Set<Schema>, within = new Set<Schema>()): void {
  if (within.has(schema)) throw new OperatorError('$ref: a schema refers to itself endlessly')
  if (ended.has(schema)) return
  within.add(schema)
  for (const each of schemasInPlace(document, schema)) assertEnds(document, each, ended, within)
  within.delete(schema)
  ended.add(schema)
}

/** Whether a schema does nothing but declare properties, each once. */
function isPlain(parts: readonly Schema[]): boolean {
  const properties = parts.flatMap(({ properties = {} }) => Object.entries(properties as Schema))
  const names = new Set(properties.map(([name]) => name))
  const isOwn = (property: unknown): boolean =>
    isObject(property) && !Object.hasOwn(property, 'allOf') && !Object.hasOwn(property, '$ref')
  return (
    names.size === properties.length &&
    properties.every(([, property]) => isOwn(property)) &&
    parts.every((part) => Object.keys(part).every((keyword) => plain.includes(keyword)))
  )
}

/** Checks the properties, and adds the server's own limits to `id`, `name` and `tag`, which it reads itself. */
function limited(properties: readonly Property[], ours: Schema): readonly Property[] {
  if (properties.some(({ name }) => !name.isWellFormed() || name.includes('\0'))) {
    throw new OperatorError('the name of a property contains NUL or an unpaired surrogate')
  }
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
    const format = schema['format'] === 'int32' ? 'int32' : 'int64'
    if (name === 'id') return { name, isRequired: true, schema: { ...schema, format } }
    if (name !== 'name' && name !== 'tag') return { name, isRequired, schema }
    const { type: _, description: __, examples: ___, maxLength, ...texts } = ours[name] as Schema
    const bounded = { maxLength: Math.min(Number(maxLength), Number(schema['maxLength'] ?? maxLength)) }
    // With another pattern, `toPlants` still rejects NUL and unpaired surrogates.
    const limits = schema['pattern'] === undefined ? { ...texts, ...schema } : schema
    return { name, isRequired: isRequired || name === 'name', schema: { ...limits, ...bounded } }
  })
}
