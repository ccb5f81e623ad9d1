// The document by which servers are judged: the bundled one, or one of a server's own, whose plants take the place of the
// bundled ones.

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { decodeJson } from './json.ts'
import { follow, isSchema, Judge, merged, type Property, partsOf, propertiesOf, type Schema } from './schemas.ts'

export interface Parameter {
  readonly name: string
  readonly place: string
  readonly schema: Schema
  readonly example: unknown
}

export interface ResponseDescription {
  readonly headers: readonly { readonly name: string; readonly isRequired: boolean; readonly schema: Schema }[]
  /** By media type; empty when the response has no body. */
  readonly content: ReadonlyMap<string, Schema>
}

export interface Operation {
  readonly id: string
  /** Upper case. */
  readonly method: string
  readonly path: string
  /** Matches its targets without their queries. */
  readonly pattern: RegExp
  /** The scopes that a token needs; undefined if the operation needs no token. */
  readonly scopes: readonly string[] | undefined
  /** Whether a token is read if it is sent, needed or not. */
  readonly takesToken: boolean
  /** The schema of the application/json body; undefined if the operation takes none. */
  readonly body: Schema | undefined
  readonly parameters: readonly Parameter[]
  /** The media types of a 200. */
  readonly types: readonly string[]
  /** Whether the path has the id of a plant. */
  readonly hasPlant: boolean
  /** The first status that succeeds. */
  readonly doneStatus: number
  /** By status. */
  readonly responses: ReadonlyMap<number, ResponseDescription>
}

export interface Document {
  readonly root: Schema
  readonly isBundled: boolean
  readonly operations: readonly Operation[]
  /** Error numbers by their names. */
  readonly errors: ReadonlyMap<string, number>
  /** The schema of a plant with its id, and its properties. */
  readonly plant: Schema
  readonly properties: readonly Property[]
  /** Validates values by its schemas. */
  readonly judge: Judge
}

/** A document that cannot be used. The message says why. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']
/** In a build, verify/ is dist/verify/. */
const bundledUrl = new URL(import.meta.url.endsWith('.ts') ? '../openapi.json' : '../../openapi.json', import.meta.url)

let bundled: Document | undefined

/** Reads the document of a file, or the bundled one. Throws DocumentError. */
export function openDocument(file?: string): Document {
  bundled ??= indexDocument(decodeJson(readFileSync(bundledUrl)) as Schema, true)
  if (file === undefined) return bundled
  try {
    const own: unknown = parse(readFileSync(file, 'utf8'), { intAsBigInt: true, merge: true, logLevel: 'error' })
    if (!isSchema(own) || !/^3(?:\.[01](?:\.|$)|$)/.test(String(own['openapi'])))
      throw new DocumentError('is not an OpenAPI document of version 3.0 or 3.1')
    return indexDocument(withPlantsOf(bundled.root, own), false)
  } catch (cause) {
    const { message, syscall } = cause as NodeJS.ErrnoException
    const [why] = message.split('\n')
    throw new DocumentError(`${file}: ${syscall === undefined ? '' : 'cannot be read: '}${why}`, { cause })
  }
}

/** Exported for tests: a document with further operations. */
export function indexDocument(root: Schema, isBundled: boolean): Document {
  const operations = Object.entries(root['paths'] as Schema).flatMap(([path, item]) =>
    Object.entries(item as Schema)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => readOperation(root, method, path, operation as Schema)),
  )
  const error = follow(root, { $ref: '#/components/schemas/Error' })
  const table = String(error['description']).matchAll(/^\| (\d+) \| (\w+) \|/gm)
  const plant = operations.find(({ id }) => id === 'createPlant')?.body ?? {}
  return {
    root,
    isBundled,
    operations,
    errors: new Map([...table].map(([, number, name = '']) => [name, Number(number)])),
    plant,
    properties: propertiesOf(root, plant),
    judge: new Judge(root),
  }
}

/**
 * What a document says at a place, with the place: of an operation (`createPlant`), its response (`createPlant 409`), a
 * component (`schemas/Plant`), or all (`info`). Behind a colon are words of the sentence that is meant.
 */
