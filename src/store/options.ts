// What a store is opened with.

import type { Clock } from '../domain/clock.ts'
import type { Observe } from '../domain/events.ts'
import type { GroupCommitLimits } from './group-commit.ts'

export interface StoreOptions {
  /** A server's store: no other server may open its file until it is closed. Without it, a command's, beside a server. */
  readonly exclusive: boolean
  /** Whether a store that is not there is made. A file's is in any case. */
  readonly mayMake: boolean
  readonly clock: Clock
  readonly limits: StoreLimits
  /** Where PostgreSQL's own settings, as PGHOST and PGPASSWORD, are looked for. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly observe: Observe
}

/** What a store in a file needs of it. */
export type FileStoreOptions = Omit<StoreOptions, 'environment' | 'observe' | 'mayMake'>

export interface StoreLimits extends GroupCommitLimits, FileLimits, DatabaseLimits {
  readonly idempotencyKeyMs: number
  readonly pageScanPlantsMax: number
}

/** Limits of a store in an SQLite file. */
export interface FileLimits {
  readonly storeBusyMsMax: number
  readonly storeLockMsMax: number
  readonly checkpointJobs: number
  readonly importPauseMs: number
}

/** Limits of a store in PostgreSQL. */
export interface DatabaseLimits {
  readonly databaseReaders: number
  readonly databaseConnectMsMax: number
  readonly databaseReadMsMax: number
  readonly databaseCommitMsMax: number
  readonly databaseLockMsMax: number
  readonly databaseProbeMs: number
  readonly databaseProbeMsMax: number
  readonly databaseRetryMs: number
  readonly databaseGraceMs: number
  readonly databaseAttemptsMax: number
  readonly databaseReadsMax: number
  readonly databaseBulkMsMax: number
  readonly databaseOpenLockMsMax: number
  readonly outlivedKeysSweepMs: number
  readonly outlivedKeysSwept: number
}
