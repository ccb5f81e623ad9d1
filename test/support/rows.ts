// Runs the rows of verify over the tests' own sockets, with stricter checks, such as of our messages.

import assert from 'node:assert/strict'
import { allScopes, type Scope } from '../../src/domain/caller.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { createToken } from '../../src/serve/new-token.ts'
import { openDocument } from '../../verify/document.ts'
import { type Answer, type Credentials, fillIn, type RowRequest } from '../../verify/message.ts'
import { Plants } from '../../verify/plant.ts'
import type { Tokens } from '../../verify/results.ts'
import { type PlacedRow, runRow } from '../../verify/row.ts'
import { circumstancesOf, credentialsOf } from '../../verify/run.ts'
import { placeAll } from '../../verify/subjects.ts'
import type { Connection } from './client.ts'
import { type HttpResponse, toAnswer } from './conformance.ts'
import { openTestStore } from './store.ts'

const document = openDocument()
const plants = new Plants(document, document)

/** Messages by the title of a row: that of its last answer, or those of its answers in turn. */
export type Messages = Readonly<Record<string, RegExp | readonly (RegExp | undefined)[]>>

export type RowsOfRun = ReturnType<typeof makeRows>

/** Makes all rows but those of streams, which have no end that a `Connection` sees. */
export function makeRows(tokens: Tokens) {
  const circumstances = circumstancesOf(plants, credentialsOf(tokens))
  const rows = placeAll(circumstances, 'complete').filter(({ title }) => !/^a stream |event-stream/.test(title))
  return { rows, circumstances }
}

/** Tokens for every row, of the store of a running server. */
export async function makeTokens(path: string, token: string): Promise<Record<keyof Tokens, string>> {
  await using store = await openTestStore(path, { exclusive: false })
  const make = (name: string, scopes: readonly Scope[], lifetimeMs?: number) =>
    createToken(store, { name, scopes, ...(lifetimeMs !== undefined && { lifetimeMs }) })
  const second = await make('second', allScopes)
  const readOnly = await make('reads', ['plants:read'])
  const writeOnly = await make('writes', ['plants:write'])
  const expired = await make('expired', ['plants:write'], -1)
  const revoked = await make('revoked', ['plants:write'])
  await store.revokeToken(revoked.id, systemClock.wallMs())
  return {
    token,
    secondToken: second.secret,
    readOnlyToken: readOnly.secret,
    writeOnlyToken: writeOnly.secret,
    expiredToken: expired.secret,
    revokedToken: revoked.secret,
  }
}

/** Fails unless every title of a table of additions is that of a row. */
export function assertNamed({ rows }: RowsOfRun, titles: Iterable<string>): void {
  const known = new Set(rows.map(({ title }) => title))
  const found = [...titles].filter((title) => !known.has(title))
  assert.deepEqual(found, [])
}

/** Runs a row over a connection, or over one for each request. Gives the answers. */
export async function checkRow(
  connection: Pick<Connection, 'request'>,
  row: PlacedRow,
  { circumstances }: Pick<RowsOfRun, 'circumstances'>,
  messages: Messages = {},
): Promise<readonly HttpResponse[]> {
  const responses: HttpResponse[] = []
  const ask = async (request: RowRequest): Promise<Answer> => {
    const response = await connection.request(fillInAll(request, circumstances.credentials))
    responses.push(response)
    checkBytes(request, response)
    return toAnswer(response)
  }
  // Of several clients at once, one connection sends the requests in turn.
  let before: Promise<unknown> = Promise.resolve()
  const askInTurn = (request: RowRequest): Promise<Answer> => {
    const answer = before.then(() => ask(request))
    before = answer
    return answer
  }
  const { failure, skipped } = await runRow(row, askInTurn, circumstances)
  assert.equal(failure?.why ?? skipped, undefined, `request ${failure?.number}: ${responses.at(-1)?.body}`)
  checkMessages(row, responses, messages[row.title])
  return responses
}

function checkMessages({ title }: PlacedRow, responses: readonly HttpResponse[], wanted: Messages[string] = []): void {
  const inTurn = wanted instanceof RegExp ? [...responses.slice(1).map(() => undefined), wanted] : wanted
  for (const [step, { status, body }] of responses.entries()) {
    const isPage = body.startsWith('<!doctype html>')
    if (status < 400 || body === '' || isPage) continue
    const { message } = JSON.parse(body)
    assert.doesNotMatch(message, /plt_\w{10}|node_modules|\.ts\b/)
    const pattern = inTurn[step]
    if (pattern !== undefined) assert.match(message, pattern, title)
  }
  for (const [step, pattern] of inTurn.entries()) {
    if (pattern !== undefined) assert.ok((responses[step]?.status ?? 0) >= 400, `${title}: there is no message`)
  }
}

/** The answer to a create is the plant, to the byte, and leads to it. */
function checkBytes({ method = 'POST', target = '/plants', body = '' }: RowRequest, response: HttpResponse): void {
  if (method !== 'POST' || !/^\/plants(?:\?|$)/.test(target) || response.status !== 200) return
  const { name, tag } = JSON.parse(body.toString())
  assert.equal(response.body, JSON.stringify({ name, tag }))
  assert.match(response.headers.get('location') ?? '', /^\/plants\/-?\d+$/)
}

function fillInAll(request: RowRequest, credentials: Credentials): RowRequest {
  const fill = (text: string): string => fillIn(text, credentials)
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [name, value && fill(value)])
  return {
    ...request,
    ...(request.target !== undefined && { target: fill(request.target) }),
    headers: Object.fromEntries(headers),
    lines: (request.lines ?? []).map(fill),
  }
}
