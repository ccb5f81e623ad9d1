// A run: checks that its ids are free, runs the rows one by one, checks every answer against the document, and deletes
// what it created.

import { randomBytes, randomUUID } from 'node:crypto'
import { type Contract, loadContract } from '../src/contract/contract.ts'
import { mintSecret } from '../src/domain/token.ts'
import { limits } from '../src/limits.ts'
import { isError } from './checks.ts'
import { Conformance, conformanceRows } from './conformance.ts'
import { NoAnswer, TakenError } from './failures.ts'
import { defaultFirstId, IdRange } from './ids.ts'
import { Traces } from './leftovers.ts'
import { type Answer, type Credentials, fieldOf, type RowRequest } from './message.ts'
import { Patience, StillBusy } from './patience.ts'
import { Plants } from './plant.ts'
import type { Level, RowName, Tokens } from './results.ts'
import type { Circumstances, Row, Subject } from './row.ts'
import { corsProbes, isCorsRestricted } from './rows/cors.ts'
import { type Failure, runRow } from './run-row.ts'
import type { Target } from './send.ts'
import { makeSubjects } from './subjects.ts'

export interface RunOptions {
  readonly base: URL
  /** Of the server's document. */
  readonly contract: Contract
  readonly tokens: Tokens
  readonly level: Level
  readonly ids: IdRange
  readonly timeoutMs: number
  /** Aborted to end the run early. */
  readonly stopping: AbortSignal
  /** Selects rows; by default, all. */
  readonly only?: (row: RowName) => boolean
}

export interface Result {
  readonly subject: string
  readonly row: Row
  /** Missing if the row passed or was skipped. */
  readonly failure?: Failure | undefined
  /** Why it was skipped. */
  readonly skipped?: string
}

export interface RunReport {
  readonly base: URL
  readonly level: Level
  readonly ids: IdRange
  /** The values to hide. */
  readonly credentials: Credentials
  readonly results: readonly Result[]
  /** Descriptions of what the run could not delete. */
  readonly left: readonly string[]
}

/** Throws NoAnswer if the server is unreachable, and TakenError if the range is not free. */
export async function runRows(options: RunOptions): Promise<RunReport> {
  const { base, contract, tokens, level, ids, timeoutMs, stopping, only = () => true } = options
  const credentials = credentialsOf(tokens)
  const target: Target = { base, credentials, timeoutMs, answerBytesMax: limits.verifyAnswerBytesMax }
  const patience = new Patience(target)
  await assertReachable(patience, ids)
  const circumstances: Circumstances = {
    contract,
    plants: new Plants(contract, loadContract()),
    ids,
    nonce: randomUUID(),
    credentials: new Set(Object.keys(credentials)),
    isCorsRestricted: level === 'complete' && (await seesCorsRestricted(patience)),
  }
  const subjects = makeSubjects(circumstances, level).map(({ name: subject, rows }) => ({
    name: subject,
    rows: rows.filter(({ title }) => only({ subject, title })),
  }))
  const traces = new Traces(ids, (request) => patience.send(request, { isRepeatable: true }))
  const taken = await traces.look(subjects.flatMap(({ rows }) => rows))
  if (taken !== undefined) throw new TakenError(taken)
  const conformance = level === 'complete' ? new Conformance(contract) : undefined
  const clean = (): Promise<readonly string[]> => {
    patience.renew()
    return traces.clean()
  }
  try {
    const results = await runAll(subjects, {
      patience,
      ids,
      plants: circumstances.plants,
      traces,
      conformance,
      stopping,
    })
    const ofDocument = (conformance?.rows() ?? [])
      .map((each) => ({ subject: answersSubject, ...each }))
      .filter(({ subject, row: { title } }) => only({ subject, title }))
    return { base, level, ids, credentials, results: [...results, ...ofDocument], left: await clean() }
  } catch (error) {
    await clean()
    throw error
  }
}

const answersSubject = 'answers'

