// What is read from a file of plants: records, in the order of the file.

/** One record of a file: the JSON text of a plant, or why there is none. */
export interface PlantRecord {
  /** Line that the record begins in, from 1. */
  readonly line: number
  /** The record as it stands in the file, without its line break; of one that is too long only the beginning. */
  readonly raw: Buffer
  readonly json?: Buffer
  /** The record is longer than what is left of it here. */
  readonly isCut?: true
  readonly wrong?: string
}

/**
 * Records come in batches, as many as a piece of the file holds, as one by one they would cost more than what is in
 * them.
 */
export type RecordBatches = AsyncIterable<readonly PlantRecord[]>

export interface ReadOptions {
  /** A longer record is wrong, and not kept in memory. */
  readonly recordBytesMax: number
  /** Takes the header of a CSV file: what a file of some of its records has to begin with. */
  readonly onHeader: (raw: Buffer) => void
  /** Takes what people may want to know of how the file is read, as words that follow its name. */
  readonly onReadAs: (words: string) => void
  /** Takes the names of columns that are not read. */
  readonly onColumnsIgnored: (names: readonly string[]) => void
  /** Called for each id that a spreadsheet may have rounded, without a way to tell. */
  readonly onMaybeRounded: () => void
}

/** The file as a whole, or from here on, cannot be read. The message says why, in words that follow its name. */
export class UnreadableFile extends Error {}
