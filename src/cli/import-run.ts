// One import. Reads and validates records while the store adds earlier ones, and reports refusals in order.

import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Properties, toPlant } from '../contract/plant.ts'
import { bodyValidator } from '../contract/validators.ts'
import { systemClock } from '../domain/clock.ts'
import { AppError, messageOf, OperatorError } from '../domain/errors.ts'
import type { Plant } from '../domain/plant.ts'
import { amount, withoutControls } from '../domain/shown.ts'
import type { ImportOutcome, OnConflict, PlantImport } from '../domain/store.ts'
import { chooseFormat, type Format } from '../files/formats.ts'
import { readPlants } from '../files/read-plants.ts'
import { type PlantRecord, UnreadableFile } from '../files/records.ts'
import { decodeJson } from '../json/decode.ts'
import { limits } from '../limits.ts'
import type { Terminal } from '../terminal.ts'
import type { Refusals } from './refusals.ts'
import { stopOnSignal } from './stopping.ts'

/** How long an import waits for more input before it commits. */
const stallMs = 50
/** Interval at which a terminal shows how far the import is. */
const progressMs = 100
const startOfLine = '\r\u001b[K'

export interface ImportOptions {
  readonly store: string
  /** Path, or `-` for standard input. */
  readonly file: string
  readonly format: Format | undefined
  readonly onConflict: OnConflict
  readonly dryRun: boolean
  readonly allOrNothing: boolean
  /** File for refused records. */
  readonly rejects: string | undefined
}

/** A record and its verdict: a plant, or a reason to refuse it. */
interface CheckedRecord {
  readonly record: PlantRecord
  readonly plant?: Plant
  readonly why?: string
}

export class ImportRun {
  readonly #import: PlantImport
  readonly #options: ImportOptions
  readonly #terminal: Terminal
  readonly #refusals: Refusals
  readonly #validate = bodyValidator('createPlant', 'the plant')
  readonly #stopping: AbortSignal
  readonly #stopped: Promise<undefined>
  readonly #counts: Record<Exclude<ImportOutcome, 'idTaken'>, number> = { created: 0, replaced: 0, unchanged: 0 }
  #lastLine = 0
  #committedLine = 0
  #shownMs = 0
  #maybeRounded = 0

  constructor(target: PlantImport, options: ImportOptions, terminal: Terminal, refusals: Refusals) {
    this.#import = target
    this.#options = options
    this.#terminal = terminal
    this.#refusals = refusals
    this.#stopping = stopOnSignal(terminal)
    this.#stopped = once(this.#stopping, 'abort').then(() => undefined)
  }

  /** Returns the exit status: 0 if every plant was imported, else 1. */
  async run(): Promise<number> {
    let isCutShort = false
    try {
      await this.#readAll()
    } catch (error) {
      if (error instanceof AppError || error instanceof OperatorError) throw this.#explainBreak(error)
      if (!(error instanceof UnreadableFile)) throw error
      if (this.#lastLine === 0) throw new OperatorError(`${this.#name} ${withoutControls(error.message)}`)
      this.#terminal.stderr.write(
        `plantstore: ${this.#name} ${error.message}; nothing after line ${this.#lastLine} was read\n`,
      )
      isCutShort = true
    } finally {
      if (this.#shownMs > 0) this.#terminal.stderr.write(startOfLine)
    }
    return this.#finish(isCutShort)
  }

  async #readAll(): Promise<void> {
    const { file, format } = this.#options
    const batches = readPlants(this.#open(), chooseFormat(file, format), {
      recordBytesMax: limits.bodyBytesMax,
      onHeader: (raw) => this.#refusals.begin(raw),
      onReadAs: (words) => this.#terminal.stderr.write(`${this.#name} ${words}\n`),
      onColumnsIgnored: (names) =>
        this.#terminal.stderr.write(`columns ignored: ${withoutControls(names.join(', '))}\n`),
      onMaybeRounded: () => {
        this.#maybeRounded += 1
      },
    })[Symbol.asyncIterator]()
    // The next batch is read and validated while the store adds the current one.
    let adding: Promise<void> = Promise.resolve()
    for (;;) {
      const next = await this.#nextBatch(batches.next(), adding)
      if (next === undefined || next.done) break
      const judged = next.value.map((record) => this.#judge(record))
      await adding
      adding = this.#add(judged, next.value.at(-1)?.line ?? this.#lastLine)
      // The next await reports the failure.
      adding.catch(() => {})
      this.#showProgress()
    }
    await adding
  }

  #showProgress(): void {
    const { stderr } = this.#terminal
    const nowMs = systemClock.monotonicMs()
    if (stderr.isTTY !== true || nowMs - this.#shownMs < progressMs) return
    this.#shownMs = nowMs
    stderr.write(`${startOfLine}${this.#lastLine} lines`)
  }

