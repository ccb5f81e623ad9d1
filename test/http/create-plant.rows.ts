// The table of create-plant.test.ts: requests to POST /plants and around it, each with the answer it must get. Most are
// the rows of src/verify, with what our own messages say; the others are for this service alone.

import { type ErrorCode, errorNumbers } from '../../src/domain/errors.ts'
import type { NewPlant } from '../../src/domain/plant.ts'
import { bodyRows, sizeRows as sizeRowsOfAll } from '../../src/verify/rows/bodies.ts'
import { credentialRows as credentialRowsOfAll } from '../../src/verify/rows/credentials.ts'
import { mediaTypeRows, orderRows as orderRowsOfAll } from '../../src/verify/rows/fields.ts'
import { keyRows as keyRowsOfAll } from '../../src/verify/rows/idempotency.ts'
import { int64Rows } from '../../src/verify/rows/int64.ts'
import { pathRows } from '../../src/verify/rows/paths.ts'
import { specifiedRows } from '../../src/verify/rows/specified.ts'
import { nameRows, tagRows } from '../../src/verify/rows/texts.ts'
import type { RowRequest } from '../support/client.ts'
import type { Messages } from '../support/rows.ts'

export interface Row {
  readonly title: string
  readonly request: RowRequest
  readonly status: number
  readonly error?: ErrorCode
  readonly message?: RegExp
  readonly headers?: Readonly<Record<string, string>>
  /** The server has to end the connection after the answer; otherwise it has to serve the next request on it. */
  readonly closes?: true
  /** What the store must hold afterwards. */
  readonly kept?: NewPlant
}

const int64Range = /^id: must be an integer from -9223372036854775808 to 9223372036854775807, got /
let nextId = 1_000n

/** The rows of src/verify whose requests are creates, or are at the paths around it. */
export const sharedMakers = [
  specifiedRows,
  int64Rows,
  nameRows,
  tagRows,
  bodyRows,
  sizeRowsOfAll,
  mediaTypeRows,
  orderRowsOfAll,
  credentialRowsOfAll,
  pathRows,
  keyRowsOfAll,
] as const

const int64 = int64Range
const objectWanted = /^the body: must be an object, got /
const unkeepable = /^name: must have no NUL character and no unpaired surrogate$/
const twiceInBody = /the key "\S+" appears twice/
const tooDeep = /nested more than 32 deep/

/** What our own messages say at rows of src/verify. */
export const messages: Messages = {
  'an id in quotes': int64,
  'an id in an array': /got an array$/,
  'an id that is null': /got null$/,
  'an id that is true': /got true$/,
  'an id that is an empty string': int64,
  'an id that is an object': /got an object$/,
  'an id past the end of int64': int64,
  'an id before the beginning of int64': int64,
  'an id with a fraction': /got a number with a fraction$/,
  'an id that is taken is refused, and its plant stays as it is': [undefined, /^id: \d+ is already taken; choose/],
  'name of 1,025 letters': /^name: must have at most 1024 characters, got 1025$/,
  'name of 1,025 characters outside the BMP': /at most 1024 characters, got 1025$/,
  'name null': /^name: must be a string, got null$/,
  'name a number': /^name: must be a string, got 7$/,
  'name a boolean': /^name: must be a string, got false$/,
  'name an array': /^name: must be a string, got an array$/,
  'name an object': /^name: must be a string, got an object$/,
  'name with NUL escaped': unkeepable,
  'name with a lone high surrogate': unkeepable,
  'name with a lone low surrogate': unkeepable,
  'name with a pair the wrong way round': unkeepable,
  'name missing': /^name: is missing$/,
  'id missing': /^id: is missing$/,
  'tag of 257 characters': /^tag: must have at most 256 characters, got 257$/,
  'tag null': /^tag: must be a string, got null$/,
  'tag a number': /^tag: must be a string, got 1$/,
  'tag with NUL': /^tag: must have no NUL/,
  'tag with a lone surrogate': /^tag: must have no NUL/,
  'nesting of 33': tooDeep,
  'nesting of 60,000': tooDeep,
  'nesting of 10,000 objects': tooDeep,
  'an empty object': /^name: is missing; id: is missing$/,
  'only __proto__ with a plant': /name: is missing/,
  'an array': objectWanted,
  'a string': objectWanted,
  'a number': objectWanted,
  null: objectWanted,
  true: objectWanted,
  'everything wrong at once': /name: .*; tag: .*; id: /,
  'an empty body': /^the body is empty$/,
  'white space alone': /expected a value at byte 3, but the text ends$/,
  'two values': /expected the end of the text at byte 36, got "\{"$/,
  'a key without a value': /expected a colon at byte 5, got "\}"$/,
  'a truncated object': / at byte 35, but the text ends$/,
  'a repeated key': /the key "id" appears twice/,
  'a repeated key with the same value': twiceInBody,
  'a repeated key written with an escape': twiceInBody,
  'a repeated key deep inside': twiceInBody,
  'a repeated __proto__': twiceInBody,
  'a byte order mark': /there is a byte order mark at byte 0$/,
  'an invalid byte': /^not valid UTF-8 at byte 33$/,
  'an overlong NUL': /^not valid UTF-8 at byte 33$/,
  'a surrogate in UTF-8': /^not valid UTF-8 at byte 33$/,
  'a cut character': /^not valid UTF-8 at byte 33$/,
  'Authorization without the scope': /^the token needs the scope plants:write, it has plants:read$/,
  'Authorization twice': /^authorization: must be sent once$/,
  'target /plants/': /^there is nothing at \/plants\/; no path ends with a slash$/,
  [`target /${'a'.repeat(39)}`]: /^there is nothing at \/a{199}$/,
}

