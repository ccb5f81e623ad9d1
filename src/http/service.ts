// The service: a function from a request to its reply. The steps of a request are functions here, in the order in which
// they run; each throws, or rejects with, the AppError that answers the request. The bytes of HTTP are in wire/.

import type { Contract } from '../contract/contract.ts'
import type { Operation, OperationId } from '../contract/document.ts'
import type { Caller } from '../domain/caller.ts'
import { AppError } from '../domain/errors.ts'
import type { AbortReason, Observe } from '../domain/events.ts'
import type { Limits } from '../limits.ts'
import type { Authenticate, GuardLookUp } from './authenticate.ts'
import { type AllowedOrigins, allowOrigin, answerPreflight, anyOriginFields } from './cors.ts'
import { forBrowser } from './for-browser.ts'
import { checkBodyFields, compileInput } from './input.ts'
import type { LargeAnswers } from './large-answers.ts'
import { prefers } from './negotiation.ts'
import type { Answer, Handlers, Input, Intercept, Traits, TraitsOf } from './operations.ts'
import { breaksConnection, problemOf, toAppError } from './problems.ts'
import { networkOf, type RateLimiter } from './rate-limit.ts'
import { commonFields, finishedEvent, privateFields, type Reply, type ReplyFields, type Request } from './request.ts'
import { type Endpoint, type Found, Router } from './router.ts'

export interface ServiceOptions {
  readonly contract: Contract
  readonly handlers: Handlers
  readonly traits: TraitsOf
  readonly authenticate: Authenticate
  readonly limits: Limits
  readonly observe: Observe
  readonly allowedOrigins: AllowedOrigins
  readonly largeAnswers: LargeAnswers
  readonly newRequestId: () => string
  /** Without it, request rates are unlimited. */
  readonly rateLimiter?: RateLimiter
  /** Only for tests of clients. */
  readonly intercept?: Intercept
}

interface Asked {
  readonly request: Request
  readonly fields: ReplyFields
  readonly endpoint: Endpoint
  readonly found: Found
}

/** Small answers are made too quickly to ask whether the client is still there. */
const alwaysWanted = (): void => {}

export class Service {
  readonly #options: ServiceOptions
  readonly #router: Router

  /** @throws Error unless operations and handlers match one to one. */
  constructor(options: ServiceOptions) {
    const { operations } = options.contract
    assertOneToOne(operations, options.handlers)
    this.#options = options
    this.#router = new Router(operations.map((operation) => toEndpoint(operation, options)))
  }

