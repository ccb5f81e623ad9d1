// The framing corpus: broken, ambiguous and hostile requests by name, and clients that are slow or leave. A case is what
// a client sends and does, the responses that it gets, and how its connection ends.

import type { ErrorCode } from '../../../src/domain/errors.ts'
import type { Wire } from './wire.ts'

/** An answer: its status when it is none of the errors, else the name of the error. */
export type Outcome = 100 | 200 | 204 | ErrorCode

/** What a client does, other than to send. */
type Act = (wire: Wire) => unknown

/** The client says that it sends nothing more, and reads on. */
export const finish: Act = ({ socket }) => socket.end()
/** The client resets its connection. */
export const reset: Act = ({ socket }) => socket.resetAndDestroy()
/** The client reads nothing from now on. */
const stopReading: Act = ({ socket }) => socket.pause()

/** A text is sent as latin1, with a token in the place of `TOKEN` and an unused id for each `#########`. */
export type Step = string | Buffer | Act

/**
 * What becomes of the connection:
 * - `goesOn`: its next request is answered.
 * - `closes`: the last answer says so, nothing more is answered, and the server ends it.
 * - `ends`: the same, but the last answer could not know or was not asked; the server ends it.
 * - `left`: the client has reset it; it may have missed answers, but must not get others.
 */
export type Fate = 'goesOn' | 'closes' | 'ends' | 'left'

export interface FramingCase {
  readonly name: string
  readonly steps: readonly Step[]
  readonly answers: readonly Outcome[]
  readonly fate: Fate
  /** The places of the answers to HEAD among the others. */
  readonly heads: readonly number[]
  /** It waits for a limit of the server, or takes it much work. */
  readonly isSlow?: boolean
}

export const host = 'Host: plants.example'
export const token = 'Authorization: Bearer TOKEN'

export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}

type Steps = string | Buffer | readonly Step[]

/** Cases by name that have the same answers and the same fate. */
const toCases =
  (fate: Fate) =>
  (answers: readonly Outcome[], cases: Readonly<Record<string, Steps>>): FramingCase[] =>
    Object.entries(cases).map(([name, steps]) => {
      const list = typeof steps === 'string' || Buffer.isBuffer(steps) ? [steps] : steps
      const methods = String(list[0]).match(/^[A-Z]+(?= \S+ HTTP)/gm) ?? []
      const heads = [...methods.entries()].flatMap(([place, method]) => (method === 'HEAD' ? [place] : []))
      return { name, steps: list, answers, fate, heads }
    })

const goesOn = toCases('goesOn')
const closes = toCases('closes')
const ends = toCases('ends')
const left = toCases('left')

function slow(cases: readonly FramingCase[]): FramingCase[] {
  return cases.map((each) => ({ ...each, isSlow: true }))
}

/** Waits until so many answers have come, 100s included. */
function answered(answers: number): Act {
  return (wire) => wire.untilAnswers(answers)
}

/** Sends the same bytes again and again, until the server answers. */
function drip(bytes: string): Act {
  return async (wire) => {
    const before = wire.answers.length
    const timer = setInterval(() => wire.socket.write(bytes), 20)
    await wire.until(() => wire.answers.length > before)
    clearInterval(timer)
  }
}

const json = 'Content-Type: application/json'
const chunkedBody = 'Transfer-Encoding: chunked'
const waits = 'Expect: 100-continue'
/** As long as it is sent, whatever the id. */
const plant = '{"id":#########,"name":"corpus"}'
const plantLength = `Content-Length: ${plant.length}`

/** The head of a GET of what is always there. */
function livez(...lines: readonly string[]): string {
  return head('GET /livez HTTP/1.1', host, ...lines)
}

/** The head of a create by somebody who may. */
function create(...lines: readonly string[]): string {
  return head('POST /plants HTTP/1.1', host, token, json, ...lines)
}

/** The head of a request for a plant that is not there, with a body of three bytes. */
function untyped(method: string, ...lines: readonly string[]): string {
  const fields = ['Content-Type: no media type', 'Content-Length: 3', ...lines]
  return head(`${method} /plants/-1 HTTP/1.1`, host, token, ...fields)
}

/** A create in chunks, with those given for its body. */
function chunked(body: string): string {
  return `${create(chunkedBody)}${body}`
}

/** The head of a create by a stranger. */
function strange(...lines: readonly string[]): string {
  return head('POST /plants HTTP/1.1', host, json, ...lines)
}

