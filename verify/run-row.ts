// Runs one row. The command and tests supply their own transport.

import type { Plants } from './plant.ts'
import type { Row } from './row.ts'
import { type Ask, type Failure, Skipped, Store, WrongAnswer } from './store.ts'

/** Neither if the row passes. */
export interface Outcome {
  readonly failure?: Failure | undefined
  /** Why it says nothing about the server. */
  readonly skipped?: string | undefined
}

/** @param plants those of the server's document. */
export async function runRow(row: Row, ask: Ask, plants: Plants): Promise<Outcome> {
  try {
    await row.run(new Store(ask, plants))
    return {}
  } catch (error) {
    if (error instanceof WrongAnswer) return { failure: error.failure }
    if (error instanceof Skipped) return { skipped: error.message }
    throw error
  }
}
