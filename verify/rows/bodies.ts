// Bodies of every operation that takes one: ids, texts and further properties of plants; strict JSON in UTF-8, an
// object, uncompressed, and not too long.

import { gzipSync } from 'node:zlib'
import { type Check, field, isCreated, isPlant, ok, otherField, refusal, sameField } from '../checks.ts'
import { int64Max, int64Min, whyExactAnyway } from '../ids.ts'
import { toJson } from '../json.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { objectOf, type RowRequest } from '../message.ts'
import { type Plants, plantJson } from '../plant.ts'
import { type Circumstances, near, type Row, row } from '../row.ts'
import { type Bodies, bodiesOf, kept, refused, type Sent } from './operations.ts'

const isInt64 = {
  document:
    'id is an integer of 64 bits; a JSON number with no fraction is one, however it is written (schemas/NewPlant)',
}

/** A plant with something after its name, such as the end of the object. */
function named(rest: string): string {
  return `{<id>,"name":"n"${rest}`
}
const whole = named('}')

/** A plant with an id in place of the digits. */
const numbered = plantJson('<digits>', 'n')
function spelt(...ids: readonly string[]): readonly string[] {
  return ids.map((id) => numbered.replace('<digits>', id))
}
function rewritten(write: (text: string) => string): Sent {
  return { body: numbered, write }
}

const ofIds: readonly Bodies[] = [
  kept('an id however it is written', isInt64, [
    ...['e1', 'E1', 'e+1', 'e01'].map((exponent) =>
      rewritten((text) => text.replace(/(?<=\d)(\d)(?=,)/, `.$1${exponent}`)),
    ),
    ...spelt('<digits>.0', `<digits>.${'0'.repeat(20)}`, '<digits>0e-1'),
  ]),
  refused(
    'an id that is no integer',
    'invalidPlant',
    spelt('<digits>.5', `<digits>.${'0'.repeat(30)}1`, '"<digits>"', '[<digits>]'),
    isInt64,
  ),
  refused('an id that is no number of JSON', 'invalidJson', [
    ...spelt('<digits>.', '<digits>e', '+<digits>'),
    rewritten((text) => text.replace(/(?=\d)/, '0')),
    rewritten((text) => text.replace(/(?<=\d)(?=\d{3},)/, '_')),
    rewritten((text) => text.replace(/-?(\d+)/, (_, digits) => `0x${BigInt(digits).toString(16)}`)),
  ]),
]

/** Values that a faulty server could map to ids outside the range. */
const astray: readonly (readonly [what: string, literal: string, strays: readonly bigint[]])[] = [
  ['past the end of int64', String(int64Max + 1n), strayIds.tooLarge],
  ['before the beginning of int64', String(int64Min - 1n), strayIds.tooLarge],
  ['that is null', 'null', strayIds.zero],
  ['that is true', 'true', strayIds.one],
  ['that is an empty string', '""', strayIds.zero],
  ['that is an object', '{}', strayIds.zero],
]
const neverOverwritten = { place: 'createPlant: never overwritten', turn: 'first' } as const
const noObjects = ['[]', '7', '"{}"', 'null', 'true']

export function int64Rows(run: Circumstances): readonly Row[] {
  // In most ranges, the last ids have more digits.
  const ids: Row['ids'] = (range) => [...range.near(3), ...range.near(3, range.takeEnd(1))]
  return [
    row('neighbouring ids beyond 2^53 are kept apart', { ...isInt64, ids }, async (store, ...own) => {
      store.skipIf(whyExactAnyway(own))
      const plants = own.map((id, at) => ({ id, name: `n${at}` }))
      for (const plant of plants) await store.create(plant)
      for (const plant of plants) await store.read(plant)
    }),
    row('an id that is taken is refused, and its plant stays as it is', neverOverwritten, async (store, id) => {
      const plant = { id, name: 'n', tag: 't' }
      await store.create(plant)
      await store.refuses('idTaken', plant)
      await store.refuses('idTaken', { id, name: 'other' })
      await store.read(plant)
    }),
    ...astray.map(([what, literal, strays]) =>
      row(`an id ${what} is refused`, { ...isInt64, strays }, (store) =>
        store.send({ body: plantJson(literal, strayName), isInvalid: true }, refusal('invalidPlant')),
      ),
    ),
    row('a body without an id is no plant', { ...isInt64, strays: strayIds.zero }, async (store) => {
      for (const body of [`{"name":"${strayName}"}`, '{}', ...noObjects]) {
        await store.send({ body, isInvalid: true }, refusal('invalidPlant'))
      }
    }),
    ...bodiesOf((_, isNew) => (isNew ? ofIds : []))(run),
  ]
}

