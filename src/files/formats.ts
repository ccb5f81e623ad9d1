// File formats: NDJSON, one plant per line, and CSV (RFC 4180) with one column per property. read-plants.ts reads them.

import { toJson } from '../contract/plant.ts'
import type { Plant } from '../domain/plant.ts'
import { decodeText, type JsonValue } from '../json/decode.ts'
import { limits } from '../limits.ts'
import { type Column, csvRow, toField } from './columns.ts'

export const formats = ['ndjson', 'csv'] as const

export type Format = (typeof formats)[number]

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

export function csvHeader(columns: readonly Column[]): string {
  return csvRow(columns.map(({ name }) => name))
}

/**
 * Formats a plant as a row of CSV.
 *
 * @param toShown escapes a text for a terminal.
 * @param onLost receives the names of properties that are lost: of an empty text, which reads as no property, or without
 * a column.
 */
export function csvOf(
  { json }: Plant,
  columns: readonly Column[],
  onLost: (name: string, isEmpty: boolean) => void,
  toShown = (text: string) => text,
): string {
  const plant = decodeText(json, limits.jsonDepthMax) as Record<string, JsonValue>
  const names = new Set(Object.keys(plant))
  const fields = columns.map((column) => {
    const value = ownOf(plant, column.name)
    names.delete(column.name)
    if (value === '' && !column.isRequired) onLost(column.name, true)
    return toShown(toField(column, value, toJson))
  })
  for (const name of names) onLost(name, false)
  return csvRow(fields)
}

function ownOf<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
