// The head of a reply that Node.js does not write: to a plain request, or to bytes that are not a request.

import { STATUS_CODES } from '../node-http.ts'
import type { Reply } from '../request.ts'

/** @param connection the value of Connection; further fields may follow it. */
export function headOf({ status, fields }: Reply, connection: string): string {
  let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  return `${lines}Date: ${dateNow()}\r\nConnection: ${connection}\r\n\r\n`
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
