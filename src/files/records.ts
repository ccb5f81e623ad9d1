// The records read from a file of plants, in file order. The home page uses this file, too.

/** One record of a file: the JSON text of a plant, or the reason why there is none. */
export interface PlantRecord {
  /** Line on which the record begins, from 1. */
  readonly line: number
  /** The record as it stands in the file, without its line break; truncated if too long. */
  readonly raw: string
  readonly json?: string
  /** `raw` is truncated. */
  readonly isCut?: true
  readonly wrong?: string
}

/** The file, or the rest of it, cannot be read. The message gives the reason, as words that follow the file's name. */
export class UnreadableFile extends Error {}
