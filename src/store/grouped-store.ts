// The changes of a Store, for every engine: each call becomes a job, and jobs are committed in batches.

import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { digestOf, type NewPlant, type Preconditions } from '../domain/plant.ts'
import type { CreateOutcome, IdempotencyKey, RotateOutcome, Rotation, Store } from '../domain/store.ts'
import type { Token } from '../domain/token.ts'
import type { StoreOptions } from './engine.ts'
import { type Commit, GroupCommit } from './group-commit.ts'
import type { Job, Outcome } from './jobs.ts'

type Changes =
  | 'createPlant'
  | 'replacePlant'
  | 'deletePlant'
  | 'createToken'
  | 'createFirstToken'
  | 'revokeToken'
  | 'rotateToken'
  | 'noteTokenUses'
  | 'sweepChanges'

export abstract class GroupedStore implements Pick<Store, Changes> {
  readonly #groups: GroupCommit<Job, Outcome>
  readonly #clock: Clock
  readonly #sweptMax: number

  /** @param commit see GroupCommit. */
  constructor(
    commit: Commit<Job, Outcome>,
    { clock, limits, observe }: Pick<StoreOptions, 'clock' | 'limits' | 'observe'>,
  ) {
    this.#groups = new GroupCommit(commit, limits, (changes, durationMs) => {
      observe({ kind: 'changesCommitted', changes, durationMs })
    })
    this.#clock = clock
    this.#sweptMax = limits.changeRowsSwept
  }

  /** Avoids `await`, which costs as much as deciding a job. */
  createPlant({ id, name, tag }: NewPlant, idempotencyKey?: IdempotencyKey, callerId?: string): Promise<CreateOutcome> {
    const key = idempotencyKey && {
      ...idempotencyKey,
      fingerprint: digestOf({ id, name, tag }),
      atMs: this.#clock.wallMs(),
    }
    return this.#groups
      .submit({ kind: 'createPlant', id, name, tag, idempotencyKey: key, callerId })
      .then((outcome) => toCreateOutcome(id, doneOf('createPlant', outcome)))
  }

  async replacePlant({ id, name, tag }: NewPlant, preconditions: Preconditions = {}, callerId?: string): Promise<void> {
    assertDone(id, await this.#submit({ kind: 'replacePlant', id, name, tag, preconditions, callerId }))
  }

  async deletePlant(id: bigint, preconditions: Preconditions = {}, callerId?: string): Promise<void> {
    assertDone(id, await this.#submit({ kind: 'deletePlant', id, preconditions, callerId }))
  }

  async createToken(token: Token): Promise<void> {
    await this.#submit({ kind: 'createToken', token, onlyFirst: false })
  }

  async createFirstToken(token: Token): Promise<boolean> {
    return (await this.#submit({ kind: 'createToken', token, onlyFirst: true })) === 'done'
  }

  async revokeToken(id: string, revokedAtMs: number): Promise<boolean> {
    return (await this.#submit({ kind: 'revokeToken', id, revokedAtMs })) === 'done'
  }

  get waitingJobs(): number {
    return this.#groups.waiting
  }

  async rotateToken(rotation: Rotation): Promise<RotateOutcome> {
    return (await this.#submit({ kind: 'rotateToken', ...rotation })) as RotateOutcome
  }

  async noteTokenUses(days: ReadonlyMap<string, number>): Promise<void> {
    await this.#submit({ kind: 'noteTokenUses', days })
  }

  async sweepChanges(untilMs: number): Promise<boolean> {
    return (await this.#submit({ kind: 'sweepChanges', untilMs, rowsMax: this.#sweptMax })) === 'done'
  }

  /** Rejects new changes, and resolves when all waiting changes are done. */
  protected closeGroups(): Promise<void> {
    return this.#groups.close()
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
