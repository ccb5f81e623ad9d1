// Creates tokens: the secret for the caller, the hash for the store.

import { randomBytes } from 'node:crypto'
import type { Scope } from '../domain/caller.ts'
import { systemClock } from '../domain/clock.ts'
import type { TokenStore } from '../domain/store.ts'
import { hashSecret, mintId, mintSecret, type Token } from '../domain/token.ts'

export interface NewToken {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** If undefined, the token does not expire. */
  readonly lifetimeMs?: number | undefined
}

/** Creates a token and stores its hash. Only the caller knows the secret. */
export async function createToken(store: TokenStore, wanted: NewToken): Promise<Token & { secret: string }> {
  const token = mintToken(wanted)
  await store.createToken(token)
  return token
}

/** Creates a token that no store has yet. */
export function mintToken(
  { name, scopes, lifetimeMs }: NewToken,
  secret = mintSecret(randomBytes(32)),
): Token & { secret: string } {
  const createdAtMs = systemClock.wallMs()
  return {
    secret,
    id: mintId('tok', randomBytes(9)),
    hash: hashSecret(secret),
    name,
    scopes,
    createdAtMs,
    ...(lifetimeMs !== undefined && { expiresAtMs: createdAtMs + lifetimeMs }),
  }
}
