// What never was a proper request: one answer with an Error body, then the end of the connection; never a second
// answer, and never silence.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { type ErrorCode, errorNumbers } from '../../src/domain/errors.ts'
import { Client, encodeRequest, plantJson } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/time.ts'

interface Case {
  readonly title: string
  readonly bytes: string | Buffer
  readonly status: number
  readonly error: ErrorCode
}

const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`
const host = 'Host: plants.example'
const json = 'Content-Type: application/json'

describe('broken requests', async () => {
  const folder = await makeFolder()
  const server = await startServer(folder.file('plants.db'))
  const authorization = `Authorization: Bearer ${server.token}`
  let client: Client

  before(async () => {
    client = await Client.connect(server)
  })

  after(async () => {
    await server[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  const malformed = (title: string, bytes: string | Buffer): Case => ({
    title,
    bytes,
    status: 400,
    error: 'malformedRequest',
  })
  const create = (...lines: string[]): string => head('POST /plants HTTP/1.1', host, authorization, json, ...lines)

  const cases: readonly Case[] = [
    malformed('not HTTP at all', 'hello\r\n\r\n'),
    malformed('a TLS client hello', Buffer.from('16030100a5010000a10303', 'hex')),
    malformed('zeros', Buffer.alloc(100)),
    malformed('HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    malformed('an unknown version', head('GET /livez HTTP/3.7', host)),
    malformed('no version', 'GET /livez\r\n\r\n'),
    malformed('a space before a colon', head('GET /livez HTTP/1.1', host, 'X-A : b')),
    malformed('a field without a colon', head('GET /livez HTTP/1.1', host, 'X-A')),
    malformed('a folded field', head('GET /livez HTTP/1.1', host, 'X-A: b', ' c')),
    malformed('NUL in a field', head('GET /livez HTTP/1.1', host, 'X-A: b\0c')),
    malformed('a bare line feed in a field', head('GET /livez HTTP/1.1', host, 'X-A: b\n c')),
    malformed('a space in the target', head('GET /li vez HTTP/1.1', host)),
    malformed('two Content-Length', create('Content-Length: 2', 'Content-Length: 3')),
    malformed('a negative Content-Length', create('Content-Length: -1')),
    malformed('a Content-Length that is no number', create('Content-Length: 2x')),
    malformed('a Content-Length past any number', create(`Content-Length: ${'9'.repeat(30)}`)),
    malformed(
      'Content-Length and Transfer-Encoding',
      `${create('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ),
    malformed('a chunk size that is no number', `${create('Transfer-Encoding: chunked')}xyz\r\n`),
    malformed('a chunk longer than its size', `${create('Transfer-Encoding: chunked')}1\r\nabc\r\n`),
    malformed('a chunk size past any number', `${create('Transfer-Encoding: chunked')}${'f'.repeat(20)}\r\n`),
    {
      title: 'CONNECT',
      bytes: head('CONNECT a.example:443 HTTP/1.1', 'Host: a.example:443'),
      status: 501,
      error: 'unknownMethod',
    },
    { title: 'an unknown method', bytes: head('BREW /plants HTTP/1.1', host), status: 501, error: 'unknownMethod' },
    {
      title: 'a method in lower case',
      bytes: head('post /plants HTTP/1.1', host),
      status: 501,
      error: 'unknownMethod',
    },
    {
      title: 'an unknown expectation',
      bytes: create('Content-Length: 2', 'Expect: tea'),
      status: 417,
      error: 'expectationFailed',
    },
    {
      title: 'a target of 20 KB',
      bytes: head(`GET /${'a'.repeat(20_000)} HTTP/1.1`, host),
      status: 431,
      error: 'headerFieldsTooLarge',
    },
    {
      title: 'a field of 20 KB',
      bytes: head('GET /livez HTTP/1.1', host, `X-A: ${'a'.repeat(20_000)}`),
      status: 431,
      error: 'headerFieldsTooLarge',
    },
    {
      title: 'a chunk extension of 20 KB',
      bytes: `${create('Transfer-Encoding: chunked')}1;${'a'.repeat(20_000)}\r\n`,
      status: 413,
      error: 'bodyTooLarge',
    },
  ]

  for (const { title, bytes, status, error } of cases) {
    test(title, async () => {
      await using connection = await client.open()
      connection.send(bytes)
      const response = await connection.answer()
      checkProblem(response, status, error)
      assert.equal(response.headers.get('connection'), 'close')
      // Whatever else comes is thrown away.
      connection.send(head('GET /livez HTTP/1.1', host))
      connection.finish()
      await connection.closed()
    })
  }

  const kept = (title: string, bytes: string, status: number, error: ErrorCode): void => {
    test(`${title}, and the connection goes on`, async () => {
      await using connection = await client.open()
      connection.send(bytes)
      checkProblem(await connection.answer(), status, error)
      connection.send(head('GET /livez HTTP/1.1', host))
      assert.equal((await connection.answerTo('GET', '/livez')).status, 200)
    })
  }
  const fields = Array.from({ length: 100 }, (_, index) => `X-${index}: a`)
  kept('101 header fields', head('GET /livez HTTP/1.1', host, ...fields), 431, 'headerFieldsTooLarge')
  // Node.js would drop those past 2,000 silently, the Authorization of a request among them.
  const short = Array.from({ length: 2_500 }, () => 'a:')
  kept('2,500 header fields', head('GET /livez HTTP/1.1', host, ...short), 431, 'headerFieldsTooLarge')

  test('100 header fields are let through', async () => {
    await using connection = await client.open()
    connection.send(head('GET /livez HTTP/1.1', host, ...fields.slice(1)))
    assert.equal((await connection.answerTo('GET', '/livez')).status, 200)
  })

  test('a transfer coding that is not known is 501', async () => {
    await using connection = await client.open()
    connection.send(`${create('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`)
    checkProblem(await connection.answerTo('POST', '/plants'), 501, 'unknownTransferCoding')
  })

  test('HTTP/1.0 is served without a Host, and its connection closed', async () => {
    await using connection = await client.open()
    connection.send(head('GET /livez HTTP/1.0'))
    const response = await connection.answerTo('GET', '/livez')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('connection'), 'close')
    await connection.closed()
  })

  test('HTTP/1.0 does not know transfer codings and 100', async () => {
    await using coded = await client.open()
    coded.send(
      `${head('POST /plants HTTP/1.0', authorization, json, 'Connection: keep-alive', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    )
    const refused = await coded.answerTo('POST', '/plants')
    assert.equal(JSON.parse(refused.body).error, errorNumbers.malformedRequest)
    assert.equal(refused.headers.get('connection'), 'close')
    await using waiting = await client.open()
    const body = plantJson(91n, 'old')
    waiting.send(
      `${head('POST /plants HTTP/1.0', authorization, json, `Content-Length: ${body.length}`, 'Expect: 100-continue')}${body}`,
    )
    await waiting.untilReceived('HTTP/1.1 200 OK')
  })

  test('a client that says it has nothing more to send gets its answers all the same', async () => {
    await using connection = await client.open()
    const create = (id: bigint): Buffer => encodeRequest(server.token, { body: plantJson(id, `plant ${id}`) })
    connection.send(Buffer.concat([create(55n), create(56n)]))
    connection.finish()
    assert.match((await connection.answerTo('POST', '/plants')).body, /plant 55/)
    assert.match((await connection.answerTo('POST', '/plants')).body, /plant 56/)
    await connection.closed()
  })

  test('the refusal of a broken HEAD has no body', async () => {
    await using connection = await client.open()
    connection.send(head('HEAD /livez HTTP/1.1', host, 'Bad Field'))
    const response = await connection.answerTo('HEAD', '')
    assert.equal(response.status, 400)
    connection.finish()
    await connection.closed()
  })

  test('a chunk extension that is too long is refused where no body is wanted, too', async () => {
    await using connection = await client.open()
    connection.send(`${head('GET /livez HTTP/1.1', host, 'Transfer-Encoding: chunked')}1;${'a'.repeat(20_000)}\r\n`)
    assert.equal((await connection.answerTo('GET', '/livez')).status, 413)
    const errors = server.output.stdout.split('\n').filter((line) => line.includes('"level":"error"'))
    assert.deepEqual(errors, [])
  })

  for (const expectation of ['tea 100-continue', '100-continue, tea']) {
    test(`Expect: ${expectation} is not 100-continue`, async () => {
      await using connection = await client.open()
      connection.send(create('Content-Length: 2', `Expect: ${expectation}`))
      checkProblem(await connection.answerTo('POST', '/plants'), 417, 'expectationFailed')
    })
  }

  test('empty lines before a request are passed over', async () => {
    await using connection = await client.open()
    connection.send(`\r\n\r\n${head('GET /livez HTTP/1.1', host)}`)
    assert.equal((await connection.answerTo('GET', '/livez')).status, 200)
  })

  test('requests sent at once are answered in order', async () => {
    await using connection = await client.open()
    const create = (id: number): Buffer => encodeRequest(server.token, { body: plantJson(BigInt(id), `plant ${id}`) })
    connection.send(
      Buffer.concat([create(51), create(52), encodeRequest('', { method: 'GET', target: '/livez' }), create(51)]),
    )
    assert.match((await connection.answerTo('POST', '/plants')).body, /plant 51/)
    assert.match((await connection.answerTo('POST', '/plants')).body, /plant 52/)
    assert.match((await connection.answerTo('GET', '/livez')).body, /ok/)
    assert.equal((await connection.answerTo('POST', '/plants')).status, 409)
  })

  test('a good request before a broken one gets its own answer first', async () => {
    await using connection = await client.open()
    const good = encodeRequest(server.token, { body: plantJson(61n, 'first') })
    connection.send(Buffer.concat([good, Buffer.from('garbage\r\n\r\n')]))
    assert.equal((await connection.answerTo('POST', '/plants')).status, 200)
    checkProblem(await connection.answer(), 400, 'malformedRequest')
    connection.finish()
    await connection.closed()
  })

  test('what comes after the first refusal is thrown away unseen', async () => {
    await using service = await startService({})
    await using connection = await service.client.open()
    connection.send('garbage\r\n\r\n')
    checkProblem(await connection.answer(), 400, 'malformedRequest')
    for (let count = 0; count < 20; count += 1) {
      connection.send('more garbage\r\n\r\n')
      await new Promise((resolve) => setImmediate(resolve))
    }
    connection.finish()
    await connection.closed()
    assert.equal(service.events.filter(({ kind }) => kind === 'requestRefused').length, 1)
  })

  test('a body that turns out broken after its refusal gets no second answer', async () => {
    await using connection = await client.open()
    connection.send(head('POST /plants HTTP/1.1', host, json, 'Transfer-Encoding: chunked'))
    const response = await connection.answerTo('POST', '/plants')
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('connection'), 'close')
    connection.send('xyz\r\n')
    connection.finish()
    await connection.closed()
  })

  test('a chunked body that a GET does not want and that breaks gets no second answer', async () => {
    await using connection = await client.open()
    connection.send(head('GET /livez HTTP/1.1', host, 'Transfer-Encoding: chunked'))
    assert.equal((await connection.answerTo('GET', '/livez')).status, 200)
    connection.send('xyz\r\n')
    await connection.closed()
  })

  test('a chunked body that breaks while its caller is looked up gets one answer and is one event', async () => {
    await using service = await startService({})
    const own = `Authorization: Bearer ${service.client.token}`
    for (const [method, target] of [
      ['GET', '/plants/1'],
      ['GET', '/plants'],
      ['DELETE', '/plants/1'],
    ] as const) {
      await using connection = await service.client.open()
      connection.send(`${head(`${method} ${target} HTTP/1.1`, host, own, 'Transfer-Encoding: chunked')}xyz\r\n`)
      const response = await connection.answerTo(method, target)
      checkProblem(response, 400, 'malformedRequest')
      connection.finish()
      await connection.closed()
    }
    const told = service.events.map((event) => ('status' in event ? (event.error ?? event.status) : event.kind))
    assert.deepEqual(told, ['serverListening', 200, 'malformedRequest', 'malformedRequest', 'malformedRequest'])
  })

  test('a client that goes away before its answer is an event, under a request id', async () => {
    await using service = await startService({ storeBusyMsMax: 60_000 })
    const { client } = service
    // Held by somebody else, the store has the create wait.
    const other = new DatabaseSync(service.path)
    other.exec('BEGIN IMMEDIATE')
    const connection = await client.open()
    const ask = encodeRequest(client.token, { method: 'GET', target: '/livez' })
    const create = encodeRequest(client.token, { body: plantJson(1n, 'n'), target: '/plants?secret=x' })
    // Sent at once: when the first is answered the second is being done.
    connection.send(Buffer.concat([ask, create]))
    assert.equal((await connection.answerTo('GET', '/livez')).status, 200)
    connection.reset()
    const aborted = () => service.events.filter(({ kind }) => kind === 'requestAborted')
    await until('the client is noticed to be gone', () => aborted().length > 0)
    other.exec('ROLLBACK')
    other.close()
    const [event] = aborted()
    assert.ok(event?.kind === 'requestAborted')
    assert.match(event.requestId, /^\w+-\w+$/)
    assert.deepEqual([event.method, event.path, event.reason], ['POST', '/plants', 'clientLeft'])
    // What it asked for is done all the same.
    const read = () => client.request({ method: 'GET', target: '/plants/1' })
    await until('the plant is there', async () => (await read()).status === 200)
    assert.equal(aborted().length, 1)
    assert.ok(
      !service.events.some((other) => other !== event && 'requestId' in other && other.requestId === event.requestId),
    )
  })

  test('a client that resets its connection after CONNECT harms nobody', async () => {
    for (let count = 0; count < 50; count += 1) {
      const connection = await client.open()
      connection.send(head('CONNECT a.example:443 HTTP/1.1', host))
      connection.reset()
    }
    assert.equal((await client.request({ method: 'GET', target: '/livez' })).status, 200)
  })

  test('a client that waits for a 100 gets it once it is let in', async () => {
    await using connection = await client.open()
    const body = plantJson(71n, 'waited')
    connection.send(create(`Content-Length: ${body.length}`, 'Expect: 100-continue'))
    await connection.untilReceived('HTTP/1.1 100 Continue\r\n\r\n')
    connection.send(body)
    assert.equal((await connection.answerTo('POST', '/plants')).status, 200)
  })

  test('a client that waits for a 100 and is not let in gets its refusal instead', async () => {
    await using connection = await client.open()
    connection.send(head('POST /plants HTTP/1.1', host, json, 'Content-Length: 20', 'Expect: 100-continue'))
    const response = await connection.answerTo('POST', '/plants')
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('connection'), 'close')
    connection.finish()
    await connection.closed()
  })

  test('a client that sends a megabyte before it reads still gets to read the 413', async () => {
    await using connection = await client.open()
    connection.send(create('Content-Length: 1000000'))
    for (let sent = 0; sent < 1_000_000; sent += 50_000) {
      connection.send(Buffer.alloc(50_000, 'x'))
      await new Promise((resolve) => setImmediate(resolve))
    }
    checkProblem(await connection.answerTo('POST', '/plants'), 413, 'bodyTooLarge')
    connection.finish()
    await connection.closed()
  })

  test('a body that never ends is refused at 64 KiB and thrown away', async () => {
    await using connection = await client.open()
    connection.send(create('Transfer-Encoding: chunked'))
    const chunk = `1000\r\n${'x'.repeat(4_096)}\r\n`
    for (let sent = 0; sent < 64; sent += 1) connection.send(chunk)
    checkProblem(await connection.answerTo('POST', '/plants'), 413, 'bodyTooLarge')
  })

  test('a client that goes away in the middle of a body harms nobody', async () => {
    for (let count = 0; count < 20; count += 1) {
      await using connection = await client.open()
      connection.send(`${create('Content-Length: 1000')}{"id":`)
    }
    assert.equal((await client.create(81n, 'after')).status, 200)
    assert.equal(server.output.stdout.split('\n').filter((line) => line.includes('"level":"error"')).length, 0)
  })
})

function checkProblem(response: Awaited<ReturnType<Client['request']>>, status: number, error: ErrorCode): void {
  assert.equal(response.status, status, response.body)
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(response.body)))
  assert.ok(response.headers.has('date'))
  assert.match(response.headers.get('x-request-id') ?? '', /^\w+-\w+$/)
  const { error: number, message } = JSON.parse(response.body)
  assert.equal(number, errorNumbers[error], message)
}
