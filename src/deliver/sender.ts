// Sends the changes of one webhook: each plant's changes one after another, those of different plants side by side.

import type { Agent } from 'node:http'
import type { ChangePage, LoggedChange } from '../domain/change.ts'
import type { Clock } from '../domain/clock.ts'
import { codeOf } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import type { ChangeStore } from '../domain/store.ts'
import type { Delivery, LastAnswer, PauseReason, StoredWebhook, WebhookProgress } from '../domain/webhook.ts'
import { agentFor, type PostAnswer, type PostLimits, post } from './post.ts'
import type { Message } from './signature.ts'

/** Multiples of `webhookRetryMs`: 5 s, 30 s, 2 min, 10 min, 1 h, then each 3 h. */
const retryFactors = [1, 6, 24, 120, 720, 2_160]
/** Failures in a row after which a success means that the other service is back. */
const failuresOfAbsence = 10
/** The longest Retry-After that is obeyed, in multiples of `webhookRetryMs`: a day. */
const retryAfterFactorMax = 17_280

export interface SenderLimits extends PostLimits {
  readonly webhookRetryMs: number
  readonly webhookGiveUpMs: number
  readonly webhookInFlightMax: number
  readonly webhookPendingMax: number
}

export interface SenderOptions {
  readonly store: Pick<ChangeStore, 'listChanges'>
  readonly clock: Clock
  readonly observe: Observe
  readonly limits: SenderLimits
  /** The value of User-Agent. */
  readonly userAgent: string
  /** Whether this server may still send: no other may have taken over. */
  readonly mayStillSend: () => boolean
}

/** What is sent of a change. */
type SentChange = Pick<LoggedChange, 'kind' | 'position' | 'plant'>

/** A change that was read and is not accepted yet. */
interface Pending extends Delivery {
  /** Undefined: it must be read again. */
  change?: SentChange | undefined
  isInFlight?: boolean
}

export class WebhookSender {
  readonly #options: SenderOptions
  readonly #agent: Agent
  readonly #ending = new AbortController()
  readonly #inFlight = new Set<Promise<void>>()
  #hook: StoredWebhook
  #after: string | undefined
  /** In the order of the log. */
  #pending: Pending[]
  #last: LastAnswer | undefined
  #failuresInRow = 0
  /** Nothing is sent before this time, because the other service asked for it. */
  #notBeforeMs = 0
  #pauseReason: PauseReason | undefined
  #isStopping = false
  #isDirty = false

  constructor(hook: StoredWebhook, options: SenderOptions) {
    this.#hook = hook
    this.#options = options
    this.#agent = agentFor(hook.url)
    this.#after = hook.progress.after
    this.#pending = hook.progress.pending.map((delivery) => ({ ...delivery }))
    this.#last = hook.progress.last
  }

  /** The webhook as it was last stored. */
  get hook(): StoredWebhook {
    return this.#hook
  }

  /** The position up to which the log was read. */
  get after(): string | undefined {
    return this.#after
  }

  /** Whether it can take another page. */
  get hasRoom(): boolean {
    return this.#pauseReason === undefined && this.#pending.length < this.#options.limits.webhookPendingMax
  }

  /** Whether there is progress to store. */
  get isDirty(): boolean {
    return this.#isDirty
  }

