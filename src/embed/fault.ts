// Faults, as a test's author specifies them.

import type { operations } from '../contract/types.ts'

/** Affects the next requests of an operation. Without a status or a delay, their connection is cut. */
export interface Fault {
  /** The operation's name in the document; any operation if omitted. */
  readonly operation?: keyof operations
  /** Number of requests; default 1. */
  readonly times?: number
  /** Answers with this error status, such as 429, 500 or 503. */
  readonly status?: number
  /** Seconds for the Retry-After of the error. */
  readonly retryAfter?: number
  /** Milliseconds before the answer; without a status, the normal answer arrives late. */
  readonly delayMs?: number
  /** Performs the operation first: its changes persist, only its answer is lost. */
  readonly afterCommit?: boolean
}

/** The maximum delay of timers. */
const delayMsMax = 2 ** 31 - 1

/** Throws TypeError if a fault is invalid. Does not check its operation. */
export function checkFault(fault: Fault): void {
  const { operation: _, afterCommit = false, times = 1, status = 500, retryAfter = 0, delayMs = 0, ...others } = fault
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new TypeError(`a fault has no ${unknown}, only operation, times, status, retryAfter, delayMs and afterCommit`)
  if (typeof afterCommit !== 'boolean') throw new TypeError(`afterCommit must be true or false, not ${afterCommit}`)
  if (!(Number.isInteger(times) && times >= 1)) throw new TypeError(`times must be an integer from 1, not ${times}`)
  if (!(Number.isInteger(status) && status >= 400 && status <= 599))
    throw new TypeError(`status must be one of 400 to 599, not ${status}`)
  if (!(Number.isSafeInteger(retryAfter) && retryAfter >= 0))
    throw new TypeError(`retryAfter must be a whole number of seconds, not ${retryAfter}`)
  if (!(delayMs >= 0 && delayMs <= delayMsMax))
    throw new TypeError(`delayMs must be at most ${delayMsMax} milliseconds, not ${delayMs}`)
}
