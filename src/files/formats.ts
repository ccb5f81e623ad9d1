// File formats: NDJSON, one plant per line, and CSV (RFC 4180) with the columns id, name and tag. read-plants.ts reads
// them.

import { namesOf, type Plant } from '../domain/plant.ts'

export const formats = ['ndjson', 'csv'] as const

export type Format = (typeof formats)[number]

export const csvColumns: readonly string[] = ['id', 'name', 'tag']

/** Chooses the format of a file: the requested one, else that of its extension, else NDJSON. */
export function chooseFormat(fileName: string, wanted: Format | undefined): Format {
  return wanted ?? (/\.[ct]sv$/i.test(fileName) ? 'csv' : 'ndjson')
}

/** Chooses the format of an export. Throws RangeError for an extension that only imports read. */
export function chooseExportFormat(fileName: string, wanted: Format | undefined): Format {
  if (/\.tsv$/i.test(fileName)) {
    throw new RangeError(`${fileName} ends in .tsv, but exports have commas, not tabs; name it .csv`)
  }
  return chooseFormat(fileName, wanted)
}

export const csvHeader = `${csvColumns.join(',')}\r\n`

/** Formats a plant as a line of a file, or of an output whose texts pass through `toShown`. */
export function formatPlant({ id, json }: Plant, format: Format, toShown = (text: string) => text): string {
  if (format === 'ndjson') return `${toShown(json)}\n`
  const { name, tag } = namesOf(json)
  return `${id},${csvField(toShown(name))},${csvField(toShown(tag ?? ''))}\r\n`
}

function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
