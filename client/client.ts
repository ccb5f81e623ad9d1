// The plant store client for Node.js and browsers: one method per operation of the document, under its name.

import { type ChangePage, type ChangeQuery, type FollowOptions, follow, type Paged, paged } from './changes.ts'
import {
  assertPositive,
  fieldValue,
  hasName,
  isChange,
  isListOf,
  isObject,
  isPlant,
  isSummary,
  newKey,
  pathOf,
} from './checks.ts'
import { idDigits, type PlantId, plantPath, plantToJson } from './exact-json.ts'
import {
  type Answer,
  type ErrorDetails,
  exchange,
  isOther,
  PlantStoreError,
  type Request,
  type Store,
} from './request.ts'
import type { AnyPlant, Change, Health, Home, NewPlant, Plant, PlantProperties, Summary } from './types.ts'

export type * from './types.ts'
export type { PlantId }
export { type ChangePage, type ChangeQuery, type ErrorDetails, type FollowOptions, type Paged, PlantStoreError }

/** Adds the ETag of the state that was read or written. Pass it back to ensure that the state has not changed. */
export type Tagged<T> = T & { readonly etag: string }

export interface ClientOptions {
  /** Base URL of the store, such as `http://127.0.0.1:3000` or `https://plants.example/store`. */
  readonly url: string | URL
  /** The access token. Without it, only public operations succeed. */
  readonly token?: string | undefined
  /** Milliseconds for a call, including all tries and pauses; default 30,000. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds for one try, after which the call is retried; default 10,000. */
  readonly tryTimeoutMs?: number | undefined
  /** Maximum tries of a call; default 9. 1 disables retries. */
  readonly triesMax?: number | undefined
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Overrides ClientOptions for this call. */
  readonly timeoutMs?: number | undefined
}

export interface CreateOptions extends CallOptions {
  /** Your own key makes the create safe to repeat beyond this call. By default each call generates a key. */
  readonly idempotencyKey?: string | undefined
}

export interface ChangeOptions extends CallOptions {
  /** A plant previously read, or its ETag. If the plant has changed since, the call rejects with 412. */
  readonly ifMatch?: string | Tagged<unknown> | undefined
}

export interface ReadOptions<New extends AnyPlant = NewPlant> extends CallOptions {
  /** A plant previously read. If unchanged, it is returned as is and not transferred again. */
  readonly ifNoneMatch?: Tagged<Plant<New>> | undefined
}

/** Filters of a list, the size of its pages, and where it begins. A plant must match all filters. */
export interface ListQuery {
  readonly tag?: string | undefined
  /** The beginning of the name, in any case. */
  readonly name?: string | undefined
  readonly limit?: number | undefined
  readonly after?: PlantId | undefined
}

/** One page of a list. */
export interface PlantPage<New extends AnyPlant = NewPlant> {
  readonly plants: readonly Plant<New>[]
  /** The `after` of the next page; undefined on the last page. */
  readonly next: string | undefined
}

const unknownPlant = 40402

/**
 * Calls one store. Every method rejects with PlantStoreError if the store rejects the request or is unreachable. `New`
 * is the type of a new plant, for a store with its own document.
 */
export class PlantStoreClient<New extends AnyPlant = NewPlant> {
  /** Base URL without a trailing slash. */
  readonly url: string
  readonly #store: Store

  /** Throws TypeError unless the URL is `http:` or `https:`. */
  constructor({ url, token, timeoutMs = 30_000, tryTimeoutMs = 10_000, triesMax = 9, fetch: send }: ClientOptions) {
    const { protocol, origin, pathname } = new URL(url)
    if (!/^https?:$/.test(protocol))
      throw new TypeError(`the URL of a plant store must begin with http: or https:, not ${url}`)
    this.url = (origin + pathname).replace(/\/+$/, '')
    const headers = token === undefined ? {} : { Authorization: `Bearer ${fieldValue('token', token)}` }
    const patience = { timeoutMs, tryTimeoutMs, triesMax }
    for (const [name, value] of Object.entries(patience)) assertPositive(name, value)
    this.#store = { url: this.url, headers, send: send ?? ((...request) => fetch(...request)), ...patience }
  }

