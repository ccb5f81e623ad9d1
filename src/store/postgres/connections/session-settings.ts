// What a session relies on: settings that a role, a database or a pooler may have changed are set, and read back.

import type pg from 'pg'
import { OperatorError } from '../../../domain/errors.ts'
import type { StoreLimits } from '../../engine.ts'

/** Settings by which a session would lie if they were others, where the server has them. */
const reliedOn: Readonly<Record<string, string>> = {
  // The warning that no standby confirmed a commit has to come through.
  client_min_messages: 'notice',
  // NULL in an array is no tag, and not the tag "NULL".
  array_nulls: 'on',
  // Rows that this role may not see are an error, and not missing.
  row_security: 'off',
}

/** Each session keeps a name of its own here, by which it is noticed when two of them are one. */
const sessionName = 'plantstore.session'

/** Probes that a client's machine may leave unanswered. */
const keepAliveProbes = 3

/** How long the work of a connection may take. 0: no end. */
export interface WorkLimits {
  /** For a statement, measured by the server. A commit that waits for a standby is not counted. */
  readonly statementMsMax: number
  readonly lockMsMax: number
  /** For an answer, measured here: past it the connection is lost. */
  readonly answerMsMax: number
  /** For a transaction that does nothing. 0: as the role has it. */
  readonly idleTransactionMsMax: number
}

/** Limits of which those that a role has set more strictly stay. Versions that do not know one are not told of it. */
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
    // No end: connections are kept for the next request, and what a transaction may take is limited otherwise.
    ['idle_session_timeout', 0],
    ['transaction_timeout', 0],
    ...(idleTransactionMsMax > 0 ? [['idle_in_transaction_session_timeout', idleTransactionMsMax] as const] : []),
  ]
}

/**
 * Makes a session one that changes can be sent over. Gives the process of the server that has it.
 *
 * @throws OperatorError when the database or what stands before it cannot keep a store, another Error when it takes no
 * changes now.
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
    // A pooler gives its clients other numbers than the server has.
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

/** The session of another connection answers, or one that forgets: something between hands out sessions by statement. */
function sharedSession(): OperatorError {
  return new OperatorError(
    'a pooler in front of the database does not keep a session for each connection; with PgBouncer set pool_mode = session for this database, and server_reset_query = DISCARD ALL',
  )
}
