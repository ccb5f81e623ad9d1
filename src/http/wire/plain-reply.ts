// Replies that Node.js does not write: to plain requests, and to bytes that are not a request.

import type { Socket } from 'node:net'
import { STATUS_CODES } from '../node-http.ts'
import type { Reply } from '../request.ts'

/** @param connection the value of Connection; further fields may follow it. */
export function headOf({ status, fields }: Reply, connection: string): string {
  let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  return `${lines}Date: ${dateNow()}\r\nConnection: ${connection}\r\n\r\n`
}

/** Writes a reply at once. @param connection as in `headOf`. */
export function writePlainReply(
  socket: Socket,
  reply: Reply,
  connection: string,
  onWritten: (error?: Error | null) => void,
): void {
  const head = headOf(reply, connection)
  const { body = '' } = reply
  if (typeof body === 'string') {
    // One text costs less than two pieces.
    socket.write(head + body, onWritten)
    return
  }
  socket.cork()
  socket.write(head, 'latin1')
  socket.write(body, onWritten)
  socket.uncork()
}

let date = ''
let dateSecond = 0

function dateNow(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = new Date(second * 1000).toUTCString()
  }
  return date
}
