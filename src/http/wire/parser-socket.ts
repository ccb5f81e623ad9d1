// A socket that the server of Node.js has begun to listen to, taken over: its bytes come here first, and the parser gets
// what it is given.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { readSocket } from './read-buffer.ts'

export interface SocketListeners {
  /** @param bytes valid until it returns. */
  readonly onBytes: (bytes: Buffer) => void
  /** Told when the client sends nothing more. */
  readonly onEnd: () => void
  /** Told when Node.js goes on reading by itself, as it does after a body was read. */
  readonly onResume: () => void
  /** Told after the last answer, in the place of Node.js, which would end the connection at once. */
  readonly onLast: () => void
}

export interface Parser {
  readonly parse: (bytes: Buffer) => void
  /** Tells it that nothing more comes. */
  readonly end: () => void
}

/** Node.js sets this on the answer after which it ends the connection. */
interface HttpResponse extends ServerResponse {
  readonly _last?: boolean
}

/** Whether so much of the answers waits to be read that Node.js would stop its parser at the next request. */
export function isFull(socket: Socket, answers: readonly ServerResponse[]): boolean {
  const waitingBytes = answers.reduce((bytes, { writableLength }) => bytes + writableLength, 0)
  return socket.writableNeedDrain || waitingBytes >= socket.writableHighWaterMark
}

/** Whether a connection ends with an answer. */
export function isLast(response: HttpResponse | undefined): boolean {
  return response?._last === true
}

export function takeOver(socket: Socket, { onBytes, onEnd, onResume, onLast }: SocketListeners): Parser {
  const [parse] = socket.listeners('data') as [(bytes: Buffer) => void]
  const end = socket.listeners('end').at(-1) as () => void
  readSocket(socket.off('data', parse), onBytes)
  socket.off('end', end).on('end', onEnd)
  socket.on('resume', onResume)
  socket.destroySoon = onLast
  return { parse, end }
}
