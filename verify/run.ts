// A run: checks that its ids are free, runs the rows side by side, checks every answer against the document, and deletes
// what it created.

import { randomInt, randomUUID } from 'node:crypto'
import { errorNumberOf } from './checks.ts'
import { Conformance } from './conformance.ts'
import { openDocument } from './document.ts'
import { defaultFirstId, IdRange } from './ids.ts'
import { inParallel, Traces } from './leftovers.ts'
import { type Answer, type Credentials, fieldOf, type RowRequest } from './message.ts'
import { Plants } from './plant.ts'
import { addressOf, toResult } from './report.ts'
import {
  countRows,
  type Level,
  levels,
  NoAnswer,
  type RowName,
  type RowResult,
  TakenError,
  type Tokens,
  type VerifyOptions,
  type VerifyReport,
} from './results.ts'
import { type Circumstances, Ended, type Failure, type Outcome, type PlacedRow, runRow } from './row.ts'
import { fromPage, seesCorsRestricted } from './rows/cors.ts'
import { Patience } from './send.ts'
import { placeAll } from './subjects.ts'

const answerMs = 10_000
const answerMsMax = 600_000
const rowsAtOnce = 32
/** Consecutive rows without an answer, after which a probe shows whether the server is there. */
const silentRowsMax = 3
const stopped = 'the run was stopped'
const intercepted = 'something in front of the server, such as a proxy, answered for it'

/** Rejects as `verify` does, but gives what it has if the signal was aborted. */
export async function runRows(options: VerifyOptions): Promise<VerifyReport> {
  const { url, token, level = 'complete', firstId = defaultFirstId, timeoutMs = answerMs, only = () => true } = options
  if (!URL.canParse(url)) throw new TypeError(`url must be a URL, got ${JSON.stringify(url)}`)
  if (typeof token !== 'string' || token === '') throw new TypeError('token must be a bearer token')
  assertLevel(level)
  if (!(timeoutMs > 0 && timeoutMs <= answerMsMax))
    throw new RangeError(`timeoutMs must be above 0 and at most ${answerMsMax}`)
  const [base, ids, document] = [new URL(url), new IdRange(BigInt(firstId)), openDocument(options.document)]
  const credentials = credentialsOf(options)
  const patience = new Patience({ base, credentials, timeoutMs })
  const silence = await whySilent(patience, ids)
  // Any answer is enough here, and even a connection that is closed without one: the rows test more.
  if (silence !== undefined && !silence.wasConnected) throw silence
  const plants = new Plants(document, openDocument())
  const isCorsRestricted = level === 'complete' && (await seesCorsRestricted((request) => patience.send(request)))
  const circumstances = { ...circumstancesOf(plants, credentials, ids), isCorsRestricted }
  const conformance = new Conformance(circumstances)
  const run = new Run(circumstances, patience, conformance, options)
  const rows = await run.all(placeAll(circumstances, level, conformance.rows, only))
  const left = await run.clean()
  const range = { first: String(ids.first), last: String(ids.last) }
  return { url: addressOf(base), level, ids: range, counts: countRows(rows), left, rows }
}

function assertLevel(level: Level): void {
  if (!levels.includes(level)) throw new TypeError(`level must be ${levels.join(' or ')}, got ${JSON.stringify(level)}`)
}

/** As `rowsOf`. Sends nothing. */
export function nameRows(level: Level): readonly RowName[] {
  assertLevel(level)
  const document = openDocument()
  const plants = new Plants(document, document)
  const circumstances = circumstancesOf(plants)
  const rows = placeAll(circumstances, level, new Conformance(circumstances).rows)
  return rows.map(({ subject, title }) => ({ subject, title }))
}

/** Of a server that restricts nothing. */
export function circumstancesOf(
  plants: Plants,
  credentials: Credentials = {},
  ids: IdRange = new IdRange(defaultFirstId),
): Circumstances {
  return { plants, ids, nonce: randomUUID(), credentials, isCorsRestricted: false }
}

/** Credentials by the names that rows use, including some near-copies of the token. */
export function credentialsOf(tokens: Tokens): Credentials {
  const { token } = tokens
  const upper = token.toUpperCase()
  return {
    $TOKEN: token,
    $SHORT_TOKEN: token.slice(0, -1),
    $TOKEN_AS_USER: btoa(`${token}:`),
    $TOKEN_AS_PASSWORD: btoa(`plants:${token}`),
    $CHANGED_TOKEN: withCharacterChanged(token),
    $UPPER_CASE_TOKEN: upper === token ? token.toLowerCase() : upper,
    $UNKNOWN_TOKEN: unlike(token),
    $SECOND_TOKEN: tokens.secondToken,
    $WRITE_ONLY_TOKEN: tokens.writeOnlyToken,
    $READ_ONLY_TOKEN: tokens.readOnlyToken,
    $EXPIRED_TOKEN: tokens.expiredToken,
    $REVOKED_TOKEN: tokens.revokedToken,
  }
}

/** A token of the same form, with the same prefix. */
function unlike(token: string): string {
  const [prefix = ''] = /^[a-z]+_/.exec(token) ?? []
  return prefix + token.slice(prefix.length).replaceAll(/[0-9A-Za-z]/g, () => randomInt(36).toString(36))
}

/** Changes the middle of the last part: the last character of a JWT may have unused bits. */
function withCharacterChanged(token: string): string {
  const from = token.lastIndexOf('.') + 1
  const at = from + Math.floor((token.length - from) / 2)
  return token.slice(0, at) + (token[at] === '0' ? '1' : '0') + token.slice(at + 1)
}

