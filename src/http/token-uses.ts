// Records the day on which each token was last used. A look-up reveals whether today is already recorded. New days are
// written together after a delay, once per token, so that no request waits for the write.

import type { Clock } from '../domain/clock.ts'
import type { TokenStore } from '../domain/store.ts'
import { dayOf, isTokenValid, type Token } from '../domain/token.ts'
import type { Limits } from '../limits.ts'

export function recordTokenUses(
  store: Pick<TokenStore, 'findToken' | 'noteTokenUses'>,
  clock: Clock,
  { tokenUsesMs, trustedTokensMax }: Pick<Limits, 'tokenUsesMs' | 'trustedTokensMax'>,
) {
  /** Unwritten days by token id. */
  let days = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  return { findToken, stop }

  /** Looks up a request's token, and marks a valid one as used. */
  async function findToken(hash: Uint8Array): Promise<Token | undefined> {
    const token = await store.findToken(hash)
    if (token !== undefined && isTokenValid(token, clock.wallMs())) use(token)
    return token
  }

  /** Writes the pending days; resolves when they are written or the write failed. Later uses are not recorded. */
  function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    return write()
  }

  function use({ id, lastUsedDay = -1 }: Token): void {
    const day = dayOf(clock.wallMs())
    if (isStopped || day <= lastUsedDay || days.size >= trustedTokensMax) return
    days.set(id, day)
    timer ??= setTimeout(() => {
      timer = undefined
      void write()
    }, tokenUsesMs).unref()
  }

  async function write(): Promise<void> {
    if (days.size === 0) return
    const written = days
    days = new Map()
    // A store that cannot write may still answer. The next look-up of each token finds its day missing and tries again.
    await store.noteTokenUses(written).catch(() => {})
  }
}
