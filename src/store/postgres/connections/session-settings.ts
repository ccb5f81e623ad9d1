// Session settings that a role, a database or a pooler may have changed: sets them, and verifies them.

import type pg from 'pg'
import { OperatorError } from '../../../domain/errors.ts'
import type { StoreLimits } from '../../engine.ts'

/** Settings that correct results depend on, if the server supports them. */
const reliedOn: Readonly<Record<string, string>> = {
  // Needed for the warning that no standby confirmed a commit.
  client_min_messages: 'notice',
  // NULL in an array means no tag, not the tag "NULL".
  array_nulls: 'on',
  // Rows hidden by a policy cause an error instead of missing results.
  row_security: 'off',
}

/** Holds a unique name per session, which reveals when two connections share one. */
const sessionName = 'plantstore.session'

/** Unanswered keep-alive probes before the connection is dropped. */
const keepAliveProbes = 3

/** How long the work of a connection may take. 0 means no limit. */
export interface WorkLimits {
  /** Timeout of a statement, enforced by the server. Does not apply to a commit that waits for a standby. */
  readonly statementMsMax: number
  readonly lockMsMax: number
  /** Timeout of an answer, measured by the client, after which the connection is lost. */
  readonly answerMsMax: number
  /** Timeout of an idle transaction. 0 keeps the setting of the role. */
  readonly idleTransactionMsMax: number
}

/** Sets limits, but keeps stricter ones of the role. Skips settings that the server version does not support. */
const limitSession = `SELECT set_config(name, CASE WHEN setting::int8 BETWEEN 1 AND most THEN setting ELSE most::text END, false)
  FROM unnest($1::text[], $2::int8[]) AS wanted (name, most) JOIN pg_settings USING (name)`

/** In the units of their settings. */
function wantedLimits(
  { databaseKeepAliveMs: aliveMs, databaseDeadClientMsMax: deadMs }: StoreLimits,
  { idleTransactionMsMax }: WorkLimits,
): readonly (readonly [string, number])[] {
  return [
    ['tcp_keepalives_idle', Math.ceil(aliveMs / 1_000)],
    ['tcp_keepalives_interval', Math.ceil((deadMs - aliveMs) / keepAliveProbes / 1_000)],
    ['tcp_keepalives_count', keepAliveProbes],
    ['tcp_user_timeout', deadMs],
    // Disabled: connections stay open between requests, and other limits bound a transaction.
    ['idle_session_timeout', 0],
    ['transaction_timeout', 0],
    ...(idleTransactionMsMax > 0 ? [['idle_in_transaction_session_timeout', idleTransactionMsMax] as const] : []),
  ]
}

/**
 * Prepares a session for changes. Returns the id of its server process.
 *
 * @throws OperatorError if the database, or a pooler in front of it, is unsuitable for a store; another Error if it
 * currently takes no changes.
 */
export async function prepareSession(
  client: pg.Client,
  id: string,
  limits: StoreLimits,
  work: WorkLimits,
): Promise<number> {
  const query = async (text: string, values: unknown[] = []): Promise<string[][]> =>
    (await client.query<string[]>({ text, values, rowMode: 'array' })).rows
  const wanted = wantedLimits(limits, work)
  const read = (): Promise<string[][]> =>
    query('SELECT name, setting FROM pg_settings WHERE name = ANY($1::text[])', [Object.keys(reliedOn)])
  const readName = (): Promise<string[]> =>
    query('SELECT current_setting($1, true)', [sessionName]).then((rows) => rows[0] ?? [])
  const [[backendId], [encoding], [readOnly], [other], found] = await Promise.all([
    // Behind a pooler, the id in the protocol is not that of the server process.
    query('SELECT pg_backend_pid()').then((rows) => rows[0] ?? []),
    query('SHOW server_encoding').then((rows) => rows[0] ?? []),
    query('SHOW transaction_read_only').then((rows) => rows[0] ?? []),
    readName(),
    read(),
    query('SELECT set_config($1, $2, false)', [sessionName, id]),
    query(`SET statement_timeout = ${work.statementMsMax}`),
    query(`SET lock_timeout = ${work.lockMsMax}`),
    query(limitSession, [wanted.map(([name]) => name), wanted.map(([, most]) => most)]),
  ])
  if (encoding !== 'UTF8') throw new OperatorError(`the database's encoding must be UTF8, it is ${encoding}`)
  if (readOnly !== 'off') throw new Error('the database takes no changes: it is a standby or read-only')
  if (other) throw sharedSession()
  const wrong = found.filter(([name = '', setting]) => setting !== reliedOn[name])
  if (wrong.length === 0) return Number(backendId)
  await Promise.all(wrong.map(([name = '']) => query(`SET ${name} = ${reliedOn[name]}`)))
  const [[own], settings] = await Promise.all([readName(), read()])
  if (own !== id) throw sharedSession()
  for (const [name = '', setting] of settings) {
    if (setting === reliedOn[name]) continue
    throw new OperatorError(`the database must have ${name} = ${reliedOn[name]}, but it stays ${setting}`)
  }
  return Number(backendId)
}

/** Another session answers, or settings were lost: a pooler assigns sessions per transaction or statement. */
function sharedSession(): OperatorError {
  return new OperatorError(
    'a pooler in front of the database does not keep a session for each connection; with PgBouncer set pool_mode = session for this database, and server_reset_query = DISCARD ALL',
  )
}
