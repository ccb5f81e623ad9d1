// Bodies of every operation that takes one: strict JSON in UTF-8, an object, uncompressed, and not too long.

import { gzipSync } from 'node:zlib'
import { type Check, type ErrorCode, field, refusal } from '../checks.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { objectOf } from '../message.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import { begin, isUnchanged, keeping, refusing, type Taking, takingOf, type Write } from './taking.ts'

const open = 'NewPlant does not forbid further properties; they are not kept (NewPlant)'
const anObject = 'NewPlant is an object with an id and a name (the schema NewPlant)'
const notJson =
  'a body that is not JSON in UTF-8, repeats a key, or is nested more than 32 deep is refused with error ' +
  '40001 (the schema Error)'
const bytesMax = 65_536
const size = 'a body of more than 65,536 bytes is refused with 413 (BodyTooLarge)'
const plant = { name: 'n' }

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
/** A plant with something after its name. */
const named =
  (rest: string): Write =>
  (start) =>
    `${start}"name":"n"${rest}`
const text =
  (body: string): Write =>
  () =>
    body

/** Characters that some programs take for white space. */
const spaces = ['\0', '\f', '\v', '\u001f', '\u00a0', '\u2028', '\ufeff']
const brokenTexts = ['a\u0000b', 'a\nb', 'a\tb', '\\x41', '\\u12']

const syntax: readonly Write[] = [
  ...['', ' \n ', '{"id"}', '['.repeat(60_000), '{"a":'.repeat(10_000)].map(text),
  ...['', '}{}', '}}', ',}', ',"x":[1,]}', ',"x":tru}', ',"x":TRUE}', ',"x":01}', `,"x":${nested(32)}}`].map(named),
  (start) => `${start}/* */"name":"n"}`,
  (start) => `${start}name:"n"}`,
  (start) => `${start.replace(',', ' ')}"name" "n"}`,
  (start) => `${start}"name":'n'}`,
  (start) => `${start}\u000b"name":"n"}`,
  (start) => `${start}"name":"n`,
  (start) => `${start.replaceAll('"', "'")}'name':'n'}`,
  (start) => `id=${/\d+/.exec(start)?.[0]}&name=n`,
  ...brokenTexts.map((broken) => (start: string) => `${start}"name":"${broken}"}`),
]
const repeated: readonly Write[] = [
  ...[',"name":"n"}', ',"n\\u0061me":"m"}', ',"x":[{"y":1,"y":1}]}', ',"__proto__":1,"__proto__":1}'].map(named),
  (start) => `${start}${start.slice(1)}"name":"n","name":"m"}`,
]
/** Bytes of Latin-1. */
const notUtf8: readonly Write[] = [
  ...['\xff', '\xc0\x80', '\xed\xa0\x80', '\xf0\x9f\x8c'].map(
    (bytes) => (start: string) => Buffer.from(`${start}"name":"${bytes}"}`, 'latin1'),
  ),
  (start) => Buffer.from(`${start}"name":"n"}`, 'utf16le'),
]
const around: readonly Write[] = spaces.flatMap((space) => [
  (start) => `${space}${start}"name":"n"}`,
  (start) => `${start}"name":"n"}${space}`,
])
const noObjects = ['[]', '7', '"{}"', 'null', 'true']
const inUpperCase: Write = (start) => `${start.replace('"id"', '"ID"')}"name":"n"}`
const shapes: readonly Write[] = [
  (start) => `[${start}"name":"n"}]`,
  (start) => `{"__proto__":${start}"name":"n"}}`,
  (start) => `${start}"name":7,"tag":null}`,
]
const further: readonly Write[] = [
  ...[
    ...['"colour":"green","height":1.25,"leaves":[1,2,{"a":null}]', '"__proto__":{"tag":"x"}', '"x":1e999'],
    ...['"constructor":{"prototype":{}}', `"x":${nested(31)}`, '"ID":1,"Id":2,"Name":"x","NAME":"y","Tag":"z"'],
    '" id":1,"name ":"x","tag\\n":"y"',
  ].map((extra) => named(`,${extra}}`)),
]
const written: readonly Write[] = [
  (start) => ` \t\r\n${start.replaceAll(/[:,{]/g, '$& \n')} "name"\t: "n" } \n`,
  (start) => `${start.replace('"id"', '"\\u0069d"')}"n\\u0061me":"n"}`,
]

