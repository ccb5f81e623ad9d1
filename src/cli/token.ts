// `plantstore token`: makes, lists and revokes access tokens, also beside a running server.

import { randomBytes } from 'node:crypto'
import type { Scope } from '../domain/caller.ts'
import { OperatorError } from '../domain/errors.ts'
import type { TokenStore } from '../domain/store.ts'
import { hashSecret, isTokenValid, mintSecret, mintTokenId, type Token } from '../domain/token.ts'
import { systemClock } from './clock.ts'
import { openExisting, withStore } from './stores.ts'
import { formatTable } from './table.ts'
import { print, type Terminal } from './terminal.ts'

export interface NewToken {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Absent: the token does not expire. */
  readonly lifetimeMs?: number
}

/** Makes a token and keeps its hash; the secret is known only to the caller afterwards. */
export async function createToken(store: TokenStore, wanted: NewToken): Promise<Token & { secret: string }> {
  const token = mintToken(wanted)
  await store.createToken(token)
  return token
}

/** Makes a token that no store has yet. */
export function mintToken({ name, scopes, lifetimeMs }: NewToken): Token & { secret: string } {
  const secret = mintSecret(randomBytes(32))
  const createdAtMs = systemClock.wallMs()
  return {
    secret,
    id: mintTokenId(randomBytes(9)),
    hash: hashSecret(secret),
    name,
    scopes,
    createdAtMs,
    ...(lifetimeMs !== undefined && { expiresAtMs: createdAtMs + lifetimeMs }),
  }
}

/**
 * `plantstore token create`: the secret alone on stdout, everything else on stderr; revoked when it cannot be shown.
 */
export async function tokenCreate(place: string, wanted: NewToken, terminal: Terminal): Promise<void> {
  await withStore(place, terminal, async (store) => {
    const { id, secret, name, scopes, expiresAtMs } = await createToken(store, wanted)
    const end = expiresAtMs === undefined ? 'does not expire' : `expires at ${toIso(expiresAtMs)}`
    terminal.stderr.write(
      `Token ${id} (${name}) has the scopes ${scopes.join(' ')} and ${end}. It is shown only once.\n`,
    )
    try {
      await print(terminal.stdout, `${secret}\n`)
    } catch (cause) {
      await store.revokeToken(id, systemClock.wallMs())
      throw cause
    }
  })
}

/** `plantstore token list`: a table, or with `json` an array; never a secret. */
export async function tokenList(
  place: string,
  { json }: { readonly json: boolean },
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
  }))
  if (json) {
    await print(terminal.stdout, `${JSON.stringify(rows, null, 2)}\n`)
    return
  }
  const header = ['ID', 'STATE', 'SCOPES', 'CREATED', 'EXPIRES', 'NAME']
  const body = rows.map((row) => [
    row.id,
    row.state,
    row.scopes.join(','),
    row.created,
    row.expires ?? 'never',
    row.name,
  ])
  await print(terminal.stdout, formatTable([header, ...body], terminal.stdout))
}

/** `plantstore token revoke`: a running server refuses the token within a second. */
export async function tokenRevoke(place: string, id: string, terminal: Terminal): Promise<void> {
  await using store = await openExisting(place, terminal)
  const isKnown = await store.revokeToken(id, systemClock.wallMs())
  if (!isKnown) throw new OperatorError(`there is no token ${id}; \`plantstore token list\` shows them`)
  terminal.stderr.write(`Token ${id} is revoked.\n`)
}

function stateOf(token: Token, nowMs: number): 'valid' | 'revoked' | 'expired' {
  if (isTokenValid(token, nowMs)) return 'valid'
  return token.revokedAtMs === undefined ? 'expired' : 'revoked'
}

function toIso(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
