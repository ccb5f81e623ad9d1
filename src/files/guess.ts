// Guesses the real format of a file in the wrong format, and suggests what to do.

import { findSeparator } from './csv-header.ts'
import type { Format } from './formats.ts'

const byMagic: readonly (readonly [magic: Buffer, words: string])[] = [
  [Buffer.from('\x89PNG', 'latin1'), 'is a PNG image'],
  [Buffer.from('\xff\xd8\xff', 'latin1'), 'is a JPEG image'],
  [Buffer.from('%PDF'), 'is a PDF document'],
  [Buffer.from('PK\x03\x04'), 'is a spreadsheet (.xlsx, .ods, .numbers) or another ZIP archive; save it as CSV UTF-8'],
  [Buffer.from('\xd0\xcf\x11\xe0', 'latin1'), 'is an Excel workbook (.xls); save it as CSV UTF-8'],
  [Buffer.from('\x1f\x8b', 'latin1'), 'is compressed; decompress it first, for example with gunzip'],
  [
    Buffer.from('SQLite format 3\0'),
    'is an SQLite database; to copy plants between stores, use `plantstore export` and `plantstore import`',
  ],
]

/**
 * @param beginning the first piece of the file.
 * @param isTyped whether a person may be typing, who sees the error of each line at once.
 * @returns words that follow the file's name; undefined if the file may have the expected format.
 */
export function guessAnother(beginning: Buffer, format: Format, isTyped: boolean): string | undefined {
  const magic = byMagic.find(([bytes]) => beginning.subarray(0, bytes.length).equals(bytes))
  if (magic !== undefined) return magic[1]
  const head = beginning.toString('utf8', 0, 4_096).trimStart()
  if (beginning.subarray(0, 4_096).includes(0)) {
    return 'is not text; if it is UTF-16 without a byte order mark, save it as UTF-8'
  }
  if (/^<[!?a-z]/i.test(head)) return 'seems to be a web page or XML'
  if (head.startsWith('[')) return "seems to be a JSON array; write one plant per line, for example with jq -c '.[]'"
  if (/^\{\s*\n/.test(head))
    return 'seems to be JSON over several lines; write one plant per line, for example with jq -c'
  if (format === 'csv') return head.startsWith('{') ? 'seems to be NDJSON; use --format ndjson' : undefined
  if (isCsv(head)) return 'seems to be CSV; use --format csv'
  if (head === '' || head.startsWith('{') || isTyped) return undefined
  return 'is neither NDJSON, with lines such as {"id": 1, "name": "Fern"}, nor CSV with the columns id and name'
}

/** Whether the first line, or the line after a `sep=;`, names the columns. */
function isCsv(head: string): boolean {
  const [line = ''] = head.replace(/^"?sep=.*\s+/i, '').split(/[\r\n]/)
  return findSeparator(line) !== undefined
}
