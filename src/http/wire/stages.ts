// What a connection does, and the clock that ends it: every stage has one.

/**
 * What a connection does. Each stage has a clock that ends it (connections.ts).
 * - `idle`: it waits for the next request.
 * - `head`: it waits for the rest of a head, or for its first request.
 * - `body`: it waits for the rest of a body.
 * - `answering`: requests that have arrived are not answered yet.
 * - `ending`: the last answer was given.
 */
export type Stage = 'idle' | 'head' | 'body' | 'answering' | 'ending'

export interface StageLimits {
  readonly keepAliveMsMax: number
  readonly headersMsMax: number
  readonly requestMsMax: number
  readonly answeringMsMax: number
  readonly unreadMsMax: number
}

/** A connection, as far as its clock needs to know it. */
interface Staged {
  readonly stage: Stage
  /** Goes up whenever a stage of the same name is another one: with each request, and with each answer. */
  readonly progress: number
  readonly openedAtMs: number
  readonly socket: { readonly writableLength: number }
}

/** A stage of a connection, since it was first seen. */
interface StageStart {
  readonly stage: Stage
  readonly progress: number
  readonly sinceMs: number
}

export class StageClocks {
  readonly #msMax: Readonly<Record<Stage, number>>
  readonly #seen = new Map<Staged, StageStart>()

  constructor(limits: StageLimits) {
    this.#msMax = {
      idle: limits.keepAliveMsMax,
      head: limits.headersMsMax,
      body: limits.requestMsMax,
      answering: limits.answeringMsMax,
      ending: limits.unreadMsMax,
    }
  }

  /** Whether a connection has been in its stage for as long as it may, as far as calls at intervals can tell. */
  hasExpired(connection: Staged, nowMs: number): boolean {
    const { stage, progress } = connection
    const sinceMs = this.#since(connection, stage, progress) ?? nowMs
    this.#seen.set(connection, { stage, progress, sinceMs })
    return nowMs - sinceMs >= this.#msMax[stage]
  }

  forget(connection: Staged): void {
    this.#seen.delete(connection)
  }

  /** When the stage began; undefined when it begins now. */
  #since(connection: Staged, stage: Stage, progress: number): number | undefined {
    // An answer that waits to be read has the clock of its socket: Node.js knows how much of it was read.
    const isSending = connection.socket.writableLength > 0
    if (isSending && (stage === 'answering' || stage === 'ending')) return undefined
    const seen = this.#seen.get(connection)
    if (seen === undefined) return stage === 'head' ? connection.openedAtMs : undefined
    if (seen.progress !== progress) return undefined
    // A body belongs to its head: the time of both runs from the first byte.
    return seen.stage === stage || (seen.stage === 'head' && stage === 'body') ? seen.sinceMs : undefined
  }
}