/** Rows of src/verify after which the server has to end the connection. */
export const closing: ReadonlySet<string> = new Set([
  'a body of 65,537 bytes',
  'a body of 65,537 bytes, mostly white space',
  'a chunked body of 65,537 bytes',
  'a body of 65,537 bytes, mostly é',
  'a chunked body of 65,537 bytes, mostly é',
])

/** Rows of these tests alone: whose ids, targets or connections are not for the server of somebody else. */
export function ownRows(token: string): readonly Row[] {
  return [
    ...idRows(),
    ...sizeRows(),
    ...credentialRows(token),
    ...orderRows(),
    ...hostRows(),
    ...targetRows(),
    ...methodRows(),
    ...keyRows(),
    ...repeatedRows(),
  ]
}

function idRows(): Row[] {
  const kept = (digits: string, id: bigint): Row => ({
    title: `id ${digits}`,
    request: { body: `{"id":${digits},"name":"n"}` },
    status: 200,
    headers: { location: `/plants/${id}` },
    kept: { id, name: 'n' },
  })
  const refused = (digits: string, message = int64Range): Row => ({
    ...bad(`id ${digits}`, `{"id":${digits},"name":"n"}`, 'invalidPlant'),
    message,
  })
  return [
    kept('0', 0n),
    kept('1', 1n),
    kept('-1', -1n),
    kept('9223372036854775807', 2n ** 63n - 1n),
    kept('-9223372036854775808', -(2n ** 63n)),
    kept('9007199254740992', 2n ** 53n),
    kept('9007199254740993', 2n ** 53n + 1n),
    kept('-9007199254740993', -(2n ** 53n) - 1n),
    kept('2.0', 2n),
    kept('1e3', 1_000_000n / 1_000n),
    kept('1E4', 10_000n),
    kept('1e+5', 100_000n),
    kept('30e-1', 3n),
    kept('1.5e1', 15n),
    kept('9223372036854775806.0', 2n ** 63n - 2n),
    kept('-922337203685477580.7e1', -(2n ** 63n) + 1n),
    kept('1000000000000000000', 10n ** 18n),
    refused('9223372036854775808'),
    refused('-9223372036854775809'),
    refused('9223372036854775807.5', /got a number with a fraction$/),
    refused('1e-400', /got a number with a fraction$/),
    refused('1e19'),
    refused('18446744073709551616'),
    refused('1.5', /got 1\.5$/),
    refused('1e-1'),
    refused('1e400', /got a number too large to show$/),
    refused('-1e400'),
    refused('1e99999999999999999999'),
    refused(`1${'0'.repeat(60)}`),
    refused('"7"', /got "7"$/),
    refused('"seven"', /got "seven"$/),
    refused('""'),
    refused('null', /got null$/),
    refused('true', /got true$/),
    refused('[]', /got an array$/),
    refused('[1]', /got an array$/),
    refused('{}', /got an object$/),
    ...['01', '+1', '.5', '1.', '0x10', 'NaN', 'Infinity', '-', '1e', '--1', '1_000', '-01', '٣'].map((digits) =>
      bad(`id written as ${digits}`, `{"id":${digits},"name":"n"}`, 'invalidJson'),
    ),
    {
      ...good('id -0 is 0', '{"id":-0,"name":"n"}'),
      status: 409,
      error: 'idTaken',
      message: /^id: 0 is already taken/,
    },
    { ...good('id 0e99999 is 0', '{"id":0e99999,"name":"n"}'), status: 409, error: 'idTaken' },
    {
      ...good('id taken', '{"id":1,"name":"other"}'),
      status: 409,
      error: 'idTaken',
      message: /^id: 1 is already taken; choose/,
    },
  ]
}

