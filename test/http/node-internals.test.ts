// What is used of Node.js although it is not in its documentation: each test fails on a version that has moved it. What
// each is worth stands in docs/decisions/0004-refusals-and-connections.md and 0014-plain-requests.md. A test of the
// buffer of all sockets is in shortcut.test.ts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { reset } from '../../src/http/wire/linger.ts'
import { isLast } from '../../src/http/wire/parser-socket.ts'
import { readSocket } from '../../src/http/wire/read-buffer.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { makeFolder } from '../support/folder.ts'

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

describe('an answer after which Node.js ends the connection', () => {
  for (const [title, fields, head, wanted] of [
    ['that says so', 'Host: a\r\n', { connection: 'close' }, true],
    ['to a client that wants it so', 'Host: a\r\nConnection: close\r\n', {}, true],
    ['is no other one', 'Host: a\r\n', {}, false],
  ] as const) {
    test(title, async () => {
      const seen: boolean[] = []
      const answer: RequestListener = (_request, response) => {
        seen.push(isLast(response))
        response.writeHead(204, head)
        seen.push(isLast(response))
        response.end()
      }
      const server = createServer(answer)
      const client = connect(await listen(server), '127.0.0.1')
      client.write(`GET / HTTP/1.1\r\n${fields}\r\n`)
      await once(client, 'data')
      client.destroy()
      server.close()
      assert.deepEqual(seen, [false, wanted])
    })
  }
})

/** A connection over TLS whose client reads nothing, as both sides have it. */
async function openUnread(context: TestContext): Promise<{ socket: Socket; client: Socket }> {
  await using folder = await makeFolder()
  const { cert, key } = makeCertificate(folder, 'a')
  const server = createTlsServer({ cert: await readFile(cert), key: await readFile(key) })
  const client = connectTls({ port: await listen(server), host: '127.0.0.1', rejectUnauthorized: false })
  const [socket] = (await once(server, 'secureConnection')) as [Socket]
  context.after(() => {
    client.destroy()
    server.close()
  })
  socket.on('error', () => {}).write(Buffer.alloc(8_000_000))
  return { socket, client }
}

describe('a connection over TLS that is ended at once', { skip: !hasOpenssl && 'there is no openssl' }, () => {
  test('is reset: what the system has still to send is dropped', async (context) => {
    const { socket, client } = await openUnread(context)
    reset(socket)
    await assert.rejects(once(client.resume(), 'end'), { code: 'ECONNRESET' })
  })

  test('is closed on a Node.js that has moved what it is written to', async (context) => {
    const { socket } = await openUnread(context)
    Object.defineProperty(socket, '_parent', { value: undefined })
    reset(socket)
    assert.ok(socket.destroyed)
  })
})

test('a socket is read as any other on a Node.js that has moved its buffer', async () => {
  const socket = new Duplex({ read: () => {}, write: () => {} })
  const texts: string[] = []
  readSocket(socket as Socket, (bytes) => texts.push(bytes.toString()))
  socket.push('one')
  await once(socket, 'data')
  assert.deepEqual(texts, ['one'])
})
