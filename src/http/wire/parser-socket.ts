// Takes over a socket from Node's server: its bytes come here first, and this decides what the parser gets.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { readSocket } from './read-buffer.ts'

export interface SocketListeners {
  /** @param bytes valid until this returns. */
  readonly onBytes: (bytes: Buffer) => void
  /** Called when the client has ended its side. */
  readonly onEnd: () => void
  /** Called when Node.js resumes the socket by itself, such as after a body. */
  readonly onResume: () => void
  /** Called after the last response, instead of Node.js, which would end the connection at once. */
  readonly onLast: () => void
}

export interface Parser {
  readonly parse: (bytes: Buffer) => void
  /** Tells the parser that the input has ended. */
  readonly end: () => void
}

/** Node.js sets this on the last response of a connection. */
interface HttpResponse extends ServerResponse {
  readonly _last?: boolean
}

/** Whether so many response bytes are unread that Node.js would pause its parser at the next request. */
export function isFull(socket: Socket, answers: readonly ServerResponse[]): boolean {
  const waitingBytes = answers.reduce((bytes, { writableLength }) => bytes + writableLength, 0)
  return socket.writableNeedDrain || waitingBytes >= socket.writableHighWaterMark
}

/** Whether a response is the last of its connection. */
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

/** A whole response in UTF-8, or its head and its bytes. */
export type PlainResponse = string | PlainBytes

interface PlainBytes {
  readonly head: string
  /** Has a buffer of its own. */
  readonly body: Uint8Array<ArrayBuffer>
}

/** Writes a response. One text costs less than two pieces, and long pages cost less uncopied. */
export function writeResponse(
  socket: Socket,
  response: PlainResponse,
  onWritten: (error: Error | null | undefined) => void,
): void {
  if (typeof response === 'string') {
    socket.write(response, onWritten)
    return
  }
  socket.cork()
  socket.write(response.head, 'latin1')
  socket.write(response.body, (error) => {
    // The system has the bytes, or will never get them. Detaching the buffer frees them without garbage collection.
    response.body.buffer.transfer(0)
    onWritten(error)
  })
  socket.uncork()
}

const connectionClosed = Symbol('connectionClosed')

/** Calls a listener once, when a response of an open connection is closed. */
export function onceClosed(response: ServerResponse, listener: () => void): void {
  let isOpen = true
  for (const event of ['close', connectionClosed]) {
    response.once(event, () => {
      if (isOpen) listener()
      isOpen = false
    })
  }
}

/** Closes a response with its connection: Node.js emits no event for a response that is queued behind another one. */
export function closeWithConnection(response: ServerResponse): void {
  response.emit(connectionClosed)
}

const streams = new WeakSet<ServerResponse>()

/** Notes that a response has no end. Its connection parses nothing more before it is ended. */
export function noteStream(response: ServerResponse): void {
  streams.add(response)
}

export function isStream(response: ServerResponse | undefined): boolean {
  return response !== undefined && streams.has(response)
}
