// The rules of tokens: the outcome of each job of a batch, in order, and the rows to write.

import { isTokenValid, type Token } from '../domain/token.ts'
import type { CreateTokenJob, Outcome, RevokeTokenJob, RotateTokenJob } from './jobs.ts'

/** Changes of tokens. */
export interface TokenEffects {
  readonly tokens: readonly Token[]
  /** Replaced tokens, with their new end and their successor. */
  readonly replaced: readonly Token[]
  /** Only the first revocation of a token counts. */
  readonly revocations: readonly RevokeTokenJob[]
  /** Days of last use by token id. They never replace a later stored day. */
  readonly uses: ReadonlyMap<string, number>
}

/** The tokens that a batch concerns. */
interface FoundTokens {
  readonly tokens: readonly Token[]
  /** Whether the store has a token. */
  readonly hasTokens: boolean
}

export class TokenLedger {
  readonly #found: FoundTokens
  readonly #tokens: Token[] = []
  readonly #replaced: Token[] = []
  readonly #revocations: RevokeTokenJob[] = []
  readonly #uses = new Map<string, number>()

  constructor(found: FoundTokens) {
    this.#found = found
  }

  get effects(): TokenEffects {
    return { tokens: this.#tokens, replaced: this.#replaced, revocations: this.#revocations, uses: this.#uses }
  }

  create({ token, onlyFirst }: CreateTokenJob): Outcome {
    if (onlyFirst && (this.#found.hasTokens || this.#tokens.length > 0)) return 'notDone'
    return this.#addToken(token)
  }

  #addToken(token: Token): Outcome {
    const isTwin = ({ id, hash }: Pick<Token, 'id' | 'hash'>): boolean =>
      id === token.id || Buffer.compare(hash, token.hash) === 0
    if (this.#found.tokens.some(isTwin) || this.#tokens.some(isTwin)) {
      return { failed: 'there is a token with this id or hash' }
    }
    this.#tokens.push(token)
    return 'done'
  }

  revoke(job: RevokeTokenJob): Outcome {
    if (this.#findToken(job.id) === undefined) return 'notDone'
    this.#revocations.push(job)
    return 'done'
  }

  rotate({ id, successor, atMs, endsAtMs }: RotateTokenJob): Outcome {
    const old = this.#findToken(id)
    if (old === undefined) return 'notDone'
    if (old.revokedAtMs !== undefined) return 'revoked'
    if (!isTokenValid(old, atMs)) return 'expired'
    if (old.replacedBy !== undefined) return 'replaced'
    const outcome = this.#addToken(successor)
    if (outcome !== 'done') return outcome
    const expiresAtMs = Math.min(endsAtMs, old.expiresAtMs ?? Number.POSITIVE_INFINITY)
    const end = endsAtMs <= atMs ? { revokedAtMs: atMs } : { expiresAtMs }
    this.#replaced.push({ ...old, ...end, replacedBy: successor.id })
    return 'done'
  }

  /** The token with an id, after the earlier jobs of the batch. */
  #findToken(id: string): Token | undefined {
    const isIt = (token: Token): boolean => token.id === id
    const token = this.#replaced.find(isIt) ?? this.#tokens.find(isIt) ?? this.#found.tokens.find(isIt)
    const revocation = this.#revocations.find((job) => job.id === id)
    return token && revocation ? { revokedAtMs: revocation.revokedAtMs, ...token } : token
  }

  noteUses(days: ReadonlyMap<string, number>): Outcome {
    for (const [id, day] of days) this.#uses.set(id, Math.max(day, this.#uses.get(id) ?? day))
    return 'done'
  }
}
