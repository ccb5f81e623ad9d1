// Replies that Node.js does not write: to plain requests, and to bytes that are not a request.

import type { Socket } from 'node:net'
import { STATUS_CODES } from '../node-http.ts'
import type { Reply } from '../request.ts'

/** @param keepAliveMs how long the connection may be idle afterwards; undefined if it closes with this reply. */
export function headOf({ status, fields }: Reply, keepAliveMs: number | undefined): string {
  let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  lines += `Date: ${dateNow()}\r\nConnection: `
  if (keepAliveMs === undefined) return `${lines}close\r\n\r\n`
  return `${lines}keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`
}

/** Writes a reply at once. @param keepAliveMs as in `headOf`. */
export function writePlainReply(
  socket: Socket,
  reply: Reply,
  keepAliveMs: number | undefined,
  onWritten: (error?: Error | null) => void,
): void {
  const head = headOf(reply, keepAliveMs)
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