/** As literals of JSON. */
const literals: Readonly<Record<string, readonly string[]>> = {
  'of any script': [
    ...['Φοίνιξ ἡ δακτυλοφόρος', 'نخلة التمر', '紫陽花', 'e\u0301 a\u030a', '\ufb01 ① ＡＢ', 'Aa Ää ß İ', '🌿𝒜'],
    ...['\u200fa\u202eb\u202c', '❤\ufe0f 👩\u200d🌾 a\u200bb', '\uffff\u{10ffff}', '\ufffd', 'a\ufeffb', '\ufeffa'],
  ].map(quoted),
  'with any white space': ['', '  ', ' \t a\u00a0 ', 'a  b   c', 'a\r\nb\rc\nd', 'a\u2028b\u2029c', ' '].map(quoted),
  'with signs of other languages': [
    ...['<script>alert(1)</script>', '&amp; %41 \\u0041', '007'],
    ...['a,b;c/d?e&f=g+h%20', 'null', '__proto__', '{"a":[', '['.repeat(200)],
  ].map(quoted),
  'however it is written': ['"\u007f"', '"\\ud83c\\udf3f"', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041"', '"\\u00e9"'],
}
const noStrings = ['null', '7', 'false', '["a"]', '{}']
const noText = ['"a\\u0000b"', '"\\u0000"', '"\\ud83c"', '"\\udf3f"', '"\\udf3f\\ud83c"', '"\\udfff"']
const nameless = ['{<id>}', '{<id>,"tag":"t"}', '{<id>,"Name":"m","NAME":"m","name ":"m"," name":"m"}']

/** Every character of up to two bytes in UTF-8 except NUL. */
const short = Array.from({ length: 0x7ff }, (_, at) => String.fromCharCode(at + 1)).join('')

function quoted(text: string): string {
  return JSON.stringify(text)
}

export const textRows = bodiesOf((plants) => [...textsOf(plants, 'name'), ...textsOf(plants, 'tag')])

/** Texts by the schema of their property: valid ones are returned unchanged, invalid ones are refused. */
function textsOf(plants: Plants, property: 'name' | 'tag'): readonly Bodies[] {
  const { min, max } = plants.lengthsOf(property)
  const [least, most] = [min, max].map((count) => count.toLocaleString('en'))
  const bound = {
    document: `${property} has ${min === 0 ? '' : `${least} to `}${most} characters at most (schemas/Plant)`,
  }
  const anyText = 'schemas/Plant: any Unicode text'
  const write = (literal: string): string =>
    `{<id>,${property === 'name' ? '' : '"name":"n",'}"${property}":${literal}}`
  const returned = (literal: string): Sent => {
    return { plant: { name: 'n', [property]: JSON.parse(literal) as string }, body: write(literal) }
  }
  const pieces = short.match(new RegExp(`.{1,${max}}`, 'gs')) ?? []
  const within = ['a', '🌿', '\ufdfa', '\u0130', '['].map((each) => each.repeat(max))
  const beyond = [...(min > 0 ? ['a'.repeat(min - 1)] : []), 'a'.repeat(max + 1), '🌿'.repeat(max + 1)]
  const invalid = (what: string, texts: readonly string[], rule?: Bodies['rule']): Bodies =>
    refused(`a ${property} ${what}`, 'invalidPlant', texts, rule)
  const valid = (what: string, rule: Bodies['rule'], texts: readonly string[]): Bodies =>
    kept(`a ${property} ${what}`, rule, texts.map(returned))
  return [
    ...Object.entries(literals).map(([what, texts]) => valid(what, anyText, texts)),
    valid('of every character up to U+07FF', anyText, pieces.map(quoted)),
    valid(`of at most ${most} characters`, bound, [...within, '🌿'.repeat(Math.max(min, 1))].map(quoted)),
    invalid(`of more than ${most} characters`, beyond.map(quoted).map(write), bound),
    invalid('that is no string', [...noStrings.map(write), ...(property === 'name' ? nameless : [])]),
    invalid('with NUL or half a surrogate pair', noText.map(write), 'schemas/Plant: Unpaired surrogates'),
  ]
}

/** Properties that the bundled document does not have: kept as they are sent, replaced and removed. */
export function furtherRows({ plants }: Circumstances): readonly Row[] {
  return plants.further.map(({ name: property, isRequired, sample }) => {
    const rule = { document: `a plant has the property ${property} (createPlant)`, ids: near(1) }
    return row(`the property ${property} is kept as it is sent`, rule, async (store, id) => {
      const [plant, without] = [{ name: 'n', [property]: sample }, { name: 'n' }]
      await store.send({ body: toJson({ id, ...plant }) }, isCreated({ id, ...plant }))
      const first = await store.read({ id, ...plant })
      const isAsBefore = [...ok, isPlant(plant), sameField('ETag', first)]
      if (!isRequired) {
        await store.put(id, toJson(without), [...ok, isPlant(without), otherField('ETag', first)])
        await store.read({ id, ...without })
        await store.put(id, toJson(plant), isAsBefore)
      }
      await store.put(id, toJson(plant), isAsBefore)
      await store.list(`after=${id - 1n}`, [{ id, ...plant }], 2, id)
    })
  })
}

/** A plant with nested arrays, and one with nested objects. */
function nested(depth: number): readonly string[] {
  const values = [`${'['.repeat(depth)}${']'.repeat(depth)}`, `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`]
  return values.map((value) => named(`,"x":${value}}`))
}

const syntax = [
  ...['', ' \n ', '{"id"}', '['.repeat(60_000), '{"a":'.repeat(10_000)],
  ...['', '}{}', '}}', ',}', ',"x":[1,]}', ',"x":tru}', ',"x":TRUE}', ',"x":01}'].map(named),
  ...nested(32),
  ...[
    '{<id>,/* */"name":"n"}',
    '{<id>,name:"n"}',
    '{<id> "name" "n"}',
    '{<id>,"name":\'n\'}',
    '{<id>,\u000b"name":"n"}',
  ],
  ...['{<id>,"name":"n', "{'id':<digits>,'name':'n'}", 'id=<digits>&name=n'],
  ...['a\u0000b', 'a\nb', 'a\tb', '\\x41', '\\u12'].map((broken) => `{<id>,"name":"${broken}"}`),
]
const repeated = [
  ...[',"name":"n"}', ',"n\\u0061me":"m"}', ',"x":[{"y":1,"y":1}]}', ',"__proto__":1,"__proto__":1}'].map(named),
  '{<id>,<id>,"name":"n","name":"m"}',
]
const notUtf8: readonly Sent[] = [
  ...['\xff', '\xc0\x80', '\xed\xa0\x80', '\xf0\x9f\x8c'].map((bytes) => ({
    body: `{<id>,"name":"${bytes}"}`,
    write: (text: string) => Buffer.from(text, 'latin1'),
  })),
  { body: whole, write: (text) => Buffer.from(text, 'utf16le') },
]
/** Characters that some programs take for white space. */
const spaces = ['\0', '\f', '\v', '\u001f', '\u00a0', '\u2028', '\ufeff']
const around = spaces.flatMap((space) => [`${space}${whole}`, `${whole}${space}`])
const shapes = [
  ...['[{<id>,"name":"n"}]', '{"__proto__":{<id>,"name":"n"}}', '{<id>,"name":7,"tag":null}'],
  { body: '{<id>}', chunkBytes: 5 },
]
const unknown = [
  ...[
    ...['"colour":"green","height":1.25,"leaves":[1,2,{"a":null}]', '"__proto__":{"tag":"x"}', '"x":1e999'],
    ...['"constructor":{"prototype":{}}', '"ID":1,"Id":2,"Name":"x","NAME":"y","Tag":"z"'],
    ...['" id":1,"name ":"x","tag\\n":"y"', '"x":"\\ud800\\u0000"'],
  ].map((extra) => named(`,${extra}}`)),
  ...nested(31),
]
const written = [' \t\r\n{ \n"id": \n<digits>, \n "name"\t: "n" } \n', '{"\\u0069d":<digits>,"n\\u0061me":"n"}']

/** Of one to four bytes in UTF-8. */
const beforeError = ['a', 'é', 'ﬁ', '🌿'].map((character) => `{<id>,"name":"${character.repeat(200)}",!}`)
/** The message names the byte of the error, give or take a token. */
function saysPlace(body: string | Buffer): Check {
  const place = Buffer.from(body).indexOf('!')
  return (answer) => {
    const numbers = String(objectOf(answer)['message']).match(/\d+/g) ?? []
    const isNear = numbers.some((each) => Math.abs(Number(each) - place) <= 2)
    return isNear ? undefined : `the message does not say that the error is at byte ${place}`
  }
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

function withHeader(name: string, ...values: readonly (string | undefined)[]): readonly Sent[] {
  return values.map((value) => ({ body: whole, headers: { [name]: value } }))
}

const compressed = withHeader('Content-Encoding', 'gzip', 'br', 'identity, gzip').flatMap((sent) => [
  sent,
  { ...sent, write: gzipSync },
])

const mediaType = 'responses/UnsupportedMediaType'
const ofAnyPlant: readonly Bodies[] = [
  kept(
    'plants with unknown properties',
    { document: 'NewPlant allows further properties (schemas/NewPlant)' },
    unknown,
  ),
  kept('JSON however it is written', 'schemas/Error: invalidJson', written),
  refused('what is not JSON', 'invalidJson', syntax),
  refused('other characters around JSON', 'invalidJson', around),
  refused('repeated keys', 'invalidJson', repeated),
  refused('what is not UTF-8', 'invalidJson', notUtf8),
  {
    ...refused('invalid JSON, naming its byte', 'invalidJson', beforeError, 'schemas/Error: byte offset'),
    checkFor: saysPlace,
  },
  kept('JSON of every media type', mediaType, [
    ...withHeader('Content-Type', ...acceptedTypes),
    ...withHeader('Content-Encoding', 'identity'),
  ]),
  {
    ...refused('other media types', 'unsupportedMediaType', withHeader('Content-Type', ...otherTypes), mediaType),
    checkFor: () => field('Accept', /^application\/json$/i),
  },
  {
    ...refused('compressed bodies', 'unsupportedContentEncoding', compressed, mediaType),
    checkFor: () => field('Accept-Encoding', 'identity'),
  },
]

/** Bodies of a number of bytes, filled up in front of the name or behind the plant, whole or in chunks. */
function sized(plants: Plants, bytes: number): readonly Sent[] {
  const filled = (fill: string, chunks: Pick<RowRequest, 'chunkBytes'>): Sent => ({
    body: '{<id>,"x":"","name":"n"}',
    write: (text) => {
      const frame = plants.fill(text)
      const room = bytes - Buffer.byteLength(frame)
      const filling = fill.repeat(Math.floor(room / Buffer.byteLength(fill)))
      return frame.replace('"x":""', `"x":"${filling}${'x'.repeat(room - Buffer.byteLength(filling))}"`)
    },
    ...chunks,
  })
  return [
    ...[{}, { chunkBytes: 8_192 }].flatMap((chunks) => [filled('x', chunks), filled('é', chunks)]),
    { body: whole, write: (text) => plants.fill(text).padEnd(bytes) },
  ]
}

const bytesMax = 65_536

export const bodyRows = bodiesOf((plants, isNew) => {
  const others = isNew ? ['{"ID":<digits>,"name":"n"}'] : noObjects
  const size = 'responses/BodyTooLarge'
  return [
    ...ofAnyPlant,
    refused('JSON that is no plant', 'invalidPlant', [...others, ...shapes]),
    refused('a body of 65,537 bytes', 'bodyTooLarge', sized(plants, bytesMax + 1), size),
    kept('a body of 65,536 bytes', size, [...sized(plants, bytesMax), { body: whole, chunkBytes: 5 }]),
  ]
})
