// File formats: NDJSON, one plant per line, and CSV (RFC 4180) with one column per property. read-plants.ts reads them.

import { toJson } from '../contract/plant.ts'
import type { Plant } from '../domain/plant.ts'
import { decodeText, type JsonValue } from '../json/decode.ts'
import { limits } from '../limits.ts'
import { type Column, csvRow, toField } from './columns.ts'

export const formats = ['ndjson', 'csv'] as const

export type Format = (typeof formats)[number]

/** Chooses the format of a file: the requested one, else the one of its extension, else NDJSON. */
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

export function csvHeader(columns: readonly Column[]): string {
  return csvRow(columns.map(({ name }) => name))
}

/**
 * Formats a plant as a row of CSV.
 *
 * @param onLeftOut receives the names of properties without a column.
 * @param toShown escapes a text for a terminal.
 */
export function csvOf(
  { json }: Plant,
  columns: readonly Column[],
  onLeftOut: (name: string) => void,
  toShown = (text: string) => text,
): string {
  const plant = new Map(Object.entries(decodeText(json, limits.jsonDepthMax) as Record<string, JsonValue>))
  const fields = columns.map((column) => toShown(toField(column, plant.get(column.name), toJson)))
  for (const { name } of columns) plant.delete(name)
  for (const name of plant.keys()) onLeftOut(name)
  return csvRow(fields)
}
