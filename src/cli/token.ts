// `plantstore token`: creates, lists, rotates and revokes access tokens, even while a server is running.

import type { Scope } from '../domain/caller.ts'
import { systemClock } from '../domain/clock.ts'
import { AppError, OperatorError } from '../domain/errors.ts'
import { toIso, withoutControls } from '../domain/shown.ts'
import type { RotateOutcome, TokenStore } from '../domain/store.ts'
import { dateOf, isTokenValid, type Token } from '../domain/token.ts'
import { createToken, mintToken } from '../serve/new-token.ts'
import { print, printSecret, type Terminal } from '../terminal.ts'
import { printJson } from './escapes.ts'
import { openExisting, withStore } from './stores.ts'
import { formatTable } from './table.ts'

interface CreateOptions {
  readonly store: string
  readonly name: string
  readonly scope: readonly Scope[]
  /** Milliseconds. */
  readonly expires?: number | undefined
}

/** Prints only the secret to stdout, and everything else to stderr. Revokes the token if it cannot be printed. */
export async function tokenCreate(
  { store: place, name, scope: scopes, expires: lifetimeMs }: CreateOptions,
  terminal: Terminal,
): Promise<void> {
  await withStore(place, terminal, async (store) => {
    const { id, secret, expiresAtMs } = await createToken(store, { name, scopes, lifetimeMs })
    terminal.stderr.write(
      `Token ${id} (${name}) has the scopes ${scopes.join(' ')} and ${endOf(expiresAtMs)}. It is shown only once.\n`,
    )
    try {
      await printSecret(terminal.stdout, `${secret}\n`)
    } catch (cause) {
      await store.revokeToken(id, systemClock.wallMs())
      throw cause
    }
  })
}

/** Prints a table, or an array with `json`; never secrets. */
export async function tokenList(
  { store: place, json }: { readonly store: string; readonly json: boolean },
  terminal: Terminal,
): Promise<void> {
  await using store = await openExisting(place, terminal)
  const nowMs = systemClock.wallMs()
  const rows = (await store.listTokens()).map((token) => ({
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
  if (json) return printJson(rows, terminal)
  const header = ['ID', 'STATE', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'NAME']
  const body = rows.map((row) => [
    row.id,
    row.state,
    row.scopes.join(','),
    row.created,
    row.expires ?? 'never',
    row.lastUsed ?? 'never',
    withoutControls(row.name),
  ])
  await print(terminal.stdout, formatTable([header, ...body]))
}

interface OfToken {
  readonly store: string
  readonly id: string
}

/**
 * Prints a new token with the scopes and lifetime of the old one, and ends the old one. Prints before the change: if the
 * command is killed in between, the old token stays valid, and no unseen token replaces it.
 */
export async function tokenRotate(
  { store: place, id, overlap: overlapMs }: OfToken & { readonly overlap: number },
  terminal: Terminal,
): Promise<void> {
  await using store = await openExisting(place, terminal)
  const old = await findToRotate(store, id)
  const { name, scopes, createdAtMs, expiresAtMs } = old
  const lifetimeMs = expiresAtMs === undefined ? undefined : expiresAtMs - createdAtMs
  const { secret, ...successor } = mintToken({ name, scopes, lifetimeMs })
  const atMs = successor.createdAtMs
  await printSecret(terminal.stdout, `${secret}\n`)
  const outcome = await store.rotateToken({ id, successor, atMs, endsAtMs: atMs + overlapMs }).catch(explainUnrotated)
  if (outcome !== 'done') throw new OperatorError(`${whyNotRotated(outcome, old)}; what was printed is not valid`)
  const endMs = Math.min(atMs + overlapMs, expiresAtMs ?? Number.POSITIVE_INFINITY)
  const oldEnd = overlapMs === 0 ? 'is revoked' : endOf(endMs)
  const newEnd = endOf(successor.expiresAtMs)
  terminal.stderr.write(
    `Token ${successor.id} (${name}) replaces ${id}, which ${oldEnd}. The new one ${newEnd}; it is shown only once.\n`,
  )
}

async function findToRotate(store: TokenStore, id: string): Promise<Token> {
  const token = (await store.listTokens()).find((each) => each.id === id)
  if (token === undefined) throw new OperatorError(unknownToken(id))
  const state = stateOf(token, systemClock.wallMs())
  const obstacle = state === 'valid' ? token.replacedBy && 'replaced' : state
  if (obstacle) throw new OperatorError(whyNotRotated(obstacle, token))
  return token
}

function whyNotRotated(outcome: Exclude<RotateOutcome, 'done'>, { id, replacedBy }: Token): string {
  switch (outcome) {
    case 'notDone':
      return unknownToken(id)
    case 'revoked':
      return `token ${id} is revoked; create another with \`plantstore token create\``
    case 'expired':
      return `token ${id} has expired; create another with \`plantstore token create\``
    case 'replaced':
      return replacedBy === undefined
        ? `token ${id} has just been rotated by another command`
        : `token ${id} was rotated before; rotate its successor, ${replacedBy}`
  }
}

function explainUnrotated(cause: unknown): never {
  if (!(cause instanceof AppError)) throw cause
  const isUnknown = cause.code === 'storeUnavailable'
  const advice = isUnknown
    ? '`plantstore token list` shows whether it was rotated; if not, what was printed is not valid'
    : 'the token is as it was, and what was printed is not valid'
  throw new OperatorError(`${cause.message}; ${advice}`, { cause })
}

/** A running server rejects the token within a second. */
export async function tokenRevoke({ store: place, id }: OfToken, terminal: Terminal): Promise<void> {
  await using store = await openExisting(place, terminal)
  const isKnown = await store.revokeToken(id, systemClock.wallMs())
  if (!isKnown) throw new OperatorError(unknownToken(id))
  terminal.stderr.write(`Token ${id} is revoked.\n`)
}

function endOf(expiresAtMs: number | undefined): string {
  return expiresAtMs === undefined ? 'does not expire' : `expires at ${toIso(expiresAtMs)}`
}

function unknownToken(id: string): string {
  return `there is no token ${id}; \`plantstore token list\` shows them`
}

function stateOf(token: Token, nowMs: number): 'valid' | 'revoked' | 'expired' {
  if (isTokenValid(token, nowMs)) return 'valid'
  return token.revokedAtMs === undefined ? 'expired' : 'revoked'
}
