// The settings of a session: sets those that a store relies on, and refuses a database that is unsuitable for one.

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { OperatorError } from '../../../domain/errors.ts'
import type { StoreLimits } from '../../engine.ts'

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

/** Unanswered keep-alive probes before the connection is dropped. */
const keepAliveProbes = 3

/** In the units of their settings. */
function settingsOf(
  { databaseKeepAliveMs: aliveMs, databaseDeadClientMsMax: deadMs }: StoreLimits,
  { statementMsMax, lockMsMax, idleTransactionMsMax }: WorkLimits,
): Readonly<Record<string, string | number>> {
  return {
    statement_timeout: statementMsMax,
    lock_timeout: lockMsMax,
    ...(idleTransactionMsMax > 0 && { idle_in_transaction_session_timeout: idleTransactionMsMax }),
    tcp_keepalives_idle: Math.ceil(aliveMs / 1_000),
    tcp_keepalives_interval: Math.ceil((deadMs - aliveMs) / keepAliveProbes / 1_000),
    tcp_keepalives_count: keepAliveProbes,
    tcp_user_timeout: deadMs,
    // Disabled: connections stay open between requests, and other limits bound a transaction.
    idle_session_timeout: 0,
    transaction_timeout: 0,
    // Needed for the warning that no standby confirmed a commit.
    client_min_messages: 'notice',
    // NULL in an array means no tag, not the tag "NULL".
    array_nulls: 'on',
    // Rows hidden by a policy cause an error instead of missing results.
    row_security: 'off',
  }
}

/** Skips settings that the version of the server does not have. */
const setAll = `SELECT set_config(name, setting, false) FROM unnest($1::text[], $2::text[]) AS wanted (name, setting)
  WHERE current_setting(name, true) IS NOT NULL`

/** A unique name per session, which reveals when two connections share one. */
const setName = `SELECT set_config('plantstore.session', $1, false)`
const readName = `SELECT current_setting('plantstore.session', true)`

/** Behind a pooler, the id in the protocol is not that of the server process. */
const readSession = `SELECT pg_backend_pid(), current_setting('server_encoding'), current_setting('transaction_read_only'),
  current_setting('plantstore.session', true)`

/**
 * Prepares a session for changes. Returns the id of its server process.
 *
 * @throws OperatorError if the database, or a pooler in front of it, is unsuitable for a store; another Error if it
 * currently takes no changes.
 */
export async function prepareSession(client: pg.Client, limits: StoreLimits, work: WorkLimits): Promise<number> {
  const query = async (text: string, values: unknown[] = []): Promise<readonly unknown[]> =>
    (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows[0] ?? []
  const name = randomUUID()
  const settings = settingsOf(limits, work)
  const [[otherName]] = await Promise.all([
    query(readName),
    query(setName, [name]),
    query(setAll, [Object.keys(settings), Object.values(settings).map(String)]),
  ])
  const [backendId, encoding, readOnly, ownName] = await query(readSession)
  if (encoding !== 'UTF8') throw new OperatorError(`the database's encoding must be UTF8, it is ${encoding}`)
  if (otherName || ownName !== name) {
    throw new OperatorError(
      'a pooler in front of the database does not keep a session for each connection; with PgBouncer set pool_mode = session for this database, and server_reset_query = DISCARD ALL',
    )
  }
  if (readOnly !== 'off') {
    throw new Error('the database takes no changes: it is a standby or read-only; the address must lead to the primary')
  }
  return Number(backendId)
}
