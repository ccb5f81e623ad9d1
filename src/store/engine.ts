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
   * Opens the store at a place. With `mayMake`, makes a missing store, but never a missing database or folder, except the
   * default folder.
   *
   * @throws MissingStoreError if it does not exist and `mayMake` is false; OperatorError, with one line that describes the
   * problem, for any other failure.
   */
  open(place: string, options: StoreOptions): Promise<Store>

  /**
   * Writes a snapshot of a store to a new file while servers run, and verifies it. Leaves no files if stopped. Removes
   * older backups only after the new one is durable under its name.
   *
   * @throws OperatorError if the file exists, cannot be written, or is damaged, or the command was stopped.
   */
  backup(place: string, target: BackupTarget, options: BackupOptions): Promise<BackupReport>

  /**
   * Replaces a store by a backup, or by another store, atomically: copies and checks the new file beside the old one,
   * then renames it.
   *
   * @param force whether to replace an existing store. One that is too damaged to open is kept under another name.
   * @throws OperatorError if the backup is damaged, the store is in use, or it exists and `force` is false.
   */
  restore(file: string, place: string, force: boolean, limits: Limits): Promise<FileFacts>

  /** Checks a whole store while servers run. Throws OperatorError if it cannot be read. */
  check(place: string, options: StoreOptions): Promise<CheckReport>

  /** The environment variables that affect the connection to a place; values of secrets are hidden. */
  settingsOf(place: string, environment: Environment): readonly (readonly [name: string, value: string])[]
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A file, or a folder, in which backups are named after the store and the time, and the latest `keep` are kept. */
export type BackupTarget = { readonly file: string } | { readonly folder: string; readonly keep?: number }

export interface BackupOptions {
  readonly limits: Limits
  readonly clock: Clock
  /** Aborted when the command should stop. */
  readonly stopping: AbortSignal
}

export interface BackupReport extends FileFacts, PruneReport {
  readonly file: string
}

export interface PruneReport {
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
  readonly limits: Limits
  /** Environment variables, for PostgreSQL's settings such as PGHOST and PGPASSWORD. */
  readonly environment: Environment
  readonly observe: Observe
}
