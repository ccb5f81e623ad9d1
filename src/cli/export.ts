// `plantstore export`: writes a consistent snapshot of all plants to a file while a server keeps writing.

import { realpathSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { parseSettings } from '../config.ts'
import { openContract } from '../contract/contract.ts'
import { AppError, OperatorError } from '../domain/errors.ts'
import type { Plant } from '../domain/plant.ts'
import { amount, withoutControls } from '../domain/shown.ts'
import { columnsOf } from '../files/columns.ts'
import { chooseExportFormat, csvHeader, csvOf, type Format } from '../files/formats.ts'
import { nameDurably, renameDurably, writeWhole } from '../store/files.ts'
import { assertFolderOf, explainFileFailure, statThere } from '../store/paths.ts'
import { print, stopOnSignal, type Terminal } from '../terminal.ts'
import { parseArgument } from './options.ts'
import { escaping } from './output.ts'
import { assertNotOfStore, openExisting } from './stores.ts'

export interface ExportOptions {
  readonly store: string
  /** Path, or `-` for standard output. */
  readonly file?: string | undefined
  readonly format: Format | undefined
  readonly tag: string | undefined
  readonly document: string
}

export async function exportPlants(
  { store: path, file = '-', format: wanted, tag, document }: ExportOptions,
  terminal: Terminal,
): Promise<void> {
  const format = parseArgument('[file]', file, () => chooseExportFormat(file, wanted))
  const columns = columnsOf((await openContract(parseSettings({ document }).document)).properties)
  // Checked before the store is open: closing any descriptor of the store's file releases this process's locks on it.
  if (file !== '-') await assertNotOfStore(file, path)
  await using store = await openExisting(path, terminal)
  const counts: ExportCounts = { plants: 0, inexact: 0, lost: new Set(), leftOut: new Set() }
  // Before the snapshot: changes from here on may be in the export, too, which does no harm.
  const now = file === '-' ? undefined : await store.listChanges({ after: 'now', kind: undefined, limit: 1 })
  const toShown = file === '-' ? escaping(terminal) : (text: string) => text
  const toText =
    format === 'ndjson'
      ? ({ json }: Plant) => `${toShown(json)}\n`
      : (plant: Plant) => {
          const lost: string[] = []
          const onLost = (name: string, isEmpty: boolean): void => {
            if (isEmpty) lost.push(name)
            else if (counts.leftOut.size < leftOutMax) counts.leftOut.add(name)
          }
          const row = csvOf(plant, columns, onLost, toShown)
          for (const name of lost) counts.lost.add(name)
          if (lost.length > 0) counts.inexact += 1
          return row
        }
  const pieces = piecesOf(store.exportPlants(tag), format === 'csv' ? csvHeader(columns) : '', counts, toText)
  if (now === undefined) {
    for await (const text of pieces) if (!(await print(terminal.stdout, text))) return
  } else {
    await writeToFile(file, pieces, counts, terminal)
    terminal.stderr.write(`Its changes since: plantstore watch --after ${now.next}\n`)
  }
  if (counts.leftOut.size > 0) {
    const names = withoutControls([...counts.leftOut].join(', '))
    terminal.stderr.write(`properties left out, which the document does not declare: ${names}; NDJSON keeps them\n`)
  }
  if (counts.inexact === 0) return
  const whose = `${amount(counts.inexact, 'plant')} ${counts.inexact === 1 ? 'has' : 'have'}`
  const what = [...counts.lost].join(' or ')
  terminal.stderr.write(`${whose} an empty ${what}, which CSV cannot tell from no ${what}; NDJSON keeps it\n`)
}

/** Names of properties that are shown. */
const leftOutMax = 10

interface ExportCounts {
  plants: number
  /** Plants with an empty text that reads as no property. */
  inexact: number
  /** The names of these properties. */
  readonly lost: Set<string>
  /** The names of properties without a column. */
  readonly leftOut: Set<string>
}

/** The text of an export, one piece per batch. */
async function* piecesOf(
  batches: AsyncIterable<readonly Plant[]>,
  header: string,
  counts: ExportCounts,
  toText: (plant: Plant) => string,
): AsyncGenerator<string> {
  if (header !== '') yield header
  for await (const batch of batches) {
    counts.plants += batch.length
    yield batch.map(toText).join('')
  }
}

/** Writes to a temporary file first, so that the named file is never incomplete. */
async function writeToFile(
  file: string,
  pieces: AsyncIterable<string>,
  counts: ExportCounts,
  terminal: Terminal,
): Promise<void> {
  const signal = stopOnSignal(terminal)
  try {
    const existing = findExisting(file)
    const give = existing === undefined ? nameDurably : renameDurably
    const isNamed = await writeWhole(existing ?? file, give, async (partial) => {
      await writeFile(partial, pieces, { flag: 'wx', mode: 0o600, flush: true, signal })
      return true
    })
    if (!isNamed) throw new OperatorError(`${file} was created by another program meanwhile`)
    const replaced = existing === undefined ? '' : ', replacing the file that was there'
    terminal.stderr.write(`Exported ${amount(counts.plants, 'plant')} to ${file}${replaced}\n`)
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
