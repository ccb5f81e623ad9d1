// Commits groups of changes to PostgreSQL, each in one transaction, and finds out what became of one whose answer was lost.
//
// For each session a server has a row in `writers`, which each of its transactions numbers anew. A commit whose answer did not
// come is looked up by taking that row away: this waits for the transaction if it is still under way, says whether it was
// done, and keeps it from being done later.

import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import { AppError, OperatorError } from '../../domain/errors.ts'
import type { Observe } from '../../domain/events.ts'
import type { NewPlant } from '../../domain/plant.ts'
import type { ImportOutcome, OnConflict } from '../../domain/store.ts'
import type { CreatePlantJob, Job, Outcome } from '../jobs.ts'
import type { DatabaseLimits } from '../options.ts'
import type { Connection, Statement } from './connection.ts'
import { answerWithin } from './deadline.ts'
import { failureOf, refusalOf, unknownOutcome } from './failures.ts'
import { Ledger } from './ledger.ts'
import { checkVersion } from './migrations.ts'
import type { Session, Sessions } from './sessions.ts'
import { begin, columnsOf, findFor, findPlantsFor, sendEffects } from './transaction.ts'

export interface WriterOptions {
  readonly clock: Clock
  readonly limits: DatabaseLimits & { readonly idempotencyKeyMs: number }
  readonly observe: Observe
  /** Told when this program cannot go on with the tables any more. */
  readonly onOutdated: (cause: OperatorError) => void
}

/** A server's row in `writers`, for one session. */
interface Registration {
  readonly id: string
  readonly session: Session
  /** Number of the last transaction that is known to be committed. */
  lastCommit: bigint
}

/** One try at a transaction. */
interface Attempt {
  readonly connection: Connection
  readonly registration: Registration
  readonly number: bigint
  /** Kept with every plant that the transaction creates: 63 random bits. */
  readonly mark: bigint
  /** From now on it may have been done. */
  isCommitSent: boolean
}

interface Work<Result> {
  run(attempt: Attempt): Promise<Result>
  /** The result of an attempt that was committed while its answer was lost. */
  recall(attempt: Attempt, connection: Connection): Promise<Result>
}

/** The attempt's row of `writers` is gone: nothing of it was done. */
class Unregistered extends Error {}

const register: Statement = { name: 'register', text: 'INSERT INTO writers VALUES ($1, 0, $2)' }
const forgetOldWriters: Statement = {
  name: 'forgetOldWriters',
  text: 'DELETE FROM writers WHERE registered_at_ms < $1',
}
const unregister: Statement = { name: 'unregister', text: 'DELETE FROM writers WHERE id = $1 RETURNING last_commit' }
const advance: Statement = { name: 'advance', text: 'UPDATE writers SET last_commit = $2 WHERE id = $1' }
const createPlants: Statement = {
  name: 'createPlants',
  text: `INSERT INTO plants (id, name, tag, name_folded, commit_mark)
    SELECT id, name, tag, name_folded, $5::int8
      FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS new (id, name, tag, name_folded, place)
      WHERE EXISTS (SELECT 1 FROM writers WHERE id = $6 AND last_commit = $7)
      ORDER BY id, place
    ON CONFLICT (id) DO NOTHING RETURNING id`,
}
const findMarks: Statement = {
  name: 'findMarks',
  text: 'SELECT id, commit_mark FROM plants WHERE id = ANY($1::int8[])',
}

/** A server registers anew whenever it has to, so that nobody misses a row that is this old. */
const registrationMsMax = 7 * 24 * 60 * 60 * 1000
const retryMs = 20
const withoutStandby = 'SET LOCAL synchronous_commit = local'

export class Writer {
  readonly #sessions: Sessions
  readonly #options: WriterOptions
  #registration: Registration | undefined
  #isWaiting = false

  constructor(sessions: Sessions, options: WriterOptions) {
    this.#sessions = sessions
    this.#options = options
  }

  /**
   * Commits a group of jobs and gives one outcome each. One group at a time.
   *
   * @throws AppError `storeUnavailable` when the outcome is not known, any other code when nothing was done.
   */
  async commit(jobs: readonly Job[]): Promise<readonly Outcome[]> {
    const work = jobs.every(isPlainCreate) ? createWork(jobs) : this.#jobsWork(jobs)
    try {
      return await this.#do(work)
    } catch (error) {
      const isRefused = error instanceof AppError
      if (isRefused && error.code !== 'overloaded') throw error
      if (isRefused && jobs.length === 1) return [{ refused: error }]
      if (jobs.length === 1) return [{ failed: error instanceof Error ? error.message : String(error) }]
    }
    return this.#commitEach(jobs)
  }

