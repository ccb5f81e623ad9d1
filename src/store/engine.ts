// What an engine is: a way to keep a store at a place. open.ts has the table of them.

import type { Clock } from '../domain/clock.ts'
import type { Observe } from '../domain/events.ts'
import type { Store } from '../domain/store.ts'
import type { Limits } from '../limits.ts'

/** A place is the text after `--store`: the path of a file, or the URL of a database. */
export interface Engine {
  /** A place as it may be shown: a path from the root, or a URL without its password. */
  describe(place: string): string

  /** The files of the store at a place, by their real paths; those that are still to be made, too. */
  filesOf(place: string): readonly string[]

  /** Remembers what is not there yet. Gives a function that removes it again, unless something is kept in it by then. */
  prepareUndo(place: string): () => void

  /** False when it is sure that nothing is there. */
  mayBeThere(place: string): boolean

  /**
   * Opens the store at a place.
   *
   * @throws MissingStoreError when there is none and `mayMake` is false, OperatorError for what else stands in the way.
   */
  open(place: string, options: StoreOptions): Promise<Store>

  /** Writes the store at a place to a new file, beside a running server; leaves nothing when it is stopped. */
  backup(place: string, target: BackupTarget, options: BackupOptions): Promise<BackupReport>

  /** Puts a backup in the place of a store that is not in use; `force` lets it replace one that is there. */
  restore(file: string, place: string, force: boolean, limits: StoreLimits): Promise<FileFacts>

  /** Looks through the whole store at a place. */
  check(place: string, options: StoreOptions): Promise<CheckReport>

  /** What of the environment says where the place is or how it is reached, by name; secrets are not shown. */
  settingsOf(place: string, environment: Environment): readonly (readonly [name: string, value: string])[]
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A file, or a folder in which the file is named after the store and the time, of which so many are kept. */
export type BackupTarget = { readonly file: string } | { readonly folder: string; readonly keep?: number }

export interface BackupOptions {
  readonly limits: StoreLimits
  readonly clock: Clock
  /** Aborted when the command is to end. */
  readonly stopping: AbortSignal
}

export interface BackupReport extends FileFacts, PruneReport {
  readonly file: string
}

export interface PruneReport {
  /** Older backups that are gone. */
  readonly removed: readonly string[]
  /** What is to be warned of, a line each, such as what has the name of a backup and is none beyond doubt. */
  readonly doubts: readonly string[]
  /** Why older backups that should be gone are still there, a line each. */
  readonly problems: readonly string[]
}

export interface FileFacts {
  readonly plants: number
  readonly tokens: number
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string
}

export interface CheckReport {
  /** What is wrong with the store; empty when it is whole. */
  readonly problems: readonly string[]
  readonly plants: number
}

export interface StoreOptions {
  /**
   * A server's store: no other server may open its file until it is closed. Without it, a command's, beside a server.
   */
  readonly exclusive: boolean
  /** Whether a store that is not there is made. */
  readonly mayMake: boolean
  readonly clock: Clock
  readonly limits: StoreLimits
  /** Where PostgreSQL's own settings, as PGHOST and PGPASSWORD, are looked for. */
  readonly environment: Environment
  readonly observe: Observe
}

/** All limits of src/limits.ts, which says what each is for. */
export type StoreLimits = Readonly<Record<keyof Limits, number>>
