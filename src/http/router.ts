// Finds the operations of a target by the paths of the document.

import { AppError } from '../domain/errors.ts'
import type { Endpoint } from './endpoint.ts'

/** Methods that the service knows, whatever path they are for; others are answered with 501. */
const knownMethods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE']

interface Route {
  /** As in the document, such as `/plants/{id}`. */
  readonly path: string
  readonly segments: readonly string[]
  /** By method; HEAD is answered like GET, without the body (RFC 9110, section 9.3.2). */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  /** The value of Allow. */
  readonly allow: string
}

export interface Found extends Pick<Route, 'path' | 'endpoints' | 'allow'> {
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
    // Paths without parameters first.
    this.#routes = routes.toSorted((one, other) => Number(one.path.includes('{')) - Number(other.path.includes('{')))
    this.allMethods = toAllow(routes.flatMap(({ allow }) => allow.split(', ')))
  }

  knows(method: string): boolean {
    return knownMethods.includes(method)
  }

  /**
   * Finds the path of a target in origin form; undefined if there is none.
   *
   * @throws AppError `malformedRequest` if the target is not valid percent-encoded UTF-8.
   */
  find(target: string): Found | undefined {
    const end = target.indexOf('?')
    const segments = (end === -1 ? target : target.slice(0, end)).split('/').map(decode)
    const route = this.#routes.find((each) => matches(each.segments, segments))
    if (route === undefined) return undefined
    const params: Record<string, string> = {}
    route.segments.forEach((segment, at) => {
      if (isParameter(segment)) params[segment.slice(1, -1)] = segments[at] as string
    })
    const { path, endpoints, allow } = route
    return { path, endpoints, allow, params, query: end === -1 ? '' : target.slice(end + 1) }
  }
}

function toRoute(path: string, ofPath: readonly Endpoint[]): Route {
  const endpoints = new Map(ofPath.map((endpoint) => [endpoint.operation.method, endpoint]))
  const get = endpoints.get('GET')
  if (get !== undefined) endpoints.set('HEAD', get)
  return { path, segments: path.split('/'), endpoints, allow: toAllow([...endpoints.keys(), 'OPTIONS']) }
}

function toAllow(methods: readonly string[]): string {
  return [...new Set(methods)].sort().join(', ')
}

/** A parameter is a whole segment, and never empty, nor several. */
function matches(template: readonly string[], segments: readonly string[]): boolean {
  if (template.length !== segments.length) return false
  return template.every((part, at) => (isParameter(part) ? /^[^/]+$/s.test(segments[at] ?? '') : part === segments[at]))
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw new AppError('malformedRequest', 'the path is not valid percent-encoded UTF-8', { cause })
  }
}
