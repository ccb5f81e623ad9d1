// On which day each token was last used. Looking a token up tells whether its day is noted already: that of each token
// is written once, after a while, together with those of others, so that no request waits for it.

import type { Clock } from '../domain/clock.ts'
import type { TokenStore } from '../domain/store.ts'
import { dayOf, isTokenValid, type Token } from '../domain/token.ts'

export interface TokenUsesLimits {
  readonly tokenUsesMs: number
  readonly trustedTokensMax: number
}

export class TokenUses implements Pick<TokenStore, 'findToken'> {
  readonly #store: Pick<TokenStore, 'findToken' | 'noteTokenUses'>
  readonly #clock: Clock
  readonly #limits: TokenUsesLimits
  /** Days that are not written yet, by the ids of their tokens. */
  #days = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(store: Pick<TokenStore, 'findToken' | 'noteTokenUses'>, clock: Clock, limits: TokenUsesLimits) {
    this.#store = store
    this.#clock = clock
    this.#limits = limits
  }

  /** Looks up the token of a request, and takes a valid one for used. */
  async findToken(hash: Uint8Array): Promise<Token | undefined> {
    const token = await this.#store.findToken(hash)
    if (token !== undefined && isTokenValid(token, this.#clock.wallMs())) this.#use(token)
    return token
  }

  /** Has the store note what is not written yet; resolves when it is, or cannot be. Later uses are not noted. */
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
      // A store that can note nothing now can still answer. The next look-up of each token finds its day not noted,
      // and has it tried again.
    }
  }
}
