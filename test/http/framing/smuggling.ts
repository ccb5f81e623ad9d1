// Requests hidden in or behind others: whoever reads the framing otherwise would serve them. RFC 9112, sections 6.3 and
// 11.2.

import {
  chunkedBody,
  chunks,
  closes,
  create,
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
  wholeCreate,
} from './case.ts'

/** A body that ends at once for whoever reads chunks, and later for whoever counts. */
const endsAtOnce = `0\r\n\r\n${smuggled}`
const countsMore = `Content-Length: ${endsAtOnce.length}`
/** A body that is longer for whoever reads chunks than for whoever counts. */
const chunksMore = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`
const countsLess = 'Content-Length: 4'
const missing = head('GET /missing HTTP/1.1', host)

/** Ways to write Transfer-Encoding that some take for it and some do not. */
const disguises: readonly (readonly [name: string, line: string])[] = [
  ['a space before the colon', 'Transfer-Encoding : chunked'],
  ['a tab before the coding', 'Transfer-Encoding:\tchunked'],
  ['a form feed before the coding', 'Transfer-Encoding:\x0cchunked'],
  ['a vertical tab behind the coding', 'Transfer-Encoding: chunked\x0b'],
  ['a line feed before the name', 'X: y\nTransfer-Encoding: chunked'],
  ['a carriage return before the name', 'X: y\rTransfer-Encoding: chunked'],
  ['an underscore in the name', 'Transfer_Encoding: chunked'],
  ['a comma before the coding', 'Transfer-Encoding: , chunked'],
  ['NUL behind the coding', 'Transfer-Encoding: chunked\0'],
  ['another coding after it', 'Transfer-Encoding: chunked, identity'],
  ['a second line with another', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x'],
  ['a fold before the coding', 'Transfer-Encoding:\r\n chunked'],
]

/** What is a field like any other leaves the Content-Length as it is. */
const isOrdinary = (name: string): boolean => name === 'an underscore in the name'

export const smuggling: readonly FramingCase[] = [
  // Both lengths: RFC 9112, section 6.3, rule 3.
  closes('both lengths, the chunks shorter', `${create(countsMore, chunkedBody)}${endsAtOnce}`, 'malformedRequest'),
  closes('both lengths, the chunks longer', `${create(countsLess, chunkedBody)}${chunksMore}`, 'malformedRequest'),
  closes('both lengths, the coding first', `${create(chunkedBody, countsMore)}${endsAtOnce}`, 'malformedRequest'),
  closes(
    'both lengths, the coding first and longer',
    `${create(chunkedBody, countsLess)}${chunksMore}`,
    'malformedRequest',
  ),
  closes('both lengths in a GET', `${livez(countsMore, chunkedBody)}${endsAtOnce}`, 'malformedRequest'),
  closes('both lengths of a stranger', `${strange(countsMore, chunkedBody)}${endsAtOnce}`, 'malformedRequest'),
  closes(
    'two lengths, the first shorter',
    `${create('Content-Length: 0', countsMore)}${endsAtOnce}`,
    'malformedRequest',
  ),
  closes(
    'two lengths, the second shorter',
    `${create(countsMore, 'Content-Length: 0')}${endsAtOnce}`,
    'malformedRequest',
  ),
  closes('a list of two lengths', `${create('Content-Length: 0, 60')}${smuggled}`, 'malformedRequest'),
  closes('a length behind a line feed', `${create('X: y\nContent-Length: 60')}${smuggled}`, 'malformedRequest'),

  // A coding in disguise beside a length.
  ...disguises.map(([name, line]) =>
    isOrdinary(name)
      ? goesOn(`a coding with ${name}`, `${create(countsMore, line)}${endsAtOnce}`, 'invalidJson')
      : closes(`a coding with ${name}`, `${create(countsMore, line)}${endsAtOnce}`, 'malformedRequest'),
  ),

  // Endings of chunks that are read otherwise.
  closes('a last chunk with a minus', `${create(chunkedBody)}-0\r\n\r\n${smuggled}`, 'malformedRequest'),
  closes('a last chunk and a line feed', `${create(chunkedBody)}0\n\n${smuggled}`, 'malformedRequest'),
  closes('a chunk behind a space', `${create(chunkedBody)}2 \r\n{}\r\n0\r\n\r\n${smuggled}`, 'malformedRequest'),
  closes('a chunk size in two lines', `${create(chunkedBody)}2\r\r\n{}\r\n0\r\n\r\n${smuggled}`, 'malformedRequest'),

  // Hidden in what is well framed.
  goesOn('a request in a field', livez('X-A: GET /smuggled HTTP/1.1'), 200),
  goesOn('a request in a query', head('GET /livez?GET%20/smuggled HTTP/1.1', host), 200),
  goesOn(
    'a request in a trailer',
    `${create(chunkedBody)}${chunks(plant).slice(0, -2)}X: GET /smuggled HTTP/1.1\r\n\r\n`,
    200,
  ),
  goesOn(
    'a request in a chunk extension',
    `${create(chunkedBody)}2;a="GET /smuggled"\r\n{}\r\n0\r\n\r\n`,
    'invalidPlant',
  ),
  closes('a request behind Connection: close', `${livez('Connection: close')}${smuggled}`, 200),
  closes(
    'a request behind a create that closes',
    `${create(plantLength, 'Connection: close')}${plant}${smuggled}`,
    200,
  ),
  closes(
    'a request behind a create of HTTP/1.0',
    `${head('POST /plants HTTP/1.0', token, json, plantLength)}${plant}${smuggled}`,
    200,
  ),
  closes(
    'requests behind a refusal that closes',
    `${strange(chunkedBody)}${chunks('a')}${smuggled.repeat(20)}`,
    'missingToken',
  ),

  // Mixtures, in order: RFC 9112, section 9.3.2.
  goesOn('three good requests at once', `${livez()}${wholeCreate}${missing}`, 200, 200, 'unknownPath'),
  goesOn('two creates at once', wholeCreate.repeat(2), 200, 200),
  goesOn(
    'lengths and chunks by turns',
    `${wholeCreate}${create(chunkedBody)}${chunks(plant)}`.repeat(2),
    200,
    200,
    200,
    200,
  ),
  {
    ...goesOn('a HEAD between two others', `${livez()}${head('HEAD /livez HTTP/1.1', host)}${livez()}`, 200, 200, 200),
    heads: [1],
  },
  closes('a broken request behind a good one', `${wholeCreate}garbage\r\n\r\n${smuggled}`, 200, 'malformedRequest'),
  closes(
    'a broken request behind three',
    `${livez()}${missing}${wholeCreate}\0${smuggled}`,
    200,
    'unknownPath',
    200,
    'malformedRequest',
  ),
  closes('a broken chunk behind a good one', `${wholeCreate}${create(chunkedBody)}xyz\r\n`, 200, 'malformedRequest'),
  closes(
    'CONNECT behind a good one',
    `${livez()}${head('CONNECT a.example:1 HTTP/1.1', host)}${smuggled}`,
    200,
    'unknownMethod',
  ),
  goesOn(
    'a refusal between two others',
    `${livez()}${strange(plantLength)}${plant}${livez()}`,
    200,
    'missingToken',
    200,
  ),
  closes('chunks of a stranger before others', `${strange(chunkedBody)}${chunks('a')}${smuggled}`, 'missingToken'),
  goesOn('forty requests at once', livez().repeat(40), ...Array(40).fill(200)),
  goesOn('forty refusals at once', missing.repeat(40), ...Array(40).fill('unknownPath')),
]
