// Finds the operations of a target by the paths of the document.

import type { Operation, OperationId } from '../contract/document.ts'
import { AppError } from '../domain/errors.ts'
import type { ReadInput } from './input.ts'
import type { Answer, Call, Input } from './operations.ts'

/** Methods that the service knows, on any path; others get 501. */
const knownMethods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE']

/** An operation of the document, with the functions compiled for it. */
export interface Endpoint {
  readonly operation: Operation
  /** Whether its answer is a list, which may be long. */
  readonly isOfMany: boolean
  /** The first media type in the document; an answer may choose another. */
  readonly mediaType: string
  readonly readInput: ReadInput
  /** `Handlers` pairs each operation with its own call type; an endpoint erases the pairing. */
  readonly handle: (call: Call<OperationId>) => Answer<OperationId> | Promise<Answer<OperationId>>
  /** Undefined if its calls are never counted against the rate limit. */
  readonly unitsOf: ((input: Input<OperationId>) => number) | undefined
  readonly changedPlant: ((input: Input<OperationId>) => bigint) | undefined
}

interface Route {
  /** As in the document, such as `/plants/{id}`. */
  readonly path: string
  /** What its paths begin with: the whole path, or the part before its first parameter. */
  readonly prefix: string
  /** A group for each parameter; undefined without parameters. A parameter is a whole segment, and never empty. */
  readonly pattern: RegExp | undefined
  readonly names: readonly string[]
  /** By method; HEAD is answered like GET, without the body (RFC 9110, section 9.3.2). */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  /** The value of Allow. */
  readonly allow: string
}

export interface Found {
  readonly route: Route
  /** Decoded, by name. */
  readonly params: Readonly<Record<string, string>>
  /** Without the question mark. */
  readonly query: string
}

export class Router {
  /** All methods of all paths, as in Allow. */
  readonly allMethods: string
  readonly #routes: readonly Route[]

  constructor(endpoints: readonly Endpoint[]) {
    const byPath = Map.groupBy(endpoints, ({ operation }) => operation.path)
    const routes = [...byPath].map(([path, ofPath]) => toRoute(path, ofPath))
    this.#routes = routes.toSorted((one, other) => one.names.length - other.names.length)
    this.allMethods = toAllow(routes.flatMap(({ allow }) => allow.split(', ')))
  }

  knows(method: string): boolean {
    return knownMethods.includes(method)
  }

  /** Finds the path of a target. Throws AppError `malformedRequest` if it is not valid percent-encoded UTF-8. */
  find(target: string): Found | undefined {
    const end = target.indexOf('?')
    const asked = end === -1 ? target : target.slice(0, end)
    const path = asked.includes('%') ? decode(asked) : asked
    if (path === undefined) return undefined
    // For so few routes, comparing costs less than hashing the path for a Map.
    for (const route of this.#routes) {
      if (route.pattern === undefined ? path !== route.path : !path.startsWith(route.prefix)) continue
      const values = route.pattern?.exec(path)
      if (values === null) continue
      const params: Record<string, string> = {}
      for (const [at, name] of route.names.entries()) params[name] = values?.[at + 1] as string
      return { route, params, query: end === -1 ? '' : target.slice(end + 1) }
    }
    return undefined
  }
}

function toRoute(path: string, ofPath: readonly Endpoint[]): Route {
  const endpoints = new Map(ofPath.map((endpoint) => [endpoint.operation.method, endpoint]))
  const get = endpoints.get('GET')
  if (get !== undefined) endpoints.set('HEAD', get)
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name as string)
  const literals = path.split(/\{[^}]+\}/).map((text) => text.replaceAll('.', '\\.'))
  return {
    path,
    prefix: path.split('{')[0] as string,
    pattern: names.length === 0 ? undefined : new RegExp(`^${literals.join('([^/]+)')}$`, 's'),
    names,
    endpoints,
    allow: toAllow([...endpoints.keys(), 'OPTIONS']),
  }
}

function toAllow(methods: readonly string[]): string {
  return [...new Set(methods)].sort().join(', ')
}

/** Decodes the segments of a path; undefined if one contains an encoded slash, which matches no operation. */
function decode(path: string): string | undefined {
  try {
    const segments = path.split('/').map(decodeURIComponent)
    return segments.some((segment) => segment.includes('/')) ? undefined : segments.join('/')
  } catch (cause) {
    throw new AppError('malformedRequest', 'the path is not valid percent-encoded UTF-8', { cause })
  }
}
