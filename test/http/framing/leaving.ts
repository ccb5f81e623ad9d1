// Clients that are slow, half gone, gone at any stage, or that do not read. RFC 9112, sections 9.5 and 9.6.

import {
  answered,
  chunkedBody,
  chunks,
  closes,
  create,
  type Drip,
  ends,
  type FramingCase,
  finish,
  head,
  host,
  left,
  livez,
  plant,
  plantLength,
  reset,
  slow,
  stopReading,
  strange,
  token,
  wholeCreate,
} from './case.ts'

const drip = (bytes: string): Drip => ({ kind: 'drip', bytes, everyMs: 20 })
/** More than the system takes in the place of a client. */
const documents = head('GET /openapi.json HTTP/1.1', host).repeat(400)
const line = 'GET /livez HTTP/1.1\r\n'

export const leaving: readonly FramingCase[] = [
  // Slow heads and bodies: RFC 9110, section 15.5.9.
  slow(closes('nothing at all', [], 'requestTimeout')),
  slow(closes('half a request line', 'GET /liv', 'requestTimeout')),
  slow(closes('a request line alone', line, 'requestTimeout')),
  slow(closes('a head without its end', `${line}${host}\r\n`, 'requestTimeout')),
  slow(closes('a head that comes byte by byte', [`${line}X: `, drip('a')], 'requestTimeout')),
  slow(closes('fields that come one by one', [line, drip('X-A: b\r\n')], 'requestTimeout')),
  slow(closes('empty lines without end', [drip('\r\n')], 'requestTimeout')),
  slow(closes('half a head behind a good request', `${livez()}${line}`, 200, 'requestTimeout')),
  slow(closes('half a body', `${create(plantLength)}{"id":`, 'requestTimeout')),
  slow(closes('a body that comes byte by byte', [create('Content-Length: 60000'), drip(' ')], 'requestTimeout')),
  slow(closes('chunks that come one by one', [create(chunkedBody), drip('1\r\n \r\n')], 'requestTimeout')),
  slow(closes('a chunk extension byte by byte', [`${create(chunkedBody)}1;`, drip('a')], 'requestTimeout')),
  slow(closes('chunks without their end', `${create(chunkedBody)}2\r\n{}\r\n`, 'requestTimeout')),
  slow(closes('a trailer that comes byte by byte', [`${create(chunkedBody)}0\r\nX: `, drip('a')], 'requestTimeout')),
  slow(closes('no body after its 100', create(plantLength, 'Expect: 100-continue'), 100, 'requestTimeout')),
  slow(closes('half a body of a stranger, chunked', `${strange(chunkedBody)}5\r\nab`, 'missingToken')),
  slow(ends('no next request for too long', [livez(), answered(1)], 200)),

  // Half-closed: the client still reads.
  ends('an end before anything', [finish]),
  ends('an end after a request', [livez(), finish], 200),
  ends('an end after two creates', [wholeCreate.repeat(2), finish], 200, 200),
  ends('an end after chunks', [`${create(chunkedBody)}${chunks(plant)}`, finish], 200),
  ends('an end after forty requests', [livez().repeat(40), finish], ...Array(40).fill(200)),
  closes('an end in a request line', ['GET /liv', finish], 'malformedRequest'),
  closes('an end in a head', [`${line}${host}\r\n`, finish], 'malformedRequest'),
  closes('an end in a body', [`${create(plantLength)}{"id":`, finish], 'malformedRequest'),
  closes('an end in a chunk', [`${create(chunkedBody)}10\r\n{"id":`, finish], 'malformedRequest'),
  closes('an end before the last chunk', [`${create(chunkedBody)}2\r\n{}\r\n`, finish], 'malformedRequest'),
  closes('an end in a trailer', [`${create(chunkedBody)}2\r\n{}\r\n0\r\nX: `, finish], 'malformedRequest'),
  closes(
    'an end instead of a body',
    [create(plantLength, 'Expect: 100-continue'), answered(1), finish],
    100,
    'malformedRequest',
  ),
  closes('an end in the second request', [`${livez()}${line}`, finish], 200, 'malformedRequest'),
  ends('an end in the body of a stranger', [`${strange(plantLength)}{"id":`, finish], 'missingToken'),

  // Gone at each stage.
  left('a reset before anything', [reset]),
  left('a reset in a request line', ['GET /liv', reset]),
  left('a reset in a head', [`${line}${host}\r\n`, reset]),
  left('a reset right after a request', [livez(), reset], 200),
  left('a reset in a body', [`${create(plantLength)}{"id":`, reset]),
  left('a reset right after a create', [wholeCreate, reset], 200),
  left('a reset in a chunk', [`${create(chunkedBody)}10\r\n{"id":`, reset]),
  left('a reset before a 100', [create(plantLength, 'Expect: 100-continue'), reset], 100),
  left('a reset after a 100', [create(plantLength, 'Expect: 100-continue'), answered(1), reset], 100),
  left('a reset after an answer', [livez(), answered(1), reset], 200),
  left('a reset among forty answers', [livez().repeat(40), answered(1), reset], ...Array(40).fill(200)),
  left('a reset after a refusal', ['garbage\r\n\r\n', answered(1), reset], 'malformedRequest'),
  left('a reset after CONNECT', [head('CONNECT a.example:1 HTTP/1.1', host), reset], 'unknownMethod'),
  left('a reset after the refusal of chunks', [strange(chunkedBody), answered(1), reset], 'missingToken'),
  left('a reset after an end', [wholeCreate, finish, reset], 200),
  left(
    'a reset in the middle of a page',
    [head('GET /openapi.json HTTP/1.1', host).repeat(20), answered(1), reset],
    ...Array(20).fill(200),
  ),

  // Answers that nobody reads.
  slow(left('documents that nobody reads', [stopReading, documents])),
  slow(left('documents of a reader that stops', [documents, answered(1), stopReading], ...Array(400).fill(200))),
  slow(left('documents that nobody reads, and an end', [stopReading, documents, finish])),
  slow(left('pages that nobody reads', [stopReading, head('GET /plants HTTP/1.1', host, token).repeat(40), reset])),
]
