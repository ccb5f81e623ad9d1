// The shortcut for plain requests, from the bytes of a connection to the bytes of the answer: runs the steps of
// endpoint.ts without the per-request objects of Node.js. docs/decisions/0014-plain-requests.md has the
// savings; test/http/shortcut.test.ts checks that both paths give the same answers.

import type { OperationId } from '../contract/document.ts'
import { type Endpoint, type RequestContext, toBody } from './endpoint.ts'
import type { Answer } from './operations.ts'
import { type Problems, toAppError } from './problems.ts'
import type { ServiceOptions } from './service-options.ts'
import type { Connection } from './wire/connection.ts'
import { type Exchange, finishedEvent, privateFields, shownPath } from './wire/exchange.ts'
import { STATUS_CODES } from './wire/node-http.ts'
import { type PlainRequest, readPlainRequest } from './wire/plain-request.ts'

const privateLine = `cache-control: ${privateFields['cache-control']}\r\n`

/** No client has time to lose interest in a small answer. */
const isWanted = (): void => {}

const holdsNothing = (): never => {
  throw new TypeError('no operation of the shortcut holds anything until its answer is sent')
}

interface Route {
  readonly endpoint: Endpoint
  readonly method: string
  /** The path, or the part before its parameter, which is a segment. */
  readonly path: string
  readonly parameter: string | undefined
  /** The part after it. */
  readonly rest: string
}

export class Shortcut {
  readonly #options: ServiceOptions
  readonly #problems: Problems
  /** Paths without a parameter first. */
  readonly #routes: readonly Route[]
  readonly #keepAlive: string
  #date = ''
  #dateSecond = 0

  constructor(endpoints: readonly Endpoint[], options: ServiceOptions, problems: Problems) {
    this.#options = options
    this.#problems = problems
    this.#keepAlive = `keep-alive\r\nKeep-Alive: timeout=${Math.floor(options.limits.keepAliveMsMax / 1000)}`
    this.#routes = endpoints
      .filter(({ mayTakeShortcut }) => mayTakeShortcut)
      .map(toRoute)
      .toSorted((one, other) => Number(one.parameter !== undefined) - Number(other.parameter !== undefined))
  }

  /**
   * Serves bytes that form a plain request of an operation by a known caller. Returns whether they do.
   *
   * @param bytes read before this returns.
   */
  serve(connection: Connection, bytes: Buffer): boolean {
    const request = readPlainRequest(bytes, this.#options.limits, connection.fieldsSeen)
    if (request === undefined) return false
    const route = this.#find(request)
    if (route === undefined) return false
    const { endpoint, path: routePath, parameter, rest } = route
    const { operation } = endpoint
    const { method, path, query, fields, body } = request
    // A body where the operation takes none, of another type, or missing.
    if (operation.body === undefined ? body !== undefined : fields['content-type'] !== 'application/json') return false
    const caller = endpoint.recall(fields.authorization)
    if (caller === undefined) return false

    const requestId = this.#options.newRequestId()
    const { peers } = this.#options
    const exchange: Exchange = {
      requestId,
      operation,
      method,
      path: shownPath(path),
      startedAtMs: performance.now(),
      caller,
      clientAddress: peers.addressOf(connection.socket, fields),
    }
    connection.begin(exchange)
    const params: Record<string, string> = {}
    if (parameter !== undefined) params[parameter] = path.slice(routePath.length, path.length - rest.length)
    const context: RequestContext = {
      texts: { params, query, headers: fields, body },
      caller,
      host: fields.host,
      accept: fields.accept,
      acceptEncoding: undefined,
      assertWanted: isWanted,
      onClosed: holdsNothing,
      scheme: peers.schemeOf(connection.socket, fields),
      exchange,
      socket: connection.socket,
    }
    if (endpoint.isOfMany) this.#handleInTurn(connection, exchange, endpoint, context)
    else this.#handle(connection, exchange, endpoint, context)
    return true
  }

  #handleInTurn(connection: Connection, exchange: Exchange, endpoint: Endpoint, context: RequestContext): void {
    const { largeAnswers } = this.#options.connections
    const assertWanted = (): void => largeAnswers.assertWanted(connection.socket)
    largeAnswers.begin(() => this.#handle(connection, exchange, endpoint, { ...context, assertWanted }))
  }

  #handle(connection: Connection, exchange: Exchange, endpoint: Endpoint, context: RequestContext): void {
    try {
      context.assertWanted()
      const answer = endpoint.answer(context)
      if (answer instanceof Promise) this.#answerLater(connection, exchange, endpoint, answer)
      else this.#answer(connection, exchange, endpoint, answer)
    } catch (error) {
      this.#refuse(connection, exchange, endpoint, error)
    }
  }

