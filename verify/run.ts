// A run: checks that its ids are free, runs the rows side by side, checks every answer against the document, and deletes
// what it created.

import { randomInt, randomUUID } from 'node:crypto'
import { isError } from './checks.ts'
import { answerRows, Conformance } from './conformance.ts'
import { type Document, openDocument } from './document.ts'
import { NoAnswer, TakenError } from './failures.ts'
import { defaultFirstId, IdRange } from './ids.ts'
import { Traces } from './leftovers.ts'
import { type Answer, type Credentials, fieldOf, type RowRequest } from './message.ts'
import { Patience } from './patience.ts'
import { Plants } from './plant.ts'
import { countRows, type Level, type RowName, type RowResult, type Tokens, type VerifyReport } from './results.ts'
import { type Circumstances, type Outcome, type PlacedRow, runRow } from './row.ts'
import { corsProbes, fromPage, isCorsRestricted } from './rows/cors.ts'
import type { Target } from './send.ts'
import { addressOf, toResult } from './show.ts'
import { type Failure, Skipped } from './store.ts'
import { makeSubjects } from './subjects.ts'

export interface RunOptions {
  readonly base: URL
  /** The server's document. */
  readonly document: Document
  readonly tokens: Tokens
  readonly level: Level
  readonly ids: IdRange
  readonly timeoutMs: number
  /** Aborted to end the run early. */
  readonly stopping: AbortSignal
  /** Selects rows; by default, all. */
  readonly only?: ((row: RowName) => boolean) | undefined
  /** Called when a row has ended. */
  readonly onRow?: ((row: RowResult) => void) | undefined
}

const answersSubject = 'answers'
const answerBytesMax = 8 * 1024 * 1024
const rowsAtOnce = 32
/** Consecutive rows without an answer, after which a probe shows whether the server is there. */
const silentRowsMax = 3
const stopped = 'the run was stopped'
const intercepted = 'something in front of the server, such as a proxy, answered for it'

/** Throws NoAnswer if the server is unreachable, and TakenError if the range is not free. */
export async function runRows(options: RunOptions): Promise<VerifyReport> {
  const { base, document, tokens, level, ids, timeoutMs, stopping, only = () => true, onRow } = options
  const credentials = credentialsOf(tokens)
  const target: Target = { base, credentials, timeoutMs, answerBytesMax }
  const patience = new Patience(target)
  const silence = await whySilent(patience, ids)
  // Any answer is enough here, and even a connection that is closed without one: the rows test more.
  if (silence !== undefined && !silence.wasConnected) throw silence
  const circumstances: Circumstances = {
    plants: new Plants(document, openDocument()),
    ids,
    nonce: randomUUID(),
    credentials: new Set(Object.keys(credentials)),
    isCorsRestricted: level === 'complete' && (await seesCorsRestricted(patience)),
  }
  const subjects = makeSubjects(circumstances, level)
  const rows = subjects
    .flatMap(({ name, rows }) => rows.map((row) => ({ subject: name, row })))
    .filter(({ subject, row: { title } }) => only({ subject, title }))
  const traces = new Traces(ids, (request) => patience.send(request, { isRepeatable: true }))
  const taken = await traces.look(rows.map(({ row }) => row))
  if (taken !== undefined) throw new TakenError(taken)
  const aboutAnswers = level === 'complete' ? answerRows(circumstances.plants) : []
  const conformance = new Conformance(aboutAnswers, circumstances.plants)
  const clean = (): Promise<readonly string[]> => {
    patience.renew()
    return traces.clean()
  }
  try {
    const results = await new Run(patience, circumstances, credentials, traces, conformance, stopping).all(rows, onRow)
    const ofDocument = aboutAnswers
      .filter(({ title }) => only({ subject: answersSubject, title }))
      .map((row) => {
        const outcome = { failure: conformance.failureOf(row), skipped: row.unless?.(circumstances) || undefined }
        return toResult(answersSubject, row, outcome, credentials)
      })
    const all = [...results, ...ofDocument]
    return {
      url: addressOf(base),
      level,
      ids: { first: String(ids.first), last: String(ids.last) },
      counts: countRows(all),
      left: await clean(),
      rows: all,
    }
  } catch (error) {
    await clean()
    throw error
  }
}

/** Returns all rows of a level, in the order in which they are reported. Throws nothing and sends nothing. */
export function nameRows(level: Level, document = openDocument()): readonly RowName[] {
  const circumstances: Circumstances = {
    plants: new Plants(document, document),
    ids: new IdRange(defaultFirstId),
    nonce: '',
    credentials: new Set(),
    isCorsRestricted: false,
  }
  const names = makeSubjects(circumstances, level).flatMap(({ name: subject, rows }) =>
    rows.map(({ title }) => ({ subject, title })),
  )
  const ofDocument = level === 'complete' ? answerRows(circumstances.plants) : []
  return [...names, ...ofDocument.map(({ title }) => ({ subject: answersSubject, title }))]
}

