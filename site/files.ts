// Plants as text: rows that a person pastes or drops, which are NDJSON, CSV as `plantstore import` reads it, cells of a
// sheet without a header, or nothing but names; and exports as `plantstore export` writes them.

import { idOf } from './address.js'
import { idMax } from './api.js'
import type { StoredPlant } from './client.js'
import { csvRow, UnreadableFile } from './columns.js'
import { CsvPlants, findColumns, splitBy } from './csv.js'
import { download } from './elements.js'
import { parseExact, printLine } from './exact-json.js'
import { hush, notWhole } from './messages.js'
import { displayed, jsonOf, plantOf, properties, textOf, type Values } from './properties.js'

/** A row: its plant, which may still need an id, or why it has none. */
export interface PlantRow {
  readonly line: number
  /** The row as it was read, without its line end. */
  readonly raw: string
  readonly plant?: Values & { readonly id?: bigint }
  readonly wrong?: string
  /** What became of its plant: the server had it already, or has it since. */
  readonly outcome?: 'known' | 'added'
}

/** A longer row is refused: the server takes no longer plant. */
const recordCharactersMax = 65_536

/** The bounds of ids in the document. */
const [{ schema } = { schema: {} }] = displayed
const { minimum = -idMax - 1n, maximum = idMax } = schema as { readonly minimum?: bigint; readonly maximum?: bigint }

/** A row that cannot be added. */
export const refused = ({ line, raw }: PlantRow, wrong: string): PlantRow => ({ line, raw, wrong })

/** A JSON array, such as an answer of the API, as a line for each item; any other text as it is. */
export function linesOf(text: string): string {
  const content = text.replace(/^\ufeff/, '')
  if (!/^\s*\[\s*[{\]]/.test(content)) return content
  try {
    return (parseExact(content) as unknown[]).map((item) => `${printLine(item, '')}\n`).join('')
  } catch {
    throw new UnreadableFile('begins as a JSON array, but is not JSON, or has a number that is too large')
  }
}

/**
 * Throws UnreadableFile if a text has no rows.
 *
 * @param note receives what a person may want to know.
 */
export function readRows(text: string, note = (_sentence: string): void => {}): readonly PlantRow[] {
  const rows = /^\s*\{/.test(text) ? readNdjson(text) : readCsv(text, note)
  if (rows.length === 0) throw new UnreadableFile('has no plants; it should have one in each line')
  const byId = Map.groupBy(rows, ({ plant }) => plant?.id)
  return rows.map((row) => {
    const id = row.plant?.id
    const isAlone = id === undefined || byId.get(id)?.length === 1
    return isAlone ? row : refused(row, `id ${id} stands in more than one row`)
  })
}

function readNdjson(content: string): readonly PlantRow[] {
  const rows = content.split('\n').map((text, at) => ({ line: at + 1, raw: text.replace(/\r$/, '') }))
  return rows.filter(({ raw }) => raw.trim() !== '').map((row) => ({ ...row, ...read(row.raw) }))
}

/** Whether the plant is valid, the server says. */
function read(json: string): Pick<PlantRow, 'plant' | 'wrong'> {
  let value: unknown
  try {
    value = parseExact(json)
  } catch {
    return { wrong: 'is not JSON, or has a number that is too large' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { wrong: 'is not a JSON object' }
  const { id, ...plant } = plantOf(Object.entries(value))
  if (plant.name === undefined) return { wrong: 'name is missing' }
  // A spreadsheet has cells without one.
  if (id === undefined || id === '') return { plant }
  const exact = idOf(String(id))
  if (!/^\s*-?\d+\s*$/.test(String(id))) return { wrong: `id ${notWhole} ${JSON.stringify(String(id))}` }
  if (exact === undefined || exact < minimum || exact > maximum)
    return { wrong: `id must be from ${minimum} to ${maximum}` }
  return { plant: { ...plant, id: exact } }
}

function readCsv(content: string, note: (sentence: string) => void): readonly PlantRow[] {
  const { added, body } = withHeader(content)
  const plants = new CsvPlants({
    columns: properties,
    needed: ['name'],
    recordCharactersMax,
    onHeader: ({ ignored }) => ignored.length > 0 && note(`Columns ignored: ${ignored.join(', ')}.`),
    onMaybeRounded: () => note('An id has zeros after 15 digits, as if rounded by a spreadsheet: compare the source.'),
  })
  return plants.read(added + body, true).map(({ line, raw, json, wrong = '' }) => {
    return { line: added === '' ? line : line - 1, raw, ...(json === undefined ? { wrong } : read(json)) }
  })
}

/** What is pasted from a sheet often has no header, and a list has only names: both get one. */
function withHeader(content: string): { readonly added: string; readonly body: string } {
  const [line = ''] = /[^\r\n]*\S[^\r\n]*/.exec(content) ?? []
  // A name has no tab, and often a comma.
  const separator = content.includes('\t') ? '\t' : line.includes(';') ? ';' : ','
  const cells = splitBy(line, separator)
  // One of a misspelt header is refused.
  if (findColumns(cells, properties).some((column) => column !== undefined)) return { added: '', body: content }
  const hasIds = /^\s*-?\d+\s*$/.test(cells[0] ?? '')
  const list = content.trim() === line.trim() ? line.split(',') : line.includes(',') ? [] : content.split(/\r?\n/)
  if (!hasIds && separator === ',' && list.length > 0) {
    return { added: 'name\n', body: list.map((name) => csvRow([name.trim()])).join('') }
  }
  const names = properties.map(({ name }) => name).filter((name) => hasIds || name !== 'id')
  const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`)
  // What is pasted is whole, though its last row often has no end.
  return { added: `${quoted.join(separator)}\n`, body: `${content}\n` }
}

/** @param format `csv` or `ndjson`. */
export async function exportPlants(format: string, plants: AsyncIterable<StoredPlant>): Promise<void> {
  hush()
  const isCsv = format === 'csv'
  const parts = isCsv ? [csvRow(properties.map(({ name }) => name))] : []
  for await (const plant of plants) parts.push(isCsv ? csvLine(plant) : `${jsonOf(plant)}\n`)
  download(`plants.${format}`, isCsv ? 'text/csv' : 'application/x-ndjson', parts)
}

/** A record of CSV, which cannot tell an empty text from none. */
function csvLine(plant: StoredPlant): string {
  return csvRow(properties.map((property) => textOf(property, plant, (value) => printLine(value, '')) ?? ''))
}
