// What looking through the pages of a store finds.

import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../domain/errors.ts'

/** `unknown`: not looked through yet, or not at all, because the check was stopped or could not be made. */
export type Verdict =
  | { readonly kind: 'sound' }
  | { readonly kind: 'damaged'; readonly problem: string }
  | { readonly kind: 'unknown' }

const corrupt = 11
const notADatabase = 26

/**
 * Looks through all pages, which takes a second for some hundred megabytes.
 *
 * @param open gives a connection; what it fails with is judged, too.
 */
export function quickCheck(open: () => DatabaseSync): Verdict {
  try {
    const problem = String(open().prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
    return problem === 'ok' ? { kind: 'sound' } : { kind: 'damaged', problem: problem.replaceAll(/\s*\n\s*/g, ' ') }
  } catch (error) {
    // Other failures, such as a missing file, say nothing about the store.
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
    if (code !== corrupt && code !== notADatabase) return { kind: 'unknown' }
    return { kind: 'damaged', problem: messageOf(error) }
  }
}
