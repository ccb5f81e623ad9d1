// What the Stores of all engines have in common: each change becomes a job, and jobs are committed in batches; tokens
// and webhooks are read alike; a store closes once.

import { hash } from 'node:crypto'
import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import { int64Max, type Plant, type Preconditions } from '../domain/plant.ts'
import type { CreateOutcome, IdempotencyKey, RotateOutcome, Rotation } from '../domain/store.ts'
import { isTokenValid, type StoredToken, type Token } from '../domain/token.ts'
import type { StoredWebhook, Webhook } from '../domain/webhook.ts'
import { toPosition } from './change-log.ts'
import type { StoreOptions } from './engine.ts'
import { type Commit, GroupCommit } from './group-commit.ts'
import type { Job, Outcome, RecordWrite } from './ledger.ts'
import { recordOfToken, toToken, toWebhook } from './rows.ts'

/** Rows of the log of changes that are deleted in one transaction. */
const rowsSweptMax = 256
/** A change that is dated further in the future is from a clock that was ahead. */
const clockAheadMsMax = 24 * 60 * 60 * 1000
/** Attempts to edit tokens that other servers and commands edit, too. */
const editAttemptsMax = 20

export abstract class GroupedStore {
  readonly #groups: GroupCommit<Job, Outcome>
  readonly #clock: Clock
  readonly #observe: Observe
  #closed: Promise<void> | undefined

