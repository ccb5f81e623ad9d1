// The records of a file of plants, in their order. The home page also uses this file.

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
