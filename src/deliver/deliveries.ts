// Decides which changes one webhook sends, and when. Nothing here sends or reads; the time is an argument.
//
// | a webhook is | sends                               | until                                  | clock            |
// | ------------ | ----------------------------------- | -------------------------------------- | ---------------- |
// | sending      | several changes at once             | five requests in a row fail, or 429 or | none             |
// |              |                                     | 503 asks for a pause: failing          |                  |
// | failing      | nothing for a pause, then one       | a change is accepted: sending; the     | monotonic: 5 s,  |
// |              | change; no texts are kept           | 29th failure: paused (`failing`)       | 30 s, ... 3 h    |
// | paused       | nothing                             | an operator resumes it                 | none             |
//
// | a change is  | which means                         | until                                  | clock            |
// | ------------ | ----------------------------------- | -------------------------------------- | ---------------- |
// | waiting      | it was read, but another change of  | that change is done, and there is room | none             |
// |              | its plant is first, or no room left |                                        |                  |
// | sending      | a request is in flight              | accepted, or rejected                  | 10 s, monotonic  |
// | rejected     | its plant is blocked: later changes | accepted, or given up after 29         | monotonic: 5 s,  |
// |              | of the plant stay in the log        | requests; the plant's next one is due  | 30 s, ... 3 h    |
//
// webhooks.ts has the states of a lease: which server sends.

import type { ChangeKind, ChangePage, LoggedChange } from '../domain/change.ts'
import {
  type BlockedPlant,
  isAfter,
  type LastAnswer,
  type PauseReason,
  type WebhookProgress,
} from '../domain/webhook.ts'
import type { Limits } from '../limits.ts'
import type { PostAnswer } from './post.ts'

/** Multiples of `webhookRetryMs`: 5 s, 30 s, 2 min, 10 min, 1 h, then 3 h each. */
const retryFactors = [1, 6, 24, 120, 720, 2_160]
/** Consecutive failures after which the receiver counts as failing, rather than only its changes. */
const failuresMax = 5

export type SentChange = Pick<LoggedChange, 'kind' | 'position' | 'plant' | 'atMs'>

/** The changes of a plant that were read and are not accepted yet. */
type Lane = { -readonly [Name in keyof BlockedPlant]: BlockedPlant[Name] } & {
  /** The first changes, in order; all of them while the plant is not blocked and the receiver does not fail. */
  texts: SentChange[]
  hasAllTexts: boolean
  /** From the first rejection until all changes are accepted. */
  isBlocked: boolean
  isSending: boolean
  /** By the monotonic clock. Not stored: after a restart, the next change is due at once. */
  dueMs: number
}

export interface Delivery {
  readonly lane: Lane
  /** Undefined: the change must be read from the log, after `lane.after`. See `find`. */
  change: SentChange | undefined
  /** Whether it tests if a failing receiver is back. */
  readonly isProbe: boolean
}

export class Deliveries {
  readonly #limits: Limits
  readonly #kinds: readonly ChangeKind[]
  readonly #random: () => number
  /** By plant. */
  readonly #lanes: Map<string, Lane>
  /** The position up to which the log was read. All earlier changes are accepted, or in a lane. */
  #readTo: string | undefined
  #mayHaveMore = true
  #failuresInRow = 0
  /** Failures of the receiver; 0 while it is not failing. */
  #failures: number
  #untilMs = Number.NEGATIVE_INFINITY
  #pause: PauseReason | undefined
  #last: LastAnswer | undefined
  #isDirty = false

  /** @param random like Math.random: varies the pauses, so that webhooks do not resume all at once. */
  constructor(
    { after, blocked, failures, last }: WebhookProgress,
    kinds: readonly ChangeKind[],
    limits: Limits,
    random: () => number,
  ) {
    this.#limits = limits
    this.#kinds = kinds
    this.#random = random
    this.#readTo = after
    this.#failures = failures
    this.#last = last
    this.#lanes = new Map(blocked.map((plant) => [plant.plantId, laneOf(plant, true)]))
  }

  /** The position from which to read the log. */
  get readTo(): string | undefined {
    return this.#readTo
  }

  /** Why the webhook must be paused, if it must. */
  get pause(): PauseReason | undefined {
    return this.#pause
  }

  get isDirty(): boolean {
    return this.#isDirty
  }

  /** Whether the log may have more changes, and there is room for them. */
  get wantsMore(): boolean {
    return this.#mayHaveMore && this.#failures === 0 && this.wanted(0) > 0
  }

