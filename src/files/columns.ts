// Files of plants: their records, and the columns of CSV, which are a plant's properties in the order of the document.
// CSV contains only texts; the schema of a property decides how they are read. The home page also uses this file, so it
// imports nothing but types.

import type { Property } from '../contract/schemas.ts'

export type { Property }

export interface Column {
  readonly name: string
  /** Whether an empty field is an empty text, rather than no value. */
  readonly isRequired: boolean
  readonly kind: 'text' | 'number' | 'boolean' | 'json'
}

export function columnsOf(properties: readonly Property[]): readonly (Property & Column)[] {
  return properties.map((property) => {
    const [only, ...others] = [property.schema['type']].flat()
    return { ...property, kind: others.length > 0 ? 'json' : kindOf(only) }
  })
}

function kindOf(type: unknown): Column['kind'] {
  if (type === 'string') return 'text'
  if (type === 'integer' || type === 'number') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

export function csvRow(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`
}

function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The text of a value in its column; empty if there is none. @param toJson formats values that are not texts. */
export function toField({ kind }: Column, value: unknown, toJson: (value: unknown) => string): string {
  if (value === undefined) return ''
  return kind === 'text' && typeof value === 'string' ? value : toJson(value)
}

/**
 * Converts a field to JSON; undefined if the plant lacks the property. A text that is invalid in its column becomes a
 * JSON string, which the validator rejects.
 */
export function toJsonOf({ kind, isRequired }: Column, field: string): string | undefined {
  const text = kind === 'text' ? field : field.trim()
  if (text === '' && !isRequired) return undefined
  switch (kind) {
    case 'text':
      return JSON.stringify(text)
    case 'number':
      return toJsonNumber(text)
    case 'boolean':
      // Spreadsheets write them in upper case.
      return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : JSON.stringify(text)
    case 'json':
      return isJson(text) ? text : JSON.stringify(text)
  }
}

/** Drops leading zeros, as spreadsheets do. */
function toJsonNumber(text: string): string {
  const [, sign, digits, rest] = /^(-?)0*([1-9][0-9]*|0)((?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)$/i.exec(text) ?? []
  return digits === undefined ? JSON.stringify(text) : `${sign}${digits}${rest}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** One record of a file: the JSON text of a plant, or the reason why there is none. */
export interface PlantRecord {
  /** Line on which the record begins, from 1. */
  readonly line: number
  /** The record exactly as in the file, without its line end; truncated if too long. */
  readonly raw: string
  readonly json?: string
  /** `raw` is truncated. */
  readonly isCut?: boolean | undefined
  readonly wrong?: string | undefined
}

/** The file, or the rest of it, cannot be read. The message is a predicate: it follows the name of the file. */
export class UnreadableFile extends Error {}

/** Decodes text in UTF-8, with or without a byte order mark, or in UTF-16 with one. @param start of the file. */
export function decoderOf([first, second]: Uint8Array): TextDecoder {
  const [isLittle, isBig] = [first === 0xff && second === 0xfe, first === 0xfe && second === 0xff]
  return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8', { fatal: true })
}

/** The text of a piece of a file. Throws UnreadableFile. @param stream whether more follows. */
export function decodePiece(piece: Uint8Array, decoder = decoderOf(piece), stream = false): string {
  try {
    return decoder.decode(piece, { stream })
  } catch {
    const encoding = decoder.encoding === 'utf-8' ? 'UTF-8' : 'UTF-16, although it begins with its byte order mark'
    throw new UnreadableFile(`is not valid ${encoding}; save it as UTF-8, a sheet as "CSV UTF-8"`)
  }
}