  /** Creates a plant exactly once, however often it is retried. Rejects with 409 if the id is taken. */
  async createPlant(
    plant: PlantProperties<New> & { readonly id: PlantId },
    { idempotencyKey = newKey(), ...options }: CreateOptions = {},
  ): Promise<PlantProperties<New>> {
    const headers = { 'Idempotency-Key': fieldValue('idempotencyKey', idempotencyKey) }
    const body = plantToJson(plant)
    return this.#read(await this.#call({ method: 'POST', path: '/plants', headers, body }, options), hasName)
  }

  /** Lists plants by id: `for await (const plant of client.listPlants({ tag: 'fern' }))`, or page by page. */
  listPlants(query: ListQuery = {}, options: CallOptions = {}): Paged<PlantPage<New>, Plant<New>> {
    return paged('plants', () => this.#pages(query, options))
  }

  /** Reads a plant. Rejects with 404 if there is none. */
  async getPlant(id: PlantId, { ifNoneMatch, ...options }: ReadOptions<New> = {}): Promise<Tagged<Plant<New>>> {
    const headers = ifNoneMatch === undefined ? {} : { 'If-None-Match': etagOf(ifNoneMatch) }
    const answer = await this.#call({ path: plantPath(id), headers }, options)
    if (answer.status === 304 && ifNoneMatch !== undefined) return ifNoneMatch
    const plant = this.#read<Plant<New>>(answer, isPlant)
    if (String(plant.id) !== idDigits(id)) throw isOther(this.url, answer)
    return tagged(plant, answer)
  }

  /** Replaces all properties of a plant except its id; absent ones are removed. Rejects with 404 if there is none. */
  async replacePlant(
    id: PlantId,
    plant: PlantProperties<New>,
    { ifMatch, ...options }: ChangeOptions = {},
  ): Promise<Tagged<PlantProperties<New>>> {
    const body = plantToJson({ ...plant, id: undefined })
    const call = { method: 'PUT', path: plantPath(id), headers: match(ifMatch), body } as const
    const startedMs = performance.now()
    try {
      const answer = await this.#call(call, options)
      return tagged(this.#read<PlantProperties<New>>(answer, hasName), answer)
    } catch (failure) {
      if (!(failure instanceof PlantStoreError && failure.status === 412 && failure.mayBeDone)) throw failure
      // An earlier try of this call may have changed the plant.
      const leftMs = (options.timeoutMs ?? this.#store.timeoutMs) - (performance.now() - startedMs)
      const found = await this.getPlant(id, { ...options, timeoutMs: Math.max(leftMs, 1) }).catch((error: unknown) => {
        // The plant is gone, or this token may not read it. Any other answer leaves the outcome unknown.
        if (error instanceof PlantStoreError && (error.error === unknownPlant || error.status === 403)) throw failure
        throw error
      })
      if (!isSame({ ...found, id: undefined }, { ...plant, id: undefined })) throw failure
      const { id: _, ...properties }: { readonly id: unknown } = found
      return properties as Tagged<PlantProperties<New>>
    }
  }

  /** Deletes a plant. Rejects with 404 if there is none, unless an earlier try of this call may have deleted it. */
  async deletePlant(id: PlantId, { ifMatch, ...options }: ChangeOptions = {}): Promise<void> {
    try {
      const answer = await this.#call({ method: 'DELETE', path: plantPath(id), headers: match(ifMatch) }, options)
      if (answer.status !== 204) throw isOther(this.url, answer)
    } catch (failure) {
      if (!(failure instanceof PlantStoreError && failure.error === unknownPlant && failure.mayBeDone)) throw failure
    }
  }

  /** Lists changes up to now: `for await (const change of client.listChanges({ after }))`, or page by page. */
  listChanges(query: ChangeQuery = {}, options: CallOptions = {}): Paged<ChangePage<Change<New>>, Change<New>> {
    return paged('changes', () => this.#changePages(query, options))
  }

  /** Follows the changes endlessly, each exactly once; reconnects automatically. */
  followChanges(query: ChangeQuery = {}, options: FollowOptions = {}): AsyncGenerator<Change<New>, void> {
    return follow(this.#store, query, options)
  }

  /** Counts the plants, in total and by tag. */
  async getSummary(options: CallOptions = {}): Promise<Summary> {
    return this.#read(await this.#call({ path: '/summary' }, options), isSummary)
  }

  /** Returns the paths of the service. */
  async getHome(options: CallOptions = {}): Promise<Home> {
    return this.#read(await this.#call({ path: '/' }, options), isObject)
  }

  /** Whether the server is running. */
  async getLivez(options: CallOptions = {}): Promise<Health> {
    return this.#read(await this.#call({ path: '/livez' }, options), isObject)
  }

  /** Whether the server can serve requests. */
  async getReadyz(options: CallOptions = {}): Promise<Health> {
    return this.#read(await this.#call({ path: '/readyz' }, options), isObject)
  }

  /** The OpenAPI document as a JSON text. */
  getOpenapiJson(options: CallOptions = {}): Promise<string> {
    return this.#text('/openapi.json', options)
  }

  /** The OpenAPI document as a YAML text. */
  getOpenapiYaml(options: CallOptions = {}): Promise<string> {
    return this.#text('/openapi.yaml', options)
  }

  /** The page that documents the operations, as HTML. */
  getDocs(options: CallOptions = {}): Promise<string> {
    return this.#text('/docs', options)
  }

  /** A file of the pages. */
  getSiteFile(file: string, options: CallOptions = {}): Promise<string> {
    return this.#text(`/site/${encodeURIComponent(file)}`, options)
  }

  async *#pages({ after, ...filters }: ListQuery, options: CallOptions): AsyncGenerator<PlantPage<New>, void> {
    let next: string | undefined = after === undefined ? undefined : idDigits(after)
    do {
      const answer = await this.#call({ path: pathOf('/plants', { ...filters, after: next }) }, options)
      const before = next
      next = nextOf(answer)
      // A list whose ids do not ascend from page to page might be endless.
      if (next !== undefined && !isGreater(next, before)) throw isOther(this.url, answer)
      yield { plants: this.#read(answer, isListOf(isPlant)), next }
    } while (next !== undefined)
  }

  async *#changePages(query: ChangeQuery, options: CallOptions): AsyncGenerator<ChangePage<Change<New>>, void> {
    for (let after = query.after; ; ) {
      const answer = await this.#call({ path: pathOf('/changes', { ...query, after }) }, options)
      const next = nextOf(answer) ?? ''
      yield { changes: this.#read(answer, isListOf(isChange)), next }
      // The last page has its own position as the next.
      if (next === after || query.after === 'now') return
      after = next
    }
  }

  async #text(path: string, options: CallOptions): Promise<string> {
    return (await this.#call({ path, headers: { Accept: '*/*' } }, options)).text
  }

  async #call(request: Request, { signal, timeoutMs = this.#store.timeoutMs }: CallOptions): Promise<Answer> {
    assertPositive('timeoutMs', timeoutMs)
    return exchange({ ...this.#store, timeoutMs }, request, signal)
  }

  /** Returns the body of an answer after checking it against the document. */
  #read<T>(answer: Answer, isRight: (value: unknown) => boolean): T {
    if (isRight(answer.value)) return answer.value as T
    throw isOther(this.url, answer)
  }
}

function isSame(one: object, other: object): boolean {
  return plantToJson(one, true) === plantToJson(other, true)
}

function match(ifMatch: ChangeOptions['ifMatch']): Readonly<Record<string, string>> {
  if (ifMatch === undefined) return {}
  return { 'If-Match': fieldValue('ifMatch', typeof ifMatch === 'string' ? ifMatch : etagOf(ifMatch)) }
}

function etagOf({ etag }: Tagged<unknown>): string {
  if (typeof etag === 'string' && etag !== '') return etag
  throw new TypeError('the plant has no ETag; pass the result of getPlant or replacePlant')
}

function tagged<T>(value: T, { headers }: Answer): Tagged<T> {
  return { ...value, etag: headers.get('etag') ?? '' }
}

/** The target and parameters of a Link; quoted strings may contain anything (RFC 8288, section 3). */
const links = /<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g
const relations = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i

/** The `after` in the link to the next page; undefined on the last page. A proxy may have changed its path. */
function nextOf({ headers }: { readonly headers: Headers }): string | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(links)) {
    const [, quoted, bare = ''] = relations.exec(parameters) ?? []
    const isNext = (quoted ?? bare).toLowerCase().split(/\s+/).includes('next')
    if (isNext) return new URLSearchParams(target.split('?')[1]).get('after') ?? ''
  }
  return undefined
}

/** Whether a text is an id, and greater than another one if given. */
function isGreater(one: string, other: string | undefined): boolean {
  return /^-?\d{1,19}$/.test(one) && (other === undefined || BigInt(one) > BigInt(other))
}
