// The service: a request of Node.js goes in one straight line from its head to its answer. Each step is a function here,
// in the order in which it runs; each throws, or rejects with, the AppError that answers the request.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Operation, OperationId } from '../contract/document.ts'
import type { Caller } from '../domain/caller.ts'
import { AppError } from '../domain/errors.ts'
import { allowOrigin, answerPreflight } from './cors.ts'
import { countRequest } from './counting.ts'
import { Endpoint, toBody } from './endpoint.ts'
import { forBrowser } from './for-browser.ts'
import type { Answer, Handlers } from './operations.ts'
import { bodyTooLarge, Problems, toAppError } from './problems.ts'
import { type Found, Router } from './router.ts'
import { createHttpServer } from './server.ts'
import type { ServiceOptions } from './service-options.ts'
import { Shortcut } from './shortcut.ts'
import { connectionOf } from './wire/connections.ts'
import { commonFields, type Exchange, finishedEvent, noteExchange, privateFields, shownPath } from './wire/exchange.ts'
import { checkFraming, expectsContinue, hasBody, hostAsked } from './wire/framing.ts'
import { isStream, noteStream, onceClosed } from './wire/parser-socket.ts'

/** A request that is being answered. */
interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  /** The target in origin form. */
  readonly target: string
  /** Header fields of the answer so far, by lower-case name. */
  readonly fields: Record<string, string>
  /** The path of the document, once it is found. */
  path?: string
}

/**
 * Creates the server of the service. It can listen.
 *
 * @throws Error unless operations and handlers match one to one.
 */
export function createService(options: ServiceOptions): Server {
  const { operations } = options.contract
  assertOneToOne(operations, options.handlers)
  const problems = new Problems(options.limits)
  const endpoints = operations.map((operation) => new Endpoint(operation, options))
  const shortcut = new Shortcut(endpoints, options, problems)
  const service = new Service(options, new Router(endpoints), problems)
  const servePlain = shortcut.serve.bind(shortcut)
  return createHttpServer({ ...options, problems, servePlain }, (request, response) => service.serve(request, response))
}

class Service {
  readonly #options: ServiceOptions
  readonly #router: Router
  readonly #problems: Problems

  constructor(options: ServiceOptions, router: Router, problems: Problems) {
    this.#options = options
    this.#router = router
    this.#problems = problems
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const asked = this.#begin(request, response)
    try {
      this.#check(asked)
      const answering = this.#dispatch(asked)
      if (answering instanceof Promise) answering.catch((error: unknown) => this.#refuse(asked, error))
    } catch (error) {
      this.#refuse(asked, error)
    }
  }

  #begin(request: IncomingMessage, response: ServerResponse): Asked {
    const { observe, peers, requestIdOf } = this.#options
    const { method = '', url = '/', socket, headers } = request
    const target = toOriginForm(url)
    const exchange: Exchange = {
      requestId: requestIdOf(request),
      method,
      path: shownPath(target),
      startedAtMs: performance.now(),
      clientAddress: peers.addressOf(socket, headers),
    }
    noteExchange(request, exchange)
    const asked: Asked = { request, response, exchange, target, fields: { ...commonFields(exchange.requestId) } }
    response.once('finish', () => {
      const bytes = Number(asked.fields['content-length'] ?? 0)
      observe(finishedEvent(exchange, response.statusCode, bytes, isStream(response)))
    })
    return asked
  }

