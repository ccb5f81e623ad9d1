// Bodies of every operation that takes one: strict JSON in UTF-8, an object, uncompressed, and not too long.

import { gzipSync } from 'node:zlib'
import { type Check, field } from '../checks.ts'
import { objectOf, type RowRequest } from '../message.ts'
import type { Plants } from '../plant.ts'
import { type Bodies, bodiesOf, type Write } from './operations.ts'

const open = 'NewPlant does not forbid further properties; they are not kept (NewPlant)'
const anObject = 'NewPlant is an object with an id and a name (the schema NewPlant)'
const isJson = 'a request body is JSON (the request bodies)'
const notJson =
  'a body that is not JSON in UTF-8, repeats a key, or is nested more than 32 deep is refused with error ' +
  '40001 (the schema Error)'
const place = 'the message gives the byte offset, from 0 (the schema Error)'
const bytesMax = 65_536
const size = 'a body of more than 65,536 bytes is refused with 413 (BodyTooLarge)'
const mediaType =
  'a body must be uncompressed application/json in UTF-8; any other gets 415, which states what is accepted ' +
  '(UnsupportedMediaType)'

/** A plant with something after its name. */
const named =
  (rest: string): Write =>
  (start) =>
    `${start}"name":"n"${rest}`
const whole = named('}')
/** A plant with nested arrays, and one with nested objects. */
const nested = (depth: number): readonly Write[] =>
  [`${'['.repeat(depth)}${']'.repeat(depth)}`, `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`].map((value) =>
    named(`,"x":${value}}`),
  )
const text =
  (body: string): Write =>
  () =>
    body

/** Characters that some programs take for white space. */
const spaces = ['\0', '\f', '\v', '\u001f', '\u00a0', '\u2028', '\ufeff']
const brokenTexts = ['a\u0000b', 'a\nb', 'a\tb', '\\x41', '\\u12']
export const noObjects = ['[]', '7', '"{}"', 'null', 'true']

