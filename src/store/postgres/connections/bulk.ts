// Connections for long-running work.

import type { Host } from './address.ts'
import { Connection } from './connection.ts'
import type { DatabaseOptions } from './session-options.ts'

/**
 * Opens a connection for long-running work. `answerMsMax` limits each step; 0 means no limit.
 */
export function openForBulk(options: DatabaseOptions, answerMsMax = 0): Promise<Connection> {
  return options.hosts.onFirst((host) => openOn(options, host, answerMsMax))
}

/** The same on one host. */
export function openOn(options: DatabaseOptions, host: Host, answerMsMax: number): Promise<Connection> {
  const lockMsMax = options.limits.databaseOpenLockMsMax
  return Connection.open(options, host, { statementMsMax: 0, lockMsMax, answerMsMax, idleTransactionMsMax: 0 })
}