  #check({ request, fields }: Asked): void {
    const { isStopping, allowedOrigins, limits } = this.#options
    if (isStopping()) fields['connection'] = 'close'
    allowOrigin(allowedOrigins, request, fields)
    checkFraming(request, request.url ?? '/', limits.headerFieldsMax)
  }

  #dispatch(asked: Asked): void | Promise<void> {
    const { method, path } = asked.exchange
    if (!this.#router.knows(method)) throw new AppError('unknownMethod', `the method ${method} is not known`)
    if (asked.target === '*') {
      if (method !== 'OPTIONS') throw unknownPath(path)
      countRequest(asked.exchange, asked.path, this.#options)
      asked.fields['allow'] = this.#router.allMethods
      return this.#send(asked, 204)
    }
    const found = this.#router.find(asked.target)
    if (found === undefined) throw unknownPath(path)
    asked.path = found.path
    const endpoint = found.endpoints.get(method)
    if (endpoint !== undefined) return this.#enter(asked, endpoint, found)
    const { allow } = found
    if (method === 'OPTIONS') {
      // Preflights are not rate-limited: a browser tells its page nothing about a refused one, not even when to retry.
      if (!answerPreflight(asked.request, asked.fields, allow)) countRequest(asked.exchange, asked.path, this.#options)
      asked.fields['allow'] = allow
      return this.#send(asked, 204)
    }
    asked.fields['allow'] = allow
    throw new AppError('methodNotAllowed', `${method} is not served at ${found.path}, only ${allow}`)
  }

  /** Identifies the caller, then checks the head of the body. */
  #enter(asked: Asked, endpoint: Endpoint, found: Found): void | Promise<void> {
    const { request, exchange, fields } = asked
    const { operation } = endpoint
    exchange.operation = operation
    if (operation.scopes !== undefined) Object.assign(fields, privateFields)
    const caller = endpoint.identify(request.headers, request.socket)
    const goOn = (known?: Caller): void | Promise<void> => {
      if (known !== undefined) exchange.caller = known
      const waits = expectsContinue(request)
      if (hasBody(request)) {
        endpoint.checkBodyHeaders(request.headers)
        if (waits) asked.response.writeContinue()
      }
      return this.#read(asked, endpoint, found)
    }
    return caller instanceof Promise ? caller.then(goOn) : goOn(caller)
  }

  #read(asked: Asked, endpoint: Endpoint, found: Found): void | Promise<void> {
    const { request } = asked
    const answer = (body?: Buffer) => this.#answer(asked, endpoint, found, body)
    if (!hasBody(request)) return answer()
    // Nobody wants the body. What is wrong with the part of it that has arrived is found first.
    if (request.method === 'GET' || request.method === 'HEAD') return Promise.resolve().then(() => answer())
    return readBody(request, this.#options.limits.bodyBytesMax).then(answer)
  }

  #answer(asked: Asked, endpoint: Endpoint, { params, query }: Found, body: unknown): void | Promise<void> {
    const { request, response, exchange } = asked
    const { connections, peers } = this.#options
    const { socket } = request
    const headers = request.headers as Readonly<Record<string, string>>
    const find = () =>
      endpoint.answer({
        texts: { params, query, headers, body },
        caller: exchange.caller,
        host: hostAsked(request, request.url ?? '/'),
        scheme: peers.schemeOf(socket, headers),
        accept: headers['accept'],
        acceptEncoding: headers['accept-encoding'],
        assertWanted: () => connections.largeAnswers.assertWanted(socket),
        onClosed: (listener) => onceClosed(response, listener),
        socket,
        response,
        exchange,
      })
    const answer = endpoint.isOfMany ? connections.largeAnswers.find(connectionOf(socket), find) : find()
    if (answer instanceof Promise) return answer.then((found) => this.#reply(asked, endpoint, found))
    this.#reply(asked, endpoint, answer)
  }

  #reply(asked: Asked, endpoint: Endpoint, answer: Answer<OperationId>): void {
    const { request, response, fields } = asked
    // The server has already answered: the body broke after authentication.
    if (response.headersSent) return
    const { largeAnswers } = this.#options.connections
    if (endpoint.isOfMany && answer.body instanceof Uint8Array && !request.socket.destroyed) {
      largeAnswers.add(response, answer.body.length)
      response.once('close', () => largeAnswers.forget(response))
    }
    if ('stream' in answer && request.method !== 'HEAD') {
      this.#stream(asked, endpoint, answer)
      return
    }
    Object.assign(fields, answer.headers)
    if (this.#options.isStopping()) fields['connection'] = 'close'
    if (answer.status === 200) fields['content-type'] = answer.type ?? endpoint.mediaType
    // HEAD of a stream has no length: its body has no end.
    this.#send(asked, answer.status, answer.body === undefined ? undefined : toBody(answer.body))
  }

  /** Sends the head, and hands the rest over. */
  #stream(
    { request, response, exchange, fields }: Asked,
    endpoint: Endpoint,
    { headers, type, stream: write }: Extract<Answer<OperationId>, { readonly stream: unknown }>,
  ): void {
    response.once('close', () => {
      const isLeft = connectionOf(request.socket).endReason === 'clientLeft'
      // A response that was ended is reported as any other.
      if (isLeft && !response.writableFinished) this.#options.observe(finishedEvent(exchange, 200, 0, true))
    })
    response.writeHead(200, { ...fields, ...headers, 'content-type': type })
    response.flushHeaders()
    noteStream(response)
    write(response, () => endpoint.reidentify(request.headers.authorization))
  }

  #send({ response, fields }: Asked, status: number, body?: string | Uint8Array): void {
    if (body !== undefined) {
      fields['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)
    }
    response.writeHead(status, fields)
    response.end(body)
  }

  /** Answers a failed request, at any step. */
  #refuse(asked: Asked, error: unknown): void {
    const { request, response, exchange, target, fields } = asked
    // The server has already answered: a body that broke or timed out does not wait for its operation.
    if (response.headersSent) return
    const failure = toAppError(error, exchange.requestId)
    // A failure that breaks the connection closes it even if the caller gets 429 instead.
    const mustClose = this.#problems.mustClose(request, failure)
    exchange.failure = this.#counted(asked, failure)
    if (this.#options.isStopping()) fields['connection'] = 'close'
    const { method, headers } = request
    const asks = { method: method ?? '', url: target, headers }
    const problem = forBrowser(this.#problems.of(exchange.failure, exchange.operation?.scopes), exchange.failure, asks)
    Object.assign(fields, problem.headers)
    if (mustClose) {
      this.#problems.answerAndClose(response, { ...problem, headers: fields })
    } else {
      response.writeHead(problem.status, fields)
      response.end(problem.body)
    }
  }

  /** The error of a failed request; always 429 for a caller over its limit. */
  #counted(asked: Asked, failure: AppError): AppError {
    try {
      countRequest(asked.exchange, asked.path, this.#options, failure)
      return failure
    } catch (refusal) {
      return toAppError(refusal, asked.exchange.requestId)
    }
  }
}

