// Bodies: strict JSON in UTF-8, an object, and not too long.

import { refusal } from '../checks.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { jsonOf } from '../message.ts'
import { plantJson } from '../plant.ts'
import type { Check, Circumstances, Row } from '../row.ts'
import { kept, refused, refusing, row, type Source } from './building.ts'

const open: Source = { document: 'NewPlant does not forbid further properties; they are not kept', where: 'NewPlant' }
const anObject: Source = { document: 'NewPlant is an object with an id and a name', where: 'the schema NewPlant' }
const notJson: Source = {
  document:
    'a body that is not JSON in UTF-8, repeats a key, or is nested more than 32 deep is refused with error 40001',
  where: 'the schema Error',
}
const size: Source = { document: 'a body of more than 65,536 bytes is refused with 413', where: 'createPlant, 413' }

export function bodyRows(circumstances: Circumstances): readonly Row[] {
  return [
    ...keptBodies(circumstances),
    ...shapeRows(circumstances),
    ...syntaxRows(circumstances),
    placeRow(circumstances),
    ...encodingRows(circumstances),
    ...withoutIdRows(),
  ]
}

function keptBodies({ ids }: Circumstances): Row[] {
  const keptAs = (title: string, says: Source, write: (id: bigint) => string): Row => {
    const id = ids.next()
    return kept(title, says, { id, name: 'n' }, { body: write(id) })
  }
  const withExtra = (title: string, extra: string): Row =>
    keptAs(title, open, (id) => `{"id":${id},"name":"n",${extra}}`)
  const json: Source = { document: 'a request body is JSON', where: 'createPlant' }
  return [
    withExtra('unknown properties', '"colour":"green","height":1.25,"leaves":[1,2,{"a":null}]'),
    withExtra('an unknown property __proto__', '"__proto__":{"tag":"x"}'),
    withExtra('an unknown property constructor', '"constructor":{"prototype":{}}'),
    withExtra('an unknown property that no double can hold', '"x":1e999'),
    withExtra('nesting of 32', `"x":${nested(31)}`),
    withExtra('property names in another case', '"ID":1,"Id":2,"Name":"x","NAME":"y","Tag":"z"'),
    withExtra('property names with white space', '" id":1,"name ":"x","tag\\n":"y"'),
    keptAs('white space everywhere', json, (id) => ` \t\r\n{ "id" :\n${id} , "name"\t: "n" } \n`),
    keptAs('keys written with escapes', json, (id) => `{"\\u0069d":${id},"n\\u0061me":"n"}`),
  ]
}

function shapeRows({ ids }: Circumstances): Row[] {
  const bad = refusing(ids, anObject, 'invalidPlant')
  return [
    bad('only __proto__ with a plant', (id) => `{"__proto__":{"id":${id},"name":"n"}}`),
    bad('an id in upper case', (id) => `{"ID":${id},"name":"n"}`),
    bad('a name in another case', (id) => `{"id":${id},"Name":"n","NAME":"n"}`),
    bad('a name behind a space', (id) => `{"id":${id}," name":"n"}`),
    bad('an array', (id) => `[{"id":${id},"name":"n"}]`),
    bad('a number', (id) => String(id)),
    bad('everything wrong at once', (id) => `{"id":${id}.5,"name":7,"tag":null}`),
  ]
}

