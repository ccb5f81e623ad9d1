// Indexes the operations of an OpenAPI document: the only description of the API that the service uses.

import { allScopes, type Scope } from '../domain/caller.ts'
import { isSchema, type Property, propertiesOf, type Schema, targetOf } from './schemas.ts'
import type { operations, webhooks } from './types.ts'

/** Of what the service answers. Those of `webhooks` it sends. */
export type OperationId = Exclude<keyof operations, keyof webhooks>

export interface HeaderDescription {
  readonly required: boolean
  readonly schema: Schema
}

export interface ResponseDescription {
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, HeaderDescription>
  /** By media type; empty when the response has no body. */
  readonly content: ReadonlyMap<string, Schema>
}

export interface Parameter extends HeaderDescription {
  readonly place: (typeof places)[number]
  /** As spelled in the document. */
  readonly name: string
}

export interface Operation {
  readonly id: OperationId
  /** Upper case. */
  readonly method: string
  /** The path template, with `{name}` for a parameter. */
  readonly path: string
  /** The scopes that a token needs; undefined if the operation needs no token. */
  readonly scopes: readonly Scope[] | undefined
  /** Whether a token that is sent says who asks, needed or not. */
  readonly takesToken: boolean
  /** The schema of the application/json body; undefined if the operation takes none. */
  readonly body: Schema | undefined
  readonly parameters: readonly Parameter[]
  /** By status. */
  readonly responses: ReadonlyMap<number, ResponseDescription>
}

/** What a document says. */
export interface Description {
  readonly document: Schema
  /** URLs. */
  readonly servers: readonly string[]
  readonly operations: readonly Operation[]
  /** The schema of every error body. */
  readonly errorSchema: Schema
  /** The properties of a plant, `id` first. */
  readonly properties: readonly Property[]
}

const places = ['path', 'query', 'header'] as const
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** Indexes a document. Throws an Error that names what is missing. */
export function readDocument(parsed: unknown): Description {
  const document = asObject(parsed, 'the document')
  const operations = Object.entries(asObject(document['paths'], 'paths')).flatMap(([path, item]) =>
    Object.entries(asObject(item, path))
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => readOperation(document, method, path, asObject(operation, `${method} ${path}`))),
  )
  const schemas = asObject(asObject(document['components'], 'components')['schemas'], 'components.schemas')
  const servers = asArray(document['servers']).map((server) => asString(asObject(server, 'servers')['url'], 'url'))
  const newPlant = operations.find(({ id }) => id === 'createPlant')?.body ?? {}
  return {
    document,
    servers,
    operations,
    errorSchema: asObject(schemas['Error'], 'the schema Error'),
    properties: propertiesOf(document, newPlant),
  }
}

function readOperation(document: Schema, method: string, path: string, operation: Schema): Operation {
  const where = `${method} ${path}`
  const parameters = asArray(operation['parameters'] ?? []).map((each) => asObject(follow(document, each), where))
  const body = operation['requestBody']
  const security = asArray(operation['security'] ?? document['security'])
  return {
    id: asString(operation['operationId'], `${where}: operationId`) as OperationId,
    method: method.toUpperCase(),
    path,
    scopes: readScopes(security, where),
    takesToken: security.length > 0,
    body: body === undefined ? undefined : readContent(follow(document, body), where).get('application/json'),
    parameters: parameters.map((parameter) => readParameter(parameter, where)),
    responses: new Map(
      Object.entries(asObject(operation['responses'], `${where}: responses`)).map(([status, response]) => [
        Number(status),
        readResponse(document, response, `${where} ${status}`),
      ]),
    ),
  }
}

function readParameter(parameter: Schema, where: string): Parameter {
  const name = asString(parameter['name'], `${where}: name`)
  const place = places.find((known) => known === parameter['in'])
  if (place === undefined) throw new Error(`${where}: the parameter ${name} is in ${parameter['in']}`)
  return { ...readHeader(parameter, where), place, name }
}

/** The scopes of bearerAuth; undefined if the operation has no security requirement, or `{}`, which makes it optional. */
function readScopes(security: readonly unknown[], where: string): readonly Scope[] | undefined {
  const requirements = security.map((requirement) => asObject(requirement, `${where}: security`))
  if (requirements.length === 0 || requirements.some((each) => Object.keys(each).length === 0)) return undefined
  if (requirements.length > 1) throw new Error(`${where}: one security requirement is understood, not alternatives`)
  const names = asArray(requirements[0]?.['bearerAuth'])
  return names.map((name) => {
    const scope = allScopes.find((known) => known === name)
    if (scope === undefined) throw new Error(`${where}: the scope ${name} is unknown`)
    return scope
  })
}

function readResponse(document: Schema, reference: unknown, where: string): ResponseDescription {
  const response = asObject(follow(document, reference), where)
  const headers = asObject(response['headers'] ?? {}, where)
  return {
    headers: new Map(
      Object.entries(headers).map(([name, header]) => [
        name.toLowerCase(),
        readHeader(asObject(follow(document, header), where), where),
      ]),
    ),
    content: readContent(response, where),
  }
}

function readHeader(header: Schema, where: string): HeaderDescription {
  return { required: header['required'] === true, schema: asObject(header['schema'], where) }
}

function readContent(holder: unknown, where: string): ReadonlyMap<string, Schema> {
  const content = asObject(asObject(holder, where)['content'] ?? {}, where)
  return new Map(
    Object.entries(content).map(([type, media]) => [type, asObject(asObject(media, where)['schema'], where)]),
  )
}

/** What a value is that may be a reference. Schemas keep theirs, which may lead round. */
function follow(document: Schema, value: unknown): unknown {
  if (!isSchema(value) || !('$ref' in value)) return value
  const reference = asString(value['$ref'], '$ref')
  return follow(document, asObject(targetOf(document, reference), reference))
}

function asObject(value: unknown, what: string): Schema {
  if (!isSchema(value)) throw new Error(`openapi.json: ${what} is not an object`)
  return value
}

function asArray(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('openapi.json: an array was expected')
  return value
}

function asString(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`openapi.json: ${what} is not a string`)
  return value
}
