// Indexes the operations of an OpenAPI document: the only description of the API that the service uses.

import { allScopes, type Scope } from '../domain/caller.ts'
import { isObject, propertiesOf, type Schema, targetOf } from './schemas.ts'
import type { operations, webhooks } from './types.ts'

/** The operations that the service answers. It sends those of `webhooks` itself. */
export type OperationId = Exclude<keyof operations, keyof webhooks>

export interface Parameter {
  readonly place: (typeof places)[number]
  /** As spelled in the document. */
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
}

export interface Operation {
  readonly id: OperationId
  /** Upper case. */
  readonly method: string
  /** The path template, with `{name}` for a parameter. */
  readonly path: string
  /** The scopes that a token needs; undefined if the operation needs no token. */
  readonly scopes: readonly Scope[] | undefined
  /** Whether a token identifies the caller if one is sent, even if none is needed. */
  readonly takesToken: boolean
  /** The schema of the application/json body; undefined if the operation takes none. */
  readonly body: Schema | undefined
  readonly parameters: readonly Parameter[]
  /** By status: schemas by media type, none without a body. */
  readonly responses: ReadonlyMap<number, ReadonlyMap<string, Schema>>
}

const places = ['path', 'query', 'header'] as const
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** An operation in a document, as far as it is read. The tests lint the document itself. */
interface Source {
  readonly operationId: OperationId
  readonly parameters?: readonly Schema[]
  readonly requestBody?: Schema
  readonly security?: Security | undefined
  readonly responses: Readonly<Record<string, Schema>>
}

type Security = readonly { readonly bearerAuth?: readonly string[] }[]

/** Indexes a document. Throws an Error that names what is missing. */
export function readDocument(document: Schema) {
  const { paths, security } = document as { readonly paths: object; readonly security?: Security }
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries<Source>(item)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => readOperation(document, method, path, { security, ...operation })),
  )
  return {
    document,
    operations,
    /** The properties of a plant, `id` first. */
    properties: propertiesOf(document, operations.find(({ id }) => id === 'createPlant')?.body ?? {}),
  }
}

function readOperation(document: Schema, method: string, path: string, operation: Source): Operation {
  const { operationId, parameters = [], requestBody, security = [], responses } = operation
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    scopes: readScopes(security, operationId),
    takesToken: security.length > 0,
    body: readContent(document, requestBody).get('application/json'),
    parameters: parameters.map((parameter) => readParameter(document, parameter)),
    responses: new Map(
      Object.entries(responses).map(([status, response]) => [Number(status), readContent(document, response)]),
    ),
  }
}

function readParameter(document: Schema, reference: Schema): Parameter {
  const parameter = follow(document, reference) as Omit<Parameter, 'place'> & { readonly in: string }
  const { in: where, name, required = false, schema } = parameter
  const place = places.find((known) => known === where)
  if (place === undefined) throw new Error(`the parameter ${name} is in ${where}`)
  return { place, name, required, schema }
}

function readContent(document: Schema, reference: Schema | undefined): ReadonlyMap<string, Schema> {
  type Described = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
  const { content = {} } = (follow(document, reference) ?? {}) as Described
  return new Map(Object.entries(content).map(([type, { schema }]) => [type, schema]))
}

/** The scopes of bearerAuth; undefined without a security requirement, or with `{}`, which makes it optional. */
function readScopes(security: Security, operation: string): readonly Scope[] | undefined {
  const [requirement] = security
  if (requirement === undefined || security.some((each) => Object.keys(each).length === 0)) return undefined
  return (requirement.bearerAuth ?? []).map((name) => {
    const scope = allScopes.find((known) => known === name)
    if (scope === undefined) throw new Error(`${operation}: the scope ${name} is unknown`)
    return scope
  })
}

/** Resolves a value that may be a reference. References within schemas stay, because they may be circular. */
export function follow(document: Schema, value: unknown): unknown {
  return isObject(value) && '$ref' in value ? follow(document, targetOf(document, value['$ref'])) : value
}
