// The limits of stores on PostgreSQL, which are a part of limits.ts.

export const databaseLimits = Object.freeze({
  /** PostgreSQL connections for reads. There are also two for writes and one for health checks. */
  databaseReaders: 4,
  /** How long connecting to PostgreSQL may take, unless `connect_timeout` is set. */
  databaseConnectMsMax: 2_000,
  /** Idle time after which TCP keep-alive probes are sent, so that no firewall drops the connection. */
  databaseKeepAliveMs: 10_000,
  /** How long PostgreSQL keeps the session, and the locks, of a machine that does not respond. */
  databaseDeadClientMsMax: 25_000,
  /** Timeout of a read in PostgreSQL. Above: 503. */
  databaseReadMsMax: 3_000,
  /** Timeout of a transaction of changes in PostgreSQL, commit included. Above: 503. */
  databaseCommitMsMax: 5_000,
  /** How long a transaction may be idle before PostgreSQL ends it, so that others can continue. */
  databaseIdleMsMax: 2_000,
  /** How long a change may wait for a row that another session has locked. Above: 503. */
  databaseLockMsMax: 2_000,
  /** How long a batch waits for such a row before the change that needs it is set aside. */
  databaseLockMs: 50,
  /** How long to search a batch for the changes that meet locked rows. Above: the whole batch is set aside. */
  databaseLockSearchMsMax: 500,
  /** How long each retry of a change that was set aside waits for the lock. */
  databaseLockRetryMs: 20,
  /** How long later changes of the same plant are set aside immediately. */
  databaseLockMemoryMs: 10_000,
  /** Changes set aside at once, and plants remembered. Above: 503. */
  databaseLockedJobsMax: 1_000,
  /** Interval of the PostgreSQL health check. */
  databaseProbeMs: 250,
  /** Timeout of a health check. Above: requests are rejected until PostgreSQL is back. */
  databaseProbeMsMax: 1_500,
  /**
   * How long a connection with a pending query may be silent before another connection asks PostgreSQL whether it is
   * processing the query. If not, the connection is closed.
   */
  databaseSilenceMs: 1_000,
  /** Interval of reconnection attempts. */
  databaseRetryMs: 100,
  /** Minimum time between two log lines that say why PostgreSQL is unreachable. */
  databaseReasonMs: 1_000,
  /** How long requests wait for a reconnection to PostgreSQL before they are rejected. */
  databaseGraceMs: 1_500,
  /** Queued reads of each connection for reads. Above: 503. */
  databaseReadsMax: 1_000,
  /** How long opening a store waits for the migration of another server, and an import for a locked row. */
  databaseOpenLockMsMax: 30_000,
  /** Timeout of one step of an export, or of an import that is committed as a whole. */
  databaseBulkMsMax: 30_000,
  /** Attempts of a transaction that meets conflicts or loses its connection. Above: 503. */
  databaseAttemptsMax: 8,
  /** Maximum pause between the first two attempts; later pauses are longer. */
  databaseAttemptPauseMs: 20,
  /** Attempts of a migration while other servers migrate, too. */
  databaseMigrationsMax: 20,
  /** Lock timeout of a migration attempt. Reads of other servers wait as long. */
  databaseMigrationLockMs: 100,
  /** How long closing a connection waits for PostgreSQL. */
  databaseCloseMsMax: 200,
  /**
   * Commits after which the row of a connection in `registrations` gets a new id. Each commit leaves a version of the
   * row, and a lookup scans all versions while another client, such as pg_dump, holds a snapshot.
   */
  registrationCommitsMax: 256,
  /** How long the row of a crashed server stays in `registrations`. */
  registrationMsMax: 7 * 24 * 60 * 60 * 1000,
  /** Interval at which expired Idempotency-Keys and such rows are deleted from PostgreSQL. */
  expiredKeysSweepMs: 10 * 60 * 1000,
  /** Keys deleted by one statement. */
  expiredKeysSwept: 10_000,
})
