// `plantstore/verify`: tests any server from a program or a test suite. The command prints the same report.

import { DocumentError, openDocument } from './document.ts'
import { defaultFirstId, IdRange } from './ids.ts'
import {
  type Level,
  levels,
  NoAnswer,
  type RowName,
  type RowResult,
  type ShownFailure,
  TakenError,
  type Tokens,
  type VerifyReport,
} from './results.ts'
import { nameRows, runRows } from './run.ts'

const answerMs = 10_000
const answerMsMax = 600_000

export {
  DocumentError,
  type Level,
  NoAnswer,
  type RowName,
  type RowResult,
  type ShownFailure,
  TakenError,
  type VerifyReport,
}

export interface VerifyOptions extends Tokens {
  /** The server's base URL, such as `http://127.0.0.1:3000`. */
  readonly url: string | URL
  /** The server's document, if it has one of its own: a path. */
  readonly document?: string | undefined
  /** Default `complete`. */
  readonly level?: Level | undefined
  /** The first of the million ids to use, from which on ids must be free. */
  readonly firstId?: bigint | undefined
  /** How long an answer may take; default 10,000. */
  readonly timeoutMs?: number | undefined
  /** Ends the run early. It deletes its plants first. */
  readonly signal?: AbortSignal | undefined
  /** Selects rows; by default, all. */
  readonly only?: ((row: RowName) => boolean) | undefined
  /** Called when a row has ended, such as to abort `signal` at the first failure. */
  readonly onRow?: ((row: RowResult) => void) | undefined
}

/**
 * Tests a server. A wrong server does not reject: its report has failed rows.
 *
 * Rejects with NoAnswer if the server cannot be reached, with TakenError if an id of the range is taken, with the
 * signal's reason if it was aborted, with TypeError or RangeError for invalid options, and with DocumentError for a
 * document that cannot be used.
 */
export async function verify(options: VerifyOptions): Promise<VerifyReport> {
  const { url, token, level = 'complete', firstId = defaultFirstId, timeoutMs = answerMs } = options
  const { document, signal = new AbortController().signal, only, onRow } = options
  if (!URL.canParse(url)) throw new TypeError(`url must be a URL, got ${JSON.stringify(url)}`)
  if (typeof token !== 'string' || token === '') throw new TypeError('token must be a bearer token')
  assertLevel(level)
  if (!(timeoutMs > 0 && timeoutMs <= answerMsMax))
    throw new RangeError(`timeoutMs must be above 0 and at most ${answerMsMax}`)
  signal.throwIfAborted()
  const ids = new IdRange(BigInt(firstId))
  const base = new URL(url)
  const report = await runRows({
    base,
    document: openDocument(document),
    tokens: options,
    level,
    ids,
    timeoutMs,
    stopping: signal,
    only,
    onRow,
  })
  signal.throwIfAborted()
  return report
}

/** Returns the rows of a level, for the bundled document, without running them, such as to name a test after each. */
export function rowsOf(level: Level = 'complete'): readonly RowName[] {
  assertLevel(level)
  return nameRows(level)
}

function assertLevel(level: Level): void {
  if (!levels.includes(level)) throw new TypeError(`level must be ${levels.join(' or ')}, got ${JSON.stringify(level)}`)
}
