// Plain requests, which are unambiguous and without special features, read without Node.js's parser, which handles all
// others; and replies that Node.js does not write: to plain requests, and to bytes that are not a request.
// docs/decisions/0014-plain-requests.md has the reasons.

import type { Socket } from 'node:net'
import type { Limits } from '../../limits.ts'
import { STATUS_CODES } from '../node-http.ts'
import type { Reply, RequestHead } from '../request.ts'
import { isHost } from './framing.ts'

/** The fields of a plain request that the service reads. It ignores all others. */
type PlainFields = Record<(typeof known)[number], string | undefined>

const code = { lineFeed: 0x0a, carriageReturn: 0x0d, space: 0x20, colon: 0x3a, tilde: 0x7e } as const
const requestLine = /^(GET|POST|PUT|DELETE) (\/[\w.~/-]*(?:\?[\w.~=&%+-]*)?) HTTP\/1\.1\r\n/
const contentLength = /^[1-9][0-9]{0,8}$/

const known = [
  ...['host', 'authorization', 'accept', 'accept-encoding', 'content-type', 'content-length', 'idempotency-key'],
  ...['if-match', 'if-none-match', 'last-event-id', 'origin', 'x-forwarded-for', 'x-forwarded-proto'],
] as const
/** A request with one of these fields is ambiguous, or needs special handling. */
const special = [
  ...['transfer-encoding', 'content-encoding', 'te', 'trailer', 'expect', 'upgrade', 'proxy-connection'],
  'http2-settings',
  // OpenTelemetry's instrumentation of node:http does not see plain requests.
  'traceparent',
] as const

type FieldKind = (typeof known)[number] | 'connection' | 'special'

const meanings: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ...[...known, 'connection' as const].flatMap((name) => [[name, name] as const, [titleCase(name), name] as const]),
  ...special.map((name) => [name, 'special'] as const),
])

/** All fields, so that the objects of all requests have one shape. */
const noFields = Object.fromEntries(known.map((name) => [name, undefined])) as PlainFields

/** By character code: 1 if the names of the fields above may contain the character, 0 otherwise. */
const isInName = Uint8Array.from({ length: 128 }, (_, index) => Number(/[\w-]/.test(String.fromCharCode(index))))

/** The fields of the newest request without a body. Most clients send the same ones with each request. */
export interface FieldsSeen {
  /** All bytes after the request line. */
  text: string
  fields: Readonly<PlainFields> | undefined
}

/**
 * Parses bytes as exactly one plain request; otherwise returns undefined.
 *
 * @param seen the fields last seen on the same connection.
 */
export function readPlainRequest(bytes: Buffer, limits: Limits, seen?: FieldsSeen): RequestHead | undefined {
  const text = bytes.toString('latin1', 0, limits.plainHeaderBytesMax)
  const line = requestLine.exec(text)
  if (line === null) return undefined
  const [, method, target] = line as unknown as readonly [string, string, string]
  const isWhole = text.length === bytes.length
  const rest = text.slice(line[0].length)
  // The same bytes mean the same fields, and end where the request ends.
  if (isWhole && seen?.fields !== undefined && rest === seen.text) {
    return toPlain(method, target, seen.fields, undefined)
  }
  const fields: PlainFields = { ...noFields }
  let at = line[0].length
  for (let count = 0; text.charCodeAt(at) !== code.carriageReturn; count += 1) {
    if (count === limits.headerFieldsMax) return undefined
    at = readField(text, at, fields)
    if (at === -1) return undefined
  }
  if (text.charCodeAt(at + 1) !== code.lineFeed) return undefined
  const body = readBody(bytes, at + 2, fields['content-length'], limits.bodyBytesMax)
  if (body === undefined || fields.host === undefined || !isHost(fields.host)) return undefined
  if (body.length > 0) return toPlain(method, target, fields, body)
  if (seen !== undefined && isWhole) {
    seen.text = rest
    seen.fields = fields
  }
  return toPlain(method, target, fields, undefined)
}

function toPlain(method: string, target: string, fields: PlainFields, body: Buffer | undefined): RequestHead {
  return { method, target, fields, host: fields.host, isHttp10: false, body }
}

/** Parses one line. Returns the offset of the next, or -1 if the request is not plain. */
function readField(text: string, start: number, fields: PlainFields): number {
  let nameEnd = start
  while (isInName[text.charCodeAt(nameEnd)] === 1) nameEnd += 1
  if (nameEnd === start || text.charCodeAt(nameEnd) !== code.colon) return -1
  const valueStart = nameEnd + 2
  let end = valueStart
  while (isVisibleOrSpace(text.charCodeAt(end))) end += 1
  // Require exactly one space before the value, and none after it.
  if (text.charCodeAt(nameEnd + 1) !== code.space || text.charCodeAt(valueStart) === code.space) return -1
  if (end === valueStart || text.charCodeAt(end - 1) === code.space) return -1
  if (text.charCodeAt(end) !== code.carriageReturn || text.charCodeAt(end + 1) !== code.lineFeed) return -1
  return note(text.slice(start, nameEnd), text.slice(valueStart, end), fields) ? end + 2 : -1
}

/** Returns false if the field makes the request not plain. */
function note(name: string, value: string, fields: PlainFields): boolean {
  const meaning = meanings.get(name) ?? meanings.get(name.toLowerCase())
  if (meaning === undefined) return true
  if (meaning === 'special') return false
  if (meaning === 'connection') return value === 'keep-alive' || value.toLowerCase() === 'keep-alive'
  if (fields[meaning] !== undefined) return false
  // A stream, which only Node.js's writer can send. Media types ignore case (RFC 9110, section 8.3.1).
  if (meaning === 'accept' && /event-stream/i.test(value)) return false
  fields[meaning] = value
  return true
}

/** Copies the bytes after the fields if their length matches. */
function readBody(bytes: Buffer, start: number, length: string | undefined, bytesMax: number): Buffer | undefined {
  const came = bytes.length - start
  if (length === undefined ? came !== 0 : !contentLength.test(length) || Number(length) !== came) return undefined
  return came > bytesMax ? undefined : Buffer.from(bytes.subarray(start))
}

function isVisibleOrSpace(character: number): boolean {
  return character >= code.space && character <= code.tilde
}

function titleCase(name: string): string {
  return name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())
}

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
