// Counts against `--rate-limit` what no operation counts: requests that fail before their input is read, and requests
// outside all operations.

import type { AppError } from '../domain/errors.ts'
import { networkOf } from './rate-limit.ts'
import type { ServiceOptions } from './service-options.ts'
import type { Exchange } from './wire/exchange.ts'

/**
 * Counts a request once, as one unit of its caller, or of its address if the caller is unknown.
 *
 * @param path of the document, if it is known.
 * @param error the reason for the refusal, which may identify the caller.
 * @throws AppError `rateLimited` over the limit.
 */
export function countRequest(
  exchange: Exchange,
  path: string | undefined,
  { rateLimiter, contract, traits }: ServiceOptions,
  error?: AppError,
): void {
  if (rateLimiter === undefined || exchange.isCounted === true) return
  exchange.isCounted = true
  if (contract.operations.some((operation) => operation.path === path && traits[operation.id]?.units === 0)) return
  const caller = exchange.caller ?? error?.caller
  rateLimiter.take(caller?.id ?? networkOf(exchange.clientAddress), 1)
}
