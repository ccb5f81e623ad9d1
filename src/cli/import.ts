// `plantstore import`: adds plants from a file, and validates each line like a POST. Reads and validates records while
// the store adds earlier ones. Prints the first rejected records, and writes all of them to a file, in input order.

import { once } from 'node:events'
import { closeSync, constants, createReadStream, fstatSync, openSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseSettings } from '../config.ts'
import { type Contract, openContract } from '../contract/contract.ts'
import { AppError, MissingStoreError, messageOf, OperatorError } from '../domain/errors.ts'
import type { Plant } from '../domain/plant.ts'
import { amount, withoutControls } from '../domain/shown.ts'
import type { ImportOutcome, OnConflict, PlantImport, Store } from '../domain/store.ts'
import { columnsOf, type PlantRecord, UnreadableFile } from '../files/columns.ts'
import type { CsvHeader } from '../files/csv.ts'
import { chooseFormat, type Format, readPlants } from '../files/formats.ts'
import { decodeText } from '../json/decode.ts'
import { limits } from '../limits.ts'
import { openStore } from '../store/open.ts'
import { assertReadableFile, explained, explainFileFailure, statThere } from '../store/paths.ts'
import { complain, say, stopOnSignal, type Terminal } from '../terminal.ts'
import { leftOutSentence, noteLeftOut } from './output.ts'
import { assertNotOfStore, commandOptions, withStore } from './stores.ts'

/** How long an import waits for more input before it commits. */
const stallMs = 50
/** Number of rejected records that are printed; the others are counted. */
const shownMax = 10

interface ImportOptions {
  readonly store: string
  readonly document: string
  /** Path, or `-` for standard input. */
  readonly file: string
  readonly format: Format | undefined
  readonly onConflict: OnConflict
  readonly dryRun: boolean
  readonly allOrNothing: boolean
  readonly rejects: string | undefined
}

export async function importPlants(options: ImportOptions, terminal: Terminal): Promise<number> {
  const contract = await openContract(parseSettings({ document: options.document }).document)
  if (options.file !== '-') assertReadableFile(options.file)
  // Node.js reads nothing from a folder.
  else if (fstatSync(0).isDirectory()) throw new OperatorError('standard input is a folder')
  if (options.rejects !== undefined) await assertNotOfStore(options.rejects, options.store)
  if (options.dryRun) return tryImport(contract, options, terminal)
  return withStore(options.store, terminal, async (store) => {
    const target = await store.beginImport({ isWhole: options.allOrNothing })
    return new ImportRun(target, contract, options, terminal).run()
  })
}

