// The parts of the OpenAPI document, openapi.json, that the pages read.

type Named<Value> = Readonly<Record<string, Value>>

export interface Api {
  readonly openapi: string
  readonly info: { readonly version: string; readonly description?: string }
  readonly tags: readonly Tag[]
  readonly security: readonly Security[]
  readonly paths: Named<PathItem>
  readonly components: {
    readonly schemas: Named<Schema>
    readonly securitySchemes: Named<{ readonly scheme: string; readonly description?: string }>
    readonly parameters: Named<Parameter>
    readonly headers: Named<Header>
    readonly responses: Named<ApiResponse>
  }
}

interface Tag {
  readonly name: string
  readonly description?: string
}

/** The scopes that a token needs, by security scheme. */
export type Security = Named<readonly string[]>

type PathItem = { readonly [Method in (typeof methods)[number]]?: Operation }

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Security[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly description?: string; readonly content: Content }
  readonly responses: Named<ApiResponse | Reference>
}

/** An operation with its path and method. */
export interface PlacedOperation extends Operation {
  readonly method: string
  readonly path: string
}

export interface Group extends Tag {
  readonly operations: readonly PlacedOperation[]
}

export interface Parameter extends Header {
  readonly name: string
  readonly in: string
}

export interface Header {
  readonly description?: string
  readonly required?: boolean
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Named<Example>
}

export interface ApiResponse {
  readonly description: string
  readonly headers?: Named<Header | Reference>
  readonly content?: Content
}

/** Bodies by media type. */
export type Content = Named<{ readonly schema?: Schema; readonly examples?: Named<Example> }>

interface Example {
  readonly summary?: string
  readonly value: unknown
}

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string | undefined
  readonly pattern?: string
  readonly minimum?: number | bigint
  readonly maximum?: number | bigint
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly default?: unknown
  readonly const?: unknown
  readonly examples?: readonly unknown[]
  readonly items?: Schema
  readonly properties?: Named<Schema>
  readonly required?: readonly string[]
  readonly allOf?: readonly Schema[]
}

/** A reference to a component. */
export interface Reference {
  readonly $ref: string
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

const parts = ['info', 'tags', 'security', 'paths', 'components'] as const

/** Whether a value looks like the document, judged by its main parts. Tests check the details. */
export function isApi(value: unknown): value is Api {
  if (typeof value !== 'object' || value === null) return false
  const found: Partial<Record<(typeof parts)[number], unknown>> = value
  return parts.every((part) => typeof found[part] === 'object' && found[part] !== null)
}

/** Returns all operations, path by path. */
function operationsOf(api: Api): PlacedOperation[] {
  return Object.entries(api.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [{ ...operation, method, path }]
    }),
  )
}

/** Returns the tags, each with the operations that list it first. */
export function groupsOf(api: Api): Group[] {
  const operations = operationsOf(api)
  return api.tags.map((tag) => ({ ...tag, operations: operations.filter(({ tags }) => tags[0] === tag.name) }))
}

/** Returns a part of the document, following a reference to a component. */
export function resolve<Part extends object>(part: Part | Reference, components: Named<Part>): Part {
  if (!isReference(part)) return part
  const found = components[nameOf(part.$ref)]
  if (found === undefined) throw new Error(`there is no ${part.$ref}`)
  return found
}

/** The name of the component that a reference points to. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

function isReference(part: object): part is Reference {
  return '$ref' in part
}
