// Downloads the plants of the current search, as CSV or NDJSON, as `plantstore export` writes them.

import { connect } from './api.js'
import type { ListQuery, StoredPlant } from './client.js'
import { csvRow } from './columns.js'
import { download } from './elements.js'
import { printLine } from './exact-json.js'
import { explain, hush } from './messages.js'
import { jsonOf, properties, textOf } from './properties.js'

const pagePlants = 1_000

const forms = {
  csv: { type: 'text/csv', header: csvRow(properties.map(({ name }) => name)), line: csvLine },
  ndjson: { type: 'application/x-ndjson', header: '', line: (plant: StoredPlant) => `${jsonOf(plant)}\n` },
} as const

export async function exportPlants(name: string, query: ListQuery): Promise<void> {
  hush()
  const { type, header, line } = forms[name === 'csv' ? name : 'ndjson']
  const parts: string[] = [header]
  try {
    for await (const plant of connect().listPlants({ ...query, limit: pagePlants })) parts.push(line(plant))
    download(`plants.${name}`, type, parts)
  } catch (refusal) {
    explain(refusal)
  }
}

/** A record of CSV, which cannot tell an empty text from none. */
function csvLine(plant: StoredPlant): string {
  return csvRow(properties.map((property) => textOf(property, plant, (value) => printLine(value, '')) ?? ''))
}
