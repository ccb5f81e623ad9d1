// What a plant is, when two plants are equal, what a plant must be to be changed, and how names are compared. The bounds
// of its texts stand in openapi.yaml, which every adapter validates against.

import { hash } from 'node:crypto'

/** A plant as it is answered. `name` and `tag` are any text without NUL and without unpaired surrogates. */
export interface Plant {
  readonly name: string
  readonly tag?: string
}

/** A plant with its identification number: an int64, always a bigint, never a JavaScript number. */
export interface NewPlant extends Plant {
  readonly id: bigint
}

/** A plant of a name and perhaps a tag. An absent tag, null in a database, is no property of a plant. */
export function plantOf({ name, tag }: { readonly name: string; readonly tag?: string | null | undefined }): Plant {
  return tag === undefined || tag === null ? { name } : { name, tag }
}

/** A plant in JSON, its id by its exact digits. */
export function plantJson(id: bigint | string, name: string, tag?: string): string {
  const begun = `{"id":${id},"name":${JSON.stringify(name)}`
  return tag === undefined ? `${begun}}` : `${begun},"tag":${JSON.stringify(tag)}}`
}

export const int64Min = -(2n ** 63n)
export const int64Max = 2n ** 63n - 1n

/**
 * Names what a plant is: equal for equal plants, different for different ones (128 bits of a SHA-256, 22 characters).
 * Every engine gives the same, as it depends on nothing but the plant.
 */
export function revisionOf(plant: DigestedPlant): string {
  // 21 characters of base64url, and two bits of the next. A digest as text takes a quarter of the time of its bytes.
  const digest = hash('sha256', digestedText(plant), 'base64url')
  const next = base64url.indexOf(digest.charAt(21)) & 0b110000
  return digest.slice(0, 21) + base64url.charAt(next)
}

/** SHA-256 of a plant, 32 bytes. */
export function digestOf(plant: DigestedPlant): Buffer {
  return hash('sha256', digestedText(plant), 'buffer')
}

interface DigestedPlant {
  readonly id: bigint
  readonly name: string
  readonly tag?: string | undefined
}

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function digestedText({ id, name, tag }: DigestedPlant): string {
  return JSON.stringify([id.toString(), name, tag ?? null])
}

/** Some revisions (`revisionOf`), or any. */
export type Revisions = readonly string[] | '*'

/** What a plant must be for a change of it to be made (RFC 9110, section 13). */
export interface Preconditions {
  /** The plant must have one of these revisions. */
  readonly ifMatch?: Revisions | undefined
  /** The plant must have none of these revisions. */
  readonly ifNoneMatch?: Revisions | undefined
}

/** The first precondition that a plant does not meet, in the order of section 13.2.2; undefined when it meets all. */
export function unmetPrecondition(
  plant: NewPlant,
  { ifMatch, ifNoneMatch }: Preconditions,
): keyof Preconditions | undefined {
  const isAmong = (revisions: Revisions): boolean => revisions === '*' || revisions.includes(revisionOf(plant))
  if (ifMatch !== undefined && !isAmong(ifMatch)) return 'ifMatch'
  return ifNoneMatch !== undefined && isAmong(ifNoneMatch) ? 'ifNoneMatch' : undefined
}

/**
 * The form in which names are compared: the same for upper and lower case in every script, and for characters that
 * differ only in compatibility (NFKC). Upper case goes between the lower ones for the sake of letters whose lower case
 * is not one letter, as the German ß, and the Greek final sigma is a sigma.
 */
export function foldName(name: string): string {
  if (isAscii.test(name)) return name.toLowerCase()
  const folded = name.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase()
  return folded.replaceAll('\u03c2', '\u03c3').normalize('NFKC')
}

/**
 * The beginning of a folded name, by which stores search: enough to tell plants apart. A whole one may be eighteen times
 * as long as its name.
 */
export function headOf(folded: string): string {
  if (folded.length <= headCharacters) return folded
  return [...folded.slice(0, 2 * headCharacters)].slice(0, headCharacters).join('')
}

/** Unicode characters, of at most 4 bytes in UTF-8. */
const headCharacters = 250
const isAscii = /^[\x00-\x7f]*$/