/** Why the server does not answer a read; undefined if it does. */
async function whySilent(patience: Patience, { first }: IdRange): Promise<NoAnswer | undefined> {
  const answer = await patience.send({ method: 'GET', target: `/plants/${first}` })
  return answer instanceof NoAnswer ? answer : undefined
}

/** Whether a proxy answered: the server sends a request id with every answer, and refuses with an Error. */
function isOfProxy(answer: Answer): boolean {
  return answer.status >= 400 && fieldOf(answer, 'x-request-id') === undefined && errorNumberOf(answer) === undefined
}

class Run {
  readonly #circumstances: Circumstances
  readonly #patience: Patience
  readonly #conformance: Conformance
  readonly #options: VerifyOptions
  readonly #traces: Traces
  #silentRows = 0
  /** A request that shows whether the server is there. */
  #probing: Promise<NoAnswer | undefined> | undefined
  /** Why nothing more is sent. */
  #gone: string | undefined

  constructor(circumstances: Circumstances, patience: Patience, conformance: Conformance, options: VerifyOptions) {
    this.#circumstances = circumstances
    this.#patience = patience
    this.#conformance = conformance
    this.#options = options
    this.#traces = new Traces(circumstances.ids, (request) => patience.send(request, { isRepeatable: true }))
  }

  /** Throws TakenError before any row is run. Otherwise it deletes what it created, also if it throws. */
  async all(rows: readonly PlacedRow[]): Promise<readonly RowResult[]> {
    const taken = await this.#traces.look(rows)
    if (taken !== undefined) throw new TakenError(taken)
    const results = new Map<PlacedRow, RowResult>()
    try {
      for (const turn of ['first', undefined, 'last', 'end'] as const) {
        // The longest rows are at the end.
        const inTurn = rows.filter((row) => row.turn === turn)
        const [ordered, atOnce] = turn === undefined ? [inTurn.toReversed(), rowsAtOnce] : [inTurn, 1]
        await inParallel(ordered, atOnce, async (row) => {
          const result = await this.#result(row)
          results.set(row, result)
          this.#options.onRow?.(result)
        })
      }
    } catch (error) {
      await this.clean()
      throw error
    }
    return rows.map((row) => results.get(row) as RowResult)
  }

  /** Deletes what the run created. Returns descriptions of what may remain. */
  clean(): Promise<readonly string[]> {
    this.#patience.renew()
    return this.#traces.clean()
  }

  async #result(row: PlacedRow): Promise<RowResult> {
    const { credentials } = this.#circumstances
    // What came is judged also of a run that ended early.
    if (row.turn === 'end') return toResult(row, await this.#outcome(row), credentials)
    const unsafe = this.#whyStopped ?? this.#gone ?? this.#traces.whyNotSafe(row)
    if (unsafe !== undefined) return toResult(row, { skipped: unsafe }, credentials)
    const { failure, skipped } = await this.#outcome(row)
    const isIntercepted = row.isForProxies === true && failure?.answer !== undefined && isOfProxy(failure.answer)
    const why = skipped ?? this.#whyStopped ?? (isIntercepted ? intercepted : await this.#whyGone(failure))
    return toResult(row, why === undefined ? { failure } : { skipped: why }, credentials)
  }

  get #whyStopped(): string | undefined {
    return this.#options.signal?.aborted === true ? stopped : undefined
  }

  async #outcome(row: PlacedRow): Promise<Outcome> {
    const { isCorsRestricted } = this.#circumstances
    this.#traces.begin(row)
    // The original document says nothing of other origins.
    const isFromPage = row.level === 'complete' && !isCorsRestricted
    const ask = async (asked: RowRequest): Promise<Answer | NoAnswer> => {
      if (this.#whyStopped !== undefined) throw new Ended({ skipped: stopped })
      const request = isFromPage ? fromPage(asked) : asked
      const observe = (answer: Answer): void => this.#conformance.observe(request, answer)
      const heard = (answer: Answer): void => (isOfProxy(answer) ? undefined : observe(answer))
      const answer = await this.#patience.send(request, { signal: this.#options.signal, heard })
      if (answer instanceof NoAnswer) return answer
      if (row.isForProxies === true) heard(answer)
      else observe(answer)
      this.#traces.observe(row, request, answer)
      return answer
    }
    const outcome = await runRow(row, ask, this.#circumstances)
    await this.#traces.end()
    return outcome
  }

  /**
   * Gives up on a server that answered neither some consecutive rows nor a probe. Those rows have failed; rows that end
   * later are skipped. Some servers do not answer requests that they do not understand, but continue.
   */
  async #whyGone(failure: Failure | undefined): Promise<string | undefined> {
    const isSilent = failure !== undefined && (failure.answer === undefined || failure.answer.status === 429)
    this.#silentRows = isSilent ? this.#silentRows + 1 : 0
    const count = this.#silentRows
    if (count < silentRowsMax) return undefined
    this.#probing ??= whySilent(this.#patience, this.#circumstances.ids)
    const why = await this.#probing
    if (why === undefined) {
      this.#silentRows = 0
      this.#probing = undefined
      return undefined
    }
    const what = why.answer === undefined ? 'no answer' : `nothing but ${why.answer.status}`
    this.#gone = `the server gave ${what} in ${silentRowsMax} consecutive rows`
    return count > silentRowsMax ? this.#gone : undefined
  }
}