  /** Never throws, and never rejects. */
  serve(request: Request): Reply | Promise<Reply> {
    const fields = this.#beginReply(request)
    try {
      const reply = this.#dispatch(request, fields)
      return reply instanceof Promise ? reply.catch((error: unknown) => this.#refuse(request, fields, error)) : reply
    } catch (error) {
      return this.#refuse(request, fields, error)
    }
  }

  refuse(request: Request, error: AppError): Reply {
    return this.#refuse(request, this.#beginReply(request), error)
  }

  /** Returns the reply to bytes that are not a request, and reports them, under a new request id. */
  refuseBytes(error: AppError, clientAddress: string | undefined): Reply {
    const { newRequestId, observe, allowedOrigins } = this.#options
    const requestId = newRequestId()
    const { status, fields, body } = problemOf(error)
    observe({ kind: 'requestRefused', requestId, status, clientAddress, error: error.code })
    const common = { ...commonFields(requestId), ...anyOriginFields(allowedOrigins) }
    return { status, fields: { ...common, ...fields }, body, isLast: true }
  }

  /** Reports a request whose reply is sent. */
  noteSent(request: Request, reply: Reply): void {
    this.#options.observe(finishedEvent(request, reply, reply.stream !== undefined))
  }

  noteAborted(request: Request, reply: Reply | undefined, reason: AbortReason): void {
    const { id: requestId, method, path, clientAddress } = request
    // Clients end a stream by leaving.
    if (reply?.stream !== undefined && reason === 'clientLeft') this.noteSent(request, reply)
    else this.#options.observe({ kind: 'requestAborted', requestId, method, path, clientAddress, reason })
  }

  #beginReply(request: Request): ReplyFields {
    const fields = commonFields(request.id)
    allowOrigin(this.#options.allowedOrigins, request, fields)
    return fields
  }

  #dispatch(request: Request, fields: ReplyFields): Reply | Promise<Reply> {
    const { method, target, path } = request
    if (!this.#router.knows(method)) throw new AppError('unknownMethod', `the method ${method} is not known`)
    const found = target === '*' ? undefined : this.#router.find(target)
    if (found === undefined && (target !== '*' || method !== 'OPTIONS')) throw unknownPath(path)
    const endpoint = found?.route.endpoints.get(method)
    if (found !== undefined && endpoint !== undefined) return this.#identify({ request, fields, endpoint, found })
    request.isCounted = [...(found?.route.endpoints.values() ?? [])].some(({ unitsOf }) => unitsOf === undefined)
    const allow = found?.route.allow ?? this.#router.allMethods
    fields['allow'] = allow
    if (method !== 'OPTIONS') {
      throw new AppError('methodNotAllowed', `${method} is not served at ${found?.route.path}, only ${allow}`)
    }
    // Preflights are not rate-limited: a browser would hide the 429 from its page, including Retry-After.
    if (found === undefined || !answerPreflight(request, fields, allow)) this.#count(request)
    return { status: 204, fields }
  }

  #identify(asked: Asked): Reply | Promise<Reply> {
    const { request, fields, endpoint } = asked
    request.operation = endpoint.operation
    request.isCounted = endpoint.unitsOf === undefined
    if (endpoint.operation.scopes !== undefined) Object.assign(fields, privateFields)
    const caller = this.#findCaller(endpoint.operation, request)
    return caller instanceof Promise
      ? caller.then((known) => this.#readBody(asked, known))
      : this.#readBody(asked, caller)
  }

  /** Undefined for a public operation, unless it accepts a token and the request has one. */
  #findCaller(
    { scopes, takesToken }: Operation,
    { fields, clientAddress }: Request,
  ): Caller | undefined | Promise<Caller> {
    const { authorization, accept } = fields
    if (scopes === undefined) {
      // Pages need no token; a proxy may add its own token to each request.
      const isSaid = takesToken && /^bearer\b/i.test(authorization ?? '') && !prefers('text/html', accept)
      if (!isSaid) return undefined
    }
    const { authenticate, rateLimiter } = this.#options
    const guard: GuardLookUp | undefined =
      rateLimiter && ((lookUp) => rateLimiter.guardLookUp(networkOf(clientAddress), lookUp))
    return authenticate(authorization, scopes ?? [], guard)
  }

  /** Checks the header fields of the body, then reads it. An operation without a body ignores one. */
  #readBody(asked: Asked, caller: Caller | undefined): Reply | Promise<Reply> {
    const { request, endpoint } = asked
    request.caller = caller
    const { body, method } = request
    assertExpectation(request)
    if (body === undefined) return this.#answer(asked, undefined)
    if (endpoint.operation.body !== undefined) checkBodyFields(request.fields)
    if (Buffer.isBuffer(body)) return this.#answer(asked, body)
    if (method === 'GET' || method === 'HEAD') return body.skip().then(() => this.#answer(asked, undefined))
    return body.read().then((bytes) => this.#answer(asked, bytes))
  }

  /** Answers the request; a list waits for its turn. */
  #answer(asked: Asked, body: Buffer | undefined): Reply | Promise<Reply> {
    if (!asked.endpoint.isOfMany) return this.#call(asked, body, alwaysWanted)
    const { largeAnswers } = this.#options
    const assertWanted = (): void => largeAnswers.assertWanted(asked.request.connection)
    return (
      largeAnswers.begin()?.then(() => this.#call(asked, body, assertWanted)) ?? this.#call(asked, body, assertWanted)
    )
  }

  /** Reads the input, charges its units, and calls the handler. @param assertWanted as in `Call`. */
  #call(asked: Asked, body: Buffer | undefined, assertWanted: () => void): Reply | Promise<Reply> {
    assertWanted()
    const { request, endpoint } = asked
    const { intercept } = this.#options
    const input = this.#countInput(asked, body)
    request.plantId = endpoint.changedPlant?.(input)
    // Not `...input`: a copy that grows costs more to make and to collect than one of its final size.
    const call = {
      path: input.path,
      query: input.query,
      headers: input.headers,
      body: input.body,
      request,
      assertWanted,
    }
    const answer =
      intercept === undefined
        ? endpoint.handle(call)
        : intercept(endpoint.operation.id, () => endpoint.handle(call), request.connection.socket)
    return answer instanceof Promise
      ? answer.then((later) => this.#toReply(asked, later))
      : this.#toReply(asked, answer)
  }

  /** Reads the input and charges its units. Invalid input costs one unit. */
  #countInput({ request, endpoint, found }: Asked, body: Buffer | undefined): Input<OperationId> {
    const { rateLimiter } = this.#options
    const { readInput, unitsOf } = endpoint
    if (rateLimiter === undefined || unitsOf === undefined) return readInput(found, request.fields, body)
    request.isCounted = true
    let units = 1
    try {
      const input = readInput(found, request.fields, body)
      units = unitsOf(input)
      return input
    } finally {
      // A caller over its limit gets 429 even for invalid input.
      rateLimiter.take(request.caller?.id ?? networkOf(request.clientAddress), units)
    }
  }

