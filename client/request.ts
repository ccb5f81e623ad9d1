// Performs one call over HTTP, with retries until a deadline; and the error that calls reject with.

import { fromJson } from './exact-json.ts'

/** The properties of a new PlantStoreError. */
export type ErrorDetails = Partial<Omit<PlantStoreError, 'name' | 'message' | 'stack'>>

/** A failed call: the server rejected it, or sent no readable answer. */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError'
  /** The HTTP status; undefined without an answer. */
  readonly status: number | undefined
  /** The error number, listed in the document; undefined if the answer has none, such as a proxy's. */
  readonly error: number | undefined
  /** Identifies the request, for example in the server's log. */
  readonly requestId: string | undefined
  /** Minimum seconds to wait before retrying, as requested by the server. */
  readonly retryAfter: number | undefined
  /**
   * Whether a change may have succeeded nevertheless: a try of the call got no answer, or one that leaves the outcome
   * open. If so, read the plant, or repeat a create with the same Idempotency-Key.
   */
  readonly mayBeDone: boolean

  constructor(message: string, details: ErrorDetails = {}) {
    const { status, error, requestId, retryAfter, mayBeDone = false, cause } = details
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.error = error
    this.requestId = requestId
    this.retryAfter = retryAfter
    this.mayBeDone = mayBeDone
  }
}

/** Where a store is, and how a client calls it. */
export interface Store {
  /** Base URL without a trailing slash. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly send: typeof fetch
  /** Milliseconds for a call, including all tries and pauses. */
  readonly timeoutMs: number
  /** Milliseconds for one try, after which the call is retried. */
  readonly tryTimeoutMs: number
  /** Maximum tries of a call. */
  readonly triesMax: number
}

export interface Request {
  readonly method?: 'POST' | 'PUT' | 'DELETE'
  /** Relative to the store's URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly value: unknown
}

/** Statuses of temporary failures in servers and proxies. */
const passing = [429, 502, 503, 504]
/** The only store error that leaves the outcome unknown. */
const outcomeUnknown = 50302
const pauseMsMin = 50
const pauseMsMax = 2_000
/** The maximum delay of timers, about 25 days. */
const timerMsMax = 2 ** 31 - 1
/** The longest pages have 1,000 plants of 64 KiB. A longer answer may be endless. */
const answerCharactersMax = 128_000_000

/** Sends a request until it is answered or retries are pointless. Rejects with the failure, or the signal's reason. */
export async function exchange(store: Store, request: Request, signal: AbortSignal | undefined): Promise<Answer> {
  const endMs = performance.now() + store.timeoutMs
  let isAgain = false
  for (let tries = 1; ; tries += 1) {
    const answer = await tryOnce(store, request, endMs, signal)
    if (!(answer instanceof PlantStoreError)) return answer
    const pauseMs = pauseBefore(tries, answer)
    const isLast = !mayPass(answer) || tries >= store.triesMax || performance.now() + pauseMs >= endMs
    if (isLast) throw request.method === undefined ? answer : failureOfChange(request.method, answer, isAgain)
    isAgain ||= mayBeDone(answer)
    await pause(pauseMs, signal)
  }
}

/** Every create has a key, so these answers hold for all of its tries. */
const finalOfCreates: readonly (number | undefined)[] = [400, 409, 413, 415, 422]

/**
 * Marks the failure of a change if this try or an earlier one may have succeeded.
 *
 * @param isAgain whether an earlier try may have been served: it got no answer, or none from the store.
 */
function failureOfChange(method: string, failure: PlantStoreError, isAgain: boolean): PlantStoreError {
  const { message, status, error } = failure
  if (isAgain && status !== undefined && !(method === 'POST' && finalOfCreates.includes(status))) {
    const said = `an earlier try got no answer and may have succeeded; the last one was refused with ${status}`
    return new PlantStoreError(said, { ...failure, mayBeDone: true, cause: failure })
  }
  // A success that cannot be read, or a proxy's failure.
  const isUnexplained = error === undefined && (status === undefined || status < 300 || status >= 500)
  if (!isUnexplained && error !== outcomeUnknown) return failure
  return new PlantStoreError(message, { ...failure, mayBeDone: true, cause: failure.cause })
}

/** Returns a successful answer, or the failure. */
async function tryOnce(
  { url, headers, send, timeoutMs, tryTimeoutMs }: Store,
  { method, path, headers: own, body }: Request,
  endMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer | PlantStoreError> {
  signal?.throwIfAborted()
  const { origin } = new URL(url)
  const timeout = new AbortController()
  const leftMs = Math.max(endMs - performance.now(), 0)
  const timer = setTimeout(() => timeout.abort(), Math.min(tryTimeoutMs, leftMs, timerMsMax))
  try {
    const limit = signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal])
    const type = body === undefined ? undefined : { 'Content-Type': 'application/json' }
    const sent = send(url + path, {
      method: method ?? 'GET',
      headers: { Accept: 'application/json', ...headers, ...type, ...own },
      body: body ?? null,
      cache: 'no-store',
      // Following a redirect would turn a POST into a GET of another resource.
      redirect: 'manual',
      signal: limit,
    })
    // A custom `fetch` may ignore the signal.
    const [response, answer] = await Promise.race([
      sent.then(async (response) => [response, await read(response, url)] as const),
      rejectedBy(limit),
    ])
    const { status } = answer
    // Browsers reveal nothing about a redirect except that it is one.
    if (response.type === 'opaqueredirect' || (status > 300 && status < 400 && status !== 304)) {
      const message = `${origin} redirects; give the URL that it redirects to`
      return new PlantStoreError(message, { status: status || 302 })
    }
    if (isCutShort(answer)) return new PlantStoreError(`the answer of ${origin} was cut short`)
    return status < 400 ? answer : refusalOf(answer, response.statusText)
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof PlantStoreError) return cause
    if (!timeout.signal.aborted) return unreachable(url, cause)
    const seconds = (tryTimeoutMs < leftMs ? tryTimeoutMs : timeoutMs) / 1000
    return new PlantStoreError(`${origin} did not answer within ${seconds} s`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Rejects if the text is too long. */
export async function read(response: Response, url: string): Promise<Answer> {
  const { status, headers } = response
  let text = ''
  for await (const piece of textOf(response)) {
    text += piece
    if (text.length > answerCharactersMax) {
      const advice = 'is it the right server? If so, list fewer plants at a time, with limit'
      throw new PlantStoreError(
        `${new URL(url).origin} sent more than ${answerCharactersMax.toLocaleString('en')} characters; ${advice}`,
        { status },
      )
    }
  }
  return { status, headers, text, value: isJson(headers) ? parse(text) : undefined }
}

/** The text of a response, in pieces as they arrive. */
export async function* textOf({ body }: Response): AsyncGenerator<string, void> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      yield decoder.decode(part.value, { stream: true })
  } finally {
    await reader?.cancel()
  }
}

