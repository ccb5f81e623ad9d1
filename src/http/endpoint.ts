// An operation of the contract made ready to serve: its input read and validated, its handler, its answer serialised.

import type { Socket } from 'node:net'
import { serialisers } from '../contract/compiled.ts'
import type { Operation, OperationId } from '../contract/document.ts'
import type { Caller } from '../domain/caller.ts'
import type { AppOptions } from './app-options.ts'
import { compileInput, type Input, type Texts } from './input.ts'
import type { Answer, Call, Intercept } from './operations.ts'
import { networkOf, type RateLimiter, unitsOf, unlimitedPaths } from './rate-limit.ts'
import type { Peers, Scheme } from './wire/peers.ts'

/** The types of Handlers pair each operation with its own call; an endpoint knows only that it has one. */
type Handler = (call: Call<OperationId>) => Answer<OperationId> | Promise<Answer<OperationId>>

interface PlantPath {
  readonly id?: bigint
}

interface PlantBody {
  readonly id: bigint
}

/** What is known of a request before its input is read. */
export interface RequestContext {
  readonly texts: Texts
  readonly caller: Caller | undefined
  readonly host: string | undefined
  readonly scheme: Scheme
  readonly accept: string | undefined
  readonly assertWanted: () => void
  readonly socket: Socket
  /** Told which plant is to be changed, and that the request counts against the rate limit. */
  readonly exchange: { plantId?: bigint; isCounted?: boolean }
}

export class Endpoint {
  readonly operation: Operation
  /** Whether it answers a page of many. */
  readonly isOfMany: boolean
  /** The first that the document has; an answer may have another. */
  readonly mediaType: string
  readonly serialise: (body: unknown) => string
  readonly #readTexts: ReturnType<typeof compileInput>
  readonly #rateLimiter: RateLimiter | undefined
  readonly #peers: Peers
  readonly #handle: Handler
  readonly #intercept: Intercept | undefined
  /** Whether it creates, replaces or deletes a plant, whose id is in its path or else in its body. */
  readonly #isChange: boolean

  constructor(operation: Operation, { handlers, limits, intercept, peers, rateLimiter }: AppOptions) {
    const content = operation.responses.get(200)?.content ?? new Map()
    this.operation = operation
    this.isOfMany = [...content.values()].some(({ type }) => type === 'array')
    this.mediaType = content.keys().next().value ?? 'application/json'
    const serialise = serialisers[operation.id]
    this.serialise = serialise === undefined ? asItIs : (body) => (typeof body === 'string' ? body : serialise(body))
    this.#readTexts = compileInput(operation, limits.jsonDepthMax)
    this.#rateLimiter = unlimitedPaths.has(operation.path) ? undefined : rateLimiter
    this.#peers = peers
    this.#handle = handlers[operation.id] as unknown as Handler
    this.#intercept = intercept
    this.#isChange = operation.method !== 'GET'
  }

  /** Throws an AppError when the input is invalid; rejects with one when the operation fails. */
  answer(asking: RequestContext): Answer<OperationId> | Promise<Answer<OperationId>> {
    const { caller, host, scheme, accept, assertWanted, socket, exchange } = asking
    const { path, query, headers, body } = this.#readInput(asking)
    if (this.#isChange) exchange.plantId = (path as PlantPath).id ?? (body as unknown as PlantBody).id
    const call = { path, query, headers, body, caller, host, scheme, accept, assertWanted }
    if (this.#intercept === undefined) return this.#handle(call)
    return this.#intercept(this.operation.id, () => this.#handle(call), socket)
  }

  /** Counts what is asked for. A request that is invalid counts, too, as one unit. */
  #readInput({ texts, caller, socket, exchange }: RequestContext): Input {
    if (this.#rateLimiter === undefined) return this.#readTexts(texts)
    exchange.isCounted = true
    let units = 1
    try {
      const input = this.#readTexts(texts)
      units = unitsOf(this.operation.id, input.query)
      return input
    } finally {
      // A caller over its limit gets 429, even for invalid input.
      this.#rateLimiter.take(caller?.id ?? networkOf(this.#peers.addressOf(socket, texts.headers)), units)
    }
  }
}

function asItIs(body: unknown): string {
  return body as string
}
