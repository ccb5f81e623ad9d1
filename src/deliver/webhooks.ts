// Sends the webhooks of a store. In a fleet, one server at a time sends for a webhook: the owner named in its row. The
// owner increments the version of the row regularly. If the version has not changed for a while, another server takes
// over. Clocks of different machines are never compared.
//
// | this server  | until                                                        | clock                            |
// | ------------ | ------------------------------------------------------------ | -------------------------------- |
// | has seen     | the row has no owner, or its version has not changed for a   | monotonic, from the first look   |
// |              | lease: the server writes its name into the row, and holds    |                                  |
// | holds, sends | another program has changed the row's owner: has seen; or    | each write renews the lease      |
// |              | the row is paused, or the server stops                       |                                  |
// | holds, waits | a write of the row succeeds: sends again. It waits when the  | monotonic, from before the write |
// |              | last such write is older than a lease minus a margin         |                                  |

import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChangePage } from '../domain/change.ts'
import type { Timer } from '../domain/clock.ts'
import { AppError, codeOf, messageOf } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import type { Store } from '../domain/store.ts'
import type {
  PauseReason,
  StoredWebhook,
  Webhook,
  WebhookFigures,
  WebhookPause,
  WebhookProgress,
} from '../domain/webhook.ts'
import type { Limits } from '../limits.ts'
import { Deliveries, type Delivery, type SentChange } from './deliveries.ts'
import type { PostAnswer, Sender } from './post.ts'

export interface WebhooksOptions {
  readonly store: Pick<Store, 'isShared' | 'listChanges' | 'listWebhooks' | 'replaceWebhook'>
  readonly clock: Timer
  readonly random: () => number
  readonly observe: Observe
  readonly limits: Limits
  /** The value of User-Agent. */
  readonly userAgent: string
}

/** Attempts to release a webhook while other programs also change its row. */
const endAttemptsMax = 5

interface Held {
  /** The webhook as last stored. */
  hook: StoredWebhook
  readonly deliveries: Deliveries
  readonly sender: Sender
  readonly inFlight: Set<Promise<void>>
  /** By the monotonic clock: before this time, no other server can have taken over. */
  heldUntilMs: number
  savedMs: number
  isStopping: boolean
}

