// The row of a connection in `registrations`, which shows the outcome of a commit whose answer was lost; and the
// deletion of the rows of crashed servers, and of expired Idempotency-Keys.
//
// Each transaction of a connection locks its row and increments the row's number. To look up a commit, another
// connection closes the row. That waits for a pending transaction, and shows whether it committed. Since every
// transaction needs the open row, none can commit afterwards.

import { randomUUID } from 'node:crypto'
import { addAbortListener } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import type { DatabaseOptions } from './connections/address.ts'
import { answerWithin, type Connection, named, openForBulk, type Row, written } from './connections/connection.ts'
import { failureOf, unknownOutcome } from './connections/failures.ts'
import { checkVersion } from './connections/tables.ts'

const statements = named({
  register: `INSERT INTO registrations (id, last_commit, is_closed, registered_at_ms) VALUES ($1, 0, false, $2)`,
  unregister: 'DELETE FROM registrations WHERE id = $1',
  advance: written(
    `UPDATE registrations SET id = $3, last_commit = $2::int8 + 1 WHERE id = $1 AND last_commit = $2 AND NOT is_closed`,
  ),
  close: 'UPDATE registrations SET is_closed = true WHERE id IN ($1, $2) RETURNING last_commit',
  /** Keeps a key that is renewed while this waits for its row: the condition is rechecked on the new version. */
  sweepKeys: 'DELETE FROM idempotency_keys WHERE created_at_ms <= $1',
  /** Skips the locked rows of live servers with a pending commit. */
  sweepRegistrations: `DELETE FROM registrations
    WHERE id IN (SELECT id FROM registrations WHERE registered_at_ms <= $1 FOR UPDATE SKIP LOCKED)
      AND registered_at_ms <= $1`,
})

/** The row of a connection. */
export class Registration {
  readonly connection: Connection
  readonly #options: DatabaseOptions
  #id = randomUUID()
  /** The id of the row after the next transaction. */
  #nextId = this.#id
  /** Number of the last transaction known to be committed. */
  #lastCommit = 0n

  private constructor(connection: Connection, options: DatabaseOptions) {
    this.connection = connection
    this.#options = options
  }

  /**
   * Creates the row of a connection. Deletes the former one, if any.
   *
   * @throws OperatorError if this program cannot use the version of the tables.
   */
  static async make(connection: Connection, options: DatabaseOptions, former?: Registration): Promise<Registration> {
    const registration = new Registration(connection, options)
    await registration.#write(() => [
      ...(former === undefined ? [] : [connection.query(statements.unregister, [former.#id])]),
      // The lock keeps a migration from emptying the table between this check and the insertion.
      checkVersion(connection, undefined, 'locked'),
      connection.query(statements.register, [registration.#id, options.clock.wallMs()]),
    ])
    return registration
  }

  /** Deletes the row. If that fails, the sweep deletes it later. */
  async delete(): Promise<void> {
    await this.#write(() => [this.connection.query(statements.unregister, [this.#id])]).catch(() => {})
  }

  /** Begins a transaction that needs the row. If the row is gone or closed, the transaction fails. */
  begin(): readonly [Promise<unknown>, Promise<unknown>] {
    const values = [this.#id, this.#lastCommit, this.#nextId]
    return [this.connection.begin(), this.connection.query(statements.advance, values)]
  }

  /**
   * Notes that the transaction has committed. Each leaves a version of the row behind, and while another client holds a
   * snapshot, every search for an id reads all versions that have it. So the id changes now and then.
   *
   * @throws AppError `storeUnavailable` if the standby did not confirm it.
   */
  noteCommit(): void {
    this.#id = this.#nextId
    this.#lastCommit += 1n
    if (Number(this.#lastCommit) % this.#options.limits.registrationCommitsMax === 0) this.#nextId = randomUUID()
    this.connection.assertConfirmed()
  }

  /**
   * Looks up whether a transaction committed whose answer was lost. If it did not, it never will. Retries until the
   * deadline.
   *
   * @throws AppError `storeUnavailable` if the outcome is unknown.
   */
  async lookUp(deadlineMs: number): Promise<boolean> {
    const { clock, limits, observe } = this.#options
    for (;;) {
      try {
        const [found] = (await this.#close(deadlineMs)) as [bigint?]
        if (found === this.#lastCommit) return false
        if (found === this.#lastCommit + 1n) return true
        if (found === undefined) throw unknownOutcome(new Error('the database does not know the transaction'))
        const lost = 'the database has lost confirmed changes, for example in a failover to an asynchronous standby'
        observe({ kind: 'storeWarning', message: lost })
        throw unknownOutcome(new Error(lost))
      } catch (error) {
        if (error instanceof AppError) throw error
        if (failureOf(error) === 'own' || clock.monotonicMs() >= deadlineMs) throw unknownOutcome(error)
        await sleep(limits.databaseRetryMs * Math.random())
      }
    }
  }

  /**
   * Closes the row, even if it is closed already: once a standby confirms this commit, it also has the transaction that
   * the row records.
   */
  async #close(deadlineMs: number): Promise<Row> {
    // A separate connection is faster than waiting for a new session.
    const opening = openForBulk(this.#options)
    const closing = opening.then((connection) => connection.query(statements.close, [this.#id, this.#nextId]))
    try {
      const answer = await answerWithin(closing, Math.max(deadlineMs - this.#options.clock.monotonicMs(), 0))
      if (answer === undefined) throw new Error('the database did not answer in time')
      const connection = await opening
      connection.assertConfirmed()
      return answer.value[0] ?? []
    } finally {
      // Close in the background.
      opening.then((connection) => connection.close()).catch(() => {})
    }
  }

  /** No need to wait for a standby: a lost row means an unknown outcome. */
  async #write(send: () => readonly Promise<unknown>[]): Promise<void> {
    const { connection } = this
    await connection.sendTogether(() => [
      connection.begin(),
      connection.command('SET LOCAL synchronous_commit = local'),
      ...send(),
      connection.commit(),
    ])
  }
}

/** Sweeps at intervals, with jitter, until `closing` is aborted. */
export async function sweepUntil(closing: AbortSignal, options: DatabaseOptions): Promise<void> {
  const pause = (): Promise<boolean> => {
    const pauseMs = options.limits.expiredKeysSweepMs * (0.5 + Math.random())
    return sleep(pauseMs, true, { signal: closing }).catch(() => false)
  }
  // Expired rows do no harm, so a failed sweep can wait for the next one.
  while (await pause()) await sweep(closing, options).catch(() => {})
}

async function sweep(closing: AbortSignal, options: DatabaseOptions): Promise<void> {
  const { clock, limits } = options
  await using connection = await openForBulk(options)
  using _stop = addAbortListener(closing, () => connection.lose(new Error('the store is closed')))
  // A lost deletion is harmless, so do not wait for standbys.
  await connection.command('SET synchronous_commit = local')
  await connection.query(statements.sweepKeys, [clock.wallMs() - limits.idempotencyKeyMs])
  await connection.query(statements.sweepRegistrations, [clock.wallMs() - limits.registrationMsMax])
}
