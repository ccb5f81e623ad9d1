// Downloads the plants of the current search, as CSV or NDJSON, as `plantstore export` writes them.

import { connect } from './api.js'
import type { ListQuery, StoredPlant } from './client.js'
import { csvRow } from './columns.js'
import { printLine } from './exact-json.js'
import { download } from './make.js'
import { jsonOf, properties, textOf } from './properties.js'

interface ExportOptions {
  readonly query: ListQuery
  readonly onStart: () => void
  readonly onRefusal: (refusal: unknown) => void
}

const pagePlants = 1_000

const forms = {
  csv: { type: 'text/csv', header: csvRow(properties.map(({ name }) => name)), line: csvLine },
  ndjson: { type: 'application/x-ndjson', header: '', line: ndjsonLine },
} as const

export async function exportPlants(
  name: keyof typeof forms,
  { query, onStart, onRefusal }: ExportOptions,
): Promise<void> {
  onStart()
  const { type, header, line } = forms[name]
  const parts: string[] = [header]
  try {
    for await (const { plants } of connect()
      .listPlants({ ...query, limit: pagePlants })
      .pages()) {
      parts.push(plants.map(line).join(''))
    }
    download(`plants.${name}`, type, parts)
  } catch (refusal) {
    onRefusal(refusal)
  }
}

/** A plant as a line of NDJSON, its integers exact. */
function ndjsonLine(plant: StoredPlant): string {
  return `${jsonOf(plant)}\n`
}

/** A plant as a record of CSV, which cannot tell an empty text from none. */
function csvLine(plant: StoredPlant): string {
  return csvRow(properties.map((property) => textOf(property, plant, compact) ?? ''))
}

const compact = (value: unknown): string => printLine(value, '')
