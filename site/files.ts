// Plants as text: rows that a person pastes or drops, which are NDJSON, CSV as `plantstore import` reads it, cells of a
// sheet without a header, or nothing but names; and exports as `plantstore export` writes them.

import { idOf } from './address.js'
import { connect } from './api.js'
import type { ListQuery, NewPlant, StoredPlant } from './client.js'
import { csvRow } from './columns.js'
import { splitBy } from './csv-fields.js'
import { CsvPlants, findColumns } from './csv-records.js'
import { download } from './elements.js'
import { parseExact, printLine } from './exact-json.js'
import { hush } from './messages.js'
import { jsonOf, ownOf, type PlantProperty, plantOf, properties, textOf } from './properties.js'

/** A plant that may still need an id. */
type PastedPlant = Omit<NewPlant, 'id'> & { readonly id?: bigint }

/** A row: its plant, or what is wrong with it. */
export interface PlantRow {
  readonly line: number
  /** The row as it was read, without its line end. */
  readonly raw: string
  readonly plant?: PastedPlant
  readonly wrong?: string
}

export interface Rows {
  readonly format: 'csv' | 'ndjson'
  /** The line of the columns with its line end; empty if there is none. */
  readonly header: string
  readonly rows: readonly PlantRow[]
}

/** Such as `id, name and tag`. */
export const namesOfColumns = new Intl.ListFormat('en-GB').format(properties.map(({ name }) => name))
/** Lone surrogates and NUL cannot be stored. */
const unstorable = /[\0\p{Cs}]/u
/** A longer row is refused: the server takes no longer plant. */
const recordCharactersMax = 65_536

/** Throws UnreadableFile if a text has no rows. */
export function readRows(text: string): Rows {
  const content = text.replace(/^\ufeff/, '')
  return /^\s*\{/.test(content) ? readNdjson(content) : readCsv(content)
}

function readNdjson(content: string): Rows {
  const lines = content.split('\n').map((line) => line.replace(/\r$/, ''))
  const rows = lines
    .map((raw, at) => ({ raw, line: at + 1 }))
    .filter(({ raw }) => raw.trim() !== '')
    .map(({ raw, line }) => ({ raw, line, ...plantOfJson(raw) }))
  return { format: 'ndjson', header: '', rows }
}

type Found = Pick<PlantRow, 'plant'> | Pick<PlantRow, 'wrong'>

function plantOfJson(raw: string): Found {
  let value: unknown
  try {
    value = parseExact(raw)
  } catch {
    return { wrong: 'is not JSON, or has a number that is too large' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { wrong: 'is not a JSON object' }
  return checked(plantOf(Object.entries(value)))
}

/** What the page knows to be wrong; the server knows more. */
function checked(values: object): Found {
  const [wrong] = properties.flatMap((property) => faultOf(property, ownOf(values, property.name)) ?? [])
  if (wrong !== undefined) return { wrong }
  const { id, ...others } = values as NewPlant
  if (id === undefined) return { plant: others }
  const exact = idOf(String(id))
  if (exact === undefined) return { wrong: 'id: a whole number of up to 19 digits is needed' }
  return { plant: { ...others, id: exact } }
}

function faultOf({ name, isRequired, kind, schema }: PlantProperty, value: unknown): string | undefined {
  if (value === undefined) return isRequired && name !== 'id' ? `${name}: is missing` : undefined
  const isWhole = typeof value === 'bigint' || Number.isSafeInteger(value)
  const said = typeof value === 'string' ? `${JSON.stringify(value)} is` : 'is'
  if (schema['type'] === 'integer' && !isWhole) return `${name}: ${said} not a whole number`
  if (kind === 'number' && !isWhole && typeof value !== 'number') return `${name}: ${said} not a number`
  if (kind === 'boolean' && typeof value !== 'boolean') return `${name}: ${said} neither true nor false`
  if (kind !== 'text') return undefined
  if (typeof value !== 'string') return `${name}: is not a text`
  const [length, most] = [[...value].length, Number(schema['maxLength'] ?? Number.POSITIVE_INFINITY)]
  if (length > most) return `${name}: has ${length} characters, more than ${most}`
  return unstorable.test(value) ? `${name}: has a character that cannot be stored` : undefined
}

function readCsv(content: string): Rows {
  const { added, body } = withHeader(content)
  let header = ''
  const plants = new CsvPlants({
    columns: properties,
    needed: ['name'],
    recordCharactersMax,
    onHeader: ({ raw }) => {
      header = `${raw}\r\n`
    },
    onMaybeRounded: () => {},
  })
  const rows = plants.read(added + body, true).map(({ line, raw, json, wrong }) => {
    const found = json === undefined ? { wrong: wrong ?? '' } : plantOfJson(json)
    return { line: added === '' ? line : line - 1, raw, ...found }
  })
  return { format: 'csv', header: added === '' ? header : '', rows }
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

const pagePlants = 1_000

const forms = {
  csv: { type: 'text/csv', header: csvRow(properties.map(({ name }) => name)), line: csvLine },
  ndjson: { type: 'application/x-ndjson', header: '', line: (plant: StoredPlant) => `${jsonOf(plant)}\n` },
} as const

export async function exportPlants(name: string, query: ListQuery): Promise<void> {
  hush()
  const { type, header, line } = forms[name === 'csv' ? name : 'ndjson']
  const parts: string[] = [header]
  for await (const plant of connect().listPlants({ ...query, limit: pagePlants })) parts.push(line(plant))
  download(`plants.${name}`, type, parts)
}

/** A record of CSV, which cannot tell an empty text from none. */
function csvLine(plant: StoredPlant): string {
  return csvRow(properties.map((property) => textOf(property, plant, (value) => printLine(value, '')) ?? ''))
}
