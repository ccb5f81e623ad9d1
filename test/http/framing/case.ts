// A case of the framing corpus: the bytes and actions of a client, the responses that it gets, and how its connection
// ends.

import type { ErrorCode } from '../../../src/domain/errors.ts'

/** An answer: its status when it is none of the errors, else the name of the error. */
export type Outcome = 100 | 200 | 204 | ErrorCode

/** The client says that it sends nothing more, and reads on. */
export const finish = { kind: 'finish' } as const
/** The client resets its connection. */
export const reset = { kind: 'reset' } as const
/** The client reads nothing from now on. */
export const stopReading = { kind: 'stopReading' } as const

/** Waits until so many answers have come, 100s included. */
export interface Await {
  readonly kind: 'await'
  readonly answers: number
}

/** The same bytes again and again, until the server answers. */
export interface Drip {
  readonly kind: 'drip'
  readonly bytes: string
  readonly everyMs: number
}

/** A text is sent as latin1, with a token in the place of `TOKEN` and an unused id for each `#########`. */
export type Step = string | Buffer | typeof finish | typeof reset | typeof stopReading | Await | Drip

/**
 * What becomes of the connection:
 * - `goesOn`: its next request is answered.
 * - `closes`: the last answer says so, nothing more is answered, and the server ends it.
 * - `ends`: the same, but the last answer could not know or was not asked; the server ends it.
 * - `left`: the client is gone; it may have missed answers, but must not get others.
 */
export type Fate = 'goesOn' | 'closes' | 'ends' | 'left'

export interface FramingCase {
  readonly name: string
  readonly steps: readonly Step[]
  readonly answers: readonly Outcome[]
  readonly fate: Fate
  /** The places of the answers to HEAD among the others. */
  readonly heads?: readonly number[]
  /** It waits for a limit of the server, or takes it much work. */
  readonly isSlow?: boolean
}

export const host = 'Host: plants.example'
export const token = 'Authorization: Bearer TOKEN'

export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}
