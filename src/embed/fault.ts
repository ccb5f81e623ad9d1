// What can be ordered to go wrong, as the author of a test says it.

import type { operations } from '../contract/types.ts'

/** What happens to the next requests of an operation. Without a status or a delay, their connection is cut off. */
export interface Fault {
  /** The operation by its name in the document; any, when it is left out. */
  readonly operation?: keyof operations
  /** How many requests; 1 by default. */
  readonly times?: number
  /** They are answered with this status, a refusal such as 429, 500 or 503. */
  readonly status?: number
  /** Seconds that a refusal asks the client to wait, as its Retry-After. */
  readonly retryAfter?: number
  /** Milliseconds before the answer; alone, it is the right answer, but late. */
  readonly delayMs?: number
  /** The operation is done first: what it changed is kept, only its answer is lost. */
  readonly afterCommit?: boolean
}

/** The longest time that timers know. */
const delayMsMax = 2 ** 31 - 1

/** Throws a TypeError that says what is wrong with a fault, but for its operation. */
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
