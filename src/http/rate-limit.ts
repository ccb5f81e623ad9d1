// Implements `--rate-limit`: bounds the work that each caller may request over time.

import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { Limits } from '../limits.ts'

/** Units per number of seconds; also the maximum burst. */
export interface RateLimit {
  readonly units: number
  readonly seconds: number
}

export class RateLimiter {
  readonly #limit: RateLimit
  readonly #clock: Clock
  readonly #callersMax: number
  readonly #windowMs: number
  readonly #unitMs: number
  /** By caller, the time at which its debt reaches zero. */
  readonly #evenAtMs = new Map<string, number>()

  constructor(limit: RateLimit, clock: Clock, limits: Pick<Limits, 'rateLimitedCallersMax'>) {
    this.#limit = limit
    this.#clock = clock
    this.#callersMax = limits.rateLimitedCallersMax
    this.#windowMs = limit.seconds * 1_000
    this.#unitMs = this.#windowMs / limit.units
  }

  /**
   * Charges units to a caller (generic cell rate algorithm).
   *
   * @throws AppError `rateLimited` if the caller has too few left, without charging them. A request that costs more
   * than the whole limit passes when the caller has no debt.
   */
  take(caller: string, units: number): void {
    this.#note(caller, this.#evenAfter(caller, units))
  }

  /**
   * Looks up an unverified credential. Each invalid credential costs its network one unit; once the limit is used up,
   * look-ups are rejected for a while to protect the store.
   *
   * @param network the network that sent the credential.
   * @throws AppError `rateLimited` over the limit; otherwise what `lookUp` throws.
   */
  async guardLookUp<T>(network: string, lookUp: () => Promise<T>): Promise<T> {
    // A separate limit, so that other requests from the network never block the look-up of a valid credential.
    const key = `${network} look-ups`
    this.#evenAfter(key, 1)
    try {
      return await lookUp()
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalidToken') this.#spend(key)
      throw error
    }
  }

  /** Returns when a caller's debt would reach zero after some more units. Throws if they exceed the limit. */
  #evenAfter(caller: string, units: number): number {
    const nowMs = this.#clock.monotonicMs()
    const startMs = Math.max(this.#evenAtMs.get(caller) ?? nowMs, nowMs)
    const wantedMs = startMs + units * this.#unitMs
    const waitMs = Math.min(wantedMs - this.#windowMs, startMs) - nowMs
    if (waitMs > 0) throw this.#refusal(waitMs, startMs - nowMs)
    return wantedMs
  }

  /**
   * Charges a unit for a look-up that has already happened. Concurrent look-ups may overdraw the limit; the debt is
   * capped at twice the window.
   */
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
    const message = `more than ${units} units in ${seconds} s were requested; wait ${waitSeconds} s, then try again`
    // draft-ietf-httpapi-ratelimit-headers, sections 3 and 4.
    const fields = {
      'retry-after': String(waitSeconds),
      'ratelimit-policy': `"default";q=${units};w=${seconds}`,
      ratelimit: `"default";r=${left};t=${waitSeconds}`,
    }
    return new AppError('rateLimited', message, { fields })
  }

  /** Evicts half of the callers, those with the least debt first, which changes their limits least. */
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

/** The caller identity of an unauthenticated address: the address, or for IPv6 the customer's network (RFC 6177). */
export function networkOf(address: string | undefined): string {
  if (address?.includes(':') !== true) return address ?? 'unix'
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(Math.max(8 - head.length - tail.length, 0)).fill('0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}
