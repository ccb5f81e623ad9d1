// `plantstore export`: writes a consistent snapshot of all plants to a file while a server keeps writing.

import { realpathSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { parseSettings } from '../config.ts'
import { openContract } from '../contract/contract.ts'
import { AppError, OperatorError } from '../domain/errors.ts'
import type { Plant } from '../domain/plant.ts'
import { amount } from '../domain/shown.ts'
import { columnsOf } from '../files/columns.ts'
import { chooseExportFormat, csvHeader, csvOf, type Format } from '../files/formats.ts'
import { nameDurably, renameDurably, writeWhole } from '../store/files.ts'
import { assertFolderOf, explainFileFailure, statThere } from '../store/paths.ts'
import { print, say, stopOnSignal, type Terminal } from '../terminal.ts'
import { parseArgument } from './options.ts'
import { escaping, leftOutSentence, noteLeftOut } from './output.ts'
import { assertNotOfStore, openExisting } from './stores.ts'

export interface ExportOptions {
  readonly store: string
  /** Path, or `-` for standard output. */
  readonly file?: string | undefined
  readonly format: Format | undefined
  readonly document: string
}

export async function exportPlants(
  { store: path, file = '-', format: wanted, document }: ExportOptions,
  terminal: Terminal,
): Promise<void> {
  const format = parseArgument('[file]', file, () => chooseExportFormat(file, wanted))
  const columns = columnsOf((await openContract(parseSettings({ document }).document)).properties)
  // Checked before the store is open: closing any descriptor for the store's file releases this process's locks on it.
  if (file !== '-') await assertNotOfStore(file, path)
  await using store = await openExisting(path, terminal)
  // Read before the snapshot: a later change may also be in the export, which does no harm.
  const now = file === '-' ? undefined : await store.listChanges({ after: 'now', kind: undefined, limit: 1 })
  const leftOut = new Set<string>()
  const toShown = file === '-' ? escaping(terminal) : (text: string) => text
  const toText = (plant: Plant): string =>
    format === 'csv' ? csvOf(plant, columns, (name) => noteLeftOut(leftOut, name), toShown) : `${toShown(plant.json)}\n`
  let count = 0
  async function* pieces(): AsyncGenerator<string> {
    if (format === 'csv') yield csvHeader(columns)
    for await (const batch of store.exportPlants()) {
      count += batch.length
      yield batch.map(toText).join('')
    }
  }
  if (now === undefined) {
    for await (const text of pieces()) if (!(await print(terminal.stdout, text))) return
  } else {
    const isReplaced = await writeToFile(file, pieces(), terminal)
    const replaced = isReplaced ? ', replacing the file that was there' : ''
    say(`Exported ${amount(count, 'plant')} to ${file}${replaced}`, terminal)
    say(`Its changes since: plantstore watch --after ${now.next}`, terminal)
  }
  if (leftOut.size > 0) say(`${leftOutSentence(leftOut)}; NDJSON keeps them`, terminal)
}

/** Writes to a temporary file first, so that the named file is never incomplete. Returns whether one was replaced. */
async function writeToFile(file: string, pieces: AsyncIterable<string>, terminal: Terminal): Promise<boolean> {
  const signal = stopOnSignal(terminal)
  try {
    const existing = findExisting(file)
    const give = existing === undefined ? nameDurably : renameDurably
    const isNamed = await writeWhole(existing ?? file, give, async (partial) => {
      await writeFile(partial, pieces, { flag: 'wx', mode: 0o600, flush: true, signal })
      return true
    })
    if (!isNamed) throw new OperatorError(`${file} was created by another program in the meantime`)
    return existing !== undefined
  } catch (cause) {
    if (signal.aborted) throw new OperatorError('stopped; nothing was written')
    throw cause instanceof AppError ? cause : explainFileFailure(cause, file, 'written')
  }
}

/** The real path of an existing file, which the export replaces. */
function findExisting(file: string): string | undefined {
  assertFolderOf(file)
  const existing = statThere(file)
  if (existing === undefined) return undefined
  if (existing.isFile()) return realpathSync(file)
  const kind = existing.isDirectory() ? 'a folder' : 'a device or a pipe'
  throw new OperatorError(`${file} is ${kind}; name a file, or - for standard output`)
}
