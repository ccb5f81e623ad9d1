// Loads the OpenAPI document and indexes its operations: the only description of the API that the service uses.
// openapi.yaml is the source; the service reads openapi.json, which `npm run generate` makes from it.

import { readFileSync } from 'node:fs'
import { allScopes, type Scope } from '../domain/caller.ts'
import type { operations, webhooks } from './types.ts'

/** Of what the service answers. Those of `webhooks` it sends. */
export type OperationId = Exclude<keyof operations, keyof webhooks>

/** A JSON Schema of dialect 2020-12 with every reference resolved. */
export type Schema = { readonly [keyword: string]: unknown }

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

export interface Contract {
  /** The source document. */
  readonly yaml: string
  /** The document as JSON, with exact integers. */
  readonly json: string
  /** URLs. */
  readonly servers: readonly string[]
  readonly operations: readonly Operation[]
  /** The schema of every error body. */
  readonly errorSchema: Schema
}

const yamlUrl = new URL('../../openapi.yaml', import.meta.url)
const jsonUrl = new URL('../../openapi.json', import.meta.url)
const places = ['path', 'query', 'header'] as const
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** Reads the bundled document. */
export function loadContract(): Contract {
  return { ...readContract(readFileSync(jsonUrl, 'utf8')), yaml: readFileSync(yamlUrl, 'utf8') }
}

/** Indexes a document. Throws an Error that names what is missing. */
export function readContract(json: string): Omit<Contract, 'yaml'> {
  // This rounds large integers, but only examples of int64 have them, and nothing reads examples.
  const parsed: unknown = JSON.parse(json)
  const document = asObject(resolveReferences(parsed, parsed), 'the document')
  const operations = Object.entries(asObject(document['paths'], 'paths')).flatMap(([path, item]) =>
    Object.entries(asObject(item, path))
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => readOperation(document, method, path, asObject(operation, `${method} ${path}`))),
  )
  const schemas = asObject(asObject(document['components'], 'components')['schemas'], 'components.schemas')
  const servers = asArray(document['servers']).map((server) => asString(asObject(server, 'servers')['url'], 'url'))
  return { json, servers, operations, errorSchema: asObject(schemas['Error'], 'the schema Error') }
}

function readOperation(document: Schema, method: string, path: string, operation: Schema): Operation {
  const where = `${method} ${path}`
  const parameters = asArray(operation['parameters'] ?? []).map((parameter) => asObject(parameter, where))
  const body = operation['requestBody']
  const security = asArray(operation['security'] ?? document['security'])
  return {
    id: asString(operation['operationId'], `${where}: operationId`) as OperationId,
    method: method.toUpperCase(),
    path,
    scopes: readScopes(security, where),
    takesToken: security.length > 0,
    body: body === undefined ? undefined : readContent(body, where).get('application/json'),
    parameters: parameters.map((parameter) => readParameter(parameter, where)),
    responses: new Map(
      Object.entries(asObject(operation['responses'], `${where}: responses`)).map(([status, response]) => [
        Number(status),
        readResponse(response, `${where} ${status}`),
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

function readResponse(response: unknown, where: string): ResponseDescription {
  const headers = asObject(asObject(response, where)['headers'] ?? {}, where)
  return {
    headers: new Map(
      Object.entries(headers).map(([name, header]) => [name.toLowerCase(), readHeader(asObject(header, where), where)]),
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

/** Replaces every reference by its target. */
function resolveReferences(value: unknown, document: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, document))
  if (typeof value !== 'object' || value === null) return value
  if ('$ref' in value) {
    const target = asString(value.$ref, '$ref')
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, key) => asObject(at, String(value.$ref))[key], document)
    return resolveReferences(asObject(target, String(value.$ref)), document)
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveReferences(item, document)]))
}

function asObject(value: unknown, what: string): Schema {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`openapi.json: ${what} is not an object`)
  }
  return value as Schema
}

function asArray(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('openapi.json: an array was expected')
  return value
}

function asString(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`openapi.json: ${what} is not a string`)
  return value
}
