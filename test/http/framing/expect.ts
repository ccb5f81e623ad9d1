// Clients that wait for a 100, and those that would rather speak something else. RFC 9110, sections 10.1.1 and 7.8.

import {
  answered,
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

const waits = 'Expect: 100-continue'
const upgrade = ['Connection: Upgrade', 'Upgrade: h2c'] as const
const webSocket = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'] as const

export const expectations: readonly FramingCase[] = [
  // RFC 9110, section 10.1.1.
  goesOn('a body after its 100', [create(plantLength, waits), answered(1), plant], 100, 200),
  goesOn('chunks after their 100', [create(chunkedBody, waits), answered(1), chunks(plant)], 100, 200),
  goesOn('a body that does not wait for its 100', `${create(plantLength, waits)}${plant}`, 100, 200),
  goesOn('the expectation in capitals', [create(plantLength, 'Expect: 100-CONTINUE'), answered(1), plant], 100, 200),
  closes('an expectation without a body', livez(waits), 200),
  goesOn(
    'a good request behind one that waited',
    [create(plantLength, waits), answered(1), `${plant}${livez()}`],
    100,
    200,
    200,
  ),
  closes('a stranger who waits', strange(plantLength, waits), 'missingToken'),
  closes('a stranger who waits, with chunks', strange(chunkedBody, waits), 'missingToken'),
  closes('a byte too much behind a wait', create('Content-Length: 65537', waits), 'bodyTooLarge'),
  goesOn(
    'as much as may be behind a wait',
    [create('Content-Length: 65536', waits), answered(1), ' '.repeat(65_536)],
    100,
    'invalidJson',
  ),
  closes(
    'a wrong type behind a wait',
    head('POST /plants HTTP/1.1', host, token, plantLength, waits),
    'unsupportedMediaType',
  ),
  closes('broken chunks after a 100', [create(chunkedBody, waits), answered(1), 'xyz\r\n'], 100, 'malformedRequest'),
  closes('an unknown expectation', create('Content-Length: 2', 'Expect: tea'), 'expectationFailed'),
  closes('an expectation of two', create('Content-Length: 2', 'Expect: tea 100-continue'), 'expectationFailed'),
  closes('a list of expectations', create('Content-Length: 2', 'Expect: 100-continue, tea'), 'expectationFailed'),
  closes('two expectations', create('Content-Length: 2', waits, waits), 'repeatedHeader'),
  goesOn('an unknown expectation without a body', livez('Expect: tea'), 'expectationFailed'),
  closes(
    'an expectation of HTTP/1.0',
    `${head('POST /plants HTTP/1.0', token, json, plantLength, waits)}${plant}`,
    200,
  ),

  // RFC 9110, section 7.8: a server may ignore an Upgrade, and this one does.
  goesOn('an Upgrade', livez(...upgrade), 200),
  goesOn('an Upgrade to a web socket', livez(...webSocket), 200),
  goesOn('an Upgrade without Connection', livez('Upgrade: h2c'), 200),
  goesOn('an Upgrade before another request', `${livez(...upgrade)}${livez()}`, 200, 200),
  goesOn('an Upgrade before a create', `${livez(...upgrade)}${wholeCreate}`, 200, 200),
  goesOn('an Upgrade with a body', `${create(plantLength, ...upgrade)}${plant}`, 200),
  goesOn('an Upgrade with a body before another', `${create(plantLength, ...upgrade)}${plant}${livez()}`, 200, 200),
  goesOn(
    'an Upgrade with a request as its body',
    `${livez(...upgrade, `Content-Length: ${smuggled.length}`)}${smuggled}`,
    200,
  ),
  goesOn('an Upgrade with chunks', `${create(chunkedBody, ...upgrade)}${chunks(plant)}`, 200),
  goesOn(
    'an Upgrade with chunks before another',
    `${create(chunkedBody, ...upgrade)}${chunks(plant)}${livez()}`,
    200,
    200,
  ),
  goesOn('an Upgrade of a stranger', `${strange(plantLength, ...upgrade)}${plant}${livez()}`, 'missingToken', 200),

  goesOn('Upgrades one after the other', livez(...upgrade).repeat(5), 200, 200, 200, 200, 200),
  goesOn('an Upgrade that waits', [create(plantLength, waits, ...upgrade), answered(1), plant], 100, 200),
]
