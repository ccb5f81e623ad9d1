// Sends random pieces of random requests. Every connection must end without help.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../power-loss/random.ts'

/** Limits that a test can afford to wait for. */
export const pieceLimits = {
  headersMsMax: 600,
  requestMsMax: 800,
  keepAliveMsMax: 700,
  unreadMsMax: 800,
  lingerMsMax: 200,
  answeringMsMax: 900,
  connectionCheckMs: 50,
} as const

/** Parts of requests, whole and broken; `TOKEN` stands for a token. */
const parts = [
  'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /plants/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer TOKEN\r\n\r\n',
  'HEAD /plants?limit=3 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer TOKEN\r\n\r\n',
  'PUT /plants/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\n',
  'POST /plants HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n',
  'Content-Length: 12\r\n\r\n{"name":"p"}',
  'Transfer-Encoding: chunked\r\n\r\nc\r\n{"name":"p"}\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\nc;x=y\r\n{"name":"p"}\r\n0\r\nX: y\r\n\r\n',
  'Expect: 100-continue\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  'SETUP /livez RTSP/1.0\r\n\r\n',
  'BREW /livez HTTP/1.1\r\n\r\n',
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '0\r\n\r\n',
  'X-A: b\r\n',
] as const
/** Parts that follow each other as a client would send them, more often than chance would have it. */
const wholes = [
  [0, 13],
  [0, 14],
  [0, 15],
  [1, 1],
  [3, 5],
  [3, 6],
  [3, 7, 13],
  [3, 8, 6],
  [4, 6],
  [4, 5, 0],
]

/** The bytes that a client sends, in the pieces in which they arrive. */
export function drawPieces(random: Random, token: string): readonly Buffer[] {
  const chosen: number[] = []
  const count = 1 + random.below(4)
  for (let index = 0; index < count; index += 1) {
    if (random.chance(0.6)) chosen.push(...(wholes[random.below(wholes.length)] as number[]))
    else chosen.push(random.below(parts.length))
  }
  const bytes = Buffer.from(
    chosen
      .map((part) => parts[part])
      .join('')
      .replaceAll('TOKEN', token),
    'latin1',
  )
  const tail = random.below(8)
  const cuts = Array.from({ length: random.below(6) }, () => random.below(bytes.length + 1))
  // The last bytes are where requests end: each in a piece of its own, or none of them sent.
  const end = random.chance(0.2) ? bytes.length - Math.min(tail, bytes.length) : bytes.length
  const ends = random.chance(0.3) ? Array.from({ length: tail }, (_, index) => end - index) : []
  const at = [...cuts, ...ends].filter((cut) => cut > 0 && cut < end).sort((a, b) => a - b)
  return [...at, end].map((cut, index) => bytes.subarray(at[index - 1] ?? 0, cut)).filter((piece) => piece.length > 0)
}

/** Sends some pieces and does nothing more; gives after how long the server had ended the connection. */
export async function timeToEnd(port: number, pieces: readonly Buffer[], msMax: number): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  socket
    .on('error', () => resolve())
    .on('end', resolve)
    .on('close', () => resolve())
  socket.resume()
  for (const piece of pieces) {
    if (socket.destroyed) break
    socket.write(piece)
    await new Promise((turn) => setImmediate(turn))
  }
  const sentMs = performance.now()
  await Promise.race([ended, sleep(msMax, undefined, { ref: false })])
  socket.destroy()
  return performance.now() - sentMs
}
