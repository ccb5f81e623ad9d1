// Where a body ends: Content-Length, Transfer-Encoding and chunks. RFC 9112, sections 6 and 7.

import {
  chunkedBody,
  chunks,
  closes,
  create,
  ends,
  type FramingCase,
  goesOn,
  head,
  host,
  json,
  livez,
  plant,
  plantLength,
  smuggled,
  strange,
  token,
} from './case.ts'

const size = plant.length
const hexSize = size.toString(16)
const chunked = (body: string): string => `${create(chunkedBody)}${body}`

export const bodies: readonly FramingCase[] = [
  // RFC 9112, section 6.3: a Content-Length is 1*DIGIT, and one.
  closes('two Content-Lengths', `${create('Content-Length: 2', 'Content-Length: 3')}{}`, 'malformedRequest'),
  closes('the same Content-Length twice', `${create(plantLength, plantLength)}${plant}`, 'malformedRequest'),
  closes('a list of Content-Lengths', `${create(`Content-Length: ${size}, ${size}`)}${plant}`, 'malformedRequest'),
  closes('a negative Content-Length', create('Content-Length: -1'), 'malformedRequest'),
  closes('a Content-Length with a plus', `${create(`Content-Length: +${size}`)}${plant}`, 'malformedRequest'),
  closes('a Content-Length that is no number', create('Content-Length: 2x'), 'malformedRequest'),
  closes('a hexadecimal Content-Length', create('Content-Length: 0x10'), 'malformedRequest'),
  closes('a fractional Content-Length', create('Content-Length: 2.0'), 'malformedRequest'),
  closes('a Content-Length with a space', create('Content-Length: 1 2'), 'malformedRequest'),
  closes('a Content-Length past any number', create(`Content-Length: ${'9'.repeat(30)}`), 'malformedRequest'),
  closes('an empty Content-Length', `${create('Content-Length:')}${smuggled}`, 'malformedRequest'),
  goesOn('a Content-Length with zeros before it', `${create(`Content-Length: 000${size}`)}${plant}`, 200),
  goesOn('no body where one is needed', create(), 'invalidJson'),
  goesOn('a body of nothing', create('Content-Length: 0'), 'invalidJson'),
  goesOn('a body that a GET does not want', `${livez('Content-Length: 5')}hello`, 200),
  goesOn('a request as the body of a GET', `${livez(`Content-Length: ${smuggled.length}`)}${smuggled}`, 200),
  goesOn(
    'a request as the body of a create',
    `${create(`Content-Length: ${smuggled.length}`)}${smuggled}`,
    'invalidJson',
  ),
  goesOn(
    'a refused body is passed over',
    `${strange(`Content-Length: ${smuggled.length}`)}${smuggled}`,
    'missingToken',
  ),
  closes('a Content-Length past the limit', create('Content-Length: 65537'), 'bodyTooLarge'),
  closes(
    'a body past the limit',
    `${create('Content-Length: 70000')}${smuggled.repeat(1_500).slice(0, 70_000)}`,
    'bodyTooLarge',
  ),

  // RFC 9112, section 6.1.
  closes(
    'Content-Length and Transfer-Encoding',
    `${create('Content-Length: 2', chunkedBody)}0\r\n\r\n`,
    'malformedRequest',
  ),
  closes(
    'a transfer coding that is not known',
    `${create('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
    'unknownTransferCoding',
  ),
  closes(
    'chunked that is not the last coding',
    `${create('Transfer-Encoding: chunked, gzip')}0\r\n\r\n`,
    'malformedRequest',
  ),
  closes('chunked twice', `${create('Transfer-Encoding: chunked, chunked')}0\r\n\r\n`, 'malformedRequest'),
  closes('two lines of chunked', `${create(chunkedBody, chunkedBody)}0\r\n\r\n`, 'malformedRequest'),
  {
    ...closes(
      'identity in a HEAD',
      head('HEAD /livez HTTP/1.1', host, 'Transfer-Encoding: identity'),
      'unknownTransferCoding',
    ),
    heads: [0],
  },
  closes('identity', `${create('Transfer-Encoding: identity')}${plant}`, 'unknownTransferCoding'),
  closes('a coding in quotes', `${create('Transfer-Encoding: "chunked"')}0\r\n\r\n`, 'unknownTransferCoding'),
  closes('a coding with a parameter', `${create('Transfer-Encoding: chunked;a=b')}0\r\n\r\n`, 'unknownTransferCoding'),
  closes('xchunked', `${create('Transfer-Encoding: xchunked')}0\r\n\r\n${smuggled}`, 'unknownTransferCoding'),
  closes('an empty Transfer-Encoding', `${create('Transfer-Encoding:')}${smuggled}`, 'malformedRequest'),
  closes(
    'chunked in HTTP/1.0',
    `${head('POST /plants HTTP/1.0', token, json, 'Connection: keep-alive', chunkedBody)}0\r\n\r\n`,
    'malformedRequest',
  ),
  goesOn('Chunked in capitals', `${create('Transfer-Encoding: CHUNKED')}${chunks(plant)}`, 200),

  // RFC 9112, section 7.1.
  goesOn('a chunked body', chunked(chunks(plant)), 200),
  goesOn('a chunk of each byte', chunked(chunks(...'{"id":', '#########', ...',"name":"corpus"}')), 200),
  goesOn('a chunk size with zeros before it', chunked(`0000${hexSize}\r\n${plant}\r\n000\r\n\r\n`), 200),
  goesOn('a chunk that is a request', chunked(chunks(smuggled)), 'invalidJson'),
  goesOn('a chunk of nothing but the last', chunked(chunks()), 'invalidJson'),
  closes('a chunk size that is no number', chunked(`xyz\r\n${smuggled}`), 'malformedRequest'),
  closes('an empty chunk size', chunked(`\r\n${smuggled}`), 'malformedRequest'),
  closes('a negative chunk size', chunked(`-1\r\n${smuggled}`), 'malformedRequest'),
  closes('a chunk size with 0x', chunked(`0x${hexSize}\r\n${plant}\r\n0\r\n\r\n`), 'malformedRequest'),
  closes('a space before a chunk size', chunked(` ${hexSize}\r\n${plant}\r\n0\r\n\r\n`), 'malformedRequest'),
  closes('a chunk size past any number', chunked(`${'f'.repeat(20)}\r\n`), 'malformedRequest'),
  closes(
    'a chunk size past 64 bits',
    chunked(`1000000000000000${hexSize}\r\n${plant}\r\n0\r\n\r\n`),
    'malformedRequest',
  ),
  closes('a chunk longer than its size', chunked('1\r\nabc\r\n'), 'malformedRequest'),
  closes('a chunk shorter than its size', chunked(`8\r\nabc\r\n0\r\n\r\n${smuggled}`), 'malformedRequest'),
  closes(
    'a chunk size that ends in a line feed alone',
    chunked(`${hexSize}\n${plant}\r\n0\r\n\r\n`),
    'malformedRequest',
  ),
  closes('a chunk that ends in a line feed alone', chunked(`${hexSize}\r\n${plant}\n0\r\n\r\n`), 'malformedRequest'),
  closes(
    'a chunk size that ends in a carriage return alone',
    chunked(`${hexSize}\r${plant}\r\n0\r\n\r\n`),
    'malformedRequest',
  ),
  closes('a body of chunks past the limit', chunked(`11000\r\n${'x'.repeat(0x11000)}`), 'bodyTooLarge'),
  closes('chunks that never end', chunked(`1000\r\n${'x'.repeat(0x1000)}\r\n`.repeat(64)), 'bodyTooLarge'),

  // RFC 9112, section 7.1.1 and 7.1.2.
  goesOn('a chunk extension', chunked(`${hexSize};a=b\r\n${plant}\r\n0\r\n\r\n`), 200),
  goesOn('a chunk extension in quotes', chunked(`${hexSize};a="b;c"\r\n${plant}\r\n0\r\n\r\n`), 200),
  closes('a chunk extension with a line feed', chunked(`${hexSize};a=b\n${plant}\r\n0\r\n\r\n`), 'malformedRequest'),
  closes('a chunk extension of 20 KB', chunked(`1;${'a'.repeat(20_000)}\r\n`), 'bodyTooLarge'),
  ends('the same where no body is wanted', `${livez(chunkedBody)}1;${'a'.repeat(20_000)}\r\n`, 'bodyTooLarge'),
  goesOn('a trailer field', chunked(`${hexSize}\r\n${plant}\r\n0\r\nX-A: b\r\n\r\n`), 200),
  closes(
    'a trailer field that would frame',
    chunked(`${hexSize}\r\n${plant}\r\n0\r\nContent-Length: 9\r\n\r\n`),
    'malformedRequest',
  ),
  closes('a broken trailer field', chunked(`${hexSize}\r\n${plant}\r\n0\r\nX A: b\r\n\r\n`), 'malformedRequest'),
  closes(
    'a trailer of 20 KB',
    chunked(`${hexSize}\r\n${plant}\r\n0\r\nX: ${'a'.repeat(20_000)}`),
    'headerFieldsTooLarge',
  ),
  closes('chunks of a stranger', `${strange(chunkedBody)}${chunks(smuggled)}`, 'missingToken'),
  goesOn('a chunked body that a GET does not want', `${livez(chunkedBody)}${chunks(smuggled)}`, 200),
  {
    ...goesOn('a chunked body of a HEAD', `${head('HEAD /livez HTTP/1.1', host, chunkedBody)}${chunks('a')}`, 200),
    heads: [0],
  },
]