/** Credentials by the names that rows use, including some near-copies of the token. */
export function credentialsOf(tokens: Tokens): Credentials {
  const { token, secondToken, readOnlyToken, writeOnlyToken, expiredToken, revokedToken } = tokens
  const upper = token.toUpperCase()
  return {
    $TOKEN: token,
    $SHORT_TOKEN: token.slice(0, -1),
    $CHANGED_TOKEN: withCharacterChanged(token),
    $UPPER_CASE_TOKEN: upper === token ? token.toLowerCase() : upper,
    $UNKNOWN_TOKEN: unlike(token),
    ...(secondToken !== undefined && { $SECOND_TOKEN: secondToken }),
    ...(writeOnlyToken !== undefined && { $WRITE_ONLY_TOKEN: writeOnlyToken }),
    ...(readOnlyToken !== undefined && { $READ_ONLY_TOKEN: readOnlyToken }),
    ...(expiredToken !== undefined && { $EXPIRED_TOKEN: expiredToken }),
    ...(revokedToken !== undefined && { $REVOKED_TOKEN: revokedToken }),
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
  try {
    await patience.send({ method: 'GET', target: `/plants/${first}` })
    return undefined
  } catch (error) {
    if (error instanceof NoAnswer) return error
    throw error
  }
}

/** A server that does not answer is treated as unrestricted. */
async function seesCorsRestricted(patience: Patience): Promise<boolean> {
  try {
    return isCorsRestricted(await Promise.all(corsProbes.map((request) => patience.send(request))))
  } catch (error) {
    if (error instanceof NoAnswer) return false
    throw error
  }
}

/** Whether a proxy answered: the server sends a request id with every answer, and refuses with an Error. */
function isOfProxy(answer: Answer): boolean {
  return answer.status >= 400 && fieldOf(answer, 'x-request-id') === undefined && isError(answer) !== undefined
}

interface Named {
  readonly subject: string
  readonly row: PlacedRow
}

class Run {
  readonly #patience: Patience
  readonly #circumstances: Circumstances
  readonly #credentials: Credentials
  readonly #traces: Traces
  readonly #conformance: Conformance
  readonly #stopping: AbortSignal
  #silentRows = 0
  /** A request that shows whether the server is there. */
  #probing: Promise<void> | undefined
  /** Why nothing more is sent. */
  #gone: string | undefined

  constructor(
    patience: Patience,
    circumstances: Circumstances,
    credentials: Credentials,
    traces: Traces,
    conformance: Conformance,
    stopping: AbortSignal,
  ) {
    this.#patience = patience
    this.#circumstances = circumstances
    this.#credentials = credentials
    this.#traces = traces
    this.#conformance = conformance
    this.#stopping = stopping
  }

  async all(rows: readonly Named[], onRow = (_: RowResult): void => {}): Promise<readonly RowResult[]> {
    const results = new Map<PlacedRow, RowResult>()
    const run = async (some: readonly Named[], atOnce: number): Promise<void> => {
      const entries = some.values()
      const work = async (): Promise<void> => {
        for (const each of entries) {
          const result = await this.#result(each)
          results.set(each.row, result)
          onRow(result)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
    }
    const inTurn = (turn: PlacedRow['turn']) => rows.filter(({ row }) => row.turn === turn)
    await run(inTurn('first'), 1)
    // The longest rows are at the end.
    await run(inTurn(undefined).toReversed(), rowsAtOnce)
    await run(inTurn('last'), 1)
    return rows.map(({ row }) => results.get(row) as RowResult)
  }

  async #result({ subject, row }: Named): Promise<RowResult> {
    const unsafe = this.#whyNot(row)
    const outcome = unsafe === undefined ? await this.#judged(row) : { skipped: unsafe }
    return toResult(subject, row, outcome, this.#credentials)
  }

  async #judged(row: PlacedRow): Promise<Outcome> {
    const { failure, skipped } = await this.#outcome(row)
    const isIntercepted = row.isForProxies === true && failure?.answer !== undefined && isOfProxy(failure.answer)
    const reason = skipped ?? (this.#stopping.aborted ? stopped : isIntercepted ? intercepted : undefined)
    const why = reason ?? (await this.#whyGone(failure))
    return why === undefined ? { failure } : { skipped: why }
  }

  #whyNot(row: PlacedRow): string | undefined {
    return this.#stopping.aborted ? stopped : (this.#gone ?? row.skipped ?? this.#traces.whyNotSafe(row))
  }

  async #outcome(row: PlacedRow): Promise<Outcome> {
    this.#traces.begin(row)
    // The original document says nothing of other origins.
    const isFromPage = row.level === 'complete' && !this.#circumstances.isCorsRestricted
    const ask = async (asked: RowRequest): Promise<Answer> => {
      if (this.#stopping.aborted) throw new Skipped(stopped)
      const request = isFromPage ? fromPage(asked) : asked
      const heard = (answer: Answer): void => {
        if (!isOfProxy(answer) || row.isForProxies !== true) this.#conformance.observe(request, answer)
      }
      const busy = (answer: Answer): void => {
        if (!isOfProxy(answer)) heard(answer)
      }
      const answer = await this.#patience.send(request, { stopping: this.#stopping, heard: busy })
      heard(answer)
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
    this.#probing ??= this.#probe()
    await this.#probing
    return count > silentRowsMax ? this.#gone : undefined
  }

  async #probe(): Promise<void> {
    const why = await whySilent(this.#patience, this.#circumstances.ids)
    if (why === undefined) {
      this.#silentRows = 0
      this.#probing = undefined
      return
    }
    const what = why.answer === undefined ? 'no answer' : `nothing but ${why.answer.status}`
    this.#gone = `the server gave ${what} in ${silentRowsMax} consecutive rows`
  }
}