  #answerLater(
    connection: Connection,
    exchange: Exchange,
    endpoint: Endpoint,
    answer: Promise<Answer<OperationId>>,
  ): void {
    answer
      .then((found) => this.#answer(connection, exchange, endpoint, found))
      .catch((error: unknown) => this.#refuse(connection, exchange, endpoint, error))
  }

  #answer(connection: Connection, exchange: Exchange, endpoint: Endpoint, answer: Answer<OperationId>): void {
    const { status, headers, body } = answer
    let fields = ''
    for (const name in headers) fields += `${name}: ${headers[name]}\r\n`
    if (status !== 200) {
      this.#send(connection, exchange, status, fields, '', 0)
      return
    }
    const content = toBody(body)
    const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.length
    fields += `content-type: ${answer.type ?? endpoint.mediaType}\r\ncontent-length: ${bytes}\r\n`
    this.#send(connection, exchange, status, fields, content, bytes)
  }

  #refuse(connection: Connection, exchange: Exchange, { operation }: Endpoint, error: unknown): void {
    const failure = toAppError(error, exchange.requestId)
    exchange.failure = failure
    const { status, headers, body } = this.#problems.of(failure, operation.scopes)
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#send(connection, exchange, status, fields.join(''), body, Number(headers['content-length']))
  }

  /**
   * @param fields header lines, each with its line end.
   * @param bytes length of the body.
   */
  #send(
    connection: Connection,
    exchange: Exchange,
    status: number,
    fields: string,
    body: string | Uint8Array<ArrayBuffer>,
    bytes: number,
  ): void {
    const isLast = this.#options.isStopping()
    // The same field that allowOrigin sends for a request without an Origin.
    const vary = exchange.method === 'GET' ? 'vary: Origin\r\n' : ''
    const head =
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nx-request-id: ${exchange.requestId}\r\n` +
      `x-content-type-options: nosniff\r\n${vary}${privateLine}${fields}` +
      `Date: ${this.#dateNow()}\r\nConnection: ${isLast ? 'close' : this.#keepAlive}\r\n\r\n`
    const report = (): void => this.#options.observe(finishedEvent(exchange, status, bytes))
    if (typeof body === 'string') {
      connection.answer(head + body, isLast, report)
      return
    }
    const { largeAnswers } = this.#options.connections
    if (!connection.socket.destroyed) largeAnswers.add(connection, bytes)
    connection.answer({ head, body }, isLast, () => {
      largeAnswers.forget(connection)
      report()
    })
  }

  #dateNow(): string {
    const second = Math.floor(Date.now() / 1000)
    if (second !== this.#dateSecond) {
      this.#dateSecond = second
      this.#date = new Date(second * 1000).toUTCString()
    }
    return this.#date
  }

  /** A few comparisons: a Map would internalize each path. */
  #find({ method, path }: PlainRequest): Route | undefined {
    for (const route of this.#routes) {
      if (route.method !== method) continue
      if (route.parameter === undefined ? path === route.path : isWithin(path, route)) return route
    }
    return undefined
  }
}

function toRoute(endpoint: Endpoint): Route {
  const { path: template, method } = endpoint.operation
  const [, path, parameter, rest = ''] = /^([^{]*)(?:\{(\w+)\}([^{]*))?$/.exec(template) ?? []
  if (path === undefined) throw new TypeError(`${template} has more than one parameter`)
  return { endpoint, method, path, parameter, rest }
}

/** Whether a path has exactly one segment for the parameter of a route. */
function isWithin(path: string, { path: begun, rest }: Route): boolean {
  const end = path.length - rest.length
  if (end <= begun.length || !path.startsWith(begun) || !path.endsWith(rest)) return false
  const slash = path.indexOf('/', begun.length)
  return slash === -1 || slash >= end
}
