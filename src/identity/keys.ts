// The keys of an identity provider as they were last had. They are asked for again from time to time, and when a token
// names one that is not among them; while the provider cannot be asked, they go on holding.

import type { LocalJWKSet } from 'jose'
import type { Clock } from '../domain/clock.ts'
import type { Observe } from '../domain/events.ts'

export interface KeysLimits {
  readonly jwksRefreshMs: number
  readonly jwksCooldownMs: number
  readonly jwksKeptMsMax: number
}

export interface KeysOptions {
  /** Where the keys come from, as it may be shown. */
  readonly place: string
  /** Rejects with an Error whose message goes on where "the keys at PLACE" ends. */
  readonly load: () => Promise<LocalJWKSet>
  readonly clock: Clock
  readonly limits: KeysLimits
  readonly observe: Observe
}

export class Keys implements Disposable {
  readonly #parts: KeysOptions
  #set: LocalJWKSet | undefined
  #loadedMs = 0
  #askedWallMs = Number.NEGATIVE_INFINITY
  #triedMs = Number.NEGATIVE_INFINITY
  #failure: string | undefined
  #failedMs = 0
  #loading: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isEnded = false

  constructor(parts: KeysOptions) {
    this.#parts = parts
  }

  /** Undefined when they were never had, or not for too long. */
  get set(): LocalJWKSet | undefined {
    const { clock, limits } = this.#parts
    return clock.monotonicMs() < this.#loadedMs + limits.jwksKeptMsMax ? this.#set : undefined
  }

  /** When the provider was asked for them, by the wall clock: every key of an earlier token was among them. */
  get askedWallMs(): number {
    return this.#askedWallMs
  }

  /** Why the last attempt to have them failed; undefined when it did not. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** How long `renew` does not ask, because that was done a moment ago. */
  get cooldownLeftMs(): number {
    const { clock, limits } = this.#parts
    return Math.max(this.#triedMs + limits.jwksCooldownMs - clock.monotonicMs(), 0)
  }

  /** Asks for the keys, unless that was done a moment ago. Resolves when it has failed, too. */
  renew(): Promise<void> {
    if (this.#loading !== undefined) return this.#loading
    return this.cooldownLeftMs > 0 ? Promise.resolve() : this.#load()
  }

  [Symbol.dispose](): void {
    this.#isEnded = true
    clearTimeout(this.#timer)
  }

  #load(): Promise<void> {
    const { clock } = this.#parts
    this.#triedMs = clock.monotonicMs()
    const askedWallMs = clock.wallMs()
    clearTimeout(this.#timer)
    this.#loading = this.#parts
      .load()
      .then(
        (set) => this.#take(set, askedWallMs),
        (error: Error) => this.#fail(error.message),
      )
      .finally(() => {
        this.#loading = undefined
        this.#loadLater()
      })
    return this.#loading
  }

  #take(set: LocalJWKSet, askedWallMs: number): void {
    const { clock, observe, place } = this.#parts
    this.#set = set
    this.#askedWallMs = askedWallMs
    this.#loadedMs = clock.monotonicMs()
    if (this.#failure === undefined) return
    this.#failure = undefined
    observe({ kind: 'jwtKeysBack', place, awayMs: this.#loadedMs - this.#failedMs })
  }

  #fail(reason: string): void {
    if (this.#isEnded) return
    const { clock, observe, place } = this.#parts
    if (this.#failure === undefined) {
      this.#failedMs = clock.monotonicMs()
      observe({ kind: 'jwtKeysAway', place, cause: reason })
    }
    this.#failure = reason
  }

  /** A key that the provider has withdrawn is to be forgotten, even if no token names a new one. */
  #loadLater(): void {
    if (this.#isEnded) return
    const { jwksRefreshMs, jwksCooldownMs } = this.#parts.limits
    this.#timer = setTimeout(() => this.#load(), this.#failure === undefined ? jwksRefreshMs : jwksCooldownMs)
    this.#timer.unref()
  }
}