function sizeRows(): Row[] {
  return [
    {
      ...bad('a body said to be of 10 GB', '', 'bodyTooLarge'),
      request: { headers: { 'Content-Type': 'application/json', 'Content-Length': '10000000000' } },
      closes: true,
    },
  ]
}

function credentialRows(token: string): Row[] {
  return [
    {
      ...bad('the token in the query', '', 'missingToken'),
      request: {
        target: `/plants?access_token=${token}`,
        body: '{"id":4000,"name":"n"}',
        headers: { Authorization: undefined },
      },
    },
  ]
}

/** Each request has two things wrong with it; the one that is judged first is told. */
function orderRows(): Row[] {
  const first = (title: string, request: RowRequest, error: ErrorCode, closes?: true): Row => ({
    title: `order of refusals: ${title}`,
    request,
    status: Math.floor(errorNumbers[error] / 100),
    error,
    ...(closes && { closes }),
  })
  const tooLong = { 'Content-Length': '70000' }
  const noToken = { Authorization: undefined }
  const wrongType = { 'Content-Type': 'text/plain' }
  return [
    first('Host before the path', { target: '/nowhere', lines: ['Host: b.example'] }, 'repeatedHeader'),
    first('the method QUERY before the token', { method: 'QUERY', headers: noToken }, 'methodNotAllowed'),
    first('the token before the length', { headers: { ...noToken, ...tooLong } }, 'missingToken', true),
    first('the media type before the length', { headers: { ...wrongType, ...tooLong } }, 'unsupportedMediaType', true),
    first(
      'the length before the body',
      { headers: { 'Content-Type': 'application/json', ...tooLong } },
      'bodyTooLarge',
      true,
    ),
    first(
      'the key before a taken id',
      { body: '{"id":1,"name":"n"}', headers: { 'Idempotency-Key': 'a b' } },
      'invalidHeader',
    ),
    first('the body before a taken id', { body: '{"id":1,"name":1}' }, 'invalidPlant'),
  ]
}

function hostRows(): Row[] {
  const refused = (title: string, request: RowRequest, error: ErrorCode): Row => ({
    ...bad(`Host ${title}`, '', error),
    request: { body: '{"id":4000,"name":"n"}', ...request },
  })
  return [
    withHeaders('Host with a port', { Host: 'plants.example:8080' }),
    withHeaders('Host an IPv6 address', { Host: '[::1]:3000' }),
    withHeaders('Host empty', { Host: '' }),
    refused('missing', { headers: { Host: undefined } }, 'invalidHeader'),
    refused('twice', { lines: ['Host: plants.example'] }, 'repeatedHeader'),
    refused('with a space', { headers: { Host: 'a b' } }, 'invalidHeader'),
    refused('with a path', { headers: { Host: 'a/b' } }, 'invalidHeader'),
    refused('with a user', { headers: { Host: 'user@a' } }, 'invalidHeader'),
    refused('with a port that is no number', { headers: { Host: 'a:b' } }, 'invalidHeader'),
  ]
}