function syntaxRows({ ids }: Circumstances): Row[] {
  const bad = refusing(ids, notJson, 'invalidJson')
  const plant = (id: bigint, rest = '}'): string => `{"id":${id},"name":"n"${rest}`
  return [
    bad('nesting of 33', (id) => plant(id, `,"x":${nested(32)}}`)),
    bad('nesting of 60,000', () => '['.repeat(60_000)),
    bad('nesting of 10,000 objects', () => '{"a":'.repeat(10_000)),
    bad('an empty body', () => ''),
    bad('white space alone', () => ' \n '),
    bad('two values', (id) => `${plant(id)}{}`),
    bad('a comma at the end of an object', (id) => plant(id, ',}')),
    bad('a comma at the end of an array', (id) => plant(id, ',"x":[1,]}')),
    bad('a comment', (id) => `{"id":${id},/* */"name":"n"}`),
    bad('a key without quotes', (id) => `{id:${id},"name":"n"}`),
    bad('a key without a value', () => '{"id"}'),
    bad('a missing comma', (id) => `{"id":${id} "name":"n"}`),
    bad('a truncated object', (id) => plant(id, '')),
    bad('a truncated word', (id) => plant(id, ',"x":tru}')),
    bad('a word in upper case', (id) => plant(id, ',"x":TRUE}')),
    ...['\0', '\f', '\v', '\u001f', '\u00a0', '\u2028', '\ufeff'].flatMap((character) => {
      const name = `U+${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      return [
        bad(`${name} behind the value`, (id) => `${plant(id)}${character}`),
        bad(`${name} in front of the value`, (id) => `${character}${plant(id)}`),
      ]
    }),
    bad('a vertical tab as white space', (id) => `{"id":${id},\u000b"name":"n"}`),
    bad('a repeated key', (id) => plant(id, `,"id":${id + 1n}}`)),
    bad('a repeated key with the same value', (id) => plant(id, ',"name":"n"}')),
    bad('a repeated key written with an escape', (id) => plant(id, `,"\\u0069d":${id}}`)),
    bad('a repeated key deep inside', (id) => plant(id, ',"x":[{"y":1,"y":1}]}')),
    bad('a repeated __proto__', (id) => plant(id, ',"__proto__":1,"__proto__":1}')),
    bad('a form', (id) => `id=${id}&name=n`),
  ]
}

/** The message of the refusal has the place of the error in bytes, give or take a token. */
function placeRow({ ids, plants }: Circumstances): Row {
  const id = ids.next()
  const says: Source = { document: 'the message gives the byte offset, from 0', where: 'the schema Error' }
  // Of one to four bytes in UTF-8.
  const steps = ['a', 'é', 'ﬁ', '🌿'].map((character) => {
    const before = plants.fill(`{"id":${id},"name":"${character.repeat(200)}",`)
    const place = Buffer.byteLength(before)
    const saysPlace: Check = (answer) => {
      const { message } = (jsonOf(answer) ?? {}) as { readonly message?: unknown }
      const numbers = String(message).match(/\d+/g) ?? []
      const isNear = numbers.some((each) => Math.abs(Number(each) - place) <= 2)
      return isNear ? undefined : `the message does not say that the error is at byte ${place}`
    }
    return { request: { body: `${before}!}` }, checks: [...refusal('invalidJson'), saysPlace] }
  })
  return row('the refusal of invalid JSON says at which byte', says, [id], ...steps)
}

function encodingRows({ ids }: Circumstances): Row[] {
  const bad = refusing(ids, notJson, 'invalidJson')
  const named = (latin1: string) => (id: bigint) => Buffer.from(`{"id":${id},"name":"${latin1}"}`, 'latin1')
  return [
    bad('a byte order mark', (id) => `\ufeff{"id":${id},"name":"n"}`),
    bad('UTF-16', (id) => Buffer.from(`{"id":${id},"name":"n"}`, 'utf16le')),
    bad('an invalid byte', named('\xff')),
    bad('an overlong NUL', named('\xc0\x80')),
    bad('a surrogate in UTF-8', named('\xed\xa0\x80')),
    bad('a cut character', named('\xf0\x9f\x8c')),
  ]
}

/** Bodies without an id. */
function withoutIdRows(): Row[] {
  const bad = (title: string, body: string): Row => ({
    ...row(title, anObject, [], { request: { body }, checks: refusal('invalidPlant') }),
    strays: strayIds.zero,
  })
  return [
    bad('id missing', `{"name":"${strayName}"}`),
    bad('an empty object', '{}'),
    bad('a string', '"{}"'),
    bad('null', 'null'),
    bad('true', 'true'),
  ]
}

export function sizeRows({ ids, plants }: Circumstances): readonly Row[] {
  const ofLength = (length: number, id: bigint): string => {
    const frame = plants.fill(`{"id":${id},"name":"n","x":""}`)
    return frame.replace('"x":""', `"x":"${'x'.repeat(Math.max(length - frame.length, 0))}"`)
  }
  const [exact, chunked, tooLong] = [ids.next(), ids.next(), ids.next()]
  const [incomplete, chunkedTooLong, padded] = [ids.next(), ids.next(), ids.next()]
  const [accented, accentedChunks, accentedToo] = [ids.next(), ids.next(), ids.next()]
  const inTwoBytes = (length: number, id: bigint): string => {
    const room = length - ofLength(0, id).length
    return ofLength(0, id).replace('"x":""', `"x":"${'é'.repeat(Math.floor(room / 2))}${'x'.repeat(room % 2)}"`)
  }
  const chunks: Source = { document: 'a body may be sent in chunks (RFC 9112, section 7.1)', where: 'createPlant' }
  return [
    kept('a body of 65,536 bytes', size, { id: exact, name: 'n' }, { body: ofLength(65_536, exact) }),
    refused('a body of 65,537 bytes', size, 'bodyTooLarge', { body: ofLength(65_537, tooLong) }, tooLong),
    refused('a body of 65,537 bytes, mostly é', size, 'bodyTooLarge', { body: inTwoBytes(65_537, accented) }, accented),
    kept(
      'a body of 65,536 bytes, mostly é',
      size,
      { id: accentedToo, name: 'n' },
      { body: inTwoBytes(65_536, accentedToo) },
    ),
    refused(
      'a chunked body of 65,537 bytes, mostly é',
      size,
      'bodyTooLarge',
      { body: inTwoBytes(65_537, accentedChunks), chunkBytes: 8_192 },
      accentedChunks,
    ),
    refused(
      'a body of 65,537 bytes, mostly white space',
      size,
      'bodyTooLarge',
      { body: plants.fill(plantJson(padded, 'n')).padEnd(65_537) },
      padded,
    ),
    kept('a chunked body', chunks, { id: chunked, name: 'n' }, { body: plantJson(chunked, 'n'), chunkBytes: 5 }),
    refused(
      'a complete chunked body that is not a plant',
      chunks,
      'invalidPlant',
      { body: `{"id":${incomplete}}`, chunkBytes: 5 },
      incomplete,
    ),
    refused(
      'a chunked body of 65,537 bytes',
      size,
      'bodyTooLarge',
      { body: ofLength(65_537, chunkedTooLong), chunkBytes: 8_192 },
      chunkedTooLong,
    ),
  ]
}

function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`
}
