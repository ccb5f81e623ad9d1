// The table of create-plant.test.ts: requests to POST /plants and around it, each with the answer it must get.

import { type ErrorCode, errorNumbers } from '../../src/domain/errors.ts'
import type { NewPlant } from '../../src/domain/plant.ts'
import type { RequestParts } from '../support/client.ts'

export interface Row {
  readonly title: string
  readonly request: RequestParts
  readonly status: number
  readonly error?: ErrorCode
  readonly message?: RegExp
  readonly headers?: Readonly<Record<string, string>>
  /** The server has to end the connection after the answer; otherwise it has to serve the next request on it. */
  readonly closes?: true
  /** What the store must hold afterwards. */
  readonly kept?: NewPlant
}

/** Tokens that the rows send, by what is wrong with them. */
export interface Tokens {
  readonly good: string
  readonly readOnly: string
  readonly expired: string
  readonly revoked: string
  readonly unknown: string
}

const int64Range = /^id: must be an integer from -9223372036854775808 to 9223372036854775807, got /
let nextId = 1_000n

export function rows(tokens: Tokens): readonly Row[] {
  return [
    ...idRows(),
    ...nameRows(),
    ...tagRows(),
    ...shapeRows(),
    ...mediaTypeRows(),
    ...sizeRows(),
    ...credentialRows(tokens),
    ...orderRows(tokens),
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

function nameRows(): Row[] {
  const keptAs = (title: string, literal: string, name: string): Row => {
    const id = newId()
    return { ...good(`name ${title}`, `{"id":${id},"name":"${literal}"}`), kept: { id, name } }
  }
  const kept = (title: string, name: string): Row => keptAs(title, JSON.stringify(name).slice(1, -1), name)
  const refused = (title: string, literal: string, message: RegExp): Row => ({
    ...bad(`name ${title}`, `{"id":${newId()},"name":${literal}}`, 'invalidPlant'),
    message,
  })
  const unkeepable = /^name: must have no NUL character and no unpaired surrogate$/
  return [
    kept('empty', ''),
    kept('of 1,024 letters', 'a'.repeat(1_024)),
    kept('of 1,024 characters outside the BMP', '🌿'.repeat(1_024)),
    kept('in Greek', 'Φοίνιξ ἡ δακτυλοφόρος'),
    kept('in Arabic', 'نخلة التمر'),
    kept('in Japanese', '紫陽花'),
    kept('with combining marks not composed', 'e\u0301 a\u030a'),
    kept('with a noncharacter', '\uffff\u{10ffff}'),
    kept('with a byte order mark inside', 'a\ufeffb'),
    kept('with line separators', 'a\u2028b\u2029c'),
    kept('with quotes and backslashes', '"\\/'),
    kept('with control characters escaped', '\u0001\b\f\n\r\t\u001f'),
    kept('with markup', '<script>alert(1)</script>'),
    keptAs('with a delete character as it is', '\u007f', '\u007f'),
    keptAs('with a surrogate pair escaped', '\\ud83c\\udf3f', '🌿'),
    keptAs('with every escape', '\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041', '"\\/\b\f\n\r\tA'),
    refused('of 1,025 letters', `"${'a'.repeat(1_025)}"`, /^name: must have at most 1024 characters, got 1025$/),
    refused('of 1,025 characters outside the BMP', `"${'🌿'.repeat(1_025)}"`, /at most 1024 characters, got 1025$/),
    refused('null', 'null', /^name: must be a string, got null$/),
    refused('a number', '7', /^name: must be a string, got 7$/),
    refused('a boolean', 'false', /^name: must be a string, got false$/),
    refused('an array', '["a"]', /^name: must be a string, got an array$/),
    refused('an object', '{}', /^name: must be a string, got an object$/),
    refused('with NUL escaped', '"a\\u0000b"', unkeepable),
    refused('with a lone high surrogate', '"\\ud83c"', unkeepable),
    refused('with a lone low surrogate', '"\\udf3f"', unkeepable),
    refused('with a pair the wrong way round', '"\\udf3f\\ud83c"', unkeepable),
    bad('name missing', '{"id":4000}', 'invalidPlant', /^name: is missing$/),
    bad('name with a raw NUL', '{"id":4000,"name":"a\u0000b"}', 'invalidJson'),
    bad('name with a raw newline', '{"id":4000,"name":"a\nb"}', 'invalidJson'),
    bad('name with a raw tab', '{"id":4000,"name":"a\tb"}', 'invalidJson'),
    bad('name with an unknown escape', '{"id":4000,"name":"\\x41"}', 'invalidJson'),
    bad('name with a short unicode escape', '{"id":4000,"name":"\\u12"}', 'invalidJson'),
    bad('name without its closing quote', '{"id":4000,"name":"a', 'invalidJson'),
    bad('name in single quotes', `{"id":4000,"name":'a'}`, 'invalidJson'),
  ]
}

function tagRows(): Row[] {
  const kept = (title: string, tag: string): Row => {
    const id = newId()
    return { ...good(`tag ${title}`, JSON.stringify({ id: Number(id), name: 'n', tag })), kept: { id, name: 'n', tag } }
  }
  const refused = (title: string, literal: string, message: RegExp): Row =>
    bad(`tag ${title}`, `{"id":4000,"name":"n","tag":${literal}}`, 'invalidPlant', message)
  return [
    kept('of one word', 'aroid'),
    kept('empty', ''),
    kept('of 256 characters outside the BMP', '🌿'.repeat(256)),
    refused('of 257 characters', `"${'a'.repeat(257)}"`, /^tag: must have at most 256 characters, got 257$/),
    refused('null', 'null', /^tag: must be a string, got null$/),
    refused('a number', '1', /^tag: must be a string, got 1$/),
    refused('with NUL', '"\\u0000"', /^tag: must have no NUL/),
    refused('with a lone surrogate', '"\\udfff"', /^tag: must have no NUL/),
  ]
}

function shapeRows(): Row[] {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const withExtra = (title: string, extra: string): Row => {
    const id = newId()
    return { ...good(title, `{"id":${id},"name":"n",${extra}}`), kept: { id, name: 'n' } }
  }
  const objectWanted = /^the body: must be an object, got /
  return [
    withExtra('unknown properties', '"colour":"green","height":1.25,"leaves":[1,2,{"a":null}]'),
    withExtra('an unknown property __proto__', '"__proto__":{"tag":"x"}'),
    withExtra('an unknown property constructor', '"constructor":{"prototype":{}}'),
    withExtra('an unknown property that no double can hold', '"x":1e999'),
    withExtra('nesting of 32', `"x":${nested(31)}`),
    bad('nesting of 33', `{"id":4000,"name":"n","x":${nested(32)}}`, 'invalidJson', /nested more than 32 deep/),
    bad('nesting of 60,000', '['.repeat(60_000), 'invalidJson', /nested more than 32 deep/),
    bad('nesting of 10,000 objects', '{"a":'.repeat(10_000), 'invalidJson', /nested more than 32 deep/),
    { ...good('white space everywhere', ` \t\r\n{ "id" :\n5001 , "name"\t: "n" } \n`), kept: { id: 5001n, name: 'n' } },
    { ...good('keys written with escapes', '{"\\u0069d":5002,"n\\u0061me":"n"}'), kept: { id: 5002n, name: 'n' } },
    bad('an empty object', '{}', 'invalidPlant', /^name: is missing; id: is missing$/),
    bad('only __proto__ with a plant', '{"__proto__":{"id":4000,"name":"n"}}', 'invalidPlant', /name: is missing/),
    bad('an array', '[{"id":4000,"name":"n"}]', 'invalidPlant', objectWanted),
    bad('a string', '"{}"', 'invalidPlant', objectWanted),
    bad('a number', '7', 'invalidPlant', objectWanted),
    bad('null', 'null', 'invalidPlant', objectWanted),
    bad('true', 'true', 'invalidPlant', objectWanted),
    bad('everything wrong at once', '{"id":1.5,"name":7,"tag":null}', 'invalidPlant', /name: .*; tag: .*; id: /),
    bad('an empty body', '', 'invalidJson', /^the body is empty$/),
    bad('white space alone', ' \n ', 'invalidJson', /expected a value at byte 3, but the text ends$/),
    bad('two values', '{"id":4000,"name":"n"}{}', 'invalidJson', /expected the end of the text at byte 22, got "\{"$/),
    bad('a comma at the end of an object', '{"id":4000,"name":"n",}', 'invalidJson'),
    bad('a comma at the end of an array', '{"id":4000,"name":"n","x":[1,]}', 'invalidJson'),
    bad('a comment', '{"id":4000,/* */"name":"n"}', 'invalidJson'),
    bad('a key without quotes', '{id:4000,"name":"n"}', 'invalidJson'),
    bad('a key without a value', '{"id"}', 'invalidJson', /expected a colon at byte 5, got "}"$/),
    bad('a missing comma', '{"id":4000 "name":"n"}', 'invalidJson'),
    bad('a truncated object', '{"id":4000,"name":"n"', 'invalidJson', / at byte 21, but the text ends$/),
    bad('a truncated word', '{"id":4000,"name":"n","x":tru}', 'invalidJson'),
    bad('a word in upper case', '{"id":4000,"name":"n","x":TRUE}', 'invalidJson'),
    bad('a vertical tab as white space', '{"id":4000,\u000b"name":"n"}', 'invalidJson'),
    bad('a repeated key', '{"id":4000,"name":"n","id":4001}', 'invalidJson', /the key "id" appears twice/),
    bad('a repeated key with the same value', '{"id":4000,"name":"n","name":"n"}', 'invalidJson', /twice/),
    bad('a repeated key written with an escape', '{"id":4000,"name":"n","\\u0069d":4000}', 'invalidJson', /twice/),
    bad('a repeated key deep inside', '{"id":4000,"name":"n","x":[{"y":1,"y":1}]}', 'invalidJson', /twice/),
    bad('a repeated __proto__', '{"id":4000,"name":"n","__proto__":1,"__proto__":1}', 'invalidJson', /twice/),
    bad('a byte order mark', '\ufeff{"id":4000,"name":"n"}', 'invalidJson', /there is a byte order mark at byte 0$/),
    bad('UTF-16', Buffer.from('{"id":4000,"name":"n"}', 'utf16le'), 'invalidJson'),
    bad('an invalid byte', bytes('{"id":4000,"name":"\xff"}'), 'invalidJson', /^not valid UTF-8 at byte 19$/),
    bad('an overlong NUL', bytes('{"id":4000,"name":"\xc0\x80"}'), 'invalidJson', /^not valid UTF-8 at byte 19$/),
    bad(
      'a surrogate in UTF-8',
      bytes('{"id":4000,"name":"\xed\xa0\x80"}'),
      'invalidJson',
      /^not valid UTF-8 at byte 19$/,
    ),
    bad('a cut character', bytes('{"id":4000,"name":"\xf0\x9f\x8c"}'), 'invalidJson', /^not valid UTF-8 at byte 19$/),
    bad('a form', 'id=4000&name=n', 'invalidJson'),
  ]
}

function mediaTypeRows(): Row[] {
  const accepted = (type: string): Row => withHeaders(`Content-Type ${type}`, { 'Content-Type': type })
  const refused = (type: string | undefined, error: ErrorCode = 'unsupportedMediaType'): Row => ({
    ...bad(`Content-Type ${type ?? 'missing'}`, '{"id":4000,"name":"n"}', error),
    request: { body: '{"id":4000,"name":"n"}', headers: { 'Content-Type': type } },
    headers: { accept: 'application/json' },
  })
  const coded = (coding: string): Row => ({
    ...bad(`Content-Encoding ${coding}`, '{"id":4000,"name":"n"}', 'unsupportedContentEncoding'),
    request: { body: '{"id":4000,"name":"n"}', headers: { 'Content-Encoding': coding } },
    headers: { 'accept-encoding': 'identity' },
  })
  return [
    accepted('application/json; charset=utf-8'),
    accepted('application/json;charset=UTF-8'),
    accepted('application/json; charset="utf-8"'),
    accepted('application/json; profile=x'),
    accepted('Application/JSON'),
    withHeaders('Content-Encoding identity', { 'Content-Encoding': 'identity' }),
    refused(undefined),
    refused(''),
    refused('text/plain'),
    refused('text/json'),
    refused('application/jsonx'),
    refused('application/vnd.api+json'),
    refused('application/json, text/plain'),
    refused('application/x-www-form-urlencoded'),
    refused('json'),
    refused('application/json; charset=iso-8859-1'),
    refused('application/json; charset=utf-16'),
    refused(`application/json; a=${'b'.repeat(300)}`),
    coded('gzip'),
    coded('br'),
    coded('identity, gzip'),
  ]
}

function sizeRows(): Row[] {
  const ofLength = (length: number, id: bigint): string => {
    const frame = `{"id":${id},"name":"n","x":""}`
    return frame.replace('""', `"${'x'.repeat(length - frame.length)}"`)
  }
  const [exact, chunked] = [newId(), newId()]
  return [
    { ...good('a body of 65,536 bytes', ofLength(65_536, exact)), kept: { id: exact, name: 'n' } },
    { ...bad('a body of 65,537 bytes', ofLength(65_537, 4000n), 'bodyTooLarge'), closes: true },
    {
      ...bad('a body said to be of 10 GB', '', 'bodyTooLarge'),
      request: { headers: { 'Content-Type': 'application/json', 'Content-Length': '10000000000' } },
      closes: true,
    },
    {
      ...good('a chunked body', ''),
      request: inChunks(`{"id":${chunked},"name":"n"}`, 5),
      kept: { id: chunked, name: 'n' },
    },
    { ...bad('a chunked body that came whole and is no plant', '', 'invalidPlant'), request: inChunks('{"id":1}', 5) },
    {
      ...bad('a chunked body of 65,537 bytes', '', 'bodyTooLarge'),
      request: inChunks(ofLength(65_537, 4000n), 8_192),
      closes: true,
    },
  ]
}

function credentialRows(tokens: Tokens): Row[] {
  const accepted = (title: string, authorization: string): Row =>
    withHeaders(`Authorization ${title}`, { Authorization: authorization })
  const refused = (title: string, authorization: string | undefined, error: ErrorCode, challenge: string): Row => ({
    ...bad(`Authorization ${title}`, '{"id":4000,"name":"n"}', error),
    request: { body: '{"id":4000,"name":"n"}', headers: { Authorization: authorization } },
    headers: { 'www-authenticate': `Bearer realm="plantstore"${challenge}` },
  })
  const missing = (title: string, authorization?: string): Row => refused(title, authorization, 'missingToken', '')
  const invalid = (title: string, authorization: string): Row =>
    refused(title, authorization, 'invalidToken', ', error="invalid_token"')
  const { good: token } = tokens
  const last = token.endsWith('0') ? '1' : '0'
  return [
    accepted('with the scheme in lower case', `bearer ${token}`),
    accepted('with the scheme in upper case', `BEARER ${token}`),
    accepted('with two spaces', `Bearer  ${token}`),
    missing('missing'),
    missing('empty', ''),
    missing('Bearer alone', 'Bearer'),
    missing('Basic', 'Basic cGx0Og=='),
    missing('the token without a scheme', token),
    invalid('a token cut short', `Bearer ${token.slice(0, -1)}`),
    invalid('a token with a character changed', `Bearer ${token.slice(0, -1)}${last}`),
    invalid('a token in another case', `Bearer ${token.toUpperCase()}`),
    invalid('two tokens on one line', `Bearer ${token} ${token}`),
    invalid('a token with a comma', `Bearer ${token},`),
    invalid('a quoted token', `Bearer "${token}"`),
    invalid('a text that is no token', 'Bearer letmein'),
    invalid('of 8,000 characters', `Bearer ${'a'.repeat(8_000)}`),
    invalid('unknown', `Bearer ${tokens.unknown}`),
    invalid('expired', `Bearer ${tokens.expired}`),
    invalid('revoked', `Bearer ${tokens.revoked}`),
    {
      ...refused('without the scope', `Bearer ${tokens.readOnly}`, 'insufficientScope', ''),
      headers: { 'www-authenticate': 'Bearer realm="plantstore", error="insufficient_scope", scope="plants:write"' },
      message: /^the token needs the scope plants:write, it has plants:read$/,
    },
    {
      ...bad('Authorization twice', '{"id":4000,"name":"n"}', 'repeatedHeader', /^authorization: must be sent once$/),
      request: { body: '{"id":4000,"name":"n"}', lines: [`authorization: Bearer ${token}`] },
    },
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
function orderRows(tokens: Tokens): Row[] {
  const body = 'no json'
  const first = (title: string, request: RequestParts, error: ErrorCode, closes?: true): Row => ({
    title: `order of refusals: ${title}`,
    request,
    status: Math.floor(errorNumbers[error] / 100),
    error,
    ...(closes && { closes }),
  })
  const tooLong = { 'Content-Length': '70000' }
  const noToken = { Authorization: undefined }
  const wrongScope = { Authorization: `Bearer ${tokens.readOnly}` }
  const wrongType = { 'Content-Type': 'text/plain' }
  return [
    first('Host before the path', { target: '/nowhere', lines: ['Host: b.example'] }, 'repeatedHeader'),
    first('the path before the method', { method: 'DELETE', target: '/nowhere', headers: noToken }, 'unknownPath'),
    first('the path before the token', { target: '/nowhere', headers: noToken }, 'unknownPath'),
    first('the method before the token', { method: 'PATCH', headers: noToken }, 'methodNotAllowed'),
    first('the token before the media type', { body, headers: { ...noToken, ...wrongType } }, 'missingToken'),
    first('the token before the length', { headers: { ...noToken, ...tooLong } }, 'missingToken', true),
    first('the token before the body', { body, headers: noToken }, 'missingToken'),
    first('the scope before the media type', { body, headers: { ...wrongScope, ...wrongType } }, 'insufficientScope'),
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
    first('the path before the expectation', { target: '/nowhere', headers: { Expect: 'tea' } }, 'unknownPath'),
    first('the body before a taken id', { body: '{"id":1,"name":1}' }, 'invalidPlant'),
  ]
}

function hostRows(): Row[] {
  const refused = (title: string, request: RequestParts, error: ErrorCode): Row => ({
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
    found('/plants?unknown=1'),
    found('/plants?'),
    found('http://plants.example/plants'),
    unknown('/plants/'),
    unknown('/plants/1/leaves'),
    unknown('/Plants'),
    unknown('//plants'),
    { ...unknown(`/plt_${'a'.repeat(49)}`), message: /^there is nothing at \/plt_\.\.\.$/ },
    ...[
      'http:///plants',
      'http://[bad/plants',
      'http://user@plants.example/plants',
      'ftp://plants.example/plants',
      '/plants#top',
    ].map((target): Row => ({ ...unknown(target, 'malformedRequest'), closes: true })),
    unknown('/plants;v=1'),
    unknown('/plants%2F'),
    unknown('/plants/../plants'),
    unknown('/favicon.ico'),
    unknown('*'),
    { ...unknown(`/${'a'.repeat(5_000)}`), message: /^there is nothing at \/a{199}$/ },
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
  const oneOnly = {
    status: 405,
    error: 'methodNotAllowed',
    headers: { allow: 'DELETE, GET, HEAD, OPTIONS, PUT' },
  } as const
  const readOnly = { status: 405, error: 'methodNotAllowed', headers: { allow: 'GET, HEAD, OPTIONS' } } as const
  return [
    ...['PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY'].map((method) => at(method, '/plants', notAllowed)),
    ...['POST', 'PATCH', 'TRACE', 'QUERY'].map((method) => at(method, '/plants/1', oneOnly)),
    ...['/livez', '/', 'http://plants.example'].flatMap((target) =>
      ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'].map((method) => at(method, target, readOnly)),
    ),
    ...['PROPFIND', 'PURGE', 'M-SEARCH'].map((method) =>
      at(method, '/plants', { status: 501, error: 'unknownMethod' }),
    ),
    at('PROPFIND', '/nowhere', { status: 501, error: 'unknownMethod' }),
    at('GET', '/nowhere', { status: 404, error: 'unknownPath' }),
    at('HEAD', '/nowhere', { status: 404, error: 'unknownPath' }),
    at('OPTIONS', '/nowhere', { status: 404, error: 'unknownPath' }),
    at('OPTIONS', '/plants', { status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST' } }),
    at('OPTIONS', '/plants/1', { status: 204, headers: { allow: 'DELETE, GET, HEAD, OPTIONS, PUT' } }),
    at('OPTIONS', '/readyz', { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } }),
    at('OPTIONS', '*', { status: 204, headers: { allow: 'DELETE, GET, HEAD, OPTIONS, POST, PUT' } }),
    ...['/', '/livez', '/readyz', '/openapi.json', '/openapi.yaml', '/site/style.css'].flatMap((target) =>
      ['GET', 'HEAD'].map((method) => at(method, target, { status: 200 })),
    ),
  ]
}

function keyRows(): Row[] {
  const refused = (title: string, key: string, lines?: readonly string[]): Row => ({
    ...bad(`Idempotency-Key ${title}`, '', lines ? 'repeatedHeader' : 'invalidHeader'),
    request: { body: '{"id":4000,"name":"n"}', headers: { 'Idempotency-Key': key }, ...(lines && { lines }) },
  })
  return [
    withHeaders('Idempotency-Key of one character', { 'Idempotency-Key': 'k' }),
    withHeaders('Idempotency-Key of 255 characters', { 'Idempotency-Key': 'k'.repeat(255) }),
    withHeaders('Idempotency-Key in quotes', { 'Idempotency-Key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"' }),
    refused('empty', ''),
    refused('of 256 characters', 'k'.repeat(256)),
    refused('with a space', 'a b'),
    refused('outside ASCII', 'schl\xfcssel'),
    refused('twice', 'a', ['Idempotency-Key: a']),
  ]
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

function inChunks(body: string, chunkLength: number): RequestParts {
  const chunks = body.match(new RegExp(`[\\s\\S]{1,${chunkLength}}`, 'g')) ?? []
  return {
    headers: { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json', 'Content-Length': undefined },
    body: `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`,
  }
}

function bytes(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1')
}

function newId(): bigint {
  nextId += 1n
  return nextId
}
