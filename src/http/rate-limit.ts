// `--rate-limit`: how much each caller may ask for in a while, counted by the work that it is.

import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'

/** So many units in so many seconds, and no more than that at once. */
export interface RateLimit {
  readonly units: number
  readonly seconds: number
}

export interface RateLimiterLimits {
  readonly rateLimitedCallersMax: number
}

export class RateLimiter {
  readonly #limit: RateLimit
  readonly #clock: Clock
  readonly #callersMax: number
  readonly #windowMs: number
  readonly #unitMs: number
  /** By caller, when all that it has asked for so far is made up for, if it goes on at the allowed rate. */
  readonly #evenAtMs = new Map<string, number>()

  constructor(limit: RateLimit, clock: Clock, limits: RateLimiterLimits) {
    this.#limit = limit
    this.#clock = clock
    this.#callersMax = limits.rateLimitedCallersMax
    this.#windowMs = limit.seconds * 1_000
    this.#unitMs = this.#windowMs / limit.units
  }

  /**
   * Counts some units of a caller (the generic cell rate algorithm).
   *
   * @throws AppError `rateLimited` when they are more than it may have now; they do not count then. What costs more than
   * the whole limit is let through when nothing else counts any more.
   */
  take(caller: string, units: number): void {
    this.#note(caller, this.#evenAfter(caller, units))
  }

  /**
   * Looks up a credential that may be anyone's. An address whose credentials were wrong as often as it may ask for
   * units has none looked up for a while: that would only cost the store work.
   *
   * @param network where the credential comes from.
   * @throws AppError `rateLimited` then; otherwise what `lookUp` throws.
   */
  async guardLookUp<T>(network: string, lookUp: () => Promise<T>): Promise<T> {
    // A limit of its own, so that other requests of the address never keep a valid credential from being looked up.
    const key = `${network} look-ups`
    this.#evenAfter(key, 1)
    try {
      return await lookUp()
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalidToken') this.#spend(key)
      throw error
    }
  }

  /** Gives when a caller is even if it gets some units more. Throws when it may not have them. */
  #evenAfter(caller: string, units: number): number {
    const nowMs = this.#clock.monotonicMs()
    const startMs = Math.max(this.#evenAtMs.get(caller) ?? nowMs, nowMs)
    const wantedMs = startMs + units * this.#unitMs
    const waitMs = Math.min(wantedMs - this.#windowMs, startMs) - nowMs
    if (waitMs > 0) throw this.#refusal(waitMs, startMs - nowMs)
    return wantedMs
  }

  /** Counts a unit that was had already. Many may be had at once, but the caller waits no longer than twice the time. */
  #spend(caller: string): void {
    const nowMs = this.#clock.monotonicMs()
    const startMs = Math.max(this.#evenAtMs.get(caller) ?? nowMs, nowMs)
    this.#note(caller, Math.min(startMs + this.#unitMs, nowMs + 2 * this.#windowMs))
  }

  #note(caller: string, evenAtMs: number): void {
    if (this.#evenAtMs.size >= this.#callersMax && !this.#evenAtMs.has(caller)) this.#makeRoom()
    this.#evenAtMs.set(caller, evenAtMs)
  }

  #refusal(waitMs: number, usedMs: number): AppError {
    const { units, seconds } = this.#limit
    const waitSeconds = Math.max(Math.ceil(waitMs / 1_000), 1)
    const left = Math.max(Math.floor(units - usedMs / this.#unitMs), 0)
    const message = `more than ${units} units in ${seconds} s were asked for; wait ${waitSeconds} s, then try again`
    // draft-ietf-httpapi-ratelimit-headers, section 3 and 4.
    const fields = {
      'retry-after': String(waitSeconds),
      'ratelimit-policy': `"default";q=${units};w=${seconds}`,
      ratelimit: `"default";r=${left};t=${waitSeconds}`,
    }
    return new AppError('rateLimited', message, { fields })
  }

  /** Forgets half of the callers: those who are even first, as they lose least by it and win least. */
  #makeRoom(): void {
    let tooMany = Math.ceil(this.#evenAtMs.size / 2)
    const lastEvenAtMs = Float64Array.from(this.#evenAtMs.values()).sort()[tooMany - 1] as number
    for (const [caller, evenAtMs] of this.#evenAtMs) {
      if (evenAtMs > lastEvenAtMs || tooMany === 0) continue
      this.#evenAtMs.delete(caller)
      tooMany -= 1
    }
  }
}

/** Who counts for one caller without a token: an address, or for IPv6 the network of a customer (RFC 6177). */
export function networkOf(address: string | undefined): string {
  if (address?.includes(':') !== true) return address ?? 'unix'
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(Math.max(8 - head.length - tail.length, 0)).fill('0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}