export function bodyRows(circumstances: Circumstances): readonly Row[] {
  return [
    ...takingOf(circumstances).flatMap((taking) => rowsOf(circumstances, taking)),
    ...withoutIdRows(circumstances),
  ]
}

function rowsOf(circumstances: Circumstances, taking: Taking): Row[] {
  const bad = (what: string, code: ErrorCode, writes: readonly Write[], says = notJson): Row =>
    refusing(circumstances, taking, what, says, code, writes)
  const kept = (what: string, says: string, writes: readonly Write[]): Row =>
    keeping(
      circumstances,
      taking,
      what,
      says,
      writes.map((write) => ({ plant, write })),
    )
  const json = `a request body is JSON (${taking.id})`
  return [
    kept('plants with unknown properties', open, further),
    kept('JSON however it is written', json, written),
    bad('what is not JSON', 'invalidJson', syntax),
    bad('other characters around JSON', 'invalidJson', around),
    bad('repeated keys', 'invalidJson', repeated),
    bad('what is not UTF-8', 'invalidJson', notUtf8),
    bad(
      'JSON that is no plant',
      'invalidPlant',
      [...(taking.isNew ? [inUpperCase] : noObjects.map(text)), ...shapes],
      anObject,
    ),
    placeRow(circumstances, taking),
  ]
}

/** The message names the byte of the error, give or take a token. */
function placeRow({ ids, plants }: Circumstances, taking: Taking): Row {
  const says = 'the message gives the byte offset, from 0 (the schema Error)'
  return row(`${taking.id} says at which byte JSON is invalid`, says, ids.take(1), async (store, id) => {
    await begin(store, taking, id)
    // Of one to four bytes in UTF-8.
    for (const character of ['a', 'é', 'ﬁ', '🌿']) {
      const before = plants.fill(`${taking.start(id)}"name":"${character.repeat(200)}",`)
      const place = Buffer.byteLength(before)
      const saysPlace: Check = (answer) => {
        const numbers = String(objectOf(answer)['message']).match(/\d+/g) ?? []
        const isNear = numbers.some((each) => Math.abs(Number(each) - place) <= 2)
        return isNear ? undefined : `the message does not say that the error is at byte ${place}`
      }
      await store.send(taking.request(id, `${before}!}`), [...refusal('invalidJson'), saysPlace])
    }
    await isUnchanged(store, taking, id)
  })
}

/** A faulty server might take 0 for the id. */
function withoutIdRows(circumstances: Circumstances): Row[] {
  const bodies = [`{"name":"${strayName}"}`, '{}', ...noObjects]
  return takingOf(circumstances)
    .filter(({ isNew }) => isNew)
    .map(({ id, request }) => ({
      ...row(`${id} refuses a body without an id`, anObject, [], async (store) => {
        for (const body of bodies) await store.send(request(0n, body), refusal('invalidPlant'))
      }),
      strays: strayIds.zero,
    }))
}

