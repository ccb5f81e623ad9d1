// The interface of storage engines. open.ts selects one.

import type { Clock } from '../domain/clock.ts'
import type { Observe } from '../domain/events.ts'
import type { Store } from '../domain/store.ts'
import type { Limits } from '../limits.ts'

/** A place is the value of `--store`: the path of a file, or the URL of a database. */
export interface Engine {
  /** A place for display: an absolute path, or a URL without its password. */
  describe(place: string): string

  /** The real paths of the files of a store, including files that do not exist yet. */
  filesOf(place: string): readonly string[]

  /** False if the store certainly does not exist. */
  mayBeThere(place: string): boolean

  /**
   * Opens the store at a place.
   *
   * @throws MissingStoreError if it does not exist and `mayMake` is false; OperatorError for any other problem.
   */
  open(place: string, options: StoreOptions): Promise<Store>

  /** Backs up a store to a new file while servers run. Leaves no files if stopped. */
  backup(place: string, target: BackupTarget, options: BackupOptions): Promise<BackupReport>

  /** Restores a backup to a place that is not in use. Replaces an existing store only with `force`. */
  restore(file: string, place: string, force: boolean, limits: StoreLimits): Promise<FileFacts>

  /** Checks a whole store. */
  check(place: string, options: StoreOptions): Promise<CheckReport>

  /** The environment variables that affect the connection to a place; values of secrets are hidden. */
  settingsOf(place: string, environment: Environment): readonly (readonly [name: string, value: string])[]
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A file, or a folder, in which backups are named after the store and the time, and the latest `keep` are kept. */
export type BackupTarget = { readonly file: string } | { readonly folder: string; readonly keep?: number }

export interface BackupOptions {
  readonly limits: StoreLimits
  readonly clock: Clock
  /** Aborted when the command should stop. */
  readonly stopping: AbortSignal
}

export interface BackupReport extends FileFacts, PruneReport {
  readonly file: string
}

export interface PruneReport {
  /** Older backups that were removed. */
  readonly removed: readonly string[]
  /** Warnings, one line each, such as a file that is named like a backup but may not be one. */
  readonly doubts: readonly string[]
  /** Why older backups could not be removed, one line each. */
  readonly problems: readonly string[]
}

export interface FileFacts {
  readonly plants: number
  readonly tokens: number
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string
}

export interface CheckReport {
  /** Problems of the store; empty if it is intact. */
  readonly problems: readonly string[]
  readonly plants: number
}

export interface StoreOptions {
  /**
   * True for a server: no other server can open the file until this one closes it. False for a command, which may run
   * beside a server.
   */
  readonly exclusive: boolean
  /** Whether to create a missing store. */
  readonly mayMake: boolean
  readonly clock: Clock
  readonly limits: StoreLimits
  /** Environment variables, for PostgreSQL's settings such as PGHOST and PGPASSWORD. */
  readonly environment: Environment
  readonly observe: Observe
}

/** All limits of src/limits.ts, which says what each is for. */
export type StoreLimits = Readonly<Record<keyof Limits, number>>