export class Webhooks implements AsyncDisposable {
  readonly #options: WebhooksOptions
  readonly #owner = randomUUID()
  readonly #held = new Map<string, Held>()
  /** The webhooks for which other servers send, and when their versions were first seen, by the monotonic clock. */
  readonly #seen = new Map<string, { readonly version: number; readonly sinceMs: number }>()
  readonly #releasing = new Set<Promise<unknown>>()
  readonly #running: Promise<void>
  #rows: readonly StoredWebhook[] = []
  #isStopping = false
  /** Ends the pause of the loop. */
  #wake = (): void => {}
  #turn: Promise<unknown> = Promise.resolve()
  #warned = ''

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  get figures(): readonly WebhookFigures[] {
    const wallMs = this.#options.clock.wallMs()
    return this.#rows.map(({ id, paused }) => {
      return { id, isPaused: paused !== undefined, behindMs: this.#held.get(id)?.deliveries.behindMs(wallMs) }
    })
  }

  /** Stops sending, stores the progress unless the store hangs, and lets other servers take over at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { clock, limits } = this.#options
    this.#isStopping = true
    this.#wake()
    for (const held of this.#held.values()) this.#release(held)
    const released = this.#running.then(async () => {
      for (const held of this.#held.values()) this.#release(held)
      await Promise.all(this.#releasing)
    })
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const cancel = clock.after(2 * limits.webhookStopMs, resolve)
    await Promise.race([released, late])
    cancel()
  }

  async #run(): Promise<void> {
    const { clock, limits } = this.#options
    for (let refreshedMs = Number.NEGATIVE_INFINITY; !this.#isStopping; ) {
      if (clock.monotonicMs() - refreshedMs >= limits.webhookRefreshMs) {
        refreshedMs = clock.monotonicMs()
        await this.#refresh()
      }
      await this.#readChanges()
      const held = [...this.#held.values()]
      for (const each of held) this.#send(each)
      await Promise.all(held.map((each) => this.#saveIfDue(each)))
      const isPausing = !this.#isStopping && !held.some(({ deliveries }) => deliveries.wantsMore)
      if (isPausing) await this.#sleep(limits.webhookPollMs)
    }
  }

  #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#options.clock.after(ms, resolve)
    this.#wake = () => {
      cancel()
      resolve()
    }
    return promise
  }

  /** Reads the rows, and applies the changes that other programs made. */
  async #refresh(): Promise<void> {
    const rows = await this.#options.store.listWebhooks().catch((error) => this.#explain(error))
    if (rows === undefined) return
    const known = this.#rows.filter(isDamaged).map(({ id }) => id)
    for (const { id: webhook, name } of rows.filter(isDamaged)) {
      if (known.includes(webhook)) continue
      this.#options.observe({ kind: 'webhookPaused', webhook, name, reason: 'damaged' })
    }
    this.#rows = rows
    for (const [id, held] of this.#held) {
      const row = rows.find((each) => each.id === id)
      if (row?.owner === this.#owner) {
        held.hook = row
        if (row.paused !== undefined) this.#release(held)
      } else {
        cut(held)
        this.#held.delete(id)
      }
    }
    for (const row of rows) {
      if (!this.#held.has(row.id) && row.paused === undefined && this.#isFree(row)) await this.#claim(row)
    }
  }

  /** Whether no other server sends for a webhook. */
  #isFree({ id, version, owner }: StoredWebhook): boolean {
    const { store, clock, limits } = this.#options
    if (owner === undefined || !store.isShared) return true
    const nowMs = clock.monotonicMs()
    const seen = this.#seen.get(id)
    if (seen?.version === version) return nowMs - seen.sinceMs >= limits.webhookLeaseMs
    this.#seen.set(id, { version, sinceMs: nowMs })
    return false
  }

  async #claim(row: StoredWebhook): Promise<void> {
    const { clock, limits, random } = this.#options
    // A server without webhooks does not load undici, which takes longer than all other modules.
    const { openSender } = await import('./post.ts')
    const begunMs = clock.monotonicMs()
    const hook = await this.#write({ ...row, owner: this.#owner }, row.version)
    if (hook === undefined) return
    const held: Held = {
      hook,
      deliveries: new Deliveries(hook.progress, hook.kinds, limits, random),
      sender: openSender({ ...this.#options, mayStillSend: () => this.#mayStillSend(held) }),
      inFlight: new Set(),
      heldUntilMs: this.#heldUntil(begunMs),
      savedMs: begunMs,
      isStopping: false,
    }
    this.#seen.delete(row.id)
    this.#held.set(row.id, held)
  }

  /** @param begunMs start of the last successful write; other servers count from a later time. */
  #heldUntil(begunMs: number): number {
    const { store, limits } = this.#options
    return store.isShared ? begunMs + limits.webhookLeaseMs - limits.webhookLeaseMarginMs : Number.POSITIVE_INFINITY
  }

  #mayStillSend({ heldUntilMs, isStopping }: Held): boolean {
    return !isStopping && this.#options.clock.monotonicMs() < heldUntilMs
  }

  /** All webhooks at one position share one read of the log. */
  async #readChanges(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs()
    const wanting = [...this.#held.values()].flatMap(({ deliveries }) => {
      const limit = deliveries.wanted(nowMs)
      return limit === 0 ? [] : [{ deliveries, limit }]
    })
    for (const together of Map.groupBy(wanting, ({ deliveries, limit }) => `${limit} ${deliveries.readTo}`).values()) {
      const [{ deliveries, limit }] = together as [(typeof together)[0]]
      const page = await this.#read(deliveries.readTo, limit)
      for (const { deliveries } of together) {
        if (page === 'gone') deliveries.lose()
        else deliveries.add(page)
      }
      await nextTurn()
    }
  }

  /** Reads the log; `gone` if it no longer has the next changes, undefined if it cannot be read now. */
  async #read(after: string | undefined, limit: number): Promise<ChangePage | 'gone' | undefined> {
    try {
      return await this.#options.store.listChanges({ after, kind: undefined, limit })
    } catch (error) {
      return codeOf(error) === 'positionGone' ? 'gone' : this.#explain(error)
    }
  }

  #send(held: Held): void {
    const { clock, limits } = this.#options
    // All webhooks share a limited number of connections.
    const room = Math.max(
      1,
      Math.min(limits.webhookInFlightMax, Math.floor(limits.webhookSocketsMax / this.#held.size)),
    )
    while (this.#mayStillSend(held)) {
      const delivery = held.deliveries.next(clock.monotonicMs(), room)
      if (delivery === undefined) return
      const sending = this.#deliver(held, delivery).finally(() => {
        held.inFlight.delete(sending)
        this.#send(held)
        if (held.deliveries.wantsMore) this.#wake()
      })
      held.inFlight.add(sending)
    }
  }

  async #deliver(held: Held, delivery: Delivery): Promise<void> {
    const { clock, limits } = this.#options
    const { deliveries, hook } = held
    if (delivery.change === undefined) {
      const page = await this.#read(delivery.lane.after, limits.webhookPage)
      if (!deliveries.find(delivery, page, clock.monotonicMs())) return void (await nextTurn())
    }
    // One request begins in each turn of the event loop, so that clients are served in between.
    this.#turn = this.#turn.then(() => nextTurn())
    await this.#turn
    const { kind, position, plant } = delivery.change as SentChange
    const startedMs = clock.monotonicMs()
    // The id contains the kind because the signature covers the id.
    const answer = await held.sender.post(held.hook, { id: `${kind}_${position}_${hook.id}`, body: plant })
    if (answer.status === undefined && !this.#mayStillSend(held)) return deliveries.cut(delivery)
    this.#note(held, delivery, answer, startedMs)
  }

  #note({ deliveries, hook }: Held, delivery: Delivery, answer: PostAnswer, startedMs: number): void {
    const { clock, observe } = this.#options
    const { isAccepted, outcome } = answer
    const { position = '' } = delivery.change ?? {}
    const { id: webhook, name } = hook
    const tries = delivery.lane.tries + 1
    const nowMs = clock.monotonicMs()
    const againInMs = deliveries.settle(delivery, answer, nowMs, clock.wallMs())
    const again = againInMs === undefined ? {} : { againInMs }
    const durationMs = nowMs - startedMs
    observe({ kind: 'webhookSent', webhook, name, position, isAccepted, outcome, tries, durationMs, ...again })
  }

  async #saveIfDue(held: Held): Promise<void> {
    const { store, clock, limits } = this.#options
    const { deliveries } = held
    if (deliveries.pause !== undefined) return this.#release(held, deliveries.pause)
    const ageMs = clock.monotonicMs() - held.savedMs
    const isRenewed = store.isShared && ageMs >= limits.webhookLeaseMarginMs
    if (held.isStopping || (!isRenewed && !(deliveries.isDirty && ageMs >= limits.webhookSaveMs))) return
    const begunMs = clock.monotonicMs()
    const { version, ...hook } = held.hook
    const stored = await this.#write({ ...hook, progress: deliveries.takeProgress() }, version)
    held.savedMs = begunMs
    if (stored === undefined) return deliveries.noteUnstored()
    held.hook = stored
    held.heldUntilMs = this.#heldUntil(begunMs)
  }

  /** Releases a webhook without delaying the others. @param reason if present, also pauses the webhook. */
  #release(held: Held, reason?: PauseReason): void {
    if (held.isStopping) return
    held.isStopping = true
    const releasing = this.#letGo(held, reason).finally(() => this.#releasing.delete(releasing))
    this.#releasing.add(releasing)
  }

  /** Waits `webhookStopMs` for requests in flight, cuts the rest, and stores the progress for the next server. */
  async #letGo(held: Held, reason: PauseReason | undefined): Promise<void> {
    const { clock, limits, observe } = this.#options
    const cancel = clock.after(limits.webhookStopMs, () => cut(held))
    await Promise.all(held.inFlight)
    cancel()
    cut(held)
    const pause = reason && { reason, atMs: clock.wallMs() }
    const stored = await this.#storeEnd(held.hook, held.deliveries.takeProgress(true), pause)
    const { id: webhook, name } = held.hook
    this.#held.delete(webhook)
    // If the pause could not be stored, the webhook is claimed again, and paused for the same reason.
    if (reason === undefined || stored?.paused !== pause) return
    observe({ kind: 'webhookPaused', webhook, name, reason })
  }

  /** Removes this server as the owner of a row, even while others change the row. An earlier pause stays. */
  async #storeEnd(
    row: StoredWebhook | undefined,
    progress: WebhookProgress,
    pause: WebhookPause | undefined,
    attempts = endAttemptsMax,
  ): Promise<StoredWebhook | undefined> {
    if (row?.owner !== this.#owner || attempts === 0) return undefined
    const { version, owner: _, paused = pause, ...hook } = row
    const stored = await this.#write({ ...hook, progress, ...(paused !== undefined && { paused }) }, version)
    if (stored !== undefined) return stored
    const rows = await this.#options.store.listWebhooks().catch((error) => this.#explain(error))
    const now = rows?.find(({ id }) => id === hook.id)
    return this.#storeEnd(now, progress, pause, attempts - 1)
  }

  /** Returns undefined if the row has changed, or could not be written. */
  async #write(hook: Webhook, version: number): Promise<StoredWebhook | undefined> {
    try {
      const isWritten = await this.#options.store.replaceWebhook(hook, version)
      return isWritten ? { ...hook, version: version + 1 } : undefined
    } catch (error) {
      return this.#explain(error)
    }
  }

  /** Warns of an error. The store itself reports an AppError, which means that it is away. Failed steps are retried. */
  #explain(error: unknown): undefined {
    const message = messageOf(error)
    if (!(error instanceof AppError) && message !== this.#warned) {
      this.#warned = message
      this.#options.observe({ kind: 'storeWarning', message: `webhooks are not sent: ${message}` })
    }
    return undefined
  }
}

function isDamaged({ paused }: Webhook): boolean {
  return paused?.reason === 'damaged'
}

function cut(held: Held): void {
  held.isStopping = true
  void held.sender.close()
}
