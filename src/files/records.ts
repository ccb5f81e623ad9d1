// The records read from a file of plants, in file order.

import type { Column } from './columns.ts'

/** One record of a file: the JSON text of a plant, or the reason why there is none. */
export interface PlantRecord {
  /** Line on which the record begins, from 1. */
  readonly line: number
  /** The record as it stands in the file, without its line break; truncated if too long. */
  readonly raw: Buffer
  readonly json?: Buffer
  /** `raw` is truncated. */
  readonly isCut?: true
  readonly wrong?: string
}

/** Records come in batches, one per piece of the file; yielding them one by one would cost more than parsing them. */
export type RecordBatches = AsyncIterable<readonly PlantRecord[]>

export interface ReadOptions {
  /** The columns that a CSV file may have. */
  readonly columns: readonly Column[]
  /** A longer record is refused, and not kept in memory. */
  readonly recordBytesMax: number
  /** Receives the header of a CSV file, with which any file of its records must begin. */
  readonly onHeader: (raw: Buffer) => void
  /** Receives a note on how the file is read, as words that follow its name. */
  readonly onReadAs: (words: string) => void
  /** Receives the names of ignored columns. */
  readonly onColumnsIgnored: (names: readonly string[]) => void
  /** Called for each id that a spreadsheet may have rounded; this cannot be detected reliably. */
  readonly onMaybeRounded: () => void
}
