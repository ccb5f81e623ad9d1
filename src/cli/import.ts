// `plantstore import`: adds plants from a file, each line validated as a POST is.

import { closeSync, createReadStream, existsSync, openSync, realpathSync, statSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { limits } from '../config.ts'
import { loadContract } from '../contract/document.ts'
import { compileValidator, type Validator } from '../contract/validate.ts'
import { AppError, OperatorError } from '../domain/errors.ts'
import { type NewPlant, plantOf } from '../domain/plant.ts'
import type { ImportOutcome, OnConflict, PlantImport, Store } from '../domain/store.ts'
import { decodeJson } from '../json/decode.ts'
import { systemClock } from './clock.ts'
import type { Format } from './plant-files.ts'
import { type PlantRecord, readRecords } from './plant-records.ts'
import { Progress } from './progress.ts'
import { openForCommand, openIfThere } from './stores.ts'
import { type Terminal, withoutControls } from './terminal.ts'

export interface ImportOptions {
  readonly store: string
  /** Path, or `-` for standard input. */
  readonly file: string
  readonly format: Format
  readonly onConflict: OnConflict
  readonly dryRun: boolean
  readonly allOrNothing: boolean
  /** File that refused records are written to. */
  readonly rejects: string | undefined
}

interface Validated {
  readonly record: PlantRecord
  readonly plant: NewPlant
}

const lineFeed = Buffer.from('\n')

/** Gives the exit status: 0 when every plant went in, 1 when one did not. */
export async function importPlants(options: ImportOptions, terminal: Terminal): Promise<number> {
  keepMemorySmall()
  if (options.file !== '-' && !existsSync(options.file)) throw new OperatorError(`there is no file ${options.file}`)
  if (options.dryRun) return tryImport(options, terminal)
  await using store = await openForCommand(options.store, terminal)
  // Without await the store would be closed before the import is done.
  return await runImport(await store.beginImport({ isWhole: options.allOrNothing }), options, terminal)
}

/** A dry run: into a scratch store, beside the real one, which is neither made nor changed. */
async function tryImport(options: ImportOptions, terminal: Terminal): Promise<number> {
  await using store = await openIfThere(options.store, terminal)
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'))
  try {
    await using scratch = await openForCommand(join(folder, 'dry-run.db'), terminal)
    return await runImport(await beginDryRun(store, scratch), options, terminal)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** V8 lets a heap of short-lived values grow to 100 MB before it looks for room in it; this has it look sooner. */
function keepMemorySmall(): void {
  setFlagsFromString('--optimize-for-size')
  setFlagsFromString('--semi-space-growth-factor=1')
}

async function runImport(target: PlantImport, options: ImportOptions, terminal: Terminal): Promise<number> {
  const rejects = options.rejects === undefined ? undefined : openRejects(options.rejects, options.file)
  try {
    return await new ImportRun(target, options, terminal, rejects).run()
  } finally {
    if (rejects !== undefined) closeSync(rejects)
    await target.end()
  }
}

/** An import into a scratch store that is given what the real one has under the same ids, and keeps nobody waiting. */
async function beginDryRun(store: Store | undefined, scratch: Store): Promise<PlantImport> {
  const trial = await scratch.beginImport({ isWhole: true })
  return {
    isCommitted: false,
    add: async (plants, onConflict) => {
      const found = await Promise.all(plants.map(({ id }) => store?.getPlant(id)))
      const there = plants.flatMap(({ id }, index) => {
        const plant = found[index]
        return plant === undefined ? [] : [{ id, ...plant }]
      })
      await trial.add(there, 'skip')
      return trial.add(plants, onConflict)
    },
    commit: () => trial.commit(),
    end: () => trial.end(),
  }
}

function openRejects(rejects: string, file: string): number {
  if (file !== '-' && existsSync(rejects) && realpathSync(rejects) === realpathSync(file)) {
    throw new OperatorError(`${rejects} is the file that is imported; name another one for the rejects`)
  }
  try {
    return openSync(rejects, 'w')
  } catch (cause) {
    throw new OperatorError(`${rejects} cannot be written: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    })
  }
}

class ImportRun {
  readonly #import: PlantImport
  readonly #options: ImportOptions
  readonly #terminal: Terminal
  readonly #rejects: number | undefined
  readonly #validate: Validator
  readonly #stopped = new AbortController()
  readonly #counts: Record<ImportOutcome | 'refused', number> = {
    created: 0,
    replaced: 0,
    unchanged: 0,
    idTaken: 0,
    refused: 0,
  }
  #lastLine = 0
  #committedLine = 0
  #bytesRead = 0

  constructor(target: PlantImport, options: ImportOptions, terminal: Terminal, rejects: number | undefined) {
    this.#import = target
    this.#options = options
    this.#terminal = terminal
    this.#rejects = rejects
    const operation = loadContract().operations.find(({ id }) => id === 'createPlant')
    this.#validate = compileValidator(operation?.body ?? {}, 'the plant')
    terminal.onSignal(() => {
      if (this.#stopped.signal.aborted) terminal.exit(1)
      this.#stopped.abort()
    })
  }

  async run(): Promise<number> {
    const { file, format } = this.#options
    const bytesTotal = file === '-' ? undefined : statSync(file).size
    const progress = new Progress(this.#terminal.stderr, bytesTotal, systemClock.monotonicMs())
    const batches = readRecords(this.#open(file), format, {
      recordBytesMax: limits.bodyBytesMax,
      onHeader: (raw) => this.#reject(raw),
    })[Symbol.asyncIterator]()
    try {
      // While the store adds one batch, the next is read and validated.
      let adding: Promise<void> = Promise.resolve()
      for (;;) {
        const next = await this.#nextBatch(batches.next(), adding)
        if (next === undefined || next.done) break
        const validated = next.value.flatMap((record) => this.#validated(record))
        await adding
        adding = this.#add(validated, next.value.at(-1)?.line ?? this.#lastLine)
        // Its failure is met at the next await.
        adding.catch(() => {})
        progress.draw(this.#lastLine, this.#bytesRead, systemClock.monotonicMs())
      }
      await adding
    } catch (error) {
      if (error instanceof AppError) throw this.#explainBreak(error)
      if (!isFileError(error)) throw error
      this.#counts.refused += 1
      this.#terminal.stderr.write(`plantstore: ${file}: ${error.message}; it was read up to line ${this.#lastLine}\n`)
    } finally {
      progress.clear()
    }
    return this.#finish()
  }

  async *#open(file: string): AsyncGenerator<Buffer> {
    const stream =
      file === '-' ? this.#terminal.stdin : createReadStream(file, { highWaterMark: limits.importReadBytes })
    for await (const piece of stream) {
      this.#bytesRead += piece.length
      yield piece
    }
  }

  /**
   * The next batch, or undefined once the import is stopped. When none comes for a while, what there is is committed.
   */
  async #nextBatch<T>(batch: Promise<T>, adding: Promise<void>): Promise<T | undefined> {
    const { signal } = this.#stopped
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>()
    const stop = (): void => resolve(undefined)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    try {
      const first = await Promise.race([batch, stopped, sleep(limits.importStallMs, 'stalled' as const)])
      if (first !== 'stalled') return first
      await adding
      if (!this.#import.isCommitted && !this.#options.allOrNothing) await this.#commit()
      return await Promise.race([batch, stopped])
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #validated(record: PlantRecord): Validated[] {
    try {
      if (record.wrong !== undefined || record.json === undefined) throw new AppError('invalidJson', record.wrong ?? '')
      const value = decodeJson(record.json, limits.jsonDepthMax)
      const wrong = this.#validate(value)
      if (wrong !== undefined) throw new AppError('invalidPlant', wrong)
      const { id, name, tag } = value as unknown as NewPlant
      return [{ record, plant: { id, ...plantOf({ name, tag }) } }]
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#refuse(record, error.message)
      return []
    }
  }

  async #add(validated: readonly Validated[], lastLine: number): Promise<void> {
    const plants = validated.map(({ plant }) => plant)
    const outcomes = await this.#import.add(plants, this.#options.onConflict)
    for (const [index, outcome] of outcomes.entries()) {
      this.#counts[outcome] += 1
      const { record, plant } = validated[index] as Validated
      if (outcome === 'idTaken') this.#refuse(record, `id: ${plant.id} is taken by another plant`)
    }
    this.#lastLine = lastLine
    if (this.#import.isCommitted) this.#committedLine = lastLine
  }

  async #commit(): Promise<void> {
    await this.#import.commit()
    this.#committedLine = this.#lastLine
  }

  #refuse(record: PlantRecord, why: string): void {
    this.#counts.refused += 1
    const shown = withoutControls(record.raw.toString('utf8').slice(0, limits.recordCharactersShown))
    const lost = record.isCut && this.#rejects !== undefined ? ' (too long for the rejects, too)' : ''
    this.#terminal.stderr.write(`line ${record.line}: ${why}${lost}: ${shown}\n`)
    if (!record.isCut) this.#reject(record.raw)
  }

  /** Writes a record to the rejects, byte for byte. */
  #reject(raw: Buffer): void {
    if (this.#rejects !== undefined) writeSync(this.#rejects, Buffer.concat([raw, lineFeed]))
  }

  /** What became of an import that its store broke off. */
  #explainBreak(error: AppError): OperatorError {
    const why = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
    const kept = this.#options.allOrNothing
      ? 'nothing was kept'
      : `everything up to line ${this.#committedLine} was kept, perhaps more; to go on, run it again with --on-conflict skip`
    return new OperatorError(`the import was broken off (${why}); ${kept}`, { cause: error })
  }

  async #finish(): Promise<number> {
    const { allOrNothing, dryRun } = this.#options
    const isStopped = this.#stopped.signal.aborted
    const isUndone = dryRun || (allOrNothing && (this.#counts.refused > 0 || isStopped))
    if (!isUndone) await this.#commit()
    const { created, replaced, unchanged, refused } = this.#counts
    const counts = `${created} created, ${replaced} replaced, ${unchanged} unchanged, ${refused} refused`
    const why = dryRun ? ' (a dry run: nothing was kept)' : isUndone ? ' (nothing was kept, as not all could be)' : ''
    this.#terminal.stderr.write(`${counts}${why}\n`)
    if (isStopped) {
      const kept = isUndone ? 'nothing was kept' : `everything up to line ${this.#committedLine} was kept`
      this.#terminal.stderr.write(`Stopped; ${kept}. To go on, run it again with --on-conflict skip.\n`)
    }
    return refused > 0 || isStopped ? 1 : 0
  }
}

/** What is wrong with a file as a whole, as a header that is none: no line of it can be told. */
function isFileError(error: unknown): error is Error {
  return (
    error instanceof RangeError || (error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_'))
  )
}
