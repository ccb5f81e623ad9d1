// Plants: revisions, preconditions, and comparison of names. openapi.yaml bounds the length of texts, and every adapter
// validates against it.

import { hash } from 'node:crypto'

/** A plant without its id: the response to a create. `name` and `tag` contain neither NUL nor unpaired surrogates. */
export interface Plant {
  readonly name: string
  readonly tag?: string
}

/** A plant with its identification number: an int64, always a bigint, never a JavaScript number. */
export interface NewPlant extends Plant {
  readonly id: bigint
}

/** Makes a plant. A plant without a tag, null in a database, has no property `tag`. */
export function plantOf({ name, tag }: { readonly name: string; readonly tag?: string | null | undefined }): Plant {
  return tag === undefined || tag === null ? { name } : { name, tag }
}

/** Serializes a plant as JSON, with the exact digits of its id. */
export function plantJson(id: bigint | string, name: string, tag?: string): string {
  const begun = `{"id":${id},"name":${JSON.stringify(name)}`
  return tag === undefined ? `${begun}}` : `${begun},"tag":${JSON.stringify(tag)}}`
}

export const int64Min = -(2n ** 63n)
export const int64Max = 2n ** 63n - 1n

/** The revision of a plant. It depends on nothing but the plant, so every engine gives the same. */
export function revisionOf(plant: DigestedPlant): string {
  return revisionOfContent(digestedText(plant))
}

/** The revision of any content: equal exactly for equal content (132 bits of a SHA-256, 22 characters). */
export function revisionOfContent(content: Uint8Array | string): string {
  return hash('sha256', content, 'base64url').slice(0, 22)
}

/** The SHA-256 of a plant, 32 bytes. */
export function digestOf(plant: DigestedPlant): Buffer {
  return hash('sha256', digestedText(plant), 'buffer')
}

interface DigestedPlant {
  readonly id: bigint
  readonly name: string
  readonly tag?: string | undefined
}

function digestedText({ id, name, tag }: DigestedPlant): string {
  return JSON.stringify([id.toString(), name, tag ?? null])
}

/** A list of revisions (`revisionOf`), or any revision. */
export type Revisions = readonly string[] | '*'

/** The preconditions of a change (RFC 9110, section 13). */
export interface Preconditions {
  /** The plant must have one of these revisions. */
  readonly ifMatch?: Revisions | undefined
  /** The plant must have none of these revisions. */
  readonly ifNoneMatch?: Revisions | undefined
}

/** The first precondition that a plant fails, in the order of section 13.2.2; undefined if it meets all. */
export function unmetPrecondition(
  plant: NewPlant,
  { ifMatch, ifNoneMatch }: Preconditions,
  revision?: string,
): keyof Preconditions | undefined {
  const isAmong = (revisions: Revisions): boolean =>
    revisions === '*' || revisions.includes(revision ?? revisionOf(plant))
  if (ifMatch !== undefined && !isAmong(ifMatch)) return 'ifMatch'
  return ifNoneMatch !== undefined && isAmong(ifNoneMatch) ? 'ifNoneMatch' : undefined
}

/**
 * Folds a name for comparison: ignores case in every script, and applies NFKC. The name is lower-cased, upper-cased and
 * lower-cased again, because some letters, such as the German ß, change only through their upper case. The Greek final
 * sigma becomes a sigma.
 */
export function foldName(name: string): string {
  if (isAscii.test(name)) return name.toLowerCase()
  const folded = name.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase()
  return folded.replaceAll('\u03c2', '\u03c3').normalize('NFKC')
}

/**
 * The first characters of a folded name, which stores index. A whole folded name may be 18 times as long as the name.
 */
export function headOf(folded: string): string {
  if (folded.length <= headCharacters) return folded
  return [...folded.slice(0, 2 * headCharacters)].slice(0, headCharacters).join('')
}

/** Code points, of at most 4 bytes each in UTF-8. */
const headCharacters = 250
const isAscii = /^[\x00-\x7f]*$/