  /** Something is wrong with one of the jobs, or one waits for a row that is locked, which is not to fail the others. */
  async #commitEach(jobs: readonly Job[]): Promise<readonly Outcome[]> {
    const { clock, limits } = this.#options
    const deadlineMs = clock.monotonicMs() + limits.databaseCommitMsMax
    const outcomes: Outcome[] = []
    for (const job of jobs) {
      try {
        if (clock.monotonicMs() >= deadlineMs) throw refusalOf('busy', undefined)
        outcomes.push(...(await this.commit([job])))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        outcomes.push({ refused: error })
      }
    }
    return outcomes
  }

  /** Commits plants of an import, in order, and gives one outcome each. Throws as `commit` does. */
  import(plants: readonly NewPlant[], onConflict: OnConflict): Promise<readonly ImportOutcome[]> {
    return this.#do(
      this.#work(
        (connection) => findPlantsFor(connection, plants),
        (ledger) => plants.map((plant) => ledger.import(plant, onConflict)),
      ),
    )
  }

  /** Makes sure that changes can be made. Throws AppError. */
  async register(): Promise<void> {
    if ((await this.#begin()) === undefined) throw new AppError('storeAway', 'the database was lost')
  }

  /** Takes the server's row away, when the database is there. */
  async close(): Promise<void> {
    const registration = this.#registration
    if (registration === undefined || registration.session.lost.aborted || this.#isWaiting) return
    const { writer } = registration.session
    // Nobody would miss it: it is taken away with the old ones.
    await writer
      .sendTogether<unknown>(() => [
        beginOn(writer),
        writer.command(withoutStandby),
        writer.query(unregister, [registration.id]),
        writer.command('COMMIT'),
      ])
      .catch(() => {})
  }

  async #do<Result>(work: Work<Result>): Promise<Result> {
    const { clock, limits } = this.#options
    const deadlineMs = clock.monotonicMs() + limits.databaseCommitMsMax
    for (let tries = 1; ; tries += 1) {
      const isLast = tries >= limits.databaseAttemptsMax || clock.monotonicMs() >= deadlineMs
      const attempt = await this.#begin()
      try {
        if (attempt !== undefined) return await this.#run(work, attempt)
      } catch (error) {
        const recalled = await this.#recover(error, work, attempt as Attempt)
        if (recalled !== undefined) return recalled.result
        if (isLast) throw refusalOf('retry', error)
      }
      if (isLast) throw refusalOf('retry', undefined)
      await sleep(retryMs * tries * Math.random())
    }
  }

  async #run<Result>(work: Work<Result>, attempt: Attempt): Promise<Result> {
    attempt.connection.takeUnconfirmed()
    const running = work.run(attempt)
    const result = await this.#inTime(running)
    attempt.registration.lastCommit = attempt.number
    assertConfirmed(attempt.connection)
    return result
  }

  /**
   * A commit may wait for a standby as long as that is away. Its clients do not; but its connection is kept, as the server would
   * go on waiting without it, and no other change is begun before the answer.
   */
  async #inTime<Result>(running: Promise<Result>): Promise<Result> {
    const { databaseCommitMsMax } = this.#options.limits
    const answer = await answerWithin(running, databaseCommitMsMax)
    if (answer !== undefined) return answer.value
    this.#isWaiting = true
    const end = (): void => {
      this.#isWaiting = false
      this.#registration = undefined
    }
    running.then(end, end)
    throw unknownOutcome(new Error(`the database did not confirm a change for ${databaseCommitMsMax} ms`))
  }

  /** Prepares an attempt; undefined when the connection was lost over it. */
  async #begin(): Promise<Attempt | undefined> {
    if (this.#isWaiting) throw refusalOf('busy', new Error('an earlier change is not confirmed yet'))
    const session = await this.#sessions.current()
    try {
      if (this.#registration?.session !== session) this.#registration = await this.#register(session)
    } catch (error) {
      if (error instanceof OperatorError) {
        this.#options.onOutdated(error)
        throw new AppError('storeUnavailable', 'the store has failed', { cause: error })
      }
      const failure = failureOf(error)
      if (failure === 'own') throw new AppError('storeAway', 'the database takes no changes', { cause: error })
      if (failure !== 'lost') throw refusalOf(failure, error)
      session.lose(error)
      return undefined
    }
    const registration = this.#registration
    const number = registration.lastCommit + 1n
    const mark = randomBytes(8).readBigInt64BE()
    return { connection: session.writer, registration, number, mark, isCommitSent: false }
  }

  async #register(session: Session): Promise<Registration> {
    await checkVersion(session.writer)
    const id = randomUUID()
    const nowMs = this.#options.clock.wallMs()
    const { writer } = session
    await writer.sendTogether<unknown>(() => [
      beginOn(writer),
      // It needs no standby: a row that is lost says that an outcome is not known.
      writer.command(withoutStandby),
      writer.query(register, [id, nowMs]),
      writer.query(forgetOldWriters, [nowMs - registrationMsMax]),
      writer.command('COMMIT').then(assertCommitted),
    ])
    return { id, session, lastCommit: 0n }
  }

  /** Undefined: nothing was done, and it is worth another try. */
  async #recover<Result>(
    error: unknown,
    work: Work<Result>,
    attempt: Attempt,
  ): Promise<{ readonly result: Result } | undefined> {
    if (error instanceof AppError) throw error
    if (error instanceof Unregistered) {
      this.#registration = undefined
      return undefined
    }
    const failure = failureOf(error)
    if (failure === 'lost') {
      attempt.registration.session.lose(error)
      return attempt.isCommitSent ? this.#lookUp(work, attempt) : undefined
    }
    try {
      await attempt.connection.command('ROLLBACK')
    } catch (lost) {
      // With its connection the transaction has ended, too.
      attempt.registration.session.lose(lost)
    }
    if (failure === 'own') throw error
    if (failure !== 'retry') throw refusalOf(failure, error)
    return undefined
  }

  async #lookUp<Result>(work: Work<Result>, attempt: Attempt): Promise<{ readonly result: Result } | undefined> {
    try {
      const { writer } = await this.#sessions.current()
      writer.takeUnconfirmed()
      const [row] = await this.#inTime(writer.query(unregister, [attempt.registration.id]))
      assertConfirmed(writer)
      const lastCommit = row?.[0]
      if (lastCommit === attempt.number) return { result: await work.recall(attempt, writer) }
      if (lastCommit === attempt.registration.lastCommit) return undefined
      if (typeof lastCommit === 'bigint') this.#warnOfLoss()
      throw new Error('the database does not know the transaction')
    } catch (error) {
      throw unknownOutcome(error)
    }
  }

  #warnOfLoss(): void {
    this.#options.observe({
      kind: 'storeWarning',
      message:
        'the database has lost changes that it had confirmed, as a standby does that took over without being synchronous',
    })
  }

  #jobsWork(jobs: readonly Job[]): Work<readonly Outcome[]> {
    return this.#work(
      (connection) => findFor(connection, jobs, this.#options.limits.idempotencyKeyMs),
      (ledger) => jobs.map((job) => ledger.do(job)),
    )
  }

  /** Work that looks first and writes then: its result is known before its commit is sent. */
  #work<Result>(
    find: (connection: Connection) => ReturnType<typeof findFor>,
    decide: (ledger: Ledger) => Result,
  ): Work<Result> {
    let result: { readonly value: Result } | undefined
    return {
      run: async (attempt) => {
        const { connection, registration, number, mark } = attempt
        const [, advanced, found] = await connection.sendTogether<unknown>(() => [
          beginOn(connection),
          connection.run(advance, [registration.id, number]),
          find(connection),
        ])
        if ((advanced as { rowCount: number }).rowCount !== 1) {
          await connection.command('ROLLBACK')
          throw new Unregistered('the row of this server is gone')
        }
        const ledger = new Ledger(found as Awaited<ReturnType<typeof find>>)
        const value = decide(ledger)
        result = { value }
        const effects = ledger.effects()
        attempt.isCommitSent = true
        await connection.sendTogether<unknown>(() => [
          ...sendEffects(connection, effects, mark, this.#options.limits.idempotencyKeyMs),
          connection.command('COMMIT').then(assertCommitted),
        ])
        return value
      },
      recall: async () => {
        if (result === undefined) throw new TypeError('a commit was sent before its result was known')
        return result.value
      },
    }
  }
}