/** Performs a dry run: imports into a scratch store and neither creates nor changes the real one. */
async function tryImport(contract: Contract, options: ImportOptions, terminal: Terminal): Promise<number> {
  await using store = await openStore(options.store, { ...commandOptions(terminal), mayMake: false }).catch((cause) => {
    if (cause instanceof MissingStoreError) return undefined
    throw cause
  })
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-')).catch((cause) => {
    throw explainFileFailure(cause, tmpdir(), 'written')
  })
  try {
    await using scratch = await openStore(join(folder, 'dry-run.db'), commandOptions(terminal))
    return await new ImportRun(await beginDryRun(store, scratch), contract, options, terminal).run()
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * Begins an import into a scratch store. Before plants are added, it gets those of the real store that have the same
 * ids. The real store is only read, so that no request is delayed.
 */
async function beginDryRun(store: Store | undefined, scratch: Store): Promise<PlantImport> {
  const trial = await scratch.beginImport({ isWhole: true })
  return {
    isCommitted: false,
    add: async (plants, onConflict) => {
      const found = await Promise.all(plants.map(({ id }) => store?.getPlant(id)))
      await trial.add(
        found.filter((plant) => plant !== undefined),
        'skip',
      )
      return trial.add(plants, onConflict)
    },
    commit: () => trial.commit(),
    end: () => trial.end(),
  }
}

class ImportRun {
  readonly #import: PlantImport
  readonly #options: ImportOptions
  readonly #terminal: Terminal
  /** The name of the file in messages. */
  readonly #name: string
  readonly #contract: Contract
  readonly #declared: ReadonlySet<string>
  /** The names of properties in the file that the document does not declare. */
  readonly #leftOut = new Set<string>()
  readonly #stopping: AbortSignal
  readonly #stopped: Promise<undefined>
  readonly #counts: Record<Exclude<ImportOutcome, 'idTaken'>, number> = { created: 0, replaced: 0, unchanged: 0 }
  #lastLine = 0
  #committedLine = 0
  #maybeRounded = 0
  #refused = 0
  #rejects: number | undefined

  constructor(target: PlantImport, contract: Contract, options: ImportOptions, terminal: Terminal) {
    this.#import = target
    this.#options = options
    this.#terminal = terminal
    this.#name = options.file === '-' ? 'standard input' : options.file
    this.#contract = contract
    this.#declared = new Set(contract.properties.map(({ name }) => name))
    this.#stopping = stopOnSignal(terminal)
    this.#stopped = once(this.#stopping, 'abort').then(() => undefined)
  }

  /** Returns the exit status: 0 if every plant was imported, else 1. Ends the import. */
  async run(): Promise<number> {
    const { rejects } = this.#options
    try {
      if (rejects !== undefined) this.#rejects = openForWriting(rejects)
      return await this.#finish(await this.#isCutShort())
    } finally {
      if (this.#rejects !== undefined) closeSync(this.#rejects)
      await this.#import.end()
    }
  }

  /** Reads the file. Returns whether the rest of it could not be read. */
  async #isCutShort(): Promise<boolean> {
    try {
      await this.#readAll()
      return false
    } catch (error) {
      if (error instanceof AppError || error instanceof OperatorError) throw this.#explainBreak(error)
      if (!(error instanceof UnreadableFile)) throw error
      if (this.#lastLine === 0) throw new OperatorError(`${this.#name} ${withoutControls(error.message)}`)
      complain('error', `${this.#name} ${error.message}; nothing after line ${this.#lastLine} was read`, this.#terminal)
      return true
    }
  }

  async #readAll(): Promise<void> {
    const { file, format } = this.#options
    const batches = readPlants(this.#open(), chooseFormat(file, format), {
      columns: columnsOf(this.#contract.properties),
      recordCharactersMax: limits.bodyBytesMax,
      onUtf16: () => this.#say(`${this.#name} is read as UTF-16`),
      onHeader: (header) => this.#noteHeader(header),
      onMaybeRounded: () => {
        this.#maybeRounded += 1
      },
    })[Symbol.asyncIterator]()
    // The next batch is read and validated while the store adds the current one.
    let adding: Promise<void> = Promise.resolve()
    try {
      for (;;) {
        const next = await this.#nextBatch(batches.next(), adding)
        if (next === undefined || next.done) break
        const verdicts = next.value.map((record) => this.#judge(record))
        await adding
        adding = this.#add(next.value, verdicts)
        // The next await reports the failure.
        adding.catch(() => {})
      }
    } finally {
      await adding
    }
  }

  /** Copies the header to the rejects, so that they can be imported. */
  #noteHeader({ raw, separator, ignored }: CsvHeader): void {
    if (separator !== ',') this.#say(`${this.#name} is read with ${separator === ';' ? 'semicolons' : 'tabs'}`)
    if (ignored.length > 0) this.#say(`columns ignored: ${withoutControls(ignored.join(', '))}`)
    this.#reject(raw)
  }

  async *#open(): AsyncGenerator<Buffer> {
    const { file } = this.#options
    try {
      yield* file === '-' ? this.#terminal.stdin : openForReading(file)
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

  /** The plant of a record, or the reason for which it is rejected. */
  #judge({ json, wrong }: PlantRecord): Plant | string {
    if (wrong !== undefined || json === undefined) return wrong ?? ''
    const { bodyBytesMax, jsonDepthMax } = limits
    if (Buffer.byteLength(json) > bodyBytesMax) return `the plant is longer than the ${bodyBytesMax} bytes allowed`
    try {
      const value = decodeText(json, jsonDepthMax)
      const plant = this.#contract.readPlant(value)
      for (const name of Object.keys(value as object)) if (!this.#declared.has(name)) noteLeftOut(this.#leftOut, name)
      return plant
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return error.message
    }
  }

  async #add(records: readonly PlantRecord[], verdicts: readonly (Plant | string)[]): Promise<void> {
    const plants = verdicts.filter((verdict) => typeof verdict !== 'string')
    const outcomes = (await this.#import.add(plants, this.#options.onConflict)).values()
    for (const [index, record] of records.entries()) {
      const verdict = verdicts[index] ?? ''
      const outcome = typeof verdict === 'string' ? undefined : outcomes.next().value
      if (typeof verdict === 'string') this.#refuse(record, verdict)
      else if (outcome === 'idTaken') this.#refuse(record, `id: ${verdict.id} is already taken`)
      else if (outcome !== undefined) this.#counts[outcome] += 1
      this.#lastLine = record.line
    }
    if (this.#import.isCommitted) this.#committedLine = this.#lastLine
  }

  #refuse({ line, raw, isCut }: PlantRecord, why: string): void {
    this.#refused += 1
    if (this.#refused <= shownMax) {
      const shown = withoutControls(raw.slice(0, limits.recordCharactersShown))
      const lost = isCut && this.#rejects !== undefined ? ' (too long to be written to the rejects)' : ''
      this.#say(`line ${line}: ${why}${lost}: ${shown}`)
    }
    if (isCut !== true) this.#reject(raw)
  }

  #reject(raw: string): void {
    if (this.#rejects === undefined) return
    try {
      writeFileSync(this.#rejects, `${raw}\n`)
    } catch (cause) {
      throw new OperatorError(`${this.#options.rejects} cannot be written: ${messageOf(cause)}`)
    }
  }

  async #commit(): Promise<void> {
    await this.#import.commit()
    this.#committedLine = this.#lastLine
  }

  /** Explains a failure of the store or of the rejects file, which ended the import. */
  #explainBreak(error: AppError | OperatorError): OperatorError {
    const why = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
    const lines = `everything up to line ${this.#committedLine} was kept, perhaps more`
    const { allOrNothing, dryRun } = this.#options
    const kept = allOrNothing || dryRun ? 'nothing was kept' : `${lines}; to continue, ${this.#howToContinue}`
    return new OperatorError(`the import stopped early (${why}); ${kept}`, { cause: error })
  }

  /** A repeated import must skip plants that exist, or replace them if the file is authoritative. */
  get #howToContinue(): string {
    return `run it again with --on-conflict ${this.#options.onConflict === 'replace' ? 'replace' : 'skip'}`
  }

  async #finish(isCutShort: boolean): Promise<number> {
    const { allOrNothing, dryRun } = this.#options
    const isStopped = this.#stopping.aborted
    const isComplete = this.#refused === 0 && !isStopped && !isCutShort
    const isUndone = dryRun || (allOrNothing && !isComplete)
    if (!isUndone) {
      await this.#commit().catch((error) => {
        throw error instanceof AppError ? this.#explainBreak(error) : error
      })
    }
    this.#sayCounts(isUndone)
    if (isStopped) {
      const kept = `everything up to line ${this.#committedLine} was kept. To continue, ${this.#howToContinue}`
      this.#say(`Stopped; ${isUndone ? 'nothing was kept' : kept}.`)
    }
    return isComplete ? 0 : 1
  }

  #sayCounts(isUndone: boolean): void {
    const { rejects, dryRun } = this.#options
    const refused = this.#refused
    const hidden = refused - shownMax
    if (hidden > 0) {
      const where = rejects === undefined ? 'use --rejects FILE to keep them all' : `${rejects} has them all`
      this.#say(`${hidden} more ${hidden === 1 ? 'line was' : 'lines were'} refused; ${where}`)
    }
    const { created, replaced, unchanged } = this.#counts
    const why = refused > 0 && !dryRun ? ' because some plants were refused' : ''
    const [could, note] = isUndone ? ['could be ', ` (${dryRun ? 'a dry run: ' : ''}nothing was kept${why})`] : ['', '']
    this.#say(`${created} ${could}created, ${replaced} replaced, ${unchanged} unchanged, ${refused} refused${note}`)
    if (this.#leftOut.size > 0) this.#say(leftOutSentence(this.#leftOut))
    if (this.#maybeRounded > 0) {
      const ids = `${amount(this.#maybeRounded, 'id')} ${this.#maybeRounded === 1 ? 'has' : 'have'}`
      this.#say(`${ids} zeros after 15 digits, as if rounded by a spreadsheet; compare the source`)
    }
  }

  #say(text: string): void {
    say(text, this.#terminal)
  }
}

/** A pipe is opened without blocking: the process could not exit while a thread waits for its writer. */
function openForReading(path: string): AsyncIterable<Buffer> {
  if (statThere(path)?.isFIFO() !== true) return createReadStream(path, { highWaterMark: limits.importReadBytes })
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })
}

/** Opens a new file, a device or a pipe. An existing file stays: it may be the input, or corrected rejects. */
function openForWriting(path: string): number {
  return explained(path, 'written', () => {
    const existing = statThere(path)
    if (existing?.isFile()) throw new OperatorError(`${path} exists already; name another file for the rejects`)
    return openSync(path, existing === undefined ? 'wx' : 'w', 0o600)
  })
}
