// Downloads the plants of the current search, as CSV or NDJSON, as `plantstore export` writes them.

import { connect } from './api.js'
import type { ListQuery, StoredPlant } from './client.js'
import { find } from './find.js'
import { whileBusy } from './form.js'
import { download } from './make.js'
import { closeMenu } from './menus.js'

interface ExportOptions {
  readonly query: () => ListQuery
  readonly onStart: () => void
  readonly onRefusal: (refusal: unknown) => void
}

const pagePlants = 1_000

const forms = {
  csv: { type: 'text/csv', header: 'id,name,tag\r\n', line: csvLine },
  ndjson: { type: 'application/x-ndjson', header: '', line: ndjsonLine },
} as const

export function createExport({ query, onStart, onRefusal }: ExportOptions): void {
  for (const name of ['csv', 'ndjson'] as const) {
    const button = find(`#export-${name}`, HTMLButtonElement)
    button.addEventListener('click', async () => {
      await whileBusy(button, () => write(name))
      closeMenu()
    })
  }

  async function write(name: keyof typeof forms): Promise<void> {
    onStart()
    const { type, header, line } = forms[name]
    const parts: string[] = [header]
    try {
      for await (const { plants } of connect()
        .listPlants({ ...query(), limit: pagePlants })
        .pages()) {
        parts.push(plants.map(line).join(''))
      }
      download(`plants.${name}`, type, parts)
    } catch (refusal) {
      onRefusal(refusal)
    }
  }
}

/** A plant as a line of NDJSON, its id exact. */
function ndjsonLine({ id, name, tag }: StoredPlant): string {
  const end = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`
  return `{"id":${id},"name":${JSON.stringify(name)}${end}}\n`
}

/** A plant as a record of CSV, which cannot tell an empty tag from none. */
function csvLine({ id, name, tag = '' }: StoredPlant): string {
  return `${id},${csvCell(name)},${csvCell(tag)}\r\n`
}

function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