/** The shortest way, for plants without a key: everything goes out at once. */
function createWork(jobs: readonly CreatePlantJob[]): Work<readonly Outcome[]> {
  return {
    run: async (attempt) => {
      const { connection, registration, number, mark } = attempt
      attempt.isCommitSent = true
      const [, advanced, created] = await connection.sendTogether<unknown>(() => [
        beginOn(connection),
        connection.run(advance, [registration.id, number]),
        connection.query(createPlants, [...columnsOf(jobs), mark, registration.id, number]),
        connection.command('COMMIT').then(assertCommitted),
      ])
      if ((advanced as { rowCount: number }).rowCount !== 1) throw new Unregistered('the row of this server is gone')
      const ids = new Set((created as readonly [bigint][]).map(([id]) => id))
      return jobs.map(({ id }) => (ids.delete(id) ? 'created' : 'idTaken'))
    },
    recall: async ({ mark }, connection) => {
      const rows = await connection.query(findMarks, [jobs.map(({ id }) => id)])
      const marks = new Map(rows as unknown as readonly [bigint, bigint][])
      const ids = new Set([...marks].flatMap(([id, found]) => (found === mark ? [id] : [])))
      return jobs.map(({ id }) => {
        if (ids.delete(id)) return 'created'
        // Deleted since, by somebody who knew of it already, or deleted before.
        return marks.has(id) ? 'idTaken' : 'inDoubt'
      })
    },
  }
}

function isPlainCreate(job: Job): job is CreatePlantJob {
  return job.kind === 'createPlant' && job.idempotencyKey === undefined
}

/** Without its BEGIN what is sent behind it would be committed statement by statement: the connection is given up then. */
async function beginOn(connection: Connection): Promise<void> {
  try {
    await connection.command(begin)
  } catch (cause) {
    connection.lose(cause)
    throw new Error('the transaction could not be begun', { cause })
  }
}

/** Fails when somebody had the server stop waiting for its standby: what it committed is on one machine only. */
function assertConfirmed(connection: Connection): void {
  if (connection.takeUnconfirmed()) throw unknownOutcome(new Error('the standby did not confirm the change'))
}

function assertCommitted(command: string): void {
  if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`)
}
