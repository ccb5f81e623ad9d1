// An operation of the document with what was compiled for it. service.ts calls its steps in their order; each throws, or
// rejects with, the AppError that answers the request.

import type { Operation, OperationId } from '../contract/document.ts'
import type { Caller } from '../domain/caller.ts'
import { checkBodyFields, compileInput, type ReadInput, type Texts } from './input.ts'
import { prefers } from './negotiation.ts'
import type { Answer, Call, Input, Traits } from './operations.ts'
import { networkOf, type RateLimiter } from './rate-limit.ts'
import type { Request } from './request.ts'
import type { ServiceOptions } from './service-options.ts'

/** Handlers pairs each operation with its own call type; an endpoint erases the pairing. */
type Handler = (call: Call<OperationId>) => Answer<OperationId> | Promise<Answer<OperationId>>

export class Endpoint {
  readonly operation: Operation
  /** Whether its calls are never counted against the rate limit. */
  readonly isFree: boolean
  /** Whether its answer is a list, which may be long. */
  readonly isOfMany: boolean
  /** The first media type in the document; an answer may choose another. */
  readonly mediaType: string
  readonly #options: ServiceOptions
  readonly #readInput: ReadInput
  readonly #rateLimiter: RateLimiter | undefined
  readonly #handle: Handler
  readonly #unitsOf: (input: Input<OperationId>) => number
  readonly #changedPlant: ((input: Input<OperationId>) => bigint) | undefined

  constructor(operation: Operation, options: ServiceOptions) {
    const { handlers, traits, limits, rateLimiter } = options
    const content = operation.responses.get(200) ?? new Map()
    const { units, changedPlant } = (traits[operation.id] ?? {}) as Traits<OperationId>
    this.operation = operation
    this.isFree = units === 0
    this.isOfMany = [...content.values()].some(({ type }) => type === 'array')
    this.mediaType = content.keys().next().value ?? 'application/json'
    this.#options = options
    this.#readInput = compileInput(options.contract, operation, limits.jsonDepthMax)
    this.#rateLimiter = this.isFree ? undefined : rateLimiter
    this.#handle = handlers[operation.id] as unknown as Handler
    this.#unitsOf = units === undefined || units === 0 ? () => 1 : units
    this.#changedPlant = changedPlant
  }

  /** Undefined for a public operation, unless it accepts a token and the request has one. */
  identify({ fields, clientAddress }: Request): Caller | undefined | Promise<Caller> {
    const { scopes, takesToken } = this.operation
    const { authorization, accept } = fields
    if (scopes === undefined) {
      // A proxy may add a token of its own to the requests of a browser, whose page needs none.
      const isSaid = takesToken && /^bearer\b/i.test(authorization ?? '') && !prefers('text/html', accept)
      if (!isSaid) return undefined
    }
    const { authenticate, rateLimiter } = this.#options
    if (rateLimiter === undefined) return authenticate(authorization, scopes ?? [])
    return authenticate(authorization, scopes ?? [], (lookUp) =>
      rateLimiter.guardLookUp(networkOf(clientAddress), lookUp),
    )
  }

  /** Authenticates the caller of a stream again. */
  reidentify(authorization: string | undefined): Caller | Promise<Caller> {
    return this.#options.authenticate(authorization, this.operation.scopes ?? [])
  }

  /** Checks the header fields of the body. An operation without a body ignores one. */
  checkBodyFields({ fields }: Request): void {
    if (this.operation.body !== undefined) checkBodyFields(fields, this.#options.limits)
  }

  /** Reads the input, charges its units, and calls the handler. @param assertWanted throws if the client has left. */
  answer(
    request: Request,
    { params, query }: Pick<Texts, 'params' | 'query'>,
    body: Buffer | undefined,
    assertWanted: () => void,
  ): Answer<OperationId> | Promise<Answer<OperationId>> {
    const input = this.#countInput(request, { params, query, headers: request.fields, body })
    if (this.#changedPlant !== undefined) request.plantId = this.#changedPlant(input)
    const { path, query: parameters, headers, body: value } = input
    const call: Call<OperationId> = { path, query: parameters, headers, body: value, request, assertWanted }
    const { intercept } = this.#options
    if (intercept === undefined) return this.#handle(call)
    return intercept(this.operation.id, () => this.#handle(call), request.connection.socket)
  }

  /** An invalid request costs one unit. */
  #countInput(request: Request, texts: Texts): Input<OperationId> {
    if (this.#rateLimiter === undefined) return this.#readInput(texts)
    request.isCounted = true
    let units = 1
    try {
      const input = this.#readInput(texts)
      units = this.#unitsOf(input)
      return input
    } finally {
      // A caller over its limit gets 429 even for invalid input.
      this.#rateLimiter.take(request.caller?.id ?? networkOf(request.clientAddress), units)
    }
  }
}