  get #name(): string {
    return this.#options.file === '-' ? 'standard input' : this.#options.file
  }

  async *#open(): AsyncGenerator<Buffer> {
    const { file } = this.#options
    try {
      yield* file === '-' ? this.#terminal.stdin : createReadStream(file, { highWaterMark: limits.importReadBytes })
    } catch (cause) {
      throw new UnreadableFile(`cannot be read: ${messageOf(cause)}`, { cause })
    }
  }

  /**
   * Returns the next batch, or undefined once the import is stopped. Commits pending plants if no batch arrives for a
   * while.
   */
  async #nextBatch<T>(batch: Promise<T>, adding: Promise<void>): Promise<T | undefined> {
    const first = await Promise.race([batch, this.#stopped, sleep(stallMs, 'stalled' as const)])
    if (first !== 'stalled') return first
    await adding
    if (!this.#import.isCommitted && !this.#options.allOrNothing) await this.#commit()
    return Promise.race([batch, this.#stopped])
  }

  #judge(record: PlantRecord): CheckedRecord {
    if (record.wrong !== undefined || record.json === undefined) return { record, why: record.wrong ?? '' }
    try {
      const value = decodeJson(record.json, limits.jsonDepthMax)
      const wrong = this.#validate(value)
      if (wrong !== undefined) return { record, why: wrong }
      return { record, plant: toPlant(value as Properties) }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { record, why: error.message }
    }
  }

  async #add(judged: readonly CheckedRecord[], lastLine: number): Promise<void> {
    const plants = judged.flatMap(({ plant }) => (plant === undefined ? [] : [plant]))
    const outcomes = (await this.#import.add(plants, this.#options.onConflict)).values()
    for (const { record, plant, why } of judged) {
      const outcome = plant === undefined ? undefined : outcomes.next().value
      if (plant === undefined || outcome === undefined) this.#refusals.refuse(record, why ?? '')
      else if (outcome === 'idTaken') this.#refusals.refuse(record, `id: ${plant.id} is already taken`)
      else this.#counts[outcome] += 1
    }
    this.#lastLine = lastLine
    if (this.#import.isCommitted) this.#committedLine = lastLine
  }

  async #commit(): Promise<void> {
    await this.#import.commit()
    this.#committedLine = this.#lastLine
  }

  /** Explains an import that the store or the rejects file broke off. */
  #explainBreak(error: AppError | OperatorError): OperatorError {
    const why = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
    const line = this.#committedLine
    const kept = this.#options.allOrNothing
      ? 'nothing was kept'
      : `${line === 0 ? 'some lines may have been kept' : `everything up to line ${line} was kept, perhaps more`}; to continue, ${this.#howToContinue}`
    return new OperatorError(`the import stopped early (${why}); ${kept}`, { cause: error })
  }

  /** A repeated import must skip plants that exist, or replace them if the file is authoritative. */
  get #howToContinue(): string {
    return `run it again with --on-conflict ${this.#options.onConflict === 'replace' ? 'replace' : 'skip'}`
  }

  /** @param isCutShort whether the rest of the file could not be read. */
  async #finish(isCutShort: boolean): Promise<number> {
    const { allOrNothing, dryRun } = this.#options
    const isStopped = this.#stopping.aborted
    const refused = this.#refusals.count
    const isComplete = refused === 0 && !isStopped && !isCutShort
    const isUndone = dryRun || (allOrNothing && !isComplete)
    if (!isUndone) await this.#commit()
    this.#refusals.end()
    const { created, replaced, unchanged } = this.#counts
    const counts = `${created} ${isUndone ? 'could be ' : ''}created, ${replaced} replaced, ${unchanged} unchanged, ${refused} refused`
    const why = dryRun ? 'a dry run: nothing was kept' : 'nothing was kept because some plants were refused'
    this.#terminal.stderr.write(`${counts}${isUndone ? ` (${why})` : ''}\n`)
    if (this.#maybeRounded > 0) {
      const ids = `${amount(this.#maybeRounded, 'id')} ${this.#maybeRounded === 1 ? 'has' : 'have'}`
      this.#terminal.stderr.write(`${ids} zeros after 15 digits, as if rounded by a spreadsheet; compare the source\n`)
    }
    if (isStopped) {
      const kept = isUndone
        ? 'nothing was kept'
        : `everything up to line ${this.#committedLine} was kept. To continue, ${this.#howToContinue}`
      this.#terminal.stderr.write(`Stopped; ${kept}.\n`)
    }
    return isComplete ? 0 : 1
  }
}
