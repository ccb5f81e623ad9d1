// Sends the webhooks of a store. In a fleet, one server at a time sends for a webhook: the one that its row names. It
// counts up the version of the row regularly. When the version has not changed for a while, another server takes over.
// No clocks of different machines are compared.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, codeOf, messageOf } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import type { PauseReason, StoredWebhook, Webhook, WebhookFigures } from '../domain/webhook.ts'
import { type SenderLimits, type SenderOptions, WebhookSender } from './sender.ts'

export interface WebhooksLimits extends SenderLimits {
  readonly webhookPollMs: number
  readonly webhookRefreshMs: number
  readonly webhookSaveMs: number
  readonly webhookLeaseMs: number
  readonly webhookLeaseMarginMs: number
  readonly webhookPage: number
  readonly webhookStopMs: number
}

export interface WebhooksOptions extends Omit<SenderOptions, 'limits' | 'store' | 'mayStillSend'> {
  readonly store: Pick<Store, 'isShared' | 'listChanges' | 'listWebhooks' | 'replaceWebhook'>
  readonly limits: WebhooksLimits
}

/** A webhook for which this server sends. */
interface Held {
  readonly sender: WebhookSender
  /** Until when no other server can have taken over, by the monotonic clock. */
  heldUntilMs: number
  savedMs: number
}

/** A webhook for which another server sends. */
interface Seen {
  readonly version: number
  /** When this version was first seen, by the monotonic clock. */
  readonly sinceMs: number
}

export class Webhooks implements AsyncDisposable {
  readonly #options: WebhooksOptions
  readonly #owner = randomUUID()
  readonly #held = new Map<string, Held>()
  readonly #seen = new Map<string, Seen>()
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #rows: readonly StoredWebhook[] = []
  #warned = ''

  constructor(options: WebhooksOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  get figures(): readonly WebhookFigures[] {
    return this.#rows.map(({ id, paused }) => {
      const sender = this.#held.get(id)?.sender
      return { id, isPaused: paused !== undefined, behindMs: sender?.behindMs }
    })
  }

  /** Stops sending, stores the progress, and lets other servers take over at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await Promise.all([...this.#held.values()].map((held) => this.#release(held)))
  }

  async #run(): Promise<void> {
    const { clock, limits } = this.#options
    const { signal } = this.#stopping
    for (let refreshedMs = Number.NEGATIVE_INFINITY; !signal.aborted; ) {
      if (clock.monotonicMs() - refreshedMs >= limits.webhookRefreshMs) {
        refreshedMs = clock.monotonicMs()
        await this.#refresh()
      }
      await this.#readChanges()
      for (const { sender } of this.#held.values()) sender.send()
      await Promise.all([...this.#held.values()].map((held) => this.#saveIfDue(held)))
      await sleep(limits.webhookPollMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Reads the rows, and follows what other programs have changed in them. */
  async #refresh(): Promise<void> {
    const rows = await this.#options.store.listWebhooks().catch((error) => this.#explain(error))
    if (rows === undefined) return
    this.#rows = rows
    for (const [id, held] of this.#held) {
      const row = rows.find((each) => each.id === id)
      if (row?.owner === this.#owner) {
        held.sender.noteStored(row)
        if (row.paused !== undefined) await this.#release(held)
      } else {
        this.#drop(id)
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
    const { clock } = this.#options
    const begunMs = clock.monotonicMs()
    const stored = await this.#write({ ...row, owner: this.#owner }, row.version)
    if (stored === undefined) return
    const held: Held = {
      sender: new WebhookSender(stored, {
        ...this.#options,
        mayStillSend: () => clock.monotonicMs() < held.heldUntilMs,
      }),
      heldUntilMs: this.#heldUntil(begunMs),
      savedMs: begunMs,
    }
    this.#seen.delete(row.id)
    this.#held.set(row.id, held)
  }

  /** @param begunMs when the last write began that has succeeded. Others count from a later time. */
  #heldUntil(begunMs: number): number {
    const { store, limits } = this.#options
    return store.isShared ? begunMs + limits.webhookLeaseMs - limits.webhookLeaseMarginMs : Number.POSITIVE_INFINITY
  }

  #drop(id: string): void {
    this.#held.get(id)?.sender.end()
    this.#held.delete(id)
  }

  /** All webhooks at one position share one read of the log. */
  async #readChanges(): Promise<void> {
    const { store, limits } = this.#options
    const senders = [...this.#held.values()].map(({ sender }) => sender).filter(({ hasRoom }) => hasRoom)
    for (const [after, together] of Map.groupBy(senders, (sender) => sender.after)) {
      try {
        const page = await store.listChanges({ after, kind: undefined, limit: limits.webhookPage })
        for (const sender of together) sender.take(page)
      } catch (error) {
        const isLost = ['positionGone', 'invalidParameter'].includes(codeOf(error) ?? '')
        if (isLost) for (const sender of together) sender.lose()
        else this.#explain(error)
      }
    }
  }

  async #saveIfDue(held: Held): Promise<void> {
    const { store, clock, limits } = this.#options
    const { sender } = held
    if (sender.pauseReason !== undefined) return this.#pause(held, sender.pauseReason)
    const ageMs = clock.monotonicMs() - held.savedMs
    const isRenewed = store.isShared && ageMs >= limits.webhookLeaseMarginMs
    if (!isRenewed && !(sender.isDirty && ageMs >= limits.webhookSaveMs)) return
    const begunMs = clock.monotonicMs()
    const { version, ...hook } = sender.hook
    const stored = await this.#write({ ...hook, progress: sender.takeProgress() }, version)
    sender.noteStored(stored)
    held.savedMs = begunMs
    if (stored !== undefined) held.heldUntilMs = this.#heldUntil(begunMs)
  }

  /** Stops sending, and stores the progress, so that any server can go on. Returns whether it could be stored. */
  async #release({ sender }: Held, paused = sender.hook.paused): Promise<boolean> {
    await sender.stop(this.#options.limits.webhookStopMs)
    const { version, owner: _, paused: __, ...hook } = sender.hook
    const released = { ...hook, progress: sender.takeProgress(), ...(paused !== undefined && { paused }) }
    this.#held.delete(hook.id)
    return (await this.#write(released, version)) !== undefined
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

  /** The store reports itself that it is away. Whatever failed is tried again later. */
  #explain(error: unknown): undefined {
    const message = messageOf(error)
    if (!(error instanceof AppError) && message !== this.#warned) {
      this.#warned = message
      this.#options.observe({ kind: 'storeWarning', message: `webhooks are not sent: ${message}` })
    }
    return undefined
  }

  async #pause(held: Held, reason: PauseReason): Promise<void> {
    const { clock, observe } = this.#options
    const { id, name } = held.sender.hook
    // If this cannot be stored, the webhook is claimed again, and meets the reason again.
    if (!(await this.#release(held, { reason, atMs: clock.wallMs() }))) return
    observe({ kind: 'webhookPaused', webhook: id, name, reason })
  }
}