  /** How old the oldest change is that was not accepted; 0 if there is none. */
  get behindMs(): number {
    const oldestMs = this.#pending[0]?.atMs
    return oldestMs === undefined ? 0 : Math.max(this.#options.clock.wallMs() - oldestMs, 0)
  }

  /** Why it must be paused, if it must. */
  get pauseReason(): PauseReason | undefined {
    return this.#pauseReason
  }

  /** What is to be stored. Everything in it counts as stored, until `noteStored` says otherwise. */
  takeProgress(): WebhookProgress {
    this.#isDirty = false
    const pending = this.#pending.map(({ change: _, isInFlight: __, ...delivery }) => delivery)
    return { after: this.#after, pending, ...(this.#last !== undefined && { last: this.#last }) }
  }

  /** @param hook undefined if the progress could not be stored. */
  noteStored(hook: StoredWebhook | undefined): void {
    if (hook === undefined) this.#isDirty = true
    else this.#hook = hook
  }

  /** Adds the changes of a page that begins behind `after`. */
  take({ changes, next }: ChangePage): void {
    if (next === this.#after) return
    let after = this.#after
    for (const change of changes) {
      if (this.#hook.kinds.includes(change.kind)) this.#pending.push(toPending(change, after))
      after = change.position
    }
    this.#after = next
    this.#isDirty = true
    this.send()
  }

  /** The log does not have the next changes any more. */
  lose(): void {
    this.#pauseReason ??= 'lost'
  }

  /** Sends what is due. */
  send(): void {
    const { limits, clock, mayStillSend } = this.#options
    const nowMs = clock.wallMs()
    if (this.#pauseReason !== undefined || this.#isStopping || nowMs < this.#notBeforeMs) return
    // Of each plant, only the first change may be sent.
    const plants = new Set<string>()
    for (const delivery of this.#pending) {
      if (this.#inFlight.size >= limits.webhookInFlightMax || !mayStillSend()) return
      const isFirst = !plants.has(delivery.plantId)
      plants.add(delivery.plantId)
      if (!isFirst || delivery.isInFlight === true || nowMs < delivery.dueMs) continue
      delivery.isInFlight = true
      const trying: Promise<void> = this.#try(delivery).finally(() => {
        this.#inFlight.delete(trying)
        this.send()
      })
      this.#inFlight.add(trying)
    }
  }

  /** Begins no more requests. Resolves when those in flight have ended, or were cut. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    const cut = setTimeout(() => this.#ending.abort(), graceMs)
    await Promise.all(this.#inFlight)
    clearTimeout(cut)
    this.end()
  }

  /** Cuts what is in flight, and forgets everything. */
  end(): void {
    this.#isStopping = true
    this.#ending.abort()
    this.#agent.destroy()
  }

  async #try(delivery: Pending): Promise<void> {
    const { clock, limits, mayStillSend } = this.#options
    const change = delivery.change ?? (await this.#read(delivery))
    if (change === undefined) {
      this.#replace(delivery, { ...delivery, isInFlight: false, dueMs: clock.wallMs() + limits.webhookRetryMs })
      return
    }
    const startedMs = clock.monotonicMs()
    const answer = await post({
      ...this.#options,
      hook: this.#hook,
      message: messageOf(change, this.#hook.id),
      agent: this.#agent,
      signal: this.#ending.signal,
    })
    delivery.isInFlight = false
    // A request that this server has cut says nothing about the other service.
    if (answer.status === undefined && (this.#ending.signal.aborted || !mayStillSend())) return
    this.#note(delivery, answer, clock.monotonicMs() - startedMs)
  }

  #note(delivery: Pending, answer: PostAnswer, durationMs: number): void {
    const { clock, observe } = this.#options
    const { status, isAccepted, outcome } = answer
    const nowMs = clock.wallMs()
    this.#isDirty = true
    this.#last = { atMs: nowMs, isAccepted, outcome }
    const { id: webhook, name } = this.#hook
    const { position } = delivery
    const event = { kind: 'webhookSent', webhook, name, position, isAccepted, outcome, durationMs } as const
    if (isAccepted) {
      this.#pending.splice(this.#pending.indexOf(delivery), 1)
      if (this.#failuresInRow >= failuresOfAbsence) this.#sendAllAgain(nowMs)
      this.#failuresInRow = 0
      observe({ ...event, tries: delivery.tries + 1 })
      return
    }
    this.#failuresInRow += 1
    const pauseMs = this.#pauseAfter(delivery.tries, answer)
    const { failingSinceMs = nowMs } = delivery
    const failed: Pending = {
      ...delivery,
      // It is read again then: failed changes take little memory.
      change: undefined,
      tries: delivery.tries + 1,
      dueMs: nowMs + pauseMs,
      failingSinceMs,
    }
    this.#replace(delivery, failed)
    observe({ ...event, tries: failed.tries, againInMs: pauseMs })
    if (status === 410) this.#pauseReason ??= 'gone'
    else if (nowMs - failingSinceMs >= this.#options.limits.webhookGiveUpMs) this.#pauseReason ??= 'failing'
  }

  /** How long to wait before the next request for a change, after a number of failures before this one. */
  #pauseAfter(failures: number, { status, retryAfterMs = 0 }: PostAnswer): number {
    const { webhookRetryMs } = this.#options.limits
    const factor = retryFactors[failures] ?? (retryFactors.at(-1) as number)
    const askedMs = Math.min(retryAfterMs, retryAfterFactorMax * webhookRetryMs)
    // Too many requests, or unavailable: that concerns all changes.
    if (status === 429 || status === 503) {
      this.#notBeforeMs = Math.max(this.#notBeforeMs, this.#options.clock.wallMs() + askedMs)
    }
    return Math.max(factor * webhookRetryMs * (0.9 + 0.2 * Math.random()), askedMs)
  }

  #replace(delivery: Pending, by: Pending): void {
    this.#pending[this.#pending.indexOf(delivery)] = by
  }

  #sendAllAgain(nowMs: number): void {
    this.#pending = this.#pending.map((delivery) => (delivery.isInFlight ? delivery : { ...delivery, dueMs: nowMs }))
  }

  /** Reads a change again. Undefined if that is not possible now. */
  async #read({ after, position }: Delivery): Promise<LoggedChange | undefined> {
    try {
      const { changes } = await this.#options.store.listChanges({ after, kind: undefined, limit: 1 })
      if (changes[0]?.position === position) return changes[0]
      this.lose()
    } catch (error) {
      if (codeOf(error) === 'positionGone') this.lose()
    }
    return undefined
  }
}

function toPending({ kind, position, atMs, plant }: LoggedChange, after: string | undefined): Pending {
  const plantId = /^\{"id":(-?\d+)/.exec(plant)?.[1] ?? ''
  return { after, position, plantId, atMs, tries: 0, dueMs: 0, change: { kind, position, plant } }
}

/** The kind is in the id, because the id is signed. */
export function messageOf({ kind, position, plant }: SentChange, webhook: string): Message {
  return { id: `${kind}_${position}_${webhook}`, body: plant }
}