/** Collects a body. If the server answers the request meanwhile, it drops these listeners. */
function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return Promise.reject(bodyTooLarge(bytesMax))
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const take = (piece: Buffer): void => {
      bytes += piece.length
      pieces.push(piece)
      if (bytes <= bytesMax) return
      request.off('data', take)
      reject(bodyTooLarge(bytesMax))
    }
    request.on('data', take)
    request.once('end', () => resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)))
    request.once('error', reject)
  })
}

function unknownPath(path: string): AppError {
  return new AppError('unknownPath', `there is nothing at ${path}${hintFor(path)}`)
}

function hintFor(path: string): string {
  if (path.endsWith('/')) return '; no path ends with a slash'
  return /^\/(swagger|api-?docs|redoc|openapi)/i.test(path) ? '; see /docs, /openapi.json and /openapi.yaml' : ''
}

/** A target may be in absolute form, with scheme and host (RFC 9112, section 3.2.2). */
function toOriginForm(url: string): string {
  return /^https?:\/\//i.test(url) ? url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/') : url
}

function assertOneToOne(operations: readonly Operation[], handlers: Handlers): void {
  const described = operations.map(({ id }) => id)
  const handled = Object.keys(handlers)
  const unhandled = described.filter((id) => !handled.includes(id))
  const undescribed = handled.filter((id) => !described.some((known) => known === id))
  const repeated = described.filter((id, index) => described.indexOf(id) !== index)
  if (unhandled.length + undescribed.length + repeated.length === 0) return
  throw new Error(
    `openapi.yaml and the handlers do not match: without a handler [${unhandled}], without an operation [${undescribed}], described twice [${repeated}]`,
  )
}