function targetRows(): Row[] {
  const found = (target: string): Row => {
    const id = newId()
    return {
      ...good(`target ${target}`, ''),
      request: { target, body: `{"id":${id},"name":"n"}` },
      kept: { id, name: 'n' },
    }
  }
  const unknown = (target: string, error: ErrorCode = 'unknownPath'): Row => ({
    ...bad(`target ${target.slice(0, 40)}`, '', error),
    request: { target, body: '{"id":4000,"name":"n"}' },
  })
  return [
    found('http://plants.example/plants'),
    unknown('//plants'),
    {
      ...unknown('/swagger'),
      message: /^there is nothing at \/swagger; see \/docs, \/openapi\.json and \/openapi\.yaml$/,
    },
    { ...unknown(`/plt_${'a'.repeat(49)}`), message: /^there is nothing at \/plt_\.\.\.$/ },
    ...[
      'http:///plants',
      'http://[bad/plants',
      'http://user@plants.example/plants',
      'ftp://plants.example/plants',
      '/plants#top',
    ].map((target): Row => ({ ...unknown(target, 'malformedRequest'), closes: true })),
    unknown('/plants/../plants'),
    unknown('*'),
    { ...unknown('/%', 'malformedRequest'), closes: true },
    { ...unknown('/%zz', 'malformedRequest'), closes: true },
    { ...unknown('/%ff', 'malformedRequest'), closes: true },
  ]
}

function methodRows(): Row[] {
  const at = (method: string, target: string, row: Pick<Row, 'status' | 'error' | 'headers'>): Row => ({
    title: `${method} ${target}`,
    request: { method, target },
    ...row,
  })
  const notAllowed = { status: 405, error: 'methodNotAllowed', headers: { allow: 'GET, HEAD, OPTIONS, POST' } } as const
  const readOnly = { status: 405, error: 'methodNotAllowed', headers: { allow: 'GET, HEAD, OPTIONS' } } as const
  return [
    ...['PUT', 'PATCH', 'DELETE'].map((method) => at(method, '/plants', notAllowed)),
    ...['PUT', 'PATCH', 'DELETE'].map((method) => at(method, '/', readOnly)),
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'].map((method) => at(method, 'http://plants.example', readOnly)),
    ...['PURGE', 'M-SEARCH'].map((method) => at(method, '/plants', { status: 501, error: 'unknownMethod' })),
    at('OPTIONS', '*', { status: 204, headers: { allow: 'DELETE, GET, HEAD, OPTIONS, POST, PUT' } }),
  ]
}

function keyRows(): Row[] {
  return [withHeaders('Idempotency-Key of one character', { 'Idempotency-Key': 'k' })]
}

/** Other fields of which Node.js would keep one silently. */
function repeatedRows(): Row[] {
  const twice = (line: string, headers: Record<string, string> = {}): Row => ({
    ...bad(`${line} twice`, '', 'repeatedHeader', /: must be sent once$/),
    request: { body: '{"id":4000,"name":"n"}', headers, lines: [line] },
  })
  return [
    twice('Content-Type: application/json'),
    // A client that waits before it sends its body may do either now.
    { ...twice('Expect: 100-continue', { Expect: '100-continue' }), closes: true },
  ]
}

function good(title: string, body: string): Row {
  return { title, request: { body }, status: 200 }
}

function bad(title: string, body: string | Buffer, error: ErrorCode, message?: RegExp): Row {
  return {
    title,
    request: { body },
    status: Math.floor(errorNumbers[error] / 100),
    error,
    ...(message && { message }),
  }
}

function withHeaders(title: string, headers: Record<string, string>): Row {
  const id = newId()
  return { title, request: { body: `{"id":${id},"name":"n"}`, headers }, status: 200, kept: { id, name: 'n' } }
}

function newId(): bigint {
  nextId += 1n
  return nextId
}
