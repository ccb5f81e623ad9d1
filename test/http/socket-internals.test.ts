// Undocumented parts of Node.js: each test fails on a version that has moved one.
// docs/decisions/0004-refusals-and-connections.md and 0014-plain-requests.md state the gain of each.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { readSocket, resetSocket } from '../../src/http/wire/socket-internals.ts'
import { listen } from '../support/answering.ts'
import { makeCertificate, noOpenssl } from '../support/certificate.ts'
import { makeFolder } from '../support/folder.ts'

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

describe('a connection over TLS that is ended at once', { skip: noOpenssl }, () => {
  test('is reset: what the system has still to send is dropped', async (context) => {
    const { socket, client } = await openUnread(context)
    resetSocket(socket)
    await assert.rejects(once(client.resume(), 'end'), { code: 'ECONNRESET' })
  })

  test('is closed on a Node.js that has moved what it is written to', async (context) => {
    const { socket } = await openUnread(context)
    Object.defineProperty(socket, '_parent', { value: undefined })
    resetSocket(socket)
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

test('the sockets of a server are read into one buffer', async () => {
  const buffers: ArrayBufferLike[] = []
  const texts: string[] = []
  const server = createServer((socket) => {
    readSocket(socket, (bytes) => {
      buffers.push(bytes.buffer)
      texts.push(bytes.toString())
      socket.end()
    })
  })
  const port = await listen(server)
  for (const text of ['one', 'two']) {
    const socket = connect(port, '127.0.0.1')
    socket.end(text)
    await socket.resume().toArray()
  }
  server.close()
  assert.deepEqual(texts, ['one', 'two'])
  // In a version of Node.js where they are not, everything works, but a request costs more.
  assert.equal(buffers[0], buffers[1])
})
