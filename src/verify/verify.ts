// A run: looks whether its ids are free, runs the rows one after the other, holds what came to the document, and deletes
// what it has made.

import { randomBytes, randomUUID } from 'node:crypto'
import { loadContract } from '../contract/document.ts'
import { mintSecret } from '../domain/token.ts'
import { limits } from '../limits.ts'
import { Conformance } from './conformance.ts'
import type { IdRange } from './ids.ts'
import type { Answer, Credentials, RequestParts } from './message.ts'
import type { Level, Row, Subject } from './row.ts'
import { type Failure, runRow } from './run-row.ts'
import { NoAnswer, send, type Target } from './send.ts'
import { makeSubjects } from './subjects.ts'
import { Traces } from './traces.ts'

export interface Tokens {
  readonly token: string
  readonly readOnlyToken?: string | undefined
  readonly expiredToken?: string | undefined
  readonly revokedToken?: string | undefined
}

export interface Options {
  readonly base: URL
  readonly tokens: Tokens
  readonly level: Level
  readonly ids: IdRange
  readonly timeoutMs: number
  /** Aborted when the run is to end early. */
  readonly stopping: AbortSignal
}

export interface Result {
  readonly subject: string
  readonly row: Row
  /** Missing when the row passed or was skipped. */
  readonly failure?: Failure
  /** Why it was skipped. */
  readonly skipped?: string
}

export interface Report {
  readonly base: URL
  readonly level: Level
  readonly ids: IdRange
  /** What must not be shown. */
  readonly credentials: Credentials
  readonly results: readonly Result[]
  /** What the run could not delete, in words. */
  readonly left: readonly string[]
}

/** An id of the range is taken, and nothing was sent but reads. */
export class TakenError extends Error {
  readonly id: bigint

  constructor(id: bigint) {
    super(`plant ${id} is there`)
    this.name = 'TakenError'
    this.id = id
  }
}

/** Throws NoAnswer when the server cannot be reached, and TakenError when the range is not free. */
export async function verify(options: Options): Promise<Report> {
  const { base, tokens, level, ids, timeoutMs, stopping } = options
  const credentials = credentialsOf(tokens)
  const target: Target = { base, credentials, timeoutMs, answerBytesMax: limits.verifyAnswerBytesMax }
  const circumstances = { ids, nonce: randomUUID(), credentials: new Set(Object.keys(credentials)) }
  const subjects = makeSubjects(circumstances, level)
  const traces = new Traces(ids, (request) => send(target, request))
  await assertReachable(target, ids)
  const taken = await traces.look(subjects.flatMap(({ rows }) => rows))
  if (taken !== undefined) throw new TakenError(taken)
  const conformance = level === 'complete' ? new Conformance(loadContract()) : undefined
  try {
    const results = await runAll(subjects, { target, ids, traces, conformance, stopping })
    const answers = conformance?.rows() ?? []
    const ofDocument = answers.map(({ row, failure }) => ({
      subject: 'answers',
      row,
      ...(failure !== undefined && { failure }),
    }))
    return { base, level, ids, credentials, results: [...results, ...ofDocument], left: await traces.clean() }
  } catch (error) {
    await traces.clean()
    throw error
  }
}

/** The names that rows have for credentials, and some that are nearly the token. */
export function credentialsOf({ token, readOnlyToken, expiredToken, revokedToken }: Tokens): Credentials {
  const upper = token.toUpperCase()
  return {
    $TOKEN: token,
    $SHORT_TOKEN: token.slice(0, -1),
    $CHANGED_TOKEN: token.slice(0, -1) + (token.endsWith('0') ? '1' : '0'),
    $UPPER_CASE_TOKEN: upper === token ? token.toLowerCase() : upper,
    $UNKNOWN_TOKEN: mintSecret(randomBytes(32)),
    ...(readOnlyToken !== undefined && { $READ_ONLY_TOKEN: readOnlyToken }),
    ...(expiredToken !== undefined && { $EXPIRED_TOKEN: expiredToken }),
    ...(revokedToken !== undefined && { $REVOKED_TOKEN: revokedToken }),
  }
}

/** Any answer at all will do, and so will a connection that is closed without one: rows say more of it. */
async function assertReachable(target: Target, ids: IdRange): Promise<void> {
  const why = await whySilent(target, ids)
  if (why !== undefined && !why.wasConnected) throw why
}

/** Why the server does not answer a read, if it does not. */
async function whySilent(target: Target, { first }: IdRange): Promise<NoAnswer | undefined> {
  try {
    await send(target, { method: 'GET', target: `/plants/${first}` })
    return undefined
  } catch (error) {
    if (error instanceof NoAnswer) return error
    throw error
  }
}

interface Run {
  readonly target: Target
  readonly ids: IdRange
  readonly traces: Traces
  readonly conformance: Conformance | undefined
  readonly stopping: AbortSignal
}

async function runAll(subjects: readonly Subject[], run: Run): Promise<readonly Result[]> {
  const results: Result[] = []
  let silentRows = 0
  let isGone = false
  for (const { name: subject, rows } of subjects) {
    for (const row of rows) {
      const skipped = whyNot(row, run, isGone)
      if (skipped !== undefined) {
        results.push({ subject, row, skipped })
        continue
      }
      const failure = await runOne(row, run)
      if (run.stopping.aborted) {
        results.push({ subject, row, skipped: stopped })
        continue
      }
      silentRows = failure !== undefined && failure.answer === undefined ? silentRows + 1 : 0
      results.push({ subject, row, ...(failure !== undefined && { failure }) })
      if (silentRows < limits.verifySilentRowsMax) continue
      // Some servers give no answer to what they do not understand, and go on.
      isGone = (await whySilent(run.target, run.ids)) !== undefined
      silentRows = 0
    }
  }
  return results
}

const stopped = 'the run was stopped'

function whyNot(row: Row, { traces, stopping }: Run, isGone: boolean): string | undefined {
  if (stopping.aborted) return stopped
  if (isGone) return `the server gave no answer in ${limits.verifySilentRowsMax} rows one after another`
  return row.skipped ?? traces.whyNotSafe(row)
}

async function runOne(row: Row, { target, traces, conformance }: Run): Promise<Failure | undefined> {
  traces.begin(row)
  const ask = async (request: RequestParts): Promise<Answer> => {
    const answer = await send(target, request)
    traces.observe(row, request, answer)
    conformance?.observe(request, answer)
    return answer
  }
  const failure = await runRow(row, ask)
  await traces.end()
  return failure
}
