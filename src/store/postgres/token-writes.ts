// The writes of tokens in a transaction of changes, and checks that they were done.

import type { Token } from '../../domain/token.ts'
import type { TokenEffects } from '../ledger.ts'
import { newTokenColumns } from '../rows.ts'
import type { Connection, Row, Statement } from './connections/connection.ts'

const insertToken: Statement = {
  name: 'insertToken',
  text: `INSERT INTO tokens (${newTokenColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}
const replaceToken: Statement = {
  name: 'replaceToken',
  text: 'UPDATE tokens SET expires_at_ms = $1, revoked_at_ms = $2, replaced_by = $3 WHERE id = $4',
}
const revokeToken: Statement = {
  name: 'revokeToken',
  text: 'UPDATE tokens SET revoked_at_ms = coalesce(revoked_at_ms, $1) WHERE id = $2',
}
/** Skips locked tokens; their use is recorded the next time. */
const noteTokenUses: Statement = {
  name: 'noteTokenUses',
  text: `UPDATE tokens SET last_used_day = used.day
    FROM (SELECT tokens.id, new.day FROM tokens JOIN unnest($1::text[], $2::int8[]) AS new (id, day) USING (id)
      WHERE coalesce(last_used_day, -1) < new.day ORDER BY tokens.id FOR UPDATE OF tokens SKIP LOCKED) AS used
    WHERE tokens.id = used.id`,
}
/** A SELECT that aborts its transaction unless a condition holds (code 22P02, see failures.ts). */
export const failUnless = (condition: string): string =>
  `SELECT (CASE WHEN ${condition} THEN '1' ELSE 'not every row was written' END)::int8`
const checkTokens: Statement = {
  name: 'checkTokens',
  text: `${failUnless('count(*) FILTER (WHERE id = ANY($1)) = $2 AND count(revoked_at_ms) FILTER (WHERE id = ANY($3)) = $4')}
    FROM tokens WHERE id = ANY($1::text[]) OR id = ANY($3::text[])`,
}
const checkReplaced: Statement = {
  name: 'checkReplaced',
  text: `${failUnless('count(*) = $2')} FROM tokens WHERE replaced_by = ANY($1::text[])`,
}

export function sendTokens(connection: Connection, effects: TokenEffects): Promise<readonly Row[]>[] {
  return [
    ...sendNewAndRevoked(connection, effects),
    ...(effects.uses.size > 0
      ? [connection.query(noteTokenUses, [[...effects.uses.keys()], [...effects.uses.values()]])]
      : []),
  ]
}

function sendNewAndRevoked(
  connection: Connection,
  { tokens, replaced, revocations }: TokenEffects,
): Promise<readonly Row[]>[] {
  if (tokens.length + revocations.length === 0) return []
  const revoked = [...new Set(revocations.map(({ id }) => id))]
  const successors = replaced.map(({ replacedBy }) => replacedBy)
  return [
    ...tokens.map((token) => connection.query(insertToken, columnsOfToken(token))),
    ...replaced.map(({ id, expiresAtMs, revokedAtMs, replacedBy }) =>
      connection.query(replaceToken, [expiresAtMs ?? null, revokedAtMs ?? null, replacedBy, id]),
    ),
    ...revocations.map(({ id, revokedAtMs }) => connection.query(revokeToken, [revokedAtMs, id])),
    connection.query(checkTokens, [tokens.map(({ id }) => id), tokens.length, revoked, revoked.length]),
    ...(successors.length > 0 ? [connection.query(checkReplaced, [successors, successors.length])] : []),
  ]
}

function columnsOfToken({ id, hash, name, scopes, createdAtMs, expiresAtMs, revokedAtMs }: Token): unknown[] {
  return [id, hash, name, scopes.join(' '), createdAtMs, expiresAtMs ?? null, revokedAtMs ?? null]
}
