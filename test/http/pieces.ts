// Sends random pieces of requests of the framing corpus. Every connection must end without help.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../power-loss/random.ts'
import { framingCorpus } from './framing/corpus.ts'

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

const texts = framingCorpus
  .flatMap(({ steps }) => steps.filter((step) => typeof step === 'string'))
  .filter(({ length }) => length < 2_000)

/** The bytes that a client sends, in the pieces in which they arrive. */
export function drawPieces(random: Random, token: string): readonly Buffer[] {
  const chosen = Array.from({ length: 1 + random.below(3) }, () => random.pick(texts))
  const text = chosen.join('').replaceAll('TOKEN', token)
  const bytes = Buffer.from(
    text.replaceAll('#########', () => String(1 + random.below(9))),
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
