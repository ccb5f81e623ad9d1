// Every way in which a request can fail, in one table, the two error classes of the service, and what the errors of
// others say.

import type { Caller } from './caller.ts'

/**
 * The error numbers of the interface: HTTP status times 100 plus an ordinal. A number never changes its meaning and
 * is never used again. openapi.yaml lists the same table for its readers; a test compares the two.
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
  preconditionFailed: 41201,
  bodyTooLarge: 41301,
  unsupportedMediaType: 41501,
  unsupportedContentEncoding: 41502,
  expectationFailed: 41701,
  idempotencyKeyReused: 42201,
  rateLimited: 42901,
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

/** The HTTP status that an error code is answered with. */
export function statusOf(code: ErrorCode): number {
  return Math.floor(errorNumbers[code] / 100)
}

/**
 * A request that cannot be served. `message` is public: it says what was wrong with this request and never holds a
 * secret or anything of the inside. `cause`, where there is one, is for the log alone.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  /** Who asked for what they may not. */
  readonly caller: Caller | undefined
  /** Header fields that its answer has beside those that its code asks for, by their lower-case names. */
  readonly fields: Readonly<Record<string, string>> | undefined

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & Partial<Pick<AppError, 'fields' | 'caller'>>) {
    super(message, options)
    this.name = 'AppError'
    this.code = code
    this.fields = options?.fields
    this.caller = options?.caller
  }
}

/**
 * Something that the operator has to mend: a taken port, a damaged store, a wrong argument. The message is
 * one line that says what to do; the command line prints it and ends with status 1, for a SettingError with 2.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OperatorError'
  }
}

/**
 * A setting, or a file that one names, cannot be used as it is. Unlike after a taken port, no later start does better
 * before it is changed: the command line ends with status 2, and systemd does not start the server again.
 */
export class SettingError extends OperatorError {}

/** There is no store where one has to be. */
export class MissingStoreError extends OperatorError {}

/** What something that was thrown says. Of several addresses that were tried, the error has only a code. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message || codeOf(cause) || cause.name : String(cause)
}

/** The code of an error of Node.js, or of a library. */
export function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}
