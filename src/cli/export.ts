// `plantstore export`: writes all plants to a file, as they are at one moment, while a server goes on writing.

import { once } from 'node:events'
import { createWriteStream, realpathSync, rmSync } from 'node:fs'
import { AppError, OperatorError } from '../domain/errors.ts'
import type { NewPlant } from '../domain/plant.ts'
import { amount } from '../domain/shown.ts'
import { csvHeader, type Format, formatEscaped, formatPlant } from '../files/formats.ts'
import { limits } from '../limits.ts'
import { nameDurably, partialOf, renameDurably } from '../store/files.ts'
import { assertFolderOf, explainFileFailure, statThere } from '../store/paths.ts'
import type { Output, Terminal } from '../terminal.ts'
import { escaping } from './escapes.ts'
import { assertNotOfStore, openExisting } from './stores.ts'

export interface ExportOptions {
  readonly store: string
  /** Path, or `-` for standard output. */
  readonly file: string
  readonly format: Format
  readonly tag: string | undefined
}

export async function exportPlants(
  { store: path, file, format, tag }: ExportOptions,
  terminal: Terminal,
): Promise<void> {
  // Before the store is open: to close a file that was looked into gives up the locks of this process on it.
  if (file !== '-') await assertNotOfStore(file, path)
  await using store = await openExisting(path, terminal)
  const batches = store.exportPlants(tag)
  if (file === '-') {
    const toShown = escaping(terminal)
    const toLine = (plant: NewPlant): string => formatEscaped(plant, format, toShown)
    await write(batches, { format, toLine }, terminal.stdout)
      .then((written) => tellEmptyTags(written, format, terminal))
      .catch(endOfOutput)
    return
  }
  const existing = findExisting(file)
  // Under its name there is never a part of an export.
  const target = existing ?? file
  const partial = partialOf(target)
  const output = createWriteStream(partial, { mode: 0o600, flush: true })
  let isWritten = false
  const stop = (): void => {
    if (isWritten) return
    rmSync(partial, { force: true })
    terminal.stderr.write('Stopped; nothing was written.\n')
    terminal.exit(1)
  }
  terminal.onSignal(stop)
  terminal.onHangup(stop)
  try {
    const toLine = (plant: NewPlant): string => formatPlant(plant, format)
    const written = await write(batches, { format, toLine }, output)
    output.end()
    await once(output, 'close')
    if (existing !== undefined) renameDurably(partial, target)
    else if (!nameDurably(partial, target)) throw new OperatorError(`${file} was created by another program meanwhile`)
    isWritten = true
    const replaced = existing === undefined ? '' : ', replacing the file that was there'
    terminal.stderr.write(`Exported ${amount(written.plants, 'plant')} to ${file}${replaced}\n`)
    tellEmptyTags(written, format, terminal)
  } catch (cause) {
    // A stream makes its file a while after it is asked to: before that there is nothing to remove.
    if (!output.destroy().closed) await new Promise((resolve) => output.once('close', resolve))
    rmSync(partial, { force: true })
    if (cause instanceof AppError) throw cause
    throw explainFileFailure(cause, file, 'written')
  }
}

/** The real path of a file that is there already, which the export replaces. */
function findExisting(file: string): string | undefined {
  assertFolderOf(file)
  try {
    const existing = statThere(file)
    if (existing === undefined) return undefined
    if (!existing.isFile()) {
      const kind = existing.isDirectory() ? 'a folder' : 'a device or a pipe'
      throw new OperatorError(`${file} is ${kind}; name a file, or - for standard output`)
    }
    return realpathSync(file)
  } catch (cause) {
    throw explainFileFailure(cause, file, 'written')
  }
}

interface ExportCounts {
  readonly plants: number
  /** Plants whose tag is the empty text. */
  readonly emptyTags: number
}

function tellEmptyTags({ emptyTags }: ExportCounts, format: Format, terminal: Terminal): void {
  if (format !== 'csv' || emptyTags === 0) return
  const whose = `${amount(emptyTags, 'plant')} ${emptyTags === 1 ? 'has' : 'have'}`
  terminal.stderr.write(`${whose} an empty tag, which CSV cannot tell from no tag; NDJSON keeps it\n`)
}

interface Lines {
  readonly format: Format
  readonly toLine: (plant: NewPlant) => string
}

async function write(
  batches: AsyncIterable<readonly NewPlant[]>,
  { format, toLine }: Lines,
  output: Output,
): Promise<ExportCounts> {
  // A failure, as of a full disk, is met at the next write.
  let failure: Error | undefined
  output.on('error', (error) => {
    failure = error
  })
  let text = format === 'csv' ? csvHeader : ''
  let [plants, emptyTags] = [0, 0]
  let writing: Promise<void> = Promise.resolve()
  for await (const batch of batches) {
    for (const plant of batch) {
      text += toLine(plant)
      if (plant.tag === '') emptyTags += 1
    }
    plants += batch.length
    if (text.length < limits.exportWriteCharacters) continue
    // While one piece is written, the next is read.
    await writing
    writing = writeAll(output, text)
    text = ''
    if (failure !== undefined) throw failure
  }
  await writing
  await writeAll(output, text)
  if (failure !== undefined) throw failure
  return { plants, emptyTags }
}

/** Resolves when the text is written, or cannot be. */
function writeAll(output: Output, text: string): Promise<void> {
  return new Promise((resolve) => output.write(text, () => resolve()))
}
