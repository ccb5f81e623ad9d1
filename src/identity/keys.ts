// The keys of an identity provider as jose keeps them. They are asked for again from time to time, and when a token
// names one that is not among them; while the provider cannot be asked, they go on holding.

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
  /** The same, as it may be shown. */
  readonly place: string
  readonly clock: Clock
  readonly limits: KeysLimits
  readonly observe: Observe
}

export class Keys implements Disposable {
  /** Finds the key of a token. While it is not `fresh`, keys were never had, or not for too long. */
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
      // `renew` has one that holds after a failure, too.
      cooldownDuration: Number.POSITIVE_INFINITY,
      [jose.customFetch]: (_url, options) => this.#fetch(options),
    })
  }

  /** When the provider was asked for them, by the wall clock: every key of an earlier token was among them. */
  get askedWallMs(): number {
    return this.#askedWallMs
  }

  /** Why the last attempt to have them failed; undefined when it did not. */
  get failure(): string | undefined {
    return this.#away?.cause
  }

  /** How long `renew` does not ask, because that was done a moment ago. */
  get cooldownLeftMs(): number {
    const { clock, limits } = this.#options
    return Math.max(this.#triedMs + limits.jwksCooldownMs - clock.monotonicMs(), 0)
  }

  /** Asks for the keys, unless that was done a moment ago; gives whether they came. */
  async renew(): Promise<boolean> {
    if (!this.find.reloading && this.cooldownLeftMs > 0) return false
    return this.find.reload().then(
      () => true,
      () => false,
    )
  }

  /** Asks until it is disposed of: a key that was withdrawn is to be forgotten, even if no token names a new one. */
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
