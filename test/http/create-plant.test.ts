// Creates over a real socket: the rows of verify, with what our own messages say, and rows for this service alone.
// Each answer is held to the served document; afterwards the store must hold what was acknowledged and nothing else.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ErrorCode, errorNumbers } from '../../src/domain/errors.ts'
import { type NewPlant, plantJson } from '../../verify/plant.ts'
import { bodyRows, mediaTypeRows, sizeRows } from '../../verify/rows/bodies.ts'
import { credentialRows } from '../../verify/rows/credentials.ts'
import { keyRows } from '../../verify/rows/idempotency.ts'
import { int64Rows } from '../../verify/rows/int64.ts'
import { methodRows } from '../../verify/rows/methods.ts'
import { orderRows } from '../../verify/rows/order.ts'
import { pageRows } from '../../verify/rows/pages.ts'
import { specifiedRows } from '../../verify/rows/specified.ts'
import { textRows } from '../../verify/rows/texts.ts'
import { Client, type Connection, type RowRequest } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { assertNamed, checkRow as checkSharedRow, type Messages, makeRows, makeTokens } from '../support/rows.ts'
import { serveHere } from '../support/service.ts'
import { openTestStore, readPlant } from '../support/store.ts'

/** The rows of verify whose requests are creates, or are at the paths around it. */
const sharedMakers = [
  ...[specifiedRows, int64Rows, textRows, bodyRows, sizeRows, mediaTypeRows, orderRows, credentialRows],
  ...[methodRows, pageRows, keyRows],
]

const fraction = /got a number with a fraction$/
const notInt64 = /^id: must be an integer from -9223372036854775808 to 9223372036854775807, got /

/** What our own messages say at rows of verify. */
const messages: Messages = {
  'an id that is no integer is refused': [fraction, fraction, notInt64, /got an array$/],
  'an id that is null is refused': /got null$/,
  'an id that is an object is refused': /got an object$/,
  'an id that is taken is refused, and its plant stays as it is': [undefined, /^id: \d+ is already taken; choose/],
  'createPlant refuses a name of more than 1,024 characters': [
    /^name: must have at most 1024 characters, got 1025$/,
    /^name: must have at most 1024 characters, got 1025$/,
  ],
  'createPlant refuses a tag of more than 256 characters': [/^tag: must have at most 256 characters, got 257$/],
  'createPlant refuses a name that is no string': [/^name: must be a string, got null$/],
  'createPlant refuses a name with NUL or half a surrogate pair': Array(6).fill(
    /^name: must have no NUL character and no unpaired surrogate$/,
  ),
  'createPlant refuses a body without an id': [
    /^id: is missing$/,
    /^name: is missing; id: is missing$/,
    ...Array(5).fill(/^the body: must be an object, got /),
  ],
  'createPlant refuses JSON that is no plant': [
    /^id: is missing$/,
    /^the body: must be an object, got /,
    /missing/,
    /name: .*; tag: /,
  ],
  'createPlant refuses what is not JSON': [/^the body is empty$/],
  'createPlant needs the scope plants:write': [/^the token needs the scope plants:write, it has plants:read$/],
  'createPlant is at no path like its own': [/^there is nothing at \/plants\/; no path ends with a slash$/],
  'nothing is at a path of 5,000 characters': [/^there is nothing at \/a{199}$/],
  'replacePlant refuses a name that is no string': [undefined, /^name: must be a string, got null$/],
  'replacePlant refuses what is not JSON': [undefined, /^the body is empty$/],
  'replacePlant refuses other media types': [undefined, /application\/json/],
  'Authorization twice': /^authorization: must be sent once$/,
}

/** Rows of verify/ after whose refusal the server ends the connection. */
const isClosing = (title: string): boolean => title.includes('65,537 bytes')

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
    assertNamed(shared, Object.keys(messages))
  })

  for (const row of shared.rows) {
    test(row.title, () =>
      onConnection(client, false, async (connection) => {
        const asker = isClosing(row.title) ? client : connection
        const responses = await checkSharedRow(asker, row, shared.credentials, messages)
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
    for (const { kept } of Object.values(own)) {
      if (kept === undefined) continue
      const { id, ...plant } = kept
      assert.deepEqual(await readPlant(opened, id), plant, String(id))
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
