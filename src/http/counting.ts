// What counts against `--rate-limit` without being counted by an operation: requests that fail before their input is
// read, and those that no operation serves.

import type { FastifyRequest } from 'fastify'
import type { AppError } from '../domain/errors.ts'
import type { AppOptions } from './app-options.ts'
import { networkOf } from './rate-limit.ts'
import type { Exchange } from './wire/exchange.ts'

/**
 * Counts a request as one unit of its caller if that is known, else of its address, unless it counts already.
 *
 * @param error why the request is refused, which may say who sent it.
 * @throws AppError `rateLimited` when it is too much.
 */
export function countRequest(
  request: FastifyRequest,
  exchange: Exchange,
  { rateLimiter, peers, contract, traits }: AppOptions,
  error?: AppError,
): void {
  if (rateLimiter === undefined || exchange.isCounted === true) return
  exchange.isCounted = true
  const { url: path } = request.routeOptions
  if (contract.operations.some((operation) => operation.path === path && traits[operation.id]?.units === 0)) return
  const caller = exchange.caller ?? error?.caller
  rateLimiter.take(caller?.id ?? networkOf(peers.addressOf(request.raw.socket, request.headers)), 1)
}
