// Counts against `--rate-limit` what no operation counts: requests that fail before their input is read, and requests
// outside all operations.

import type { AppError } from '../domain/errors.ts'
import { networkOf } from './rate-limit.ts'
import type { Asked } from './service.ts'
import type { ServiceOptions } from './service-options.ts'

/**
 * Counts a request once, as one unit of its caller, or of its address if the caller is unknown.
 *
 * @param error the reason for the refusal, which may identify the caller.
 * @throws AppError `rateLimited` over the limit.
 */
export function countRequest(
  { exchange, path }: Pick<Asked, 'exchange' | 'path'>,
  { rateLimiter, contract, traits }: ServiceOptions,
  error?: AppError,
): void {
  if (rateLimiter === undefined || exchange.isCounted === true) return
  exchange.isCounted = true
  if (contract.operations.some((operation) => operation.path === path && traits[operation.id]?.units === 0)) return
  const caller = exchange.caller ?? error?.caller
  rateLimiter.take(caller?.id ?? networkOf(exchange.clientAddress), 1)
}
