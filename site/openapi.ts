// The parts of the OpenAPI document, openapi.json, that the reference shows.

type Named<Value> = Readonly<Record<string, Value>>

export interface Api {
  readonly openapi: string
  readonly info: { readonly version: string; readonly description?: string }
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly security: readonly Security[]
  readonly paths: Named<Named<Operation>>
  readonly components: {
    readonly schemas: Named<Schema>
    readonly securitySchemes: Named<{ readonly scheme: string; readonly description?: string }>
    readonly parameters: Named<Parameter>
    readonly headers: Named<Header>
    readonly responses: Named<ApiResponse>
  }
}

/** The scopes that a token needs, by security scheme. */
export type Security = Named<readonly string[]>

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

export interface Header {
  readonly description?: string
  readonly required?: boolean
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Named<Example>
}

export interface Parameter extends Header {
  readonly name: string
  readonly in: string
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

/** The keywords that have a structure; the others are values. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string | undefined
  readonly examples?: readonly unknown[]
  readonly items?: Schema
  readonly properties?: Named<Schema>
  readonly required?: readonly string[]
  readonly allOf?: readonly Schema[]
  readonly [keyword: string]: unknown
}

/** A reference to a component. */
export interface Reference {
  readonly $ref: string
}

/** The operations of a tag that list it first, path by path. */
export function operationsOf({ paths }: Api, tag: string): PlacedOperation[] {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
  )
  return all.filter(({ tags }) => tags?.[0] === tag)
}

/** Returns a part of the document, following a reference to a component. */
export function resolve<Part extends object>(part: Part | Reference, components: Named<Part>): Part {
  if (!('$ref' in part)) return part
  const found = components[nameOf(part.$ref)]
  if (found === undefined) throw new Error(`there is no ${part.$ref}`)
  return found
}

/** The name of the component that a reference points to. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}
