// Checks that RFC 9112 requires and Node.js omits, run first on every request that Node.js parses.
// Plain requests pass them by their definition (plain.ts).

import type { IncomingMessage } from 'node:http'
import { AppError } from '../../domain/errors.ts'

/** Fields that affect authentication or meaning, and so must not repeat; Node.js would silently keep one of them. */
const singleFields = ['host', 'authorization', 'content-type', 'expect', 'idempotency-key']

/** uri-host of RFC 3986, section 3.2.2, with an optional port. */
const hostPattern = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/

/** origin-form, absolute-form without user info, and asterisk-form of RFC 9112, section 3.2; none has a fragment. */
const targetPattern =
  /^(?:\/[^#]*|https?:\/\/(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?:[/?][^#]*)?|\*)$/i

/** The error for a request whose framing or header fields are unsafe. Node.js limits only the bytes of its fields. */
export function findUnsafe(
  { rawHeaders, httpVersion, url = '/', headers }: IncomingMessage,
  headerFieldsMax: number,
): AppError | undefined {
  if (rawHeaders.length > headerFieldsMax * 2) {
    return new AppError(
      'headerFieldsTooLarge',
      `the request has more than the ${headerFieldsMax} header fields allowed`,
    )
  }
  if (!targetPattern.test(url)) {
    return new AppError('malformedRequest', 'the target must be a path, or an http URL without user or fragment')
  }
  const repeated = findRepeated(rawHeaders)
  if (repeated !== undefined) return new AppError('repeatedHeader', `${repeated}: must be sent once`)
  const { host, 'transfer-encoding': transferEncoding } = headers
  if (host === undefined) {
    if (httpVersion !== '1.0') return new AppError('invalidHeader', 'Host: is missing')
  } else if (!isHost(host)) {
    return new AppError('invalidHeader', 'Host: must be a host name or address with an optional port')
  }
  if (transferEncoding !== undefined && httpVersion === '1.0') {
    return new AppError('malformedRequest', 'Transfer-Encoding: must not be sent with HTTP/1.0')
  }
  if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') {
    return new AppError(
      'unknownTransferCoding',
      `Transfer-Encoding: must be chunked, got ${JSON.stringify(transferEncoding)}`,
    )
  }
  return undefined
}

/** Whether a text is a host name or address with an optional port. */
export function isHost(text: string): boolean {
  return hostPattern.test(text)
}

/** The requested host: from an absolute target, otherwise from Host (RFC 9112, section 3.2.2). */
export function hostAsked({ headers, url = '/' }: IncomingMessage): string | undefined {
  return url.startsWith('/') ? headers.host : /^https?:\/\/([^/?]*)/i.exec(url)?.[1]
}

/** A target may be in absolute form, with scheme and host (RFC 9112, section 3.2.2). */
export function toOriginForm(url: string): string {
  return /^https?:\/\//i.test(url) ? url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/') : url
}

/** Whether the header fields announce a body (RFC 9112, section 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return rawHeaders.find((field, index) => {
    if (index % 2 === 1) return false
    const name = field.toLowerCase()
    if (seen.has(name)) return true
    if (singleFields.includes(name)) seen.add(name)
    return false
  })
}