/** Returns all rows of a level for the bundled document, in the order in which they run. Throws nothing and sends nothing. */
export function nameRows(level: Level): readonly RowName[] {
  const contract = loadContract()
  const circumstances: Circumstances = {
    contract,
    plants: new Plants(contract, contract),
    ids: new IdRange(defaultFirstId),
    nonce: '',
    credentials: new Set(),
    isCorsRestricted: false,
  }
  const names = makeSubjects(circumstances, level).flatMap(({ name: subject, rows }) =>
    rows.map(({ title }) => ({ subject, title })),
  )
  const ofDocument = level === 'complete' ? conformanceRows(contract.operations) : []
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
    $UNKNOWN_TOKEN: mintSecret(randomBytes(32)),
    ...(secondToken !== undefined && { $SECOND_TOKEN: secondToken }),
    ...(writeOnlyToken !== undefined && { $WRITE_ONLY_TOKEN: writeOnlyToken }),
    ...(readOnlyToken !== undefined && { $READ_ONLY_TOKEN: readOnlyToken }),
    ...(expiredToken !== undefined && { $EXPIRED_TOKEN: expiredToken }),
    ...(revokedToken !== undefined && { $REVOKED_TOKEN: revokedToken }),
  }
}

/** Changes the middle of the last part: the last character of a JWT may have unused bits. */
function withCharacterChanged(token: string): string {
  const from = token.lastIndexOf('.') + 1
  const at = from + Math.floor((token.length - from) / 2)
  return token.slice(0, at) + (token[at] === '0' ? '1' : '0') + token.slice(at + 1)
}

/** Accepts any answer, and even a connection closed without one; rows test more. */
async function assertReachable(patience: Patience, ids: IdRange): Promise<void> {
  const why = await whySilent(patience, ids)
  if (why !== undefined && !why.wasConnected) throw why
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

interface Run {
  readonly patience: Patience
  readonly ids: IdRange
  readonly plants: Plants
  readonly traces: Traces
  readonly conformance: Conformance | undefined
  readonly stopping: AbortSignal
}

async function runAll(subjects: readonly Subject[], run: Run): Promise<readonly Result[]> {
  const results: Result[] = []
  let silentRows = 0
  let gone: string | undefined
  for (const { name: subject, rows } of subjects) {
    for (const row of rows) {
      let skipped = whyNot(row, run, gone)
      const failure = skipped === undefined ? await runOne(row, run) : undefined
      if (run.stopping.aborted) skipped ??= stopped
      if (failure?.answer !== undefined && isIntercepted(row, failure.answer)) skipped ??= intercepted
      if (skipped !== undefined) {
        results.push({ subject, row, skipped })
        continue
      }
      silentRows = failure !== undefined && isSilent(failure) ? silentRows + 1 : 0
      results.push({ subject, row, failure })
      if (silentRows < limits.verifySilentRowsMax) continue
      // Some servers do not answer requests they do not understand, but continue to run.
      gone = whyGone(await whySilent(run.patience, run.ids))
      silentRows = 0
    }
  }
  return results
}

const stopped = 'the run was stopped'
const intercepted = 'something in front of the server, such as a proxy, answered for it'

/** Whether a proxy answered: the server sends a request id with every answer, and refuses with an Error. */
function isIntercepted({ isForProxies }: Row, answer: Answer): boolean {
  return (
    isForProxies === true &&
    answer.status >= 400 &&
    fieldOf(answer, 'x-request-id') === undefined &&
    isError(answer) !== undefined
  )
}

/** Whether the server did not react at all. */
function isSilent({ answer }: Failure): boolean {
  return answer === undefined || answer.status === 429
}

/** Why to stop sending to a silent server; undefined to continue. */
function whyGone(why: NoAnswer | undefined): string | undefined {
  if (why === undefined) return undefined
  const what = why instanceof StillBusy ? `nothing but ${why.answer.status}` : 'no answer'
  return `the server gave ${what} in ${limits.verifySilentRowsMax} consecutive rows`
}

function whyNot(row: Row, { traces, stopping }: Run, gone: string | undefined): string | undefined {
  return stopping.aborted ? stopped : (gone ?? row.skipped ?? traces.whyNotSafe(row))
}

async function runOne(
  row: Row,
  { patience, plants, traces, conformance, stopping }: Run,
): Promise<Failure | undefined> {
  traces.begin(row)
  const ask = async (request: RowRequest): Promise<Answer> => {
    const heard = (answer: Answer): void => {
      if (!isIntercepted(row, answer)) conformance?.observe(request, answer)
    }
    const answer = await patience.send(request, { stopping, heard })
    heard(answer)
    traces.observe(row, request, answer)
    return answer
  }
  const failure = await runRow(row, ask, plants)
  await traces.end()
  return failure
}
