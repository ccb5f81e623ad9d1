// Options of the application, supplied by serve/running-server.ts.

import type { Contract } from '../contract/contract.ts'
import type { Observe } from '../domain/events.ts'
import type { Limits } from '../limits.ts'
import type { Authenticate } from './authenticate.ts'
import type { AllowedOrigins } from './cors.ts'
import type { LargeAnswers } from './large-answers.ts'
import type { Handlers, Intercept, TraitsOf } from './operations.ts'
import type { RateLimiter } from './rate-limit.ts'

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
