// The table of request failures, the error classes of the service, and access to the message and code of any error.

import type { Caller } from './caller.ts'

/**
 * The error numbers of the API: HTTP status times 100 plus an ordinal. A number never changes its meaning and is never
 * reused. openapi.yaml lists the same table; a test compares the two.
 */
export const errorNumbers = {
  malformedRequest: 40000,
  invalidJson: 40001,
  invalidPlant: 40002,
  repeatedHeader: 40003,
  invalidHeader: 40004,
  invalidParameter: 40005,
  missingToken: 40101,
  invalidToken: 40102,
  insufficientScope: 40301,
  unknownPath: 40401,
  unknownPlant: 40402,
  methodNotAllowed: 40501,
  requestTimeout: 40801,
  idTaken: 40901,
  positionGone: 41001,
  preconditionFailed: 41201,
  bodyTooLarge: 41301,
  unsupportedMediaType: 41501,
  unsupportedContentEncoding: 41502,
  expectationFailed: 41701,
  idempotencyKeyReused: 42201,
  rateLimited: 42901,
  tooManyStreams: 42902,
  headerFieldsTooLarge: 43101,
  internalError: 50001,
  unknownMethod: 50101,
  unknownTransferCoding: 50102,
  overloaded: 50301,
  storeUnavailable: 50302,
  shuttingDown: 50303,
  storeFull: 50304,
  storeAway: 50305,
  issuerAway: 50306,
} as const

export type ErrorCode = keyof typeof errorNumbers

export function statusOf(code: ErrorCode): number {
  return Math.floor(errorNumbers[code] / 100)
}

/** A request that cannot be served. `message` is public, without secrets or internals; `cause` goes to the log only. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  /** The caller that lacks a permission. */
  readonly caller: Caller | undefined
  /** Response header fields in addition to those of the error code, by lower-case name. */
  readonly fields: Readonly<Record<string, string>> | undefined

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & Partial<Pick<AppError, 'fields' | 'caller'>>) {
    super(message, options)
    this.code = code
    this.fields = options?.fields
    this.caller = options?.caller
  }
}

/**
 * A problem that the operator has to fix: a port in use, a damaged store, a wrong argument. The message is one line
 * that says what to do. The command line prints it and exits with status 1, or 2 for a SettingError.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/**
 * A setting, or a file that it names, is unusable. Restarting does not help until the setting changes, so the command
 * line exits with status 2 and systemd does not restart the server.
 */
export class SettingError extends OperatorError {}

export class MissingStoreError extends OperatorError {}

/** The message of a thrown value. An AggregateError of several addresses has no message except those of its errors. */
export function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(messageOf).join('; ')
  return cause.message || codeOf(cause) || cause.name
}

export function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}