  #toReply({ request, fields, endpoint }: Asked, answer: Answer<OperationId>): Reply {
    const { status, headers, body: value } = answer
    const body = value === undefined ? undefined : toBody(value)
    const isPage = endpoint.isOfMany && typeof body === 'object'
    if (isPage) this.#options.largeAnswers.add(request.connection, body.length)
    for (const name in headers) fields[name] = headers[name] as string
    if (status === 200) fields['content-type'] = answer.type ?? endpoint.mediaType
    if ('stream' in answer) {
      const { stream } = answer
      const { authorization } = request.fields
      const check = () => this.#options.authenticate(authorization, endpoint.operation.scopes ?? [])
      const credential = { authorization, check }
      return { status, fields, stream: (replyStream) => stream(replyStream, credential) }
    }
    if (body === undefined) return { status, fields }
    fields['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)
    return { status, fields, body, isPage }
  }

  #refuse(request: Request, fields: ReplyFields, error: unknown): Reply {
    const found = toAppError(error, request.id)
    // A failure that breaks the connection ends it even if the caller gets 429 instead.
    const isLast = breaksConnection(found)
    const failure = this.#counted(request, found)
    request.failure = failure
    const problem = forBrowser(problemOf(failure, request.operation?.scopes), failure, request)
    Object.assign(fields, problem.fields)
    return { status: problem.status, fields, body: problem.body, isLast }
  }

  /** The error of a failed request; always 429 for a caller over its limit. */
  #counted(request: Request, failure: AppError): AppError {
    try {
      this.#count(request, failure)
      return failure
    } catch (refusal) {
      return toAppError(refusal, request.id)
    }
  }

  /**
   * Charges one unit, to the caller or its address, for a request that no operation has charged.
   *
   * @param failure may identify the caller.
   * @throws AppError `rateLimited` over the limit.
   */
  #count(request: Request, failure?: AppError): void {
    if (request.isCounted) return
    request.isCounted = true
    const caller = request.caller ?? failure?.caller
    this.#options.rateLimiter?.take(caller?.id ?? networkOf(request.clientAddress), 1)
  }
}

function toEndpoint(operation: Operation, { contract, handlers, traits, limits }: ServiceOptions): Endpoint {
  const content = operation.responses.get(200) ?? new Map()
  const { units = () => 1, changedPlant } = (traits[operation.id] ?? {}) as Traits<OperationId>
  return {
    operation,
    isOfMany: [...content.values()].some(({ type }) => type === 'array'),
    mediaType: content.keys().next().value ?? 'application/json',
    readInput: compileInput(contract, operation, limits.jsonDepthMax),
    handle: handlers[operation.id] as unknown as Endpoint['handle'],
    unitsOf: units === 0 ? undefined : units,
    changedPlant,
  }
}

/** The only expectation that HTTP defines is 100-continue (RFC 9110, section 10.1.1). */
function assertExpectation({ fields, isHttp10 }: Request): void {
  const { expect } = fields
  if (expect === undefined || isHttp10 || expect.toLowerCase() === '100-continue') return
  throw new AppError('expectationFailed', `Expect: must be 100-continue, got ${JSON.stringify(expect)}`)
}

function unknownPath(path: string): AppError {
  return new AppError('unknownPath', `there is nothing at ${path}${hintFor(path)}`)
}

function hintFor(path: string): string {
  if (path.endsWith('/')) return '; no path ends with a slash'
  return /^\/(swagger|api-?docs|redoc|openapi)/i.test(path) ? '; see /docs, /openapi.json and /openapi.yaml' : ''
}

/** Strings and bytes are sent unchanged, other values as JSON. */
function toBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
    ? (body as Uint8Array<ArrayBuffer>)
    : JSON.stringify(body)
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
