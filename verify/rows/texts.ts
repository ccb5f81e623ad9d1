// Texts of plants, by the schemas of their properties: valid text is returned unchanged, invalid text is refused. And
// properties that the bundled document does not have.

import { isCreated, isPlant, ok, otherField, sameField } from '../checks.ts'
import { toJson } from '../json.ts'
import type { FurtherProperty, Plants } from '../plant.ts'
import { type Circumstances, near, type Row, row } from '../row.ts'
import { type Bodies, bodiesOf, type Write } from './operations.ts'

const anyText = 'name and tag are any Unicode text without NUL characters (the schema Plant)'
const unkeepable = 'NUL characters and unpaired surrogates are refused (the schema Plant)'
const strings = 'name and tag are strings, and name must be there (the schema Plant)'

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
const nameless: readonly Write[] = [
  (start) => `${start.replace(/,$/, '')}}`,
  (start) => `${start}"tag":"t"}`,
  (start) => `${start}"Name":"m","NAME":"m","name ":"m"," name":"m"}`,
]

/** Every character of up to two bytes in UTF-8 except NUL, in pieces of a length. */
function piecesOf(length: number): readonly string[] {
  const all = Array.from({ length: 0x7ff }, (_, at) => String.fromCharCode(at + 1)).join('')
  return all.match(new RegExp(`.{1,${length}}`, 'gs')) ?? []
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

export const textRows = bodiesOf((plants) => [...textsOf(plants, 'name'), ...textsOf(plants, 'tag')])

function textsOf(plants: Plants, property: 'name' | 'tag'): readonly Bodies[] {
  const { min, max } = plants.lengthsOf(property)
  const [least, most] = [min, max].map((count) => count.toLocaleString('en'))
  const bound = `${property} has ${min === 0 ? '' : `${least} to `}${most} characters at most (the schema Plant)`
  const write =
    (literal: string): Write =>
    (start) =>
      `${start}${property === 'name' ? '' : '"name":"n",'}"${property}":${literal}}`
  const kept = (what: string, says: string, texts: readonly string[]): Bodies => {
    const plantOf = (literal: string) => ({ name: 'n', [property]: JSON.parse(literal) as string })
    const sent = texts.map((literal) => ({ plant: plantOf(literal), write: write(literal) }))
    return { what: `a ${property} ${what}`, says, sent }
  }
  const refused = (what: string, says: string, texts: readonly string[], more: readonly Write[] = []): Bodies => {
    return { what: `a ${property} ${what}`, says, code: 'invalidPlant', sent: [...texts.map(write), ...more] }
  }
  const within = ['a', '🌿', '\ufdfa', '\u0130', '['].map((each) => each.repeat(max))
  const beyond = [...(min > 0 ? ['a'.repeat(min - 1)] : []), 'a'.repeat(max + 1), '🌿'.repeat(max + 1)]
  return [
    ...Object.entries(literals).map(([what, texts]) => kept(what, anyText, texts)),
    kept('of every character up to U+07FF', anyText, piecesOf(max).map(quoted)),
    kept(`of at most ${most} characters`, bound, [...within, '🌿'.repeat(Math.max(min, 1))].map(quoted)),
    refused(`of more than ${most} characters`, bound, beyond.map(quoted)),
    refused('that is no string', strings, noStrings, property === 'name' ? nameless : []),
    refused('with NUL or half a surrogate pair', unkeepable, noText),
  ]
}

/** Further properties: kept as they are sent, replaced and removed. */
export function furtherRows({ plants }: Circumstances): readonly Row[] {
  return plants.further.map(furtherRow)
}

function furtherRow({ name: property, isRequired, sample }: FurtherProperty): Row {
  const says = `a plant has the property ${property} (createPlant)`
  return row(`the property ${property} is kept as it is sent`, says, near(1), async (store, id) => {
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
}
