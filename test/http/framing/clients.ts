// Clients that wait for a 100, that would rather speak something else, that are slow, half gone, gone at any stage, or
// that do not read. RFC 9110, sections 10.1.1 and 7.8; RFC 9112, sections 9.5 and 9.6.

import {
  answered,
  chunked,
  chunkedBody,
  chunks,
  closes,
  create,
  type Drip,
  ends,
  type FramingCase,
  finish,
  goesOn,
  head,
  host,
  json,
  left,
  livez,
  plant,
  plantLength,
  reset,
  slow,
  smuggled,
  stopReading,
  strange,
  token,
  waits,
  wholeCreate,
} from './case.ts'

const upgrade = ['Connection: Upgrade', 'Upgrade: h2c'] as const
const drip = (bytes: string): Drip => ({ kind: 'drip', bytes, everyMs: 20 })
/** More than the system takes in the place of a client. */
const documents = head('GET /openapi.json HTTP/1.1', host).repeat(400)
const line = 'GET /livez HTTP/1.1\r\n'
const halfHead = `${line}${host}\r\n`
const halfBody = `${create(plantLength)}{"id":`
const halfChunk = chunked('10\r\n{"id":')

export const clients: readonly FramingCase[] = [
  // RFC 9110, section 10.1.1.
  ...goesOn([100, 200], {
    'a body after its 100': [create(plantLength, waits), answered(1), plant],
    'chunks after their 100': [create(chunkedBody, waits), answered(1), chunks(plant)],
    'a body that does not wait for its 100': `${create(plantLength, waits)}${plant}`,
  }),
  ...closes([200], {
    'an expectation without a body': livez(waits),
    'an expectation of HTTP/1.0': `${head('POST /plants HTTP/1.0', token, json, plantLength, waits)}${plant}`,
  }),
  ...goesOn([100, 200, 200], {
    'a good request behind one that waited': [create(plantLength, waits), answered(1), `${plant}${livez()}`],
  }),
  ...closes(['missingToken'], {
    'a stranger who waits': strange(plantLength, waits),
    'a stranger who waits, with chunks': strange(chunkedBody, waits),
  }),
  ...closes(['bodyTooLarge'], { 'a byte too much behind a wait': create('Content-Length: 65537', waits) }),
  ...goesOn([100, 'invalidJson'], {
    'as much as may be behind a wait': [create('Content-Length: 65536', waits), answered(1), ' '.repeat(65_536)],
  }),
  ...closes(['unsupportedMediaType'], {
    'a wrong type behind a wait': head('POST /plants HTTP/1.1', host, token, plantLength, waits),
  }),
  ...closes([100, 'malformedRequest'], {
    'broken chunks after a 100': [create(chunkedBody, waits), answered(1), 'xyz\r\n'],
  }),
  ...closes(['expectationFailed'], {
    'an unknown expectation': create('Content-Length: 2', 'Expect: tea'),
  }),
  ...closes(['repeatedHeader'], { 'two expectations': create('Content-Length: 2', waits, waits) }),
  ...goesOn(['expectationFailed'], { 'an unknown expectation without a body': livez('Expect: tea') }),

  // RFC 9110, section 7.8: a server may ignore an Upgrade, and this one does.
  ...goesOn([200], {
    'an Upgrade with a request as its body': `${livez(...upgrade, `Content-Length: ${smuggled.length}`)}${smuggled}`,
  }),
  ...goesOn([200, 200], {
    'an Upgrade before a create': `${livez(...upgrade)}${wholeCreate}`,
    'an Upgrade with a body before another': `${create(plantLength, ...upgrade)}${plant}${livez()}`,
    'an Upgrade with chunks before another': `${create(chunkedBody, ...upgrade)}${chunks(plant)}${livez()}`,
  }),
  ...goesOn(['missingToken', 200], {
    'an Upgrade of a stranger': `${strange(plantLength, ...upgrade)}${plant}${livez()}`,
  }),
  ...goesOn([100, 200], { 'an Upgrade that waits': [create(plantLength, waits, ...upgrade), answered(1), plant] }),

  // Slow heads and bodies: RFC 9110, section 15.5.9.
  ...slow([
    ...closes(['requestTimeout'], {
      'nothing at all': [],
      'a head without its end': halfHead,
      'a head that comes byte by byte': [`${line}X: `, drip('a')],
      'empty lines without end': [drip('\r\n')],
      'half a body': halfBody,
      'a body that comes byte by byte': [create('Content-Length: 60000'), drip(' ')],
      'chunks that come one by one': [create(chunkedBody), drip('1\r\n \r\n')],
      'a chunk extension byte by byte': [chunked('1;'), drip('a')],
      'a trailer that comes byte by byte': [chunked('0\r\nX: '), drip('a')],
    }),
    ...closes([200, 'requestTimeout'], { 'half a head behind a good request': `${livez()}${line}` }),
    ...closes([100, 'requestTimeout'], { 'no body after its 100': create(plantLength, waits) }),
    ...closes(['missingToken'], { 'half a body of a stranger, chunked': `${strange(chunkedBody)}5\r\nab` }),
    ...ends([200], { 'no next request for too long': [livez(), answered(1)] }),
  ]),

  // Half-closed: the client still reads.
  ...ends([], { 'an end before anything': [finish] }),
  ...ends([200], {
    'an end after a request': [livez(), finish],
    'an end after chunks': [chunked(chunks(plant)), finish],
  }),
  ...ends([200, 200], { 'an end after two creates': [wholeCreate.repeat(2), finish] }),
  ...ends(Array(40).fill(200), { 'an end after forty requests': [livez().repeat(40), finish] }),
  ...closes(['malformedRequest'], {
    'an end in a head': [halfHead, finish],
    'an end in a body': [halfBody, finish],
    'an end in a chunk': [halfChunk, finish],
    'an end in a trailer': [chunked('2\r\n{}\r\n0\r\nX: '), finish],
  }),
  ...closes([100, 'malformedRequest'], {
    'an end instead of a body': [create(plantLength, waits), answered(1), finish],
  }),
  ...closes([200, 'malformedRequest'], { 'an end in the second request': [`${livez()}${line}`, finish] }),
  ...ends(['missingToken'], { 'an end in the body of a stranger': [`${strange(plantLength)}{"id":`, finish] }),

  // Gone at each stage.
  ...left([], {
    'a reset before anything': [reset],
    'a reset in a body': [halfBody, reset],
    'a reset in a chunk': [halfChunk, reset],
  }),
  ...left([200], {
    'a reset right after a request': [livez(), reset],
    'a reset right after a create': [wholeCreate, reset],
    'a reset after an end': [wholeCreate, finish, reset],
  }),
  ...left([100], {
    'a reset before a 100': [create(plantLength, waits), reset],
    'a reset after a 100': [create(plantLength, waits), answered(1), reset],
  }),
  ...left(Array(40).fill(200), { 'a reset among forty answers': [livez().repeat(40), answered(1), reset] }),
  ...left(['malformedRequest'], { 'a reset after a refusal': ['garbage\r\n\r\n', answered(1), reset] }),
  ...left(['unknownMethod'], { 'a reset after CONNECT': [head('CONNECT a.example:1 HTTP/1.1', host), reset] }),
  ...left(['missingToken'], { 'a reset after the refusal of chunks': [strange(chunkedBody), answered(1), reset] }),

  // Answers that nobody reads.
  ...slow([
    ...left([], {
      'documents that nobody reads': [stopReading, documents],
      'documents that nobody reads, and an end': [stopReading, documents, finish],
      'pages that nobody reads': [stopReading, head('GET /plants HTTP/1.1', host, token).repeat(40), reset],
    }),
    ...left(Array(400).fill(200), { 'documents of a reader that stops': [documents, answered(1), stopReading] }),
  ]),
]
