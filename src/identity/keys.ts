// The keys of an identity provider, cached through jose. They are refreshed periodically, and when a token names an
// unknown key. While the provider is unreachable, the last keys remain valid.

import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { FetchImplementation, RemoteJWKSet } from 'jose'
import type { Clock } from '../domain/clock.ts'
import type { Observe } from '../domain/events.ts'
import { isUrl, loadKeys } from './load-keys.ts'

export interface KeysLimits {
  readonly jwksMsMax: number
  readonly jwksBytesMax: number
  readonly jwksRefreshMs: number
  readonly jwksCooldownMs: number
  readonly jwksKeptMsMax: number
}

export interface KeysOptions {
  /** The URL of a JSON Web Key Set, or the path of a file with one. */
  readonly keys: string
  /** The same location, without secrets. */
  readonly place: string
  readonly clock: Clock
  readonly limits: KeysLimits
  readonly observe: Observe
}

export class Keys implements Disposable {
  /** Finds the key of a token. Not `fresh` if keys were never fetched, or not for too long. */
  readonly find: RemoteJWKSet
  readonly #options: KeysOptions
  readonly #ended = new AbortController()
  #triedMs = Number.NEGATIVE_INFINITY
  #askedWallMs = Number.NEGATIVE_INFINITY
  #away: { readonly cause: string; readonly sinceMs: number } | undefined

  constructor(jose: typeof import('jose'), options: KeysOptions) {
    const { keys, limits } = options
    this.#options = options
    this.find = jose.createRemoteJWKSet(isUrl(keys) ? new URL(keys) : pathToFileURL(keys), {
      timeoutDuration: limits.jwksMsMax,
      cacheMaxAge: limits.jwksKeptMsMax,
      // `renew` applies a cooldown that also covers failures.
      cooldownDuration: Number.POSITIVE_INFINITY,
      [jose.customFetch]: (_url, options) => this.#fetch(options),
    })
  }

  /** When the current keys were requested, by the wall clock: they include the key of every earlier token. */
  get askedWallMs(): number {
    return this.#askedWallMs
  }

  /** Why the last fetch failed; undefined if it succeeded. */
  get failure(): string | undefined {
    return this.#away?.cause
  }

  /** Remaining time until `renew` may fetch again. */
  get cooldownLeftMs(): number {
    const { clock, limits } = this.#options
    return Math.max(this.#triedMs + limits.jwksCooldownMs - clock.monotonicMs(), 0)
  }

  /** Fetches the keys unless in cooldown; returns whether they arrived. */
  async renew(): Promise<boolean> {
    if (!this.find.reloading && this.cooldownLeftMs > 0) return false
    return this.find.reload().then(
      () => true,
      () => false,
    )
  }

  /** Refreshes the keys until disposed, so that withdrawn keys are dropped even if no token names a new one. */
  async keepFresh(): Promise<void> {
    const { jwksRefreshMs, jwksCooldownMs } = this.#options.limits
    const { signal } = this.#ended
    while (!signal.aborted) {
      await this.find.reload().catch(() => {})
      const pauseMs = this.#away === undefined ? jwksRefreshMs : jwksCooldownMs
      await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => {})
    }
  }

  [Symbol.dispose](): void {
    this.#ended.abort()
  }

  async #fetch(options: Parameters<FetchImplementation>[1]): Promise<Response> {
    const { clock, limits, observe, keys, place } = this.#options
    const askedWallMs = clock.wallMs()
    this.#triedMs = clock.monotonicMs()
    try {
      const signal = AbortSignal.any([options.signal, this.#ended.signal])
      const set = await loadKeys(keys, limits.jwksBytesMax, { ...options, signal })
      this.#askedWallMs = askedWallMs
      if (set.keys.length === 0) {
        const message = `there is no public key for signatures at ${place}: no JWT can be valid`
        observe({ kind: 'serverWarning', message })
      }
      if (this.#away !== undefined) {
        observe({ kind: 'jwtKeysBack', place, awayMs: clock.monotonicMs() - this.#away.sinceMs })
      }
      this.#away = undefined
      return Response.json(set)
    } catch (error) {
      const cause = options.signal.aborted ? `did not come within ${limits.jwksMsMax} ms` : (error as Error).message
      if (this.#away === undefined && !this.#ended.signal.aborted) observe({ kind: 'jwtKeysAway', place, cause })
      this.#away = { cause, sinceMs: this.#away?.sinceMs ?? clock.monotonicMs() }
      throw error
    }
  }
}
