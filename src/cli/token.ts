// `plantstore token`: creates, lists, rotates and revokes access tokens, even while a server is running.

import type { Scope } from '../domain/caller.ts'
import { systemClock } from '../domain/clock.ts'
import { AppError, OperatorError } from '../domain/errors.ts'
import { toIso, withoutControls } from '../domain/shown.ts'
import type { RotateOutcome } from '../domain/store.ts'
import { dateOf, isTokenValid, type Token } from '../domain/token.ts'
import { createToken, mintToken } from '../serve/new-token.ts'
import { printSecret, say, type Terminal } from '../terminal.ts'
import { findById, onStore, unknownId, withStore } from './stores.ts'

const endOf = (expiresAtMs: number | undefined): string =>
  expiresAtMs === undefined ? 'does not expire' : `expires at ${toIso(expiresAtMs)}`

interface CreateOptions {
  readonly store: string
  readonly name: string
  readonly scope: readonly Scope[]
  /** Milliseconds; Infinity if the token does not expire. */
  readonly expires: number
}

/** Prints only the secret to stdout, and everything else to stderr. Revokes the token if it cannot be printed. */
export async function create(
  { store: place, name, scope: scopes, expires }: CreateOptions,
  terminal: Terminal,
): Promise<void> {
  await withStore(place, terminal, async (store) => {
    const lifetimeMs = Number.isFinite(expires) ? expires : undefined
    const { id, secret, expiresAtMs } = await createToken(store, { name, scopes, lifetimeMs })
    const end = endOf(expiresAtMs)
    say(`Token ${id} (${name}) has the scopes ${scopes.join(' ')} and ${end}. It is shown only once.`, terminal)
    await printSecret(secret, terminal, () => store.revokeToken(id, systemClock.wallMs()))
  })
}

export const list = onStore(async (store) => {
  const nowMs = systemClock.wallMs()
  const value = (await store.listTokens()).map((token) => ({
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    state: stateOf(token, nowMs),
    created: toIso(token.createdAtMs),
    expires: token.expiresAtMs === undefined ? null : toIso(token.expiresAtMs),
    revoked: token.revokedAtMs === undefined ? null : toIso(token.revokedAtMs),
    replacedBy: token.replacedBy ?? null,
    lastUsed: token.lastUsedDay === undefined ? null : dateOf(token.lastUsedDay),
  }))
  const header = ['ID', 'STATE', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'NAME']
  const rows = value.map(({ id, name, scopes, state, created, expires, lastUsed }) => [
    ...[id, state, scopes.join(','), created, expires ?? 'never', lastUsed ?? 'never', withoutControls(name)],
  ])
  return { value, rows: [header, ...rows] }
})

/**
 * Prints a new token with the scopes and lifetime of the old one, and ends the old one. Prints before the change: if
 * the command is killed in between, the old token stays valid, and no unseen token replaces it.
 */
export const rotate = onStore(
  async (store, { id, overlap: overlapMs }: { readonly id: string; readonly overlap: number }, terminal) => {
    const old = findById('token', await store.listTokens(), id)
    const { name, scopes, createdAtMs, expiresAtMs } = old
    const state = stateOf(old, systemClock.wallMs())
    const obstacle = state === 'valid' ? old.replacedBy && 'replaced' : state
    if (obstacle) throw new OperatorError(whyNotRotated(obstacle, old))
    const lifetimeMs = expiresAtMs === undefined ? undefined : expiresAtMs - createdAtMs
    const { secret, ...successor } = mintToken({ name, scopes, lifetimeMs })
    await printSecret(secret, terminal)
    const atMs = successor.createdAtMs
    const endsAtMs = atMs + overlapMs
    const outcome = await store.rotateToken({ id, successor, atMs, endsAtMs }).catch((cause) => {
      if (!(cause instanceof AppError)) throw cause
      const advice = '`plantstore token list` shows whether it was rotated; if not, what was printed is not valid'
      throw new OperatorError(`${cause.message}; ${advice}`, { cause })
    })
    if (outcome !== 'done') throw new OperatorError(`${whyNotRotated(outcome, old)}; what was printed is not valid`)
    const oldEnd = overlapMs === 0 ? 'is revoked' : endOf(Math.min(endsAtMs, expiresAtMs ?? endsAtMs))
    const newEnd = endOf(successor.expiresAtMs)
    return `Token ${successor.id} (${name}) replaces ${id}, which ${oldEnd}. The new one ${newEnd}; it is shown only once.`
  },
)

function whyNotRotated(outcome: Exclude<RotateOutcome, 'done'>, { id, replacedBy }: Token): string {
  const reasons = {
    notDone: unknownId('token', id).message,
    revoked: `token ${id} is revoked; create another with \`plantstore token create\``,
    expired: `token ${id} has expired; create another with \`plantstore token create\``,
    replaced: `token ${id} was rotated before; rotate its successor${replacedBy === undefined ? '' : `, ${replacedBy}`}`,
  }
  return reasons[outcome]
}

/** A running server rejects the token within a second. */
export const revoke = onStore(async (store, { id }: { readonly id: string }) => {
  if (await store.revokeToken(id, systemClock.wallMs())) return `Token ${id} is revoked.`
  throw unknownId('token', id)
})

function stateOf(token: Token, nowMs: number): 'valid' | 'revoked' | 'expired' {
  if (isTokenValid(token, nowMs)) return 'valid'
  return token.revokedAtMs === undefined ? 'expired' : 'revoked'
}
