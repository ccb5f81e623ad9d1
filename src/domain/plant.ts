// Plants: revisions, preconditions, and comparison of names. contract/plant.ts turns a valid value into a plant.

import { hash } from 'node:crypto'

/** A plant is the JSON that the API returns for it. Two plants are equal if their texts are. */
export interface Plant {
  /** An int64, always a bigint, never a JavaScript number. */
  readonly id: bigint
  /** Compact, with the properties that openapi.yaml declares, in its order: the id comes first. */
  readonly json: string
}

/** The properties by which lists and searches find plants. */
export interface PlantNames {
  readonly name: string
  readonly tag?: string
}

export function namesOf(json: string): PlantNames {
  return JSON.parse(json) as PlantNames
}

/** Whether a stored text, which somebody may have edited, has an id in front, and a name. */
export function isPlantOf(id: bigint, json: string): boolean {
  return /^\{"id":(-?\d+),/.exec(json)?.[1] === String(id) && typeof namesOf(json).name === 'string'
}

/** The response to a create: the plant without its id. */
export function withoutId(json: string): string {
  const comma = json.indexOf(',')
  return comma === -1 ? '{}' : `{${json.slice(comma + 1)}`
}

export const int64Min = -(2n ** 63n)
export const int64Max = 2n ** 63n - 1n

/** The revision of a plant or a page, the same on every engine: 132 bits of the content's SHA-256, in 22 characters. */
export function revisionOf(content: Uint8Array | string): string {
  // Asking for a string takes a quarter of the time that a Buffer takes.
  return hash('sha256', content, 'base64url').slice(0, 22)
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
  json: string,
  { ifMatch, ifNoneMatch }: Preconditions,
  revision?: string,
): keyof Preconditions | undefined {
  const isAmong = (revisions: Revisions): boolean =>
    revisions === '*' || revisions.includes(revision ?? revisionOf(json))
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

/** The beginning of a folded name, for an index: the whole one may be 18 times as long as the name. */
export function headOf(folded: string): string {
  if (folded.length <= headCharacters) return folded
  return [...folded.slice(0, 2 * headCharacters)].slice(0, headCharacters).join('')
}

/** The beginning of the folded name of a plant, which a store on a file indexes. */
export function nameHeadOf({ name }: PlantNames): string {
  return headOf(foldName(name))
}

/** Code points, of at most 4 bytes each in UTF-8. */
const headCharacters = 250
const isAscii = /^[\x00-\x7f]*$/
