// Options of the application, supplied by serve/running-server.ts.

import type { IncomingMessage } from 'node:http'
import type { Contract } from '../contract/contract.ts'
import type { Observe } from '../domain/events.ts'
import type { Limits } from '../limits.ts'
import type { Authenticate } from './authenticate.ts'
import type { AllowedOrigins } from './cors.ts'
import type { Handlers, Intercept, TraitsOf } from './operations.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { Connections } from './wire/connections.ts'
import type { Peers } from './wire/peers.ts'

/** A certificate chain and its private key, in PEM. */
export interface KeyPair {
  readonly cert: Buffer
  readonly key: Buffer
}

export interface ServiceOptions {
  readonly contract: Contract
  readonly handlers: Handlers
  readonly traits: TraitsOf
  readonly authenticate: Authenticate
  readonly limits: Limits
  readonly observe: Observe
  readonly allowedOrigins: AllowedOrigins
  readonly connections: Connections
  readonly peers: Peers
  readonly newRequestId: () => string
  /** The id assigned to a request on arrival. */
  readonly requestIdOf: (request: IncomingMessage) => string
  /** True once the server is shutting down: each connection closes after its next answer. */
  readonly isStopping: () => boolean
  /** If present, the server serves HTTPS only. */
  readonly keyPair?: KeyPair
  /** Without it, request rates are unlimited. */
  readonly rateLimiter?: RateLimiter
  /** Only for tests of clients. */
  readonly intercept?: Intercept
}