  /** How many changes to read from the log; 0 for none, one if the receiver fails. */
  wanted(nowMs: number): number {
    const { webhookPage } = this.#limits
    if (this.#pause !== undefined || this.#isFull) return 0
    const fresh = this.#some(({ isBlocked }) => !isBlocked)
    const waiting = fresh.reduce((sum, { texts }) => sum + Math.max(texts.length, 1), 0)
    if (this.#failures > 0) return nowMs >= this.#untilMs && waiting === 0 ? 1 : 0
    return waiting <= webhookPage ? webhookPage : 0
  }

  get #isFull(): boolean {
    return this.#some(({ isBlocked }) => isBlocked).length >= this.#limits.webhookBlockedMax
  }

  /** Age of the oldest change that is not accepted, by the wall clock; 0 if there is none. */
  behindMs(wallMs: number): number {
    return Math.max(0, ...[...this.#lanes.values()].map(({ atMs }) => wallMs - atMs))
  }

  /** Adds the changes of a page that begins after `readTo`; undefined if the log cannot be read now. */
  add(page: ChangePage | undefined): void {
    this.#mayHaveMore = page?.isLast === false
    if (page === undefined || page.next === this.#readTo) return
    let after = this.#readTo
    for (const { kind, position, plant, atMs } of page.changes) {
      const plantId = plantIdOf(plant)
      const lane = this.#lanes.get(plantId) ?? laneOf({ plantId, after, until: position, atMs, tries: 0 }, false)
      after = position
      // After a crash, changes of a blocked plant are read again.
      const isKnown = lane.isBlocked && !isAfter(position, lane.until)
      if (isKnown || !this.#kinds.includes(kind)) continue
      lane.until = position
      if (lane.hasAllTexts) lane.texts.push({ kind, position, plant, atMs })
      this.#lanes.set(plantId, lane)
    }
    this.#readTo = page.next
    this.#isDirty = true
  }

  lose(): void {
    this.#pause ??= 'lost'
  }

  /**
   * Returns the next change to send, of a plant with none in flight; undefined if there is none now.
   *
   * @param room how many requests of this webhook may be in flight.
   */
  next(nowMs: number, room: number): Delivery | undefined {
    const isProbe = this.#failures > 0
    const sending = this.#some(({ isSending }) => isSending)
    const isPausing = this.#pause !== undefined || nowMs < this.#untilMs
    if (isPausing || sending.length >= (isProbe ? 1 : room)) return undefined
    const due = this.#some(({ isSending, dueMs }) => !isSending && dueMs <= nowMs)
    const fresh = this.#isFull ? undefined : due.find(({ isBlocked }) => !isBlocked)
    const blocked = due.filter(({ isBlocked }) => isBlocked).toSorted((one, other) => one.dueMs - other.dueMs)[0]
    // Blocked plants may not take all the room, and a failing receiver is tried with something else first.
    const mayBeBlocked = !isProbe && sending.filter(({ isBlocked }) => isBlocked).length < Math.ceil(room / 2)
    const lane = (mayBeBlocked ? blocked : undefined) ?? fresh ?? blocked
    if (lane === undefined) return undefined
    lane.isSending = true
    return { lane, change: lane.texts[0], isProbe }
  }

  #some(isWanted: (lane: Lane) => boolean): Lane[] {
    return [...this.#lanes.values()].filter(isWanted)
  }

  /**
   * Looks for the change of a delivery in a page of the log. Returns whether it was found; otherwise the delivery has
   * ended, and its plant is due again, or done.
   *
   * @param page the log after `lane.after`; undefined if it cannot be read now, `gone` if it is no longer kept.
   */
  find(delivery: Delivery, page: ChangePage | undefined | 'gone', nowMs: number): boolean {
    const { lane } = delivery
    const changes = typeof page === 'object' ? page.changes : []
    delivery.change = changes.find(
      ({ plant, kind, position }) =>
        plantIdOf(plant) === lane.plantId && this.#kinds.includes(kind) && !isAfter(position, lane.until),
    )
    if (delivery.change !== undefined) return true
    this.cut(delivery)
    this.#isDirty = true
    if (page === undefined) lane.dueMs = nowMs + this.#limits.webhookRetryMs
    // Continue with those changes of the plant that are still in the log.
    else if (page === 'gone') Object.assign(lane, { after: undefined, tries: 0 })
    else if (isAfter(lane.until, page.next) && !page.isLast) lane.after = page.next
    else this.#lanes.delete(lane.plantId)
    return false
  }

  /** Returns the pause before the change is sent again; undefined if it was accepted, or is given up. */
  settle(delivery: Delivery, answer: PostAnswer, nowMs: number, wallMs: number): number | undefined {
    const { lane } = delivery
    const { isAccepted, outcome, status, retryAfterMs = 0 } = answer
    this.cut(delivery)
    this.#last = { atMs: wallMs, isAccepted, outcome }
    this.#isDirty = true
    if (isAccepted) {
      this.#noteSuccess(nowMs)
      this.#passOver(delivery, nowMs)
      return undefined
    }
    const askedMs = Math.min(retryAfterMs, this.#limits.webhookRetryAfterMsMax)
    if (status === 410) this.#pause ??= 'gone'
    this.#noteFailure(delivery, status, askedMs, nowMs)
    forgetTexts(lane)
    lane.isBlocked = true
    lane.tries += 1
    const pauseMs = Math.max(this.#pauseAfter(lane.tries), askedMs)
    lane.dueMs = nowMs + pauseMs
    if (lane.tries < this.#limits.webhookTriesMax) return pauseMs
    this.#passOver(delivery, nowMs)
    return undefined
  }

  #noteSuccess(nowMs: number): void {
    this.#failuresInRow = 0
    // Changes that the receiver rejected while it was failing are sent again at once.
    if (this.#failures > 0) for (const lane of this.#lanes.values()) lane.dueMs = Math.min(lane.dueMs, nowMs)
    this.#failures = 0
    this.#untilMs = nowMs
  }

  /** Decides whether the receiver is failing, rather than only this change. */
  #noteFailure({ isProbe }: Delivery, status: number | undefined, askedMs: number, nowMs: number): void {
    this.#failuresInRow += 1
    const isBusy = (status === 429 || status === 503) && askedMs > 0
    const isFailing = this.#failures > 0
    // Requests that began before the pause do not count again.
    if (isFailing ? isProbe : isBusy || this.#failuresInRow >= failuresMax) {
      this.#failures += 1
      this.#untilMs = nowMs + this.#pauseAfter(this.#failures)
      if (this.#failures >= this.#limits.webhookTriesMax) this.#pause ??= 'failing'
    }
    if (isBusy) this.#untilMs = Math.max(this.#untilMs, nowMs + askedMs)
    // A failing receiver must not cost much memory.
    if (this.#failures > 0) for (const lane of this.#lanes.values()) forgetTexts(lane)
  }

  /** Ends a delivery that this server has cut. It does not count as a failure of the receiver. */
  cut({ lane }: Delivery): void {
    lane.isSending = false
  }

  #passOver({ lane, change }: Delivery, nowMs: number): void {
    if (change === undefined || change.position === lane.until) {
      this.#lanes.delete(lane.plantId)
      return
    }
    lane.texts.shift()
    const { atMs } = lane.texts[0] ?? change
    Object.assign(lane, { after: change.position, tries: 0, dueMs: nowMs, atMs })
  }

  /**
   * Returns the progress, which counts as stored unless `noteUnstored` is called.
   *
   * @param isEnd whether the next server must repeat no accepted change: all others count as rejected, and are due.
   */
  takeProgress(isEnd = false): WebhookProgress {
    this.#isDirty = false
    const blocked = this.#some((lane) => isEnd || lane.isBlocked)
    const open = this.#some((lane) => !isEnd && !lane.isBlocked).map(({ after }) => after)
    const after = open.reduce(
      (least, each) => (each === undefined || least === undefined || isAfter(least, each) ? each : least),
      this.#readTo,
    )
    return {
      ...(after !== undefined && { after }),
      blocked: blocked.map(({ plantId, after, until, atMs, tries }) => ({ plantId, after, until, atMs, tries })),
      failures: this.#failures,
      ...(this.#last !== undefined && { last: this.#last }),
    }
  }

  noteUnstored(): void {
    this.#isDirty = true
  }

  #pauseAfter(failures: number): number {
    const factor = retryFactors[failures - 1] ?? (retryFactors.at(-1) as number)
    return factor * this.#limits.webhookRetryMs * (0.9 + 0.2 * this.#random())
  }
}

function laneOf(plant: BlockedPlant, isBlocked: boolean): Lane {
  return { ...plant, texts: [], hasAllTexts: !isBlocked, isBlocked, isSending: false, dueMs: Number.NEGATIVE_INFINITY }
}

/** Drops the texts of changes, which can be read again. */
function forgetTexts(lane: Lane): void {
  lane.texts = []
  lane.hasAllTexts = false
}

/** The digits of the id, which come first in a plant's JSON. */
function plantIdOf(plant: string): string {
  return /^\{"id":(-?\d+)/.exec(plant)?.[1] ?? ''
}
