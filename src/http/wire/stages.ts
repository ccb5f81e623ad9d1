// The stages of a connection, each with a timeout.

import type { Limits } from '../../limits.ts'

/**
 * The stage of a connection. Each has a timeout (connections.ts).
 * - `idle`: waits for the next request.
 * - `head`: waits for the rest of a head, or for the first request.
 * - `body`: waits for the rest of a body.
 * - `answering`: has requests without an answer.
 * - `streaming`: gets an answer that has no end.
 * - `ending`: the last answer was given.
 */
export type Stage = 'idle' | 'head' | 'body' | 'answering' | 'streaming' | 'ending'

/** What the clock needs to know of a connection. */
interface Staged {
  readonly stage: Stage
  /** Distinguishes stages of the same name: increases with each request and each answer. */
  readonly progress: number
  readonly openedAtMs: number
  readonly socket: { readonly writableLength: number }
}

/** A stage of a connection, and when it was first seen. */
interface StageStart {
  readonly stage: Stage
  readonly progress: number
  readonly sinceMs: number
}

export class StageClocks {
  readonly #msMax: Readonly<Record<Stage, number>>
  readonly #seen = new Map<Staged, StageStart>()

  constructor(limits: Limits) {
    this.#msMax = {
      idle: limits.keepAliveMsMax,
      head: limits.headersMsMax,
      body: limits.requestMsMax,
      answering: limits.answeringMsMax,
      // Comments show whether the client still reads, so the socket's timeout ends it.
      streaming: Number.POSITIVE_INFINITY,
      ending: limits.unreadMsMax,
    }
  }

  /** Whether a connection has exceeded the time of its stage, with the precision of the calling interval. */
  hasExpired(connection: Staged, nowMs: number): boolean {
    const { stage, progress } = connection
    const sinceMs = this.#since(connection, stage, progress) ?? nowMs
    this.#seen.set(connection, { stage, progress, sinceMs })
    return nowMs - sinceMs >= this.#msMax[stage]
  }

  forget(connection: Staged): void {
    this.#seen.delete(connection)
  }

  /** When the stage began; undefined if it is new. */
  #since(connection: Staged, stage: Stage, progress: number): number | undefined {
    // An unread answer is covered by the socket's timeout, because Node.js knows how much was read.
    const isSending = connection.socket.writableLength > 0
    if (isSending && (stage === 'answering' || stage === 'ending')) return undefined
    const seen = this.#seen.get(connection)
    if (seen === undefined) return stage === 'head' ? connection.openedAtMs : undefined
    if (seen.progress !== progress) return undefined
    // A head and its body share one timeout, which starts at the first byte.
    return seen.stage === stage || (seen.stage === 'head' && stage === 'body') ? seen.sinceMs : undefined
  }
}
