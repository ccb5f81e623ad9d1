// Receivers of webhooks that misbehave.

import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { listen } from '../support/answering.ts'

/** What a receiver does with a connection, once a request has begun on it. */
type Misbehave = (socket: Socket) => void

const head = (status: string, ...fields: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, ...fields, '', ''].join('\r\n')

/** Writes the same bytes again and again while the socket is open. */
function dribble(socket: Socket, bytes: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(bytes), everyMs)
  socket.once('close', () => clearInterval(timer))
}

function flood(socket: Socket, bytes: string): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(bytes)) {}
    if (!socket.destroyed) socket.once('drain', write)
  }
  write()
}

/** By what it does; the second is what `webhook list` says. */
export const misbehaviours: Readonly<Record<string, readonly [outcome: RegExp, misbehave: Misbehave]>> = {
  'resets the connection': [/ECONNRESET/, (socket) => socket.resetAndDestroy()],
  'accepts and is silent': [/no answer within 10 s/, () => {}],
  'answers with 103 without end': [
    /no answer within 10 s/,
    (socket) => dribble(socket, head('103 Early Hints', 'Link: </a>'), 20),
  ],
  redirects: [/302/, (socket) => socket.write(head('302 Found', 'Location: /elsewhere', 'Content-Length: 0'))],
  'sends a megabyte of head': [
    /Headers? (Overflow|too large)|ECONNRESET|Overflow/i,
    (socket) => flood(socket, `HTTP/1.1 200 OK\r\n${`X: ${'x'.repeat(1_000)}\r\n`.repeat(1_000)}`),
  ],
  'refuses everything with 400': [/400/, (socket) => socket.write(head('400 Bad Request', 'Content-Length: 0'))],
}

/** Receivers that accept, but do not end their answers. */
export const endlessAnswers: Readonly<Record<string, Misbehave>> = {
  'sends its body byte by byte': (socket) => {
    socket.write(head('200 OK', 'Transfer-Encoding: chunked'))
    dribble(socket, '1\r\nx\r\n', 20)
  },
  'sends a body without end': (socket) => {
    socket.write(head('200 OK', 'Transfer-Encoding: chunked'))
    flood(socket, `4000\r\n${'x'.repeat(0x4000)}\r\n`)
  },
  'closes within its body': (socket) => socket.end(head('200 OK', 'Content-Length: 10')),
  'closes each kept connection': (socket) => {
    socket.write(head('200 OK', 'Content-Length: 0'))
    setTimeout(() => socket.destroy(), 5)
  },
}

export async function startOddReceiver(misbehave: Misbehave) {
  const sockets = new Set<Socket>()
  let [requests, socketsMax] = [0, 0]
  const server = createServer((socket) => {
    sockets.add(socket)
    socketsMax = Math.max(socketsMax, sockets.size)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      if (!bytes.toString('latin1').startsWith('POST ')) return
      requests += 1
      misbehave(socket)
    })
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    /** Open connections. */
    sockets,
    /** Requests that have begun. */
    get requests() {
      return requests
    },
    /** The most connections that were open at once. */
    get socketsMax() {
      return socketsMax
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
