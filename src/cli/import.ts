// `plantstore import`: carries plants in from a file, each line judged as a POST is judged.

import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync, statSync, type WriteStream } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { limits } from '../config.ts'
import { loadContract } from '../contract/document.ts'
import { compileValidator, type Validator } from '../contract/validate.ts'
import { AppError, OperatorError } from '../domain/errors.ts'
import type { NewPlant } from '../domain/plant.ts'
import type { ImportOutcome, OnConflict, PlantImport } from '../domain/store.ts'
import { decodeJson } from '../json/decode.ts'
import { openStore } from '../store/open.ts'
import { systemClock } from './clock.ts'
import { csvHeader, type Format, type PlantRecord, readRecords } from './plant-files.ts'
import { Progress } from './progress.ts'
import type { Terminal } from './terminal.ts'

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

interface Judged {
  readonly record: PlantRecord
  readonly plant: NewPlant
}

/** Gives the exit status: 0 when every plant went in, 1 when one did not. */
export async function importPlants(options: ImportOptions, terminal: Terminal): Promise<number> {
  keepMemorySmall()
  if (options.file !== '-' && !existsSync(options.file)) throw new OperatorError(`there is no file ${options.file}`)
  await using store = await openStore(options.store, { exclusive: false, clock: systemClock, limits })
  const carry = await store.beginImport(options.onConflict)
  try {
    const run = new ImportRun(carry, options, terminal)
    return await run.run()
  } finally {
    await carry.end()
  }
}

/** V8 lets a heap of short-lived values grow to 100 MB before it looks for room in it; this has it look sooner. */
export function keepMemorySmall(): void {
  setFlagsFromString('--optimize-for-size')
}

class ImportRun {
  readonly #carry: PlantImport
  readonly #options: ImportOptions
  readonly #terminal: Terminal
  readonly #validate: Validator
  readonly #counts: Record<ImportOutcome | 'refused', number> = {
    created: 0,
    replaced: 0,
    unchanged: 0,
    idTaken: 0,
    refused: 0,
  }
  readonly #rejects: WriteStream | undefined
  #isStopped = false
  #lastLine = 0
  #committedLine = 0
  #uncommitted = 0
  #bytesRead = 0

  constructor(carry: PlantImport, options: ImportOptions, terminal: Terminal) {
    this.#carry = carry
    this.#options = options
    this.#terminal = terminal
    const operation = loadContract().operations.find(({ id }) => id === 'createPlant')
    this.#validate = compileValidator(operation?.body ?? {}, 'the plant')
    if (options.rejects !== undefined) {
      this.#rejects = createWriteStream(options.rejects)
      if (options.format === 'csv') this.#rejects.write(csvHeader)
    }
    terminal.onSignal(() => {
      this.#isStopped = true
    })
  }

  async run(): Promise<number> {
    const { file, format } = this.#options
    const bytesTotal = file === '-' ? undefined : statSync(file).size
    const progress = new Progress(this.#terminal.stderr, bytesTotal, systemClock.monotonicMs())
    const recordBytesMax = limits.bodyBytesMax
    // While the writer adds one lot, the next is read and judged.
    let adding: Promise<void> = Promise.resolve()
    try {
      for await (const lot of readRecords(this.#open(file), format, { recordBytesMax })) {
        const judged = lot.flatMap((record) => this.#judge(record))
        await adding
        if (this.#isStopped) break
        adding = this.#add(judged, lot.at(-1)?.line ?? this.#lastLine)
        // Its failure is met at the next await.
        adding.catch(() => {})
        progress.draw(this.#lastLine, this.#bytesRead, systemClock.monotonicMs())
      }
      await adding
    } catch (error) {
      if (
        !(
          error instanceof RangeError ||
          (error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_'))
        )
      )
        throw error
      throw new OperatorError(`${file}: ${error.message}`, { cause: error })
    } finally {
      progress.clear()
    }
    return this.#finish()
  }

  async *#open(file: string): AsyncGenerator<Buffer> {
    const stream = file === '-' ? this.#terminal.stdin : createReadStream(file, { highWaterMark: 64 * 1024 })
    for await (const piece of stream) {
      this.#bytesRead += piece.length
      yield piece
    }
  }

  #judge(record: PlantRecord): Judged[] {
    try {
      if (record.wrong !== undefined || record.json === undefined) throw new AppError('invalidJson', record.wrong ?? '')
      const value = decodeJson(record.json, limits.jsonDepthMax)
      const wrong = this.#validate(value)
      if (wrong !== undefined) throw new AppError('invalidPlant', wrong)
      const { id, name, tag } = value as unknown as NewPlant
      return [{ record, plant: tag === undefined ? { id, name } : { id, name, tag } }]
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#refuse(record, error.message)
      return []
    }
  }

  async #add(judged: readonly Judged[], lastLine: number): Promise<void> {
    const outcomes = judged.length === 0 ? [] : await this.#carry.add(judged.map(({ plant }) => plant))
    for (const [index, outcome] of outcomes.entries()) {
      this.#counts[outcome] += 1
      const { record, plant } = judged[index] as Judged
      if (outcome === 'idTaken') this.#refuse(record, `id: ${plant.id} is taken by another plant`)
    }
    this.#lastLine = lastLine
    this.#uncommitted += judged.length
    if (this.#uncommitted >= limits.importCommitPlants && !this.#isHeldBack()) await this.#commit()
  }

  async #commit(): Promise<void> {
    await this.#carry.commit()
    this.#uncommitted = 0
    this.#committedLine = this.#lastLine
  }

  /** Whether nothing may be kept before everything is known to go in, or nothing at all. */
  #isHeldBack(): boolean {
    return this.#options.allOrNothing || this.#options.dryRun
  }

  #refuse(record: PlantRecord, why: string): void {
    const raw = record.raw === '' ? (record.json?.toString('utf8') ?? '') : record.raw
    this.#counts.refused += 1
    this.#terminal.stderr.write(`line ${record.line}: ${why}: ${raw.slice(0, 200)}\n`)
    this.#rejects?.write(this.#options.format === 'csv' ? `${raw}\r\n` : `${raw}\n`)
  }

  async #finish(): Promise<number> {
    const { allOrNothing, dryRun } = this.#options
    const isUndone = dryRun || (allOrNothing && (this.#counts.refused > 0 || this.#isStopped))
    if (!isUndone) await this.#commit()
    if (this.#rejects !== undefined) {
      this.#rejects.end()
      await once(this.#rejects, 'close')
    }
    const { created, replaced, unchanged, refused } = this.#counts
    const counts = `${created} created, ${replaced} replaced, ${unchanged} unchanged, ${refused} refused`
    const why = dryRun ? ' (a dry run: nothing was kept)' : isUndone ? ' (nothing was kept, as not all could be)' : ''
    this.#terminal.stderr.write(`${counts}${why}\n`)
    if (this.#isStopped) {
      const kept = isUndone ? 'nothing was kept' : `everything up to line ${this.#committedLine} was kept`
      this.#terminal.stderr.write(`Stopped; ${kept}. To go on, run it again with --on-conflict skip.\n`)
    }
    return refused > 0 || this.#isStopped ? 1 : 0
  }
}
