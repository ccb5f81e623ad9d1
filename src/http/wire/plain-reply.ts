// Replies that Node.js does not write: to plain requests, and to bytes that are not a request.

import type { Socket } from 'node:net'
import { STATUS_CODES } from '../node-http.ts'
import type { Reply } from '../request.ts'

/** @param keepAliveMs how long the connection may be idle afterwards; undefined if it closes with this reply. */
export function headOf({ status, fields }: Reply, keepAliveMs: number | undefined): string {
  let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  return lines + lastLines(keepAliveMs)
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

let last = ''
let lastSecond = 0
let lastKeepAliveMs: number | undefined

/** The fields that every reply of a second has. */
function lastLines(keepAliveMs: number | undefined): string {
  const second = Math.floor(Date.now() / 1000)
  if (second === lastSecond && keepAliveMs === lastKeepAliveMs) return last
  lastSecond = second
  lastKeepAliveMs = keepAliveMs
  const keepAlive =
    keepAliveMs === undefined ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}`
  last = `Date: ${new Date(second * 1000).toUTCString()}\r\nConnection: ${keepAlive}\r\n\r\n`
  return last
}
