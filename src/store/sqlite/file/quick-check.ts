// Checks the pages of a store.

import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../domain/errors.ts'

/** `unknown`: the check is unfinished, was stopped, or could not run. */
export type Verdict =
  | { readonly kind: 'sound' }
  | { readonly kind: 'damaged'; readonly problem: string }
  | { readonly kind: 'unknown' }

const corrupt = 11
const notADatabase = 26

/**
 * Checks all pages, at some hundred megabytes per second.
 *
 * @param open returns a connection. An error that it throws counts as a result of the check.
 */
export function quickCheck(open: () => DatabaseSync): Verdict {
  try {
    const problem = String(open().prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
    return problem === 'ok' ? { kind: 'sound' } : { kind: 'damaged', problem: problem.replaceAll(/\s*\n\s*/g, ' ') }
  } catch (error) {
    // Other failures, such as a missing file, do not prove damage.
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
    if (code !== corrupt && code !== notADatabase) return { kind: 'unknown' }
    return { kind: 'damaged', problem: messageOf(error) }
  }
}
