// Counts against `--rate-limit` what no operation counts: requests that fail before their input is read, and requests
// outside all operations.

import type { FastifyRequest } from 'fastify'
import type { AppError } from '../domain/errors.ts'
import type { AppOptions } from './app-options.ts'
import { networkOf } from './rate-limit.ts'
import type { Exchange } from './wire/exchange.ts'

/**
 * Counts a request once, as one unit of its caller, or of its address if the caller is unknown.
 *
 * @param error the reason for the refusal, which may identify the caller.
 * @throws AppError `rateLimited` over the limit.
 */
export function countRequest(
  request: FastifyRequest,
  exchange: Exchange,
  { rateLimiter, peers, contract, traits }: AppOptions,
  error?: AppError,
): void {
  if (rateLimiter === undefined || exchange.isCounted === true) return
  exchange.isCounted = true
  // The router spells a path without parameters as the document does.
  const { url: path } = request.routeOptions
  if (contract.operations.some((operation) => operation.path === path && traits[operation.id]?.units === 0)) return
  const caller = exchange.caller ?? error?.caller
  rateLimiter.take(caller?.id ?? networkOf(peers.addressOf(request.raw.socket, request.headers)), 1)
}
