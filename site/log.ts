// The requests of this page, so that a person sees what it sends and what the server answers.

/** A header field. */
export type HeaderField = readonly [name: string, value: string]

/** A request, and its answer once it is there. */
export interface Exchange {
  readonly method: string
  readonly url: URL
  /** Without Authorization. */
  readonly fields: readonly HeaderField[]
  readonly body?: string | undefined
  readonly startedAt: Date
  /** Sent by the page on its own, such as for the changes of others. */
  readonly isAside: boolean
  ms?: number
  status?: number
  /** Such as `OK`; HTTP/2 has none. */
  phrase?: string
  answerFields?: readonly HeaderField[]
  /** Undefined for a stream, and until the body is there. */
  answer?: string
  /** Why there is no answer. */
  failure?: string
}

/** Of each kind: asked for by a person, and aside. */
const exchangesMax = 50
const exchanges: Exchange[] = []
let onChange = (): void => {}

/** The newest first. */
export const logged: readonly Exchange[] = exchanges

/** @param listener called after each change of the log. */
export function watchLog(listener: () => void): void {
  onChange = listener
}

export function clearLog(): void {
  exchanges.length = 0
  onChange()
}

/** Sends a request as `fetch` does, and records it. */
export async function record(input: RequestInfo | URL, init: RequestInit = {}, isAside = false): Promise<Response> {
  const startedMs = performance.now()
  const exchange: Exchange = {
    method: init.method ?? 'GET',
    url: new URL(input instanceof Request ? input.url : input, document.baseURI),
    fields: [...new Headers(init.headers)].filter(([name]) => name !== 'authorization'),
    body: typeof init.body === 'string' ? init.body : undefined,
    startedAt: new Date(),
    isAside,
  }
  exchanges.unshift(exchange)
  const [oldest] = exchanges.filter((each) => each.isAside === isAside).slice(exchangesMax)
  if (oldest !== undefined) exchanges.splice(exchanges.indexOf(oldest), 1)
  onChange()
  try {
    const response = await fetch(input, init)
    exchange.status = response.status
    exchange.phrase = response.statusText
    exchange.answerFields = [...response.headers]
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!isStream) void keepAnswer(exchange, response.clone())
    return response
  } catch (cause) {
    exchange.failure = init.signal?.aborted === true ? 'cancelled' : 'no response'
    throw cause
  } finally {
    exchange.ms = performance.now() - startedMs
    onChange()
  }
}

async function keepAnswer(exchange: Exchange, response: Response): Promise<void> {
  try {
    exchange.answer = await response.text()
  } catch {
    exchange.failure = 'the response broke off'
  }
  onChange()
}
