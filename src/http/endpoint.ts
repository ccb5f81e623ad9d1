// Prepares an operation of the contract to serve requests. Every request goes through these steps, as a plain request
// (shortcut.ts) or as a request of Node.js (service.ts):
//
// 1. `identify`: authenticate the caller and check the scopes of the operation. The shortcut calls `recall` instead,
//    and leaves a caller that is not known to the service.
// 2. `checkBodyHeaders`: check the type, coding and length of the body before reading it. A plain request has the right
//    ones by its definition.
// 3. `answer`: read and validate the input, count it against `--rate-limit`, and handle it.
// 4. `toBody`: produce the body of the answer.
//
// Each step throws, or rejects with, the AppError that answers the request.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Operation, OperationId } from '../contract/document.ts'
import type { Caller } from '../domain/caller.ts'
import { checkBodyHeaders, compileInput, type Input, type Texts } from './input.ts'
import { prefers } from './negotiation.ts'
import type { Answer, Call, TakeOver, Traits } from './operations.ts'
import { networkOf, type RateLimiter } from './rate-limit.ts'
import type { ServiceOptions } from './service-options.ts'
import type { Scheme } from './wire/peers.ts'

/** Handlers pairs each operation with its own call type; an endpoint erases the pairing. */
type Handler = (call: Call<OperationId>) => Answer<OperationId> | Promise<Answer<OperationId>>

/** The request context before the input is read. */
export interface RequestContext {
  readonly texts: Texts
  readonly caller: Caller | undefined
  readonly host: string | undefined
  readonly scheme: Scheme
  readonly accept: string | undefined
  readonly acceptEncoding: string | undefined
  readonly assertWanted: () => void
  readonly onClosed: (listener: () => void) => void
  readonly socket: Socket
  /** Missing for a plain request, which begins when its connection is idle. */
  readonly response?: ServerResponse
  /** Receives the plant to change, and whether the request was counted against the rate limit. */
  readonly exchange: { plantId?: bigint; isCounted?: boolean }
}

export class Endpoint {
  readonly operation: Operation
  /** Whether the answer is a page of plants. */
  readonly isOfMany: boolean
  /** Whether plain requests may take the shortcut. */
  readonly mayTakeShortcut: boolean
  /** The first media type in the document; an answer may choose another. */
  readonly mediaType: string
  readonly #options: ServiceOptions
  readonly #readTexts: ReturnType<typeof compileInput>
  readonly #rateLimiter: RateLimiter | undefined
  readonly #handle: Handler
  readonly #unitsOf: (call: Input) => number
  readonly #changedPlant: ((call: Input) => bigint) | undefined

  constructor(operation: Operation, options: ServiceOptions) {
    const { handlers, traits, limits, rateLimiter } = options
    const content = operation.responses.get(200)?.content ?? new Map()
    const { units, changedPlant, mayTakeShortcut } = (traits[operation.id] ?? {}) as Traits<OperationId>
    this.operation = operation
    this.isOfMany = [...content.values()].some(({ type }) => type === 'array')
    this.mayTakeShortcut = mayTakeShortcut === true
    this.mediaType = content.keys().next().value ?? 'application/json'
    this.#options = options
    this.#readTexts = compileInput(options.contract, operation, limits.jsonDepthMax)
    this.#rateLimiter = units === 0 ? undefined : rateLimiter
    this.#handle = handlers[operation.id] as unknown as Handler
    this.#unitsOf = units === undefined || units === 0 ? () => 1 : units
    this.#changedPlant = changedPlant
  }

  /** Undefined for a public operation, unless it takes a token and the request has one. */
  identify(headers: IncomingHttpHeaders, socket: Socket): Caller | undefined | Promise<Caller> {
    const { scopes, takesToken } = this.operation
    // A proxy may add a token of its own to the requests of a browser, whose page needs none.
    const isSaid = takesToken && /^bearer\b/i.test(headers.authorization ?? '') && !prefers('text/html', headers.accept)
    if (scopes === undefined && !isSaid) return undefined
    const { authenticate, peers, rateLimiter } = this.#options
    if (rateLimiter === undefined) return authenticate(headers.authorization, scopes ?? [])
    return authenticate(headers.authorization, scopes ?? [], (lookUp) =>
      rateLimiter.guardLookUp(networkOf(peers.addressOf(socket, headers)), lookUp),
    )
  }

  /** Authenticates the caller of a stream again. */
  reidentify(authorization: string | undefined): Caller | Promise<Caller> {
    return this.#options.authenticate(authorization, this.operation.scopes ?? [])
  }

  /** The caller if identified recently and with the scopes; otherwise undefined. */
  recall(authorization: string | undefined): Caller | undefined {
    return this.#options.authenticate.known(authorization, this.operation.scopes ?? [])
  }

  checkBodyHeaders(headers: IncomingHttpHeaders): void {
    if (this.operation.body !== undefined) checkBodyHeaders(headers, this.#options.limits)
    // The operation takes no body; ignore one of any type.
    else delete headers['content-type']
  }

  answer(request: RequestContext): Answer<OperationId> | Promise<Answer<OperationId>> {
    const input = this.#readInput(request)
    if (this.#changedPlant !== undefined) request.exchange.plantId = this.#changedPlant(input)
    const call: Call<OperationId> = {
      path: input.path,
      query: input.query,
      headers: input.headers,
      body: input.body,
      caller: request.caller,
      host: request.host,
      scheme: request.scheme,
      accept: request.accept,
      acceptEncoding: request.acceptEncoding,
      assertWanted: request.assertWanted,
      onClosed: request.onClosed,
    }
    const { intercept } = this.#options
    if (intercept === undefined) return this.#handle(call)
    return intercept(this.operation.id, () => this.#handle(call), takeOverOf(request))
  }

  /** Counts the request. An invalid request costs one unit. */
  #readInput({ texts, caller, socket, exchange }: RequestContext): Input {
    if (this.#rateLimiter === undefined) return this.#readTexts(texts)
    exchange.isCounted = true
    let units = 1
    try {
      const input = this.#readTexts(texts)
      units = this.#unitsOf(input)
      return input
    } finally {
      // A caller over its limit gets 429 even for invalid input.
      const address = this.#options.peers.addressOf(socket, texts.headers)
      this.#rateLimiter.take(caller?.id ?? networkOf(address), units)
    }
  }
}

/** A response gets its socket when all earlier ones of the connection are sent. */
function takeOverOf({ socket, response }: RequestContext): TakeOver {
  return (use) => {
    if (response?.socket === null) response.once('socket', use)
    else use(socket)
  }
}

/** The body of an answer as sent. */
export function toBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
    ? (body as Uint8Array<ArrayBuffer>)
    : JSON.stringify(body)
}
