// Faults, as the author of a test specifies them.

import type { operations, webhooks } from '../contract/types.ts'
import { type ErrorCode, errorNumbers, statusOf } from '../domain/errors.ts'

/**
 * Affects the next requests for an operation. Without a status, an error or a delay, their connections are cut. Open
 * streams of `listChanges` are cut first, at once.
 */
export interface Fault {
  /** The operation's name in the document; any operation if omitted. */
  readonly operation?: Exclude<keyof operations, keyof webhooks> | undefined
  /** Number of requests; default 1. */
  readonly times?: number | undefined
  /**
   * Answers with the document's error for this status, such as 409, 429 or 503. 502 and 504 are answered as a proxy
   * would, without an Error.
   */
  readonly status?: number | undefined
  /** Answers with the document's error that has this number, such as 40901 or 42901. */
  readonly error?: number | undefined
  /** Seconds for the Retry-After of a 429, 502, 503 or 504. */
  readonly retryAfter?: number | undefined
  /** Milliseconds before the answer; without a status or an error, the normal answer arrives late. */
  readonly delayMs?: number | undefined
  /** Performs the operation first: its changes persist, only its answer is lost. */
  readonly afterCommit?: boolean | undefined
}

/** The maximum delay of timers. */
const delayMsMax = 2 ** 31 - 1
const proxyStatuses: readonly number[] = [502, 504]
const busyStatuses: readonly number[] = [429, 503, ...proxyStatuses]
const codes = Object.keys(errorNumbers) as ErrorCode[]
const statuses = [...new Set([...codes.map(statusOf), ...proxyStatuses])]
const names = ['operation', 'times', 'status', 'error', 'retryAfter', 'delayMs', 'afterCommit']

/** The usual error for each status that several errors have. */
const usual: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'invalidParameter'],
  [401, 'invalidToken'],
  [404, 'unknownPlant'],
  [503, 'overloaded'],
])

/** Throws TypeError if a fault is invalid. Does not check its operation. */
export function checkFault(fault: Fault): void {
  if (!isRecord(fault)) throw new TypeError('a fault must be an object, such as { status: 503 }')
  const unknown = Object.keys(fault).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`a fault has no ${unknown}, only ${names.join(', ')}`)
  const { afterCommit, times = 1, status, error, retryAfter = 0, delayMs = 0 } = fault
  const check = (name: keyof Fault, isValid: boolean, what: string): void => {
    const value = fault[name]
    const shown = typeof value === 'string' ? JSON.stringify(value) : String(value)
    if (value !== undefined && !isValid) throw new TypeError(`${name} must be ${what}, not ${shown}`)
  }
  check('afterCommit', typeof afterCommit === 'boolean', 'true or false')
  check('times', Number.isInteger(times) && times >= 1, 'an integer from 1')
  check('status', status !== undefined && statuses.includes(status), `one of ${statuses.join(', ')}`)
  check('error', error !== undefined && codeOf(error) !== undefined, 'a number of the document, such as 40901')
  check('retryAfter', Number.isSafeInteger(retryAfter) && retryAfter >= 0, 'a whole number of seconds')
  const isDelay = typeof delayMs === 'number' && delayMs >= 0 && delayMs <= delayMsMax
  check('delayMs', isDelay, `a number of milliseconds, at most ${delayMsMax}`)
  const ofError = error === undefined ? undefined : Math.floor(error / 100)
  if (status !== undefined && ofError !== undefined && status !== ofError)
    throw new TypeError(`error ${error} has the status ${ofError}, not ${status}`)
  if (fault.retryAfter !== undefined && !busyStatuses.includes(status ?? ofError ?? 0))
    throw new TypeError(`retryAfter needs a status of ${busyStatuses.join(', ')}`)
}

/** The error that a fault answers with; undefined if it answers with none, or as a proxy. */
export function codeOfFault({ status, error, afterCommit = false }: Fault): ErrorCode | undefined {
  if (error !== undefined) return codeOf(error)
  // The number of a 503 shows whether the operation may have taken effect.
  if (status === 503 && afterCommit) return 'storeUnavailable'
  return usual.get(status ?? 0) ?? codes.find((code) => statusOf(code) === status)
}

export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function codeOf(error: number): ErrorCode | undefined {
  return codes.find((code) => errorNumbers[code] === error)
}
