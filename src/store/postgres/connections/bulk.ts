// Connections for work that may take long.

import type { Host } from './address.ts'
import { Connection } from './connection.ts'
import type { DatabaseOptions } from './session-options.ts'

/**
 * Opens a connection for work that may take long, each step up to `answerMsMax`, 0 for any. Throws what stands in the
 * way.
 */
export function openForBulk(options: DatabaseOptions, answerMsMax = 0): Promise<Connection> {
  return options.hosts.onFirst((host) => openOn(options, host, answerMsMax))
}

/** The same on one host. */
export function openOn(options: DatabaseOptions, host: Host, answerMsMax: number): Promise<Connection> {
  const lockMsMax = options.limits.databaseOpenLockMsMax
  return Connection.open(options, host, { statementMsMax: 0, lockMsMax, answerMsMax, idleTransactionMsMax: 0 })
}
