// Files of plants: NDJSON, one plant a line, and CSV (RFC 4180) with the columns id, name and tag. plant-records.ts
// reads them.

import type { NewPlant } from '../domain/plant.ts'

export const formats = ['ndjson', 'csv'] as const

export type Format = (typeof formats)[number]

export const csvColumns: readonly string[] = ['id', 'name', 'tag']

/** The format that a file's name tells, else NDJSON. */
export function formatOf(fileName: string): Format {
  return fileName.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson'
}

export const csvHeader = `${csvColumns.join(',')}\r\n`

/** A plant as a line of a file. */
export function formatPlant({ id, name, tag }: NewPlant, format: Format): string {
  if (format === 'csv') return `${id},${csvField(name)},${csvField(tag ?? '')}\r\n`
  return `{"id":${id},"name":${JSON.stringify(name)}${tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`}}\n`
}

function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
