// A case of the framing corpus: what a client sends and does, the responses that it gets, and how its connection ends.

import type { ErrorCode } from '../../../src/domain/errors.ts'
import type { Wire } from './wire.ts'

/** An answer: its status when it is none of the errors, else the name of the error. */
export type Outcome = 100 | 200 | 204 | ErrorCode

/** What a client does, other than to send. */
export type Act = (wire: Wire) => unknown

/** The client says that it sends nothing more, and reads on. */
export const finish: Act = ({ socket }) => socket.end()
/** The client resets its connection. */
export const reset: Act = ({ socket }) => socket.resetAndDestroy()
/** The client reads nothing from now on. */
export const stopReading: Act = ({ socket }) => socket.pause()

/** A text is sent as latin1, with a token in the place of `TOKEN` and an unused id for each `#########`. */
export type Step = string | Buffer | Act

/**
 * What becomes of the connection:
 * - `goesOn`: its next request is answered.
 * - `closes`: the last answer says so, nothing more is answered, and the server ends it.
 * - `ends`: the same, but the last answer could not know or was not asked; the server ends it.
 * - `left`: the client has reset it; it may have missed answers, but must not get others.
 */
export type Fate = 'goesOn' | 'closes' | 'ends' | 'left'

export interface FramingCase {
  readonly name: string
  readonly steps: readonly Step[]
  readonly answers: readonly Outcome[]
  readonly fate: Fate
  /** The places of the answers to HEAD among the others. */
  readonly heads: readonly number[]
  /** It waits for a limit of the server, or takes it much work. */
  readonly isSlow?: boolean
}

export const host = 'Host: plants.example'
export const token = 'Authorization: Bearer TOKEN'

export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}