function chunks(...pieces: readonly string[]): string {
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`
}

/** A whole create. */
const wholeCreate = `${create(plantLength)}${plant}`

/** A request that must never be seen as one, wherever it is hidden. */
const smuggled = head('GET /smuggled HTTP/1.1', host)

const start = (line: string): string => head(line, host)
const get = 'GET /livez HTTP/1.1'
const numbered = Array.from({ length: 100 }, (_, index) => `X-${index}: a`)
const size = plant.length
const hexSize = size.toString(16)
const long = 'a'.repeat(20_000)
/** A body that ends at once for whoever reads chunks, and later for whoever counts. */
const endsAtOnce = `0\r\n\r\n${smuggled}`
const countsMore = `Content-Length: ${endsAtOnce.length}`
const missing = head('GET /missing HTTP/1.1', host)
/** A create with a line beside its length. */
const disguised = (line: string): string => `${create(countsMore, line)}${endsAtOnce}`
const upgrade = ['Connection: Upgrade', 'Upgrade: h2c'] as const

// Request lines, versions and targets: RFC 9112, sections 2 and 3.
const requestLines = [
  ...closes(['malformedRequest'], {
    // RFC 9112, section 3: method SP request-target SP HTTP-version CRLF.
    'not HTTP at all': 'hello\r\n\r\n',
    'a TLS client hello': Buffer.from('16030100a5010000a10303', 'hex'),
    'a request line without a version': `GET /livez\r\n\r\n${smuggled}`,
    'a space before the method': start(' GET /livez HTTP/1.1'),
    'a carriage return in the request line': start('GET /li\rvez HTTP/1.1'),
    'a method of 5,000 characters': start(`${'A'.repeat(5_000)} /livez HTTP/1.1`),
    // RFC 9112, section 2.3. The parser of Node.js takes RTSP and ICE for requests.
    'HTTP/2 by prior knowledge': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a GET of RTSP': start('GET /livez RTSP/1.0'),
    // Section 3.2.
    'a target with a user': start('GET http://me@plants.example/livez HTTP/1.1'),
    'a target of another scheme': start('GET ftp://plants.example/livez HTTP/1.1'),
    'a target with a fragment': start('GET /livez#part HTTP/1.1'),
    'a path that is not UTF-8': start('GET /%ff HTTP/1.1'),
  }),
  ...goesOn([200], {
    // One that splits at any white space may be lenient (section 3).
    'two spaces after the method': start('GET  /livez HTTP/1.1'),
    // RFC 9112, section 2.2: empty lines before a request line are passed over.
    'empty lines before a request': `\r\n\r\n${livez()}`,
    'HTTP/1.0 that asks to be kept': head('GET /livez HTTP/1.0', 'Connection: keep-alive'),
    'a target in full, of another host': start('GET http://other.example/livez HTTP/1.1'),
  }),
  ...goesOn([200, 200], { 'an empty line between two requests': `${livez()}\r\n${livez()}` }),
  ...closes([200], { 'HTTP/1.0 with a request behind': `${head('GET /livez HTTP/1.0')}${smuggled}` }),
  ...closes(['unknownMethod'], {
    // RFC 9110, section 9.1, and RFC 9112, section 3.2.3.
    'CONNECT with a request behind': `${start('CONNECT a.example:1 HTTP/1.1')}${smuggled}`,
    'an unknown method': start('BREW /plants HTTP/1.1'),
    'a method of RTSP in HTTP': start('SETUP /livez HTTP/1.1'),
  }),
  // RFC 9112, section 3.2.
  ...goesOn([204], { 'OPTIONS of everything': start('OPTIONS * HTTP/1.1') }),
  ...goesOn(['unknownPath'], {
    'an encoded line end in the target': start('GET /livez%0d%0aX:%20y HTTP/1.1'),
    'an encoded slash': start('GET /plants%2f1 HTTP/1.1'),
    'dots in the target': start('GET /x/../livez HTTP/1.1'),
  }),
  ...closes(['headerFieldsTooLarge'], { 'a target of 20 KB': start(`GET /${'a'.repeat(20_000)} HTTP/1.1`) }),
]

// Header fields: their syntax, Host, those that must not come twice, and too many of them. RFC 9112, sections 3.2 and 5;
// RFC 9110, section 5.
const fields = [
  ...closes(['malformedRequest'], {
    // RFC 9112, section 5.1: no white space before the colon.
    'a space before the colon of Content-Length': `${livez('Content-Length : 60')}${smuggled}`,
    'a field without a colon': livez('X-A'),
    'a broken HEAD': head('HEAD /livez HTTP/1.1', host, 'Bad Field'),
    'a name past ASCII': livez('X-\xe9: b'),
    'a space before the first field': head(get, ' X-A: b', host),
    // RFC 9110, section 5.5, and RFC 9112, section 2.2: no NUL, no bare line end.
    'NUL in a field': livez('X-A: b\0c'),
    'a bare carriage return in a field': livez('X-A: b\rX-B: c'),
    'lines that end in line feeds alone': 'GET /livez HTTP/1.1\nHost: plants.example\n\n',
    'a head that ends in a line feed alone': `GET /livez HTTP/1.1\r\n${host}\r\n\n`,
  }),
  ...goesOn([200], {
    'a field of bytes past ASCII': livez('X-A: \xe9\xff'),
    // RFC 9112, section 3.2.
    'an empty Host': head(get, 'Host:'),
    'a Host that is an IPv6 address': head(get, 'Host: [::1]:80'),
    // RFC 6585, section 5.
    '100 header fields': livez(...numbered.slice(1)),
  }),
  ...goesOn(['invalidHeader'], {
    // RFC 9112, section 3.2: one valid Host.
    'no Host': head(get),
    'a Host with a user': head(get, 'Host: me@plants.example'),
    'a Host with a port that is no number': head(get, 'Host: a:b'),
  }),
  ...goesOn(['repeatedHeader'], {
    // RFC 9110, section 5.3: fields that are no lists, of which Node.js would keep one silently.
    'two Hosts, one of them in capitals': livez('HOST: other.example'),
  }),
  ...closes(['headerFieldsTooLarge'], {
    'a head that never ends': `${get}\r\n${'X-A: b\r\n'.repeat(8_000)}`,
    '101 header fields': livez(...numbered),
    // Node.js would drop those past 2,000 silently, the Authorization of a request among them.
    '2,500 header fields': livez(...Array(2_500).fill('a:')),
  }),
]

// Where a body ends: Content-Length, Transfer-Encoding and chunks. RFC 9112, sections 6 and 7.
const bodies = [
  ...closes(['malformedRequest'], {
    // RFC 9112, section 6.3: a Content-Length is 1*DIGIT, and one.
    'a Content-Length with a plus': `${create(`Content-Length: +${size}`)}${plant}`,
    'a Content-Length past any number': create(`Content-Length: ${'9'.repeat(30)}`),
    'an empty Content-Length': `${create('Content-Length:')}${smuggled}`,
    // Section 6.1.
    'two lines of chunked': `${create(chunkedBody, chunkedBody)}0\r\n\r\n`,
    'an empty Transfer-Encoding': `${create('Transfer-Encoding:')}${smuggled}`,
    'chunked in HTTP/1.0': `${head('POST /plants HTTP/1.0', token, json, 'Connection: keep-alive', chunkedBody)}0\r\n\r\n`,
    // Section 7.1.
    'a chunk size that is no number': chunked(`xyz\r\n${smuggled}`),
    'a chunk size with 0x': chunked(`0x${hexSize}\r\n${plant}\r\n0\r\n\r\n`),
    'a chunk size past 64 bits': chunked(`1000000000000000${hexSize}\r\n${plant}\r\n0\r\n\r\n`),
    'a chunk shorter than its size': chunked(`8\r\nabc\r\n0\r\n\r\n${smuggled}`),
    'a chunk size that ends in a line feed alone': chunked(`${hexSize}\n${plant}\r\n0\r\n\r\n`),
    'a chunk size that ends in a carriage return alone': chunked(`${hexSize}\r${plant}\r\n0\r\n\r\n`),
    // Sections 7.1.1 and 7.1.2.
    'a chunk extension with a line feed': chunked(`${hexSize};a=b\n${plant}\r\n0\r\n\r\n`),
    'a trailer field that would frame': chunked(`${hexSize}\r\n${plant}\r\n0\r\nContent-Length: 9\r\n\r\n`),
  }),
  ...goesOn([200], {
    'a Content-Length with zeros before it': `${create(`Content-Length: 000${size}`)}${plant}`,
    'a request as the body of a GET': `${livez(`Content-Length: ${smuggled.length}`)}${smuggled}`,
    'chunked in capitals': `${create('Transfer-Encoding: CHUNKED')}${chunks(plant)}`,
    'a chunked body that a GET does not want': `${livez(chunkedBody)}${chunks(smuggled)}`,
    'one that arrives after the answer': [livez(chunkedBody), answered(1), chunks(smuggled)],
  }),
  ...goesOn(['invalidJson'], {
    'no body where one is needed': create(),
    'a request as the body of a create': `${create(`Content-Length: ${smuggled.length}`)}${smuggled}`,
    'a chunk that is a request': chunked(chunks(smuggled)),
  }),
  ...goesOn(['missingToken'], {
    'a refused body is passed over': `${strange(`Content-Length: ${smuggled.length}`)}${smuggled}`,
  }),
  ...goesOn(['unknownPlant', 'unknownPlant'], {
    'bodies of no type that a DELETE and a GET do not want': `${untyped('DELETE')}x"{${untyped('GET')}x"{`,
  }),
  ...closes([100, 'unknownPlant', 100, 'unknownPlant'], {
    'the same, after their 100s': [
      untyped('DELETE', waits),
      answered(1),
      'abc',
      untyped('GET', waits),
      answered(3),
      'abc',
    ],
  }),
  ...closes(['bodyTooLarge'], {
    'a Content-Length past the limit': create('Content-Length: 65537'),
    'one where no body is wanted': head('DELETE /plants/1 HTTP/1.1', host, token, 'Content-Length: 65537'),
    'a body of chunks past the limit': chunked(`11000\r\n${'x'.repeat(0x11000)}`),
    'a chunk extension of 20 KB': chunked(`1;${long}\r\n`),
  }),
  ...closes(['unknownTransferCoding'], {
    // RFC 9112, section 6.1.
    xchunked: `${create('Transfer-Encoding: xchunked')}0\r\n\r\n${smuggled}`,
    'identity in a HEAD': head('HEAD /livez HTTP/1.1', host, 'Transfer-Encoding: identity'),
  }),
  ...goesOn([200], { 'chunks of a HEAD': `${head('HEAD /livez HTTP/1.1', host, chunkedBody)}${chunks('a')}` }),
  // A chunk extension of 20 KB.
  ...ends(['bodyTooLarge'], { 'the same where no body is wanted': `${livez(chunkedBody)}1;${long}\r\n` }),
  ...closes(['headerFieldsTooLarge'], { 'a trailer of 20 KB': chunked(`${hexSize}\r\n${plant}\r\n0\r\nX: ${long}`) }),
]

// Requests hidden in or behind others: whoever reads the framing otherwise would serve them. RFC 9112, sections 6.3 and
// 11.2.
const smuggling = [
  ...closes(['malformedRequest'], {
    // Both lengths: RFC 9112, section 6.3, rule 3.
    'both lengths, the chunks shorter': `${create(countsMore, chunkedBody)}${endsAtOnce}`,
    'both lengths, the coding first and longer': `${create(chunkedBody, 'Content-Length: 4')}${chunks(smuggled)}`,
    'two lengths, the first shorter': `${create('Content-Length: 0', countsMore)}${endsAtOnce}`,
    'a list of two lengths': `${create('Content-Length: 0, 60')}${smuggled}`,
    'a length behind a line feed': `${create('X: y\nContent-Length: 60')}${smuggled}`,
    // Ways to write Transfer-Encoding that some take for it and some do not.
    'a space before the colon of a coding': disguised('Transfer-Encoding : chunked'),
    'a form feed before a coding': disguised('Transfer-Encoding:\x0cchunked'),
    'a comma before a coding': disguised('Transfer-Encoding: , chunked'),
    'another coding after it': disguised('Transfer-Encoding: chunked, identity'),
    'a second line with another coding': disguised('Transfer-Encoding: chunked\r\nTransfer-Encoding: x'),
    'a fold before a coding': disguised('Transfer-Encoding:\r\n chunked'),
    // Endings of chunks that are read otherwise.
    'a last chunk and a line feed': chunked(`0\n\n${smuggled}`),
    'a chunk behind a space': chunked(`2 \r\n{}\r\n0\r\n\r\n${smuggled}`),
    'a chunk size in two lines': chunked(`2\r\r\n{}\r\n0\r\n\r\n${smuggled}`),
  }),
  // A field like any other leaves the Content-Length as it is.
  ...goesOn(['invalidJson'], { 'an underscore in the name of a coding': disguised('Transfer_Encoding: chunked') }),
  ...goesOn([200], {
    'a request in a trailer': chunked(`${chunks(plant).slice(0, -2)}X: GET /smuggled HTTP/1.1\r\n\r\n`),
  }),
  ...goesOn(['invalidPlant'], { 'a request in a chunk extension': chunked('2;a="GET /smuggled"\r\n{}\r\n0\r\n\r\n') }),
  ...closes([200], { 'a request behind Connection: close': `${livez('Connection: close')}${smuggled}` }),
  ...closes(['missingToken'], {
    'requests behind a refusal that closes': `${strange(chunkedBody)}${chunks('a')}${smuggled.repeat(20)}`,
  }),
  // Mixtures, in order: RFC 9112, section 9.3.2.
  ...goesOn([200, 200, 'unknownPath'], { 'three good requests at once': `${livez()}${wholeCreate}${missing}` }),
  ...goesOn([200, 200, 200, 200], {
    'lengths and chunks by turns': `${wholeCreate}${chunked(chunks(plant))}`.repeat(2),
  }),
  ...goesOn([200, 200, 200], { 'a HEAD between others': `${livez()}${head('HEAD /livez HTTP/1.1', host)}${livez()}` }),
  ...closes([200, 'unknownPath', 200, 'malformedRequest'], {
    'a broken request behind three': `${livez()}${missing}${wholeCreate}\0${smuggled}`,
  }),
]

// Clients that wait for a 100, that would rather speak something else, that are slow, half gone, gone at any stage, or
// that do not read. RFC 9110, sections 10.1.1 and 7.8; RFC 9112, sections 9.5 and 9.6.
const clients = [
  ...goesOn([100, 200], {
    // RFC 9110, section 10.1.1.
    'a body after its 100': [create(plantLength, waits), answered(1), plant],
    'chunks after their 100': [create(chunkedBody, waits), answered(1), chunks(plant)],
    'a body that does not wait for its 100': `${create(plantLength, waits)}${plant}`,
  }),
  ...closes([200], {
    'an expectation without a body': livez(waits),
    'an expectation of HTTP/1.0': `${head('POST /plants HTTP/1.0', token, json, plantLength, waits)}${plant}`,
  }),
  ...closes(['missingToken'], { 'a stranger who waits': strange(plantLength, waits) }),
  ...closes(['bodyTooLarge'], { 'a byte too much behind a wait': create('Content-Length: 65537', waits) }),
  ...goesOn([100, 'invalidJson'], {
    'as much as may be behind a wait': [create('Content-Length: 65536', waits), answered(1), ' '.repeat(65_536)],
  }),
  ...closes([100, 'malformedRequest'], {
    'an end instead of a body': [create(plantLength, waits), answered(1), finish],
  }),
  ...closes(['expectationFailed'], { 'an unknown expectation': create('Content-Length: 2', 'Expect: tea') }),
  ...closes(['repeatedHeader'], { 'two expectations': create('Content-Length: 2', waits, waits) }),
  ...goesOn(['expectationFailed'], { 'an unknown expectation without a body': livez('Expect: tea') }),
  ...goesOn([200], {
    // RFC 9110, section 7.8: a server may ignore an Upgrade, and this one does.
    'an Upgrade with a request as its body': `${livez(...upgrade, `Content-Length: ${smuggled.length}`)}${smuggled}`,
  }),
  ...goesOn([200, 200], {
    'an Upgrade with chunks before another': `${create(chunkedBody, ...upgrade)}${chunks(plant)}${livez()}`,
  }),
  // Slow heads and bodies: RFC 9110, section 15.5.9.
  ...slow([
    ...closes(['requestTimeout'], {
      'nothing at all': [],
      'a head that comes byte by byte': [`${get}\r\nX: `, drip('a')],
      'empty lines without end': [drip('\r\n')],
      'a body that comes byte by byte': [create('Content-Length: 60000'), drip(' ')],
    }),
    ...closes([100, 'requestTimeout'], { 'no body after its 100': create(plantLength, waits) }),
    ...closes(['missingToken'], { 'half a body of a stranger, chunked': `${strange(chunkedBody)}5\r\nab` }),
    ...ends([200], { 'no next request for too long': [livez(), answered(1)] }),
    // Answers that nobody reads.
    ...left([], {
      'documents that nobody reads': [stopReading, head('GET /openapi.json HTTP/1.1', host).repeat(400), reset],
    }),
  ]),
  // Half-closed: the client still reads.
  ...ends([], { 'an end before anything': [finish] }),
  ...ends([200], { 'an end after chunks': [chunked(chunks(plant)), finish] }),
  ...ends(Array(40).fill(200), { 'an end after forty requests': [livez().repeat(40), finish] }),
  ...closes(['malformedRequest'], {
    'an end in a head': [`${get}\r\n${host}\r\n`, finish],
    'an end in a body': [`${create(plantLength)}{"id":`, finish],
  }),
  ...left([], { 'a reset in a chunk': [chunked('10\r\n{"id":'), reset] }),
  ...left([200], {
    'a reset right after a create': [wholeCreate, reset],
    'a reset after an end': [wholeCreate, finish, reset],
  }),
  ...left([100], { 'a reset before a 100': [create(plantLength, waits), reset] }),
  ...left(Array(40).fill(200), { 'a reset among forty answers': [livez().repeat(40), answered(1), reset] }),
]

export const framingCorpus: readonly FramingCase[] = [...requestLines, ...fields, ...bodies, ...smuggling, ...clients]