/** Browsers present a connection that ends within the header section as an answer without a body. */
function isCutShort({ status, headers, text, value }: Answer): boolean {
  return status === 200 && (text === '' || (isJson(headers) && value === undefined))
}

function isJson(headers: Headers): boolean {
  return /^application\/json\b/i.test(headers.get('content-type') ?? '')
}

/** Parses JSON; undefined if it is not valid. */
export function parse(text: string): unknown {
  try {
    return fromJson(text)
  } catch {
    return undefined
  }
}

export function refusalOf({ status, headers, value }: Answer, statusText: string): PlantStoreError {
  const { error, message } = (value ?? {}) as { readonly error?: unknown; readonly message?: unknown }
  return new PlantStoreError(typeof message === 'string' ? message : `${status} ${statusText}`.trim(), {
    status,
    error: typeof error === 'number' ? error : undefined,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: secondsOf(headers.get('retry-after')),
  })
}

/** Converts seconds or a date (RFC 9110, section 10.2.3) to seconds. */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0)
}

/** @param answer the response that no plant store sends, or its status and header fields. */
export function isOther(url: string, { status, headers }: Pick<Answer, 'status' | 'headers'>): PlantStoreError {
  const requestId = headers.get('x-request-id') ?? undefined
  const message = `${url} did not answer as a plant store does; is it the right server?`
  return new PlantStoreError(message, { status, requestId })
}

export function unreachable(url: string, cause: unknown): PlantStoreError {
  return new PlantStoreError(`${new URL(url).origin} cannot be reached: ${reasonOf(cause)}`, { cause })
}

/** Node.js and browsers report the cause of a failed request in different places. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { readonly cause?: { readonly message?: string; readonly code?: string } } & Error
  // OpenSSL's raw messages, such as for a plain HTTP server, are unreadable.
  const words = /^[0-9A-F]+:error:[^:]*:[^:]*:[^:]*:([^:]*):/.exec(cause?.message ?? '')?.[1]
  return words ?? (cause?.message || cause?.code || message)
}

export function mayPass({ status }: PlantStoreError): boolean {
  return status === undefined || passing.includes(status)
}

/** Whether the request may have taken effect. The store's errors rule that out, except `outcomeUnknown`. */
function mayBeDone({ error }: PlantStoreError): boolean {
  return error === undefined || error === outcomeUnknown
}

/** The pause before the next try: random, so that clients do not retry in step; longer each time; obeys Retry-After. */
export function pauseBefore(tries: number, { retryAfter = 0 }: PlantStoreError): number {
  const ceilingMs = Math.min(pauseMsMin * 2 ** (tries - 1), pauseMsMax)
  return Math.min(retryAfter * 1000 + Math.random() * ceilingMs, timerMsMax)
}

/** Rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
  })
}