  constructor(
    commit: Commit<Job, Outcome>,
    { clock, limits, observe }: Pick<StoreOptions, 'clock' | 'limits' | 'observe'>,
  ) {
    this.#groups = new GroupCommit(commit, limits, (changes, durationMs) => {
      observe({ kind: 'changesCommitted', changes, durationMs })
    })
    this.#clock = clock
    this.#observe = observe
  }

  /** Avoids `await`, which costs as much as deciding a job. */
  createPlant({ id, json }: Plant, idempotencyKey?: IdempotencyKey, callerId?: string): Promise<CreateOutcome> {
    const key = idempotencyKey && {
      ...idempotencyKey,
      fingerprint: hash('sha256', json, 'buffer'),
      atMs: this.#clock.wallMs(),
    }
    return this.#groups.submit({ kind: 'createPlant', id, json, idempotencyKey: key, callerId }).then((outcome) => {
      if (outcome === 'created') this.#observe({ kind: 'plantChanged', change: 'created' })
      return toCreateOutcome(id, doneOf('createPlant', outcome))
    })
  }

  async replacePlant({ id, json }: Plant, preconditions: Preconditions = {}, callerId?: string): Promise<void> {
    const outcome = await this.#submit({ kind: 'replacePlant', id, json, preconditions, callerId })
    assertDone(id, outcome)
    if (outcome === 'replaced') this.#observe({ kind: 'plantChanged', change: 'replaced' })
  }

  async deletePlant(id: bigint, preconditions: Preconditions = {}, callerId?: string): Promise<void> {
    assertDone(id, await this.#submit({ kind: 'deletePlant', id, preconditions, callerId }))
    this.#observe({ kind: 'plantChanged', change: 'deleted' })
  }

  get waitingJobs(): number {
    return this.#groups.waiting
  }

  async createToken(token: Token): Promise<void> {
    if (!(await this.#write([recordOfToken({ ...token, version: 0 })])))
      throw new Error(`there is a token with the id ${token.id}`)
  }

  createFirstToken(token: Token): Promise<boolean> {
    return this.#write([recordOfToken({ ...token, version: 0 })], true)
  }

  revokeToken(id: string, revokedAtMs: number): Promise<boolean> {
    return this.#editTokens((tokens) => {
      const found = tokens.find((token) => token.id === id)
      if (found === undefined) return [false]
      return found.revokedAtMs === undefined ? [true, { ...found, revokedAtMs }] : [true]
    })
  }

  rotateToken({ id, successor, atMs, endsAtMs }: Rotation): Promise<RotateOutcome> {
    return this.#editTokens<RotateOutcome>((tokens) => {
      const old = tokens.find((token) => token.id === id)
      if (old === undefined) return ['notDone']
      if (old.revokedAtMs !== undefined) return ['revoked']
      if (!isTokenValid(old, atMs)) return ['expired']
      if (old.replacedBy !== undefined) return ['replaced']
      const expiresAtMs = Math.min(endsAtMs, old.expiresAtMs ?? Number.POSITIVE_INFINITY)
      const end = endsAtMs <= atMs ? { revokedAtMs: atMs } : { expiresAtMs }
      return ['done', { ...old, ...end, replacedBy: successor.id }, { ...successor, version: 0 }]
    })
  }

  noteTokenUses(days: ReadonlyMap<string, number>): Promise<void> {
    return this.#editTokens((tokens) => {
      const used = tokens.map((token) => ({ ...token, lastUsedDay: days.get(token.id) ?? -1 }))
      return [undefined, ...used.filter(({ lastUsedDay }, at) => lastUsedDay > (tokens[at]?.lastUsedDay ?? -1))]
    })
  }

  async sweepChanges(untilMs: number, needed: readonly string[] = []): Promise<boolean> {
    const numbers = needed.map((position) => toPosition(position).number)
    const keptFrom = numbers.reduce((least, number) => (number < least ? number : least), int64Max)
    const futureMs = this.#clock.wallMs() + clockAheadMsMax
    return (await this.#submit({ kind: 'sweepChanges', untilMs, futureMs, keptFrom, rowsMax: rowsSweptMax })) === 'done'
  }

  async addWebhook(webhook: Webhook): Promise<void> {
    if (!(await this.replaceWebhook(webhook, 0))) throw new Error(`there is a webhook with the id ${webhook.id}`)
  }

  replaceWebhook({ id, ...rest }: Webhook, version: number): Promise<boolean> {
    return this.#write([{ kind: 'webhook', id, version, content: JSON.stringify(rest) }])
  }

  removeWebhook(id: string): Promise<boolean> {
    return this.#write([{ kind: 'webhook', id, version: undefined, content: undefined }])
  }

  async findToken(hash: Uint8Array): Promise<Token | undefined> {
    const [row] = await this.query('findToken', hash)
    return row === undefined ? undefined : toToken(row)
  }

  async listTokens(): Promise<readonly Token[]> {
    const tokens = (await this.query('listRecords', 'token')).map(toToken)
    return tokens.sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1))
  }

  async listWebhooks(): Promise<readonly StoredWebhook[]> {
    return (await this.query('listRecords', 'webhook')).map(toWebhook)
  }

  /** Returns the rows of a statement, as arrays of columns. */
  protected abstract query(
    name: 'findToken' | 'listRecords',
    ...values: (string | Uint8Array)[]
  ): Promise<readonly unknown[]>

  close(): Promise<void> {
    this.#closed ??= this.#groups.close().then(() => this.release())
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Releases the files or connections, after all changes are done. */
  protected abstract release(): Promise<void>

  protected assertOpen(): void {
    if (this.#closed !== undefined) throw new AppError('shuttingDown', 'the server is shutting down')
  }

  /** Writes records, all or none. Returns false if one of them is not in its version any more. */
  async #write(records: readonly RecordWrite[], onlyFirst = false): Promise<boolean> {
    return (await this.#submit({ kind: 'writeRecords', records, onlyFirst })) === 'done'
  }

  /**
   * Edits tokens, again if others have edited them in the meantime.
   *
   * @param edit returns the outcome, and the tokens to write.
   */
  async #editTokens<T>(edit: (tokens: readonly StoredToken[]) => readonly [T, ...StoredToken[]]): Promise<T> {
    for (let attempt = 1; attempt <= editAttemptsMax; attempt += 1) {
      const [outcome, ...edited] = edit((await this.query('listRecords', 'token')).map(toToken))
      // Without an edit, too, the outcome waits until what was read is durable.
      if (await this.#write(edited.map(recordOfToken))) return outcome
    }
    throw new AppError('overloaded', 'the tokens are constantly changed by others; nothing was done, try again')
  }

  async #submit(job: Job): Promise<JobResult> {
    return doneOf(job.kind, await this.#groups.submit(job))
  }
}

/** The outcome of a job that was neither rejected nor failed. */
type JobResult = Exclude<Outcome, object>

function doneOf(kind: Job['kind'], outcome: Outcome): JobResult {
  if (typeof outcome !== 'object') return outcome
  if ('refused' in outcome) throw outcome.refused
  throw new Error(`the store could not do ${kind}: ${outcome.failed}`)
}

function toCreateOutcome(id: bigint, outcome: JobResult): CreateOutcome {
  if (outcome === 'created' || outcome === 'replayed') return outcome
  if (outcome === 'idTaken') throw new AppError('idTaken', `id: ${id} is already taken; choose another id`)
  throw new AppError(
    'idempotencyKeyReused',
    'Idempotency-Key: was used with another plant less than 24 hours ago; send another key with this one',
  )
}

function assertDone(id: bigint, outcome: Outcome): void {
  if (outcome === 'notDone') throw new AppError('unknownPlant', `id: there is no plant ${id}`)
  if (outcome === 'ifMatch') {
    throw new AppError('preconditionFailed', `If-Match: plant ${id} has changed since you read it; read it again`)
  }
  if (outcome === 'ifNoneMatch') {
    throw new AppError(
      'preconditionFailed',
      `If-None-Match: plant ${id} exists and its ETag matches; send other ETags, or none to change it in any case`,
    )
  }
}

/**
 * Coalesces an expensive read: calls made while a read is in progress share the next one. Each call gets the result of
 * a read that begins after it, and so sees all earlier changes.
 */
export function shareRead<T>(read: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> | undefined
  let next: Promise<T> | undefined
  const begin = async (): Promise<T> => {
    await underWay
    next = undefined
    const reading = read()
    underWay = reading.catch(() => {})
    return reading
  }
  return () => {
    next ??= begin()
    return next
  }
}