export function sizeRows(circumstances: Circumstances): readonly Row[] {
  const { ids, plants } = circumstances
  /** A plant of a number of bytes, filled up in front of its name. */
  const filled = (start: string, bytes: number, fill: string): string => {
    const frame = plants.fill(`${start}"x":"","name":"n"}`)
    const room = bytes - Buffer.byteLength(frame)
    const count = Math.floor(room / Buffer.byteLength(fill))
    return frame.replace('"x":""', `"x":"${fill.repeat(count)}${'x'.repeat(room - count * Buffer.byteLength(fill))}"`)
  }
  const padded = (start: string, bytes: number): string => plants.fill(`${start}"name":"n"}`).padEnd(bytes)
  const ways: readonly (readonly [
    what: string,
    write: (start: string, bytes: number) => string,
    chunkBytes?: number,
  ])[] = [
    ['', (start, bytes) => filled(start, bytes, 'x')],
    [', mostly é', (start, bytes) => filled(start, bytes, 'é')],
    [', mostly white space', padded],
    [', in chunks', (start, bytes) => filled(start, bytes, 'x'), 8_192],
    [', mostly é, in chunks', (start, bytes) => filled(start, bytes, 'é'), 8_192],
  ]
  return takingOf(circumstances).flatMap((taking) => [
    ...ways.map(([what, write, chunkBytes]) =>
      row(`${taking.id} refuses a body of 65,537 bytes${what}`, size, ids.take(1), async (store, id) => {
        await begin(store, taking, id)
        const body = write(taking.start(id), bytesMax + 1)
        const inChunks = chunkBytes !== undefined && { chunkBytes }
        await store.send({ ...taking.request(id, body), ...inChunks }, refusal('bodyTooLarge'))
        await isUnchanged(store, taking, id)
      }),
    ),
    keeping(circumstances, taking, 'a body of 65,536 bytes', size, [
      ...ways.map(([, write, chunkBytes]) => ({
        plant,
        write: (start: string) => write(start, bytesMax),
        ...(chunkBytes !== undefined && { more: { chunkBytes } }),
      })),
      { plant, write: named('}'), more: { chunkBytes: 5 } },
    ]),
    row(
      `${taking.id} refuses a complete chunked body that is not a plant`,
      anObject,
      ids.take(1),
      async (store, id) => {
        await begin(store, taking, id)
        const body = `${taking.start(id).replace(/,$/, '')}}`
        await store.send({ ...taking.request(id, body), chunkBytes: 5, isInvalid: true }, refusal('invalidPlant'))
        await isUnchanged(store, taking, id)
      },
    ),
  ])
}

const mediaType =
  'a body must be uncompressed application/json in UTF-8; any other gets 415, which states what is accepted ' +
  '(UnsupportedMediaType)'
const acceptedTypes = [
  ...['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'application/json; charset="utf-8"'],
  ...['application/json; profile=x', 'Application/JSON'],
]
const otherTypes = [
  ...[undefined, '', 'text/plain', 'text/json', 'application/jsonx', 'application/vnd.api+json', 'json'],
  ...['application/json, text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=iso-8859-1'],
  ...['application/json; charset=utf-16', `application/json; a=${'b'.repeat(300)}`],
]

/** Media types and codings, for every operation that takes a body. */
export function mediaTypeRows(circumstances: Circumstances): readonly Row[] {
  const { ids } = circumstances
  return takingOf(circumstances).flatMap((taking) => [
    keeping(circumstances, taking, 'JSON of every media type', mediaType, [
      ...acceptedTypes.map((type) => ({ plant, write: named('}'), more: { headers: { 'Content-Type': type } } })),
      { plant, write: named('}'), more: { headers: { 'Content-Encoding': 'identity' } } },
    ]),
    row(`${taking.id} refuses other media types`, mediaType, ids.take(1), async (store, id) => {
      await begin(store, taking, id)
      const checks = [...refusal('unsupportedMediaType'), field('Accept', /^application\/json$/i)]
      for (const type of otherTypes) {
        await store.send(taking.request(id, `${taking.start(id)}"name":"n"}`, { 'Content-Type': type }), checks)
      }
      await isUnchanged(store, taking, id)
    }),
    row(`${taking.id} refuses compressed bodies`, mediaType, ids.take(1), async (store, id) => {
      await begin(store, taking, id)
      const body = `${taking.start(id)}"name":"n"}`
      const checks = [...refusal('unsupportedContentEncoding'), field('Accept-Encoding', 'identity')]
      for (const coding of ['gzip', 'br', 'identity, gzip']) {
        for (const bytes of [body, gzipSync(body)]) {
          await store.send(taking.request(id, bytes, { 'Content-Encoding': coding }), checks)
        }
      }
      await isUnchanged(store, taking, id)
    }),
  ])
}