export function quote(root: Schema, place: string): string {
  const [where = '', words = ''] = place.split(': ')
  const [name, status = ''] = where.split(' ')
  const operations = Object.values(root['paths'] as Schema).flatMap((item) => Object.values(item as Schema))
  const operation = (operations as readonly Schema[]).find((each) => each['operationId'] === name)
  const component = name === 'info' ? root['info'] : follow(root, { $ref: `#/components/${where}` })
  const response = (operation?.['responses'] as Schema | undefined)?.[status]
  const { description } = follow(root, status === '' ? (operation ?? component) : response)
  const sentences = String(description ?? '')
    .replaceAll(/^#.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(?<=\.) (?:\| )*/)
    .filter((sentence) => sentence.includes(words))
  if (sentences.length === 0 || description === undefined) throw new TypeError(`the document has nothing at ${place}`)
  return `${words === '' ? sentences.join(' ') : sentences[0]} (${where})`
}

function readOperation(root: Schema, method: string, path: string, operation: Schema): Operation {
  const security = (operation['security'] ?? root['security'] ?? []) as readonly Schema[]
  const isOpen = security.length === 0 || security.some((each) => Object.keys(each).length === 0)
  const responses = Object.entries(operation['responses'] as Schema).map(([status, response]) => {
    const described = follow(root, response)
    const headers = Object.entries((described['headers'] ?? {}) as Schema).map(([name, header]) => {
      const { required, schema } = follow(root, header)
      return { name, isRequired: required === true, schema: (schema ?? {}) as Schema }
    })
    return [Number(status), { headers, content: contentOf(described) }] as const
  })
  const parameters = ((operation['parameters'] ?? []) as readonly unknown[]).map((each) => {
    const { name, in: place, schema, example } = follow(root, each)
    return { name: String(name), place: String(place), schema: (schema ?? {}) as Schema, example }
  })
  return {
    id: String(operation['operationId']),
    method: method.toUpperCase(),
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    scopes: isOpen ? undefined : security.flatMap((each) => Object.values(each).flat() as string[]),
    takesToken: security.length > 0,
    body: contentOf(follow(root, operation['requestBody'])).get('application/json'),
    parameters,
    hasPlant: parameters.some(({ place, schema }) => place === 'path' && schema['type'] === 'integer'),
    doneStatus: responses.map(([status]) => status).find((status) => status < 300) ?? 200,
    types: [...(new Map(responses).get(200)?.content.keys() ?? [])],
    responses: new Map(responses),
  }
}

function contentOf({ content }: Schema): ReadonlyMap<string, Schema> {
  const types = Object.entries((content ?? {}) as Schema)
  return new Map(types.map(([type, each]) => [type.toLowerCase(), ((each as Schema)['schema'] ?? {}) as Schema]))
}

/** The bundled document with the plants of another one, which it contains as a whole, under `own`. */
function withPlantsOf(bundled: Schema, own: Schema): Schema {
  const isOld = String(own['openapi']).startsWith('3.0')
  const root = { ...bundled, own: adopt(own, isOld) }
  const post = follow(root, ((root.own as Schema)['paths'] as Schema | undefined)?.['/plants'])['post']
  const theirs = contentOf(follow(root, follow(root, post)['requestBody'])).get('application/json')
  if (theirs === undefined) throw new DocumentError('has no POST /plants with a body of application/json')
  const properties = propertiesOf(root, theirs).filter(({ name }) => name !== 'id')
  const { Plant: ours, NewPlant: _, ...others } = (bundled['components'] as Schema)['schemas'] as Schema
  const texts = (ours as Schema)['properties'] as Schema
  const known = properties.map(({ name, schema }) => [name, limited(root, name, schema, texts)] as const)
  const Plant = {
    type: 'object',
    required: ['name', ...properties.filter(({ isRequired }) => isRequired).map(({ name }) => name)],
    properties: Object.fromEntries(known),
  }
  const id = { type: 'integer', format: 'int64' }
  const NewPlant = { allOf: [theirs, Plant, { type: 'object', required: ['id'], properties: { id } }] }
  const schemas = { ...others, Plant, NewPlant }
  return { ...root, components: { ...(bundled['components'] as Schema), schemas } }
}

/** Every server limits the name and the tag. */
function limited(root: Schema, name: string, schema: Schema, texts: Schema): Schema {
  const ours = texts[name]
  if (!isSchema(ours)) return schema
  const { description: _, examples: __, pattern, ...limits } = ours
  const isOwn = partsOf(root, schema).some((part) => part['pattern'] !== undefined)
  const most = Math.min(Number(ours['maxLength']), Number(merged(root, schema)['maxLength'] ?? Infinity))
  return { allOf: [schema, { ...limits, ...(!isOwn && { pattern }), maxLength: most }] }
}

/** References lead to `own`; OpenAPI 3.0 has a dialect of its own. */
function adopt(value: unknown, isOld: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => adopt(each, isOld))
  if (!isSchema(value)) return value
  const { $ref: reference, ...others } = isOld ? upgrade(value) : value
  const present = Object.entries(others).filter(([, each]) => each !== undefined)
  const entries = present.map(([key, each]) => [key, adopt(each, isOld)])
  if (typeof reference !== 'string') return Object.fromEntries(entries)
  if (!reference.startsWith('#/'))
    throw new DocumentError(`$ref: ${JSON.stringify(reference)} leads out of the document`)
  return { ...(isOld ? {} : Object.fromEntries(entries)), $ref: `#/own${reference.slice(1)}` }
}

function upgrade({ nullable, example, ...schema }: Schema): Schema {
  const { type } = schema
  const bounded = (bound: string, exclusive: string): Schema => {
    if (typeof schema[exclusive] !== 'boolean') return {}
    return schema[exclusive] ? { [exclusive]: schema[bound], [bound]: undefined } : { [exclusive]: undefined }
  }
  return {
    ...schema,
    ...bounded('minimum', 'exclusiveMinimum'),
    ...bounded('maximum', 'exclusiveMaximum'),
    ...(example !== undefined && { examples: [example] }),
    ...(nullable === true && type !== undefined && { type: [type, 'null'].flat() }),
  }
}
