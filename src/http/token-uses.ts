// Records the day on which each token was last used. A look-up reveals whether today is already recorded. New days are
// written together after a delay, once per token, so that no request waits for the write.

import type { Clock } from '../domain/clock.ts'
import type { TokenStore } from '../domain/store.ts'
import { dayOf, isTokenValid, type Token } from '../domain/token.ts'
import type { Limits } from '../limits.ts'

export class TokenUses implements Pick<TokenStore, 'findToken'> {
  readonly #store: Pick<TokenStore, 'findToken' | 'noteTokenUses'>
  readonly #clock: Clock
  readonly #limits: Pick<Limits, 'tokenUsesMs' | 'trustedTokensMax'>
  /** Unwritten days by token id. */
  #days = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(
    store: Pick<TokenStore, 'findToken' | 'noteTokenUses'>,
    clock: Clock,
    limits: Pick<Limits, 'tokenUsesMs' | 'trustedTokensMax'>,
  ) {
    this.#store = store
    this.#clock = clock
    this.#limits = limits
  }

  /** Looks up a request's token, and marks a valid one as used. */
  async findToken(hash: Uint8Array): Promise<Token | undefined> {
    const token = await this.#store.findToken(hash)
    if (token !== undefined && isTokenValid(token, this.#clock.wallMs())) this.#use(token)
    return token
  }

  /** Writes the pending days; resolves when they are written or the write failed. Later uses are not recorded. */
  stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    return this.#write()
  }

  #use({ id, lastUsedDay = -1 }: Token): void {
    const day = dayOf(this.#clock.wallMs())
    if (this.#isStopped || day <= lastUsedDay || this.#days.size >= this.#limits.trustedTokensMax) return
    this.#days.set(id, day)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#write()
    }, this.#limits.tokenUsesMs).unref()
  }

  async #write(): Promise<void> {
    if (this.#days.size === 0) return
    const days = this.#days
    this.#days = new Map()
    try {
      await this.#store.noteTokenUses(days)
    } catch {
      // A store that cannot write may still answer. The next look-up of each token finds its day missing and tries
      // again.
    }
  }
}