const syntax: readonly Write[] = [
  ...['', ' \n ', '{"id"}', '['.repeat(60_000), '{"a":'.repeat(10_000)].map(text),
  ...['', '}{}', '}}', ',}', ',"x":[1,]}', ',"x":tru}', ',"x":TRUE}', ',"x":01}'].map(named),
  ...nested(32),
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
const inUpperCase: Write = (start) => `${start.replace('"id"', '"ID"')}"name":"n"}`
const shapes: Bodies['sent'] = [
  (start) => `[${start}"name":"n"}]`,
  (start) => `{"__proto__":${start}"name":"n"}}`,
  (start) => `${start}"name":7,"tag":null}`,
  { write: (start) => `${start.replace(/,$/, '')}}`, more: { chunkBytes: 5 } },
]
const further: readonly Write[] = [
  ...[
    ...['"colour":"green","height":1.25,"leaves":[1,2,{"a":null}]', '"__proto__":{"tag":"x"}', '"x":1e999'],
    ...['"constructor":{"prototype":{}}', '"ID":1,"Id":2,"Name":"x","NAME":"y","Tag":"z"'],
    ...['" id":1,"name ":"x","tag\\n":"y"', '"x":"\\ud800\\u0000"'],
  ].map((extra) => named(`,${extra}}`)),
  ...nested(31),
]
const written: readonly Write[] = [
  (start) => ` \t\r\n${start.replaceAll(/[:,{]/g, '$& \n')} "name"\t: "n" } \n`,
  (start) => `${start.replace('"id"', '"\\u0069d"')}"n\\u0061me":"n"}`,
]

/** Of one to four bytes in UTF-8. */
const beforeError: readonly Write[] = ['a', 'é', 'ﬁ', '🌿'].map(
  (character) => (start) => `${start}"name":"${character.repeat(200)}",!}`,
)
/** The message names the byte of the error, give or take a token. */
const saysPlace = (body: string | Buffer): readonly Check[] => {
  const place = Buffer.from(body).indexOf('!')
  return [
    (answer) => {
      const numbers = String(objectOf(answer)['message']).match(/\d+/g) ?? []
      const isNear = numbers.some((each) => Math.abs(Number(each) - place) <= 2)
      return isNear ? undefined : `the message does not say that the error is at byte ${place}`
    },
  ]
}

const acceptedTypes = [
  ...['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'application/json; charset="utf-8"'],
  ...['application/json; profile=x', 'Application/JSON', 'application/json ; charset=utf-8'],
]
const otherTypes = [
  ...[undefined, '', 'text/plain', 'text/json', 'application/jsonx', 'application/vnd.api+json', 'json'],
  ...['application/json, text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=iso-8859-1'],
  ...['application/json; charset=utf-16', `application/json; a=${'b'.repeat(300)}`],
]

function withHeader(name: string, ...values: readonly (string | undefined)[]): Bodies['sent'] {
  return values.map((value) => ({ write: whole, more: { headers: { [name]: value } } }))
}

function refused(what: string, code: string, sent: Bodies['sent'], says = notJson): Bodies {
  return { what, says, code, sent }
}

const ofAnyPlant: readonly Bodies[] = [
  { what: 'plants with unknown properties', says: open, sent: further },
  { what: 'JSON however it is written', says: isJson, sent: written },
  refused('what is not JSON', 'invalidJson', syntax),
  refused('other characters around JSON', 'invalidJson', around),
  refused('repeated keys', 'invalidJson', repeated),
  refused('what is not UTF-8', 'invalidJson', notUtf8),
  { ...refused('invalid JSON, naming its byte', 'invalidJson', beforeError, place), checks: saysPlace },
  {
    what: 'JSON of every media type',
    says: mediaType,
    sent: [...withHeader('Content-Type', ...acceptedTypes), ...withHeader('Content-Encoding', 'identity')],
  },
  {
    what: 'other media types',
    says: mediaType,
    code: 'unsupportedMediaType',
    checks: () => [field('Accept', /^application\/json$/i)],
    sent: withHeader('Content-Type', ...otherTypes),
  },
  {
    what: 'compressed bodies',
    says: mediaType,
    code: 'unsupportedContentEncoding',
    checks: () => [field('Accept-Encoding', 'identity')],
    sent: ['gzip', 'br', 'identity, gzip'].flatMap((coding) => [
      ...withHeader('Content-Encoding', coding),
      { write: (start) => gzipSync(whole(start)), more: { headers: { 'Content-Encoding': coding } } },
    ]),
  },
]

/** Bodies of a number of bytes, filled up in front of the name or behind the plant, whole or in chunks. */
function sized(plants: Plants, bytes: number): Bodies['sent'] {
  const filled =
    (fill: string): Write =>
    (start) => {
      const frame = plants.fill(`${start}"x":"","name":"n"}`)
      const room = bytes - Buffer.byteLength(frame)
      const text = fill.repeat(Math.floor(room / Buffer.byteLength(fill)))
      return frame.replace('"x":""', `"x":"${text}${'x'.repeat(room - Buffer.byteLength(text))}"`)
    }
  const padded: Write = (start) => plants.fill(`${start}"name":"n"}`).padEnd(bytes)
  const inChunks: Partial<RowRequest> = { chunkBytes: 8_192 }
  return [
    ...[filled('x'), filled('é'), padded],
    ...[filled('x'), filled('é')].map((write) => ({ write, more: inChunks })),
  ]
}

function ofSizes(plants: Plants): readonly Bodies[] {
  return [
    { what: 'a body of 65,537 bytes', says: size, code: 'bodyTooLarge', sent: sized(plants, bytesMax + 1) },
    {
      what: 'a body of 65,536 bytes',
      says: size,
      sent: [...sized(plants, bytesMax), { write: whole, more: { chunkBytes: 5 } }],
    },
  ]
}

export const bodyRows = bodiesOf((plants, isNew) => {
  const others = isNew ? [inUpperCase] : noObjects.map(text)
  const noPlants = refused('JSON that is no plant', 'invalidPlant', [...others, ...shapes], anObject)
  return [...ofAnyPlant, noPlants, ...ofSizes(plants)]
})
