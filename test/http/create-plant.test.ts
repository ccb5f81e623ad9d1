// Creates over a real socket: the rows of verify, with what our own messages say, and rows for this service alone.
// Each answer is held to the served document; afterwards the store must hold what was acknowledged and nothing else.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ErrorCode, errorNumbers } from '../../src/domain/errors.ts'
import { type NewPlant, plantJson } from '../../verify/plant.ts'
import { bodyRows, sizeRows } from '../../verify/rows/bodies.ts'
import { credentialRows } from '../../verify/rows/credentials.ts'
import { mediaTypeRows, orderRows } from '../../verify/rows/fields.ts'
import { keyRows } from '../../verify/rows/idempotency.ts'
import { int64Rows } from '../../verify/rows/int64.ts'
import { pathRows } from '../../verify/rows/paths.ts'
import { specifiedRows } from '../../verify/rows/specified.ts'
import { nameRows, tagRows } from '../../verify/rows/texts.ts'
import { Client, type Connection, type RowRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { assertNamed, checkRow as checkSharedRow, type Messages, makeRows, makeTokens } from '../support/rows.ts'
import { serveHere } from '../support/service.ts'
import { openTestStore, readPlant } from '../support/store.ts'

/** The rows of verify whose requests are creates, or are at the paths around it. */
const sharedMakers = [
  ...[specifiedRows, int64Rows, nameRows, tagRows, bodyRows, sizeRows, mediaTypeRows, orderRows, credentialRows],
  ...[pathRows, keyRows],
]

const notInt64 = /^id: must be an integer from -9223372036854775808 to 9223372036854775807, got /

/** What our own messages say at rows of verify. */
const messages: Messages = {
  'an id in quotes': notInt64,
  'an id in an array': /got an array$/,
  'an id that is null': /got null$/,
  'an id that is an object': /got an object$/,
  'an id with a fraction': /got a number with a fraction$/,
  'an id that is taken is refused, and its plant stays as it is': [undefined, /^id: \d+ is already taken; choose/],
  'name of 1,025 characters outside the BMP': /^name: must have at most 1024 characters, got 1025$/,
  'name null': /^name: must be a string, got null$/,
  'name with a lone high surrogate': /^name: must have no NUL character and no unpaired surrogate$/,
  'tag of 257 characters': /^tag: must have at most 256 characters, got 257$/,
  'an empty object': /^name: is missing; id: is missing$/,
  'an array': /^the body: must be an object, got /,
  'everything wrong at once': /name: .*; tag: .*; id: /,
  'an empty body': /^the body is empty$/,
  'Authorization without the scope': /^the token needs the scope plants:write, it has plants:read$/,
  'Authorization twice': /^authorization: must be sent once$/,
  'target /plants/': /^there is nothing at \/plants\/; no path ends with a slash$/,
  [`target /${'a'.repeat(39)}`]: /^there is nothing at \/a{199}$/,
}

/** Rows of verify after which the server has to end the connection. */
const closing: ReadonlySet<string> = new Set([
  'a body of 65,537 bytes',
  'a body of 65,537 bytes, mostly white space',
  'a chunked body of 65,537 bytes',
  'a body of 65,537 bytes, mostly é',
  'a chunked body of 65,537 bytes, mostly é',
])

/** What is not for the server of somebody else: an id, a target, or what it does with the connection. */
interface OwnRow {
  readonly request: RowRequest
  readonly answer: 200 | ErrorCode
  readonly message?: RegExp
  /** The server has to end the connection after the answer; otherwise it has to serve the next request on it. */
  readonly closes?: true
  /** What the store must hold afterwards. */
  readonly kept?: NewPlant
}

function ownRows(token: string): Readonly<Record<string, OwnRow>> {
  const body = plantJson(4000n, 'n')
  const id = (literal: string): RowRequest => ({ body: plantJson(literal, 'n') })
  const kept = (literal: string, id: bigint): OwnRow => ({
    request: { body: plantJson(literal, 'n') },
    answer: 200,
    kept: { id, name: 'n' },
  })
  const json = { 'Content-Type': 'application/json' }
  const long = { 'Content-Length': '70000' }
  const noToken = { Authorization: undefined }
  return {
    'the least id': kept('-9223372036854775808', -(2n ** 63n)),
    'the greatest id': kept('9223372036854775807.0', 2n ** 63n - 1n),
    'an id of zero': kept('-0', 0n),
    'an id that a short fraction makes wrong': { request: id('1.5'), answer: 'invalidPlant', message: /got 1\.5$/ },
    'an id past every double': {
      request: id('1e400'),
      answer: 'invalidPlant',
      message: /got a number too large for a double$/,
    },
    'an id that is a word': { request: id('"seven"'), answer: 'invalidPlant', message: /got "seven"$/ },
    'a body said to be of 10 GB': {
      request: { headers: { ...json, 'Content-Length': '10000000000' } },
      answer: 'bodyTooLarge',
      closes: true,
    },
    'the token in the query': {
      request: { target: `/plants?access_token=${token}`, body, headers: noToken },
      answer: 'missingToken',
    },
    'a target in full': {
      request: { target: 'http://plants.example/plants', body: plantJson(4002n, 'n') },
      answer: 200,
      kept: { id: 4002n, name: 'n' },
    },
    'a place where others have their documentation': {
      request: { target: '/swagger', body },
      answer: 'unknownPath',
      message: /^there is nothing at \/swagger; see \/docs, \/openapi\.json and \/openapi\.yaml$/,
    },
    'a path that is a token': {
      request: { target: `/plt_${'a'.repeat(49)}`, body },
      answer: 'unknownPath',
      message: /^there is nothing at \/plt_\.\.\.$/,
    },
    // Of two errors, the one that is checked first.
    'Host before the path': { request: { target: '/nowhere', lines: ['Host: b.example'] }, answer: 'repeatedHeader' },
    'the token before the length': {
      request: { headers: { ...noToken, ...long } },
      answer: 'missingToken',
      closes: true,
    },
    'the media type before the length': {
      request: { headers: { 'Content-Type': 'text/plain', ...long } },
      answer: 'unsupportedMediaType',
      closes: true,
    },
    'the length before the body': { request: { headers: { ...json, ...long } }, answer: 'bodyTooLarge', closes: true },
  }
}

describeOnEngines('createPlant, by the table', async (engine) => {
  const place = await engine.makePlace()
  const { store } = place
  const server = await serveHere(store)
  const tokens = await makeTokens(store, server.token)
  const shared = makeRows(tokens, ...sharedMakers)
  const own = ownRows(tokens.token)
  let client: Client

  before(async () => {
    client = await Client.connect(server)
  })

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  test('its messages are of rows that there are', () => {
    assertNamed(shared, [...Object.keys(messages), ...closing])
  })

  for (const row of shared.rows) {
    test(row.title, () =>
      onConnection(client, closing.has(row.title), async (connection) => {
        const responses = await checkSharedRow(connection, row, shared.credentials, messages)
        return responses.at(-1)
      }),
    )
  }

  for (const [title, row] of Object.entries(own)) {
    test(title, () => onConnection(client, row.closes === true, (connection) => checkRow(connection, row)))
  }

  test('the store holds what was acknowledged, exactly, and no refused plant', async () => {
    await server.stop()
    await using opened = await openTestStore(store)
    for (const { kept } of [...shared.rows, ...Object.values(own)]) {
      if (kept === undefined) continue
      const { id, ...plant } = kept
      assert.deepEqual(await readPlant(opened, id), plant, String(id))
    }
    for (const { title, ids, kept, steps } of shared.rows) {
      if (steps.length > 1 || kept !== undefined) continue
      for (const id of ids) assert.equal(await opened.getPlant(id), undefined, title)
    }
    assert.equal(await opened.getPlant(4000n), undefined)
  })
})

/** Gives a row a connection in use, on which plain requests take the shortcut, and looks what becomes of the connection afterwards. */
async function onConnection(
  client: Client,
  closes: boolean,
  check: (connection: Connection) => Promise<HttpResponse | undefined>,
): Promise<void> {
  await using connection = await client.open()
  await connection.request({ method: 'GET', target: '/plants/1' })
  const response = await check(connection)
  if (closes) {
    assert.equal(response?.headers.get('connection'), 'close')
    connection.finish()
    await connection.closed()
  } else {
    const next = await connection.request({ method: 'GET', target: '/livez' })
    assert.equal(next.status, 200, 'the next request on the connection')
  }
}

async function checkRow(connection: Connection, { request, answer, message, kept }: OwnRow): Promise<HttpResponse> {
  const response = await connection.request(request)
  const { status, headers, body } = response
  if (answer !== 200) {
    const told = JSON.parse(body)
    assert.deepEqual([status, told.error], [Math.floor(errorNumbers[answer] / 100), errorNumbers[answer]], body)
    if (message !== undefined) assert.match(told.message, message)
    assert.doesNotMatch(told.message, /plt_\w{10}|node_modules|\.ts\b/)
  }
  if (kept !== undefined) {
    const { id, ...plant } = kept
    assert.deepEqual([status, body, headers.get('location')], [200, JSON.stringify(plant), `/plants/${id}`])
  }
  return response
}
