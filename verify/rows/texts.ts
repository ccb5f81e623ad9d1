// Texts of plants, by the schemas of their properties: valid text is returned unchanged, invalid text is refused. And
// properties that the bundled document does not have.

import { field, isCreated, isPlant, otherField, sameField, status } from '../checks.ts'
import { toJson } from '../json.ts'
import type { FurtherProperty, Plants } from '../plant.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import { etagForm, keeping, refusing, type Taking, takingOf, type Write } from './taking.ts'

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
    ...['"\\/', "'", '\u0001\b\f\n\r\t\u001f', '\u0001\u007f', '<script>alert(1)</script>', '&amp; %41 \\u0041', '007'],
    ...['a,b;c/d?e&f=g+h%20', 'null', '__proto__', '{"a":[', '['.repeat(200)],
  ].map(quoted),
  'however it is written': ['"\u007f"', '"\\ud83c\\udf3f"', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041"', '"\\u00e9"'],
}
const noStrings = ['null', '7', 'false', '["a"]', '{}']
const noText = ['"a\\u0000b"', '"\\u0000"', '"\\ud83c"', '"\\udf3f"', '"\\udf3f\\ud83c"', '"\\udfff"']

function quoted(text: string): string {
  return JSON.stringify(text)
}

type TextProperty = 'name' | 'tag'

export function textRows(circumstances: Circumstances): readonly Row[] {
  return takingOf(circumstances).flatMap((taking) =>
    (['name', 'tag'] as const).flatMap((property) => [
      ...keptRows(circumstances, taking, property),
      ...refusedRows(circumstances, taking, property),
    ]),
  )
}

/** Writes a property, beside a name. */
function writing(property: TextProperty, literal: string): Write {
  return (start) => `${start}${property === 'name' ? '' : '"name":"n",'}"${property}":${literal}}`
}

function keptRows(circumstances: Circumstances, taking: Taking, property: TextProperty): Row[] {
  const rowOf = (what: string, says: string, texts: readonly string[]): Row =>
    keeping(
      circumstances,
      taking,
      `a ${property} ${what}`,
      says,
      texts.map((literal) => ({
        plant: { name: 'n', [property]: JSON.parse(literal) as string },
        write: writing(property, literal),
      })),
    )
  const { min, max, bound } = boundsOf(circumstances.plants, property)
  const longest = ['a', '🌿', '\ufdfa', '\u0130', '['].map((each) => quoted(each.repeat(max)))
  return [
    ...Object.entries(literals).map(([what, texts]) => rowOf(what, anyText, texts)),
    rowOf(`of at most ${inDigits(max)} characters`, bound, [...longest, quoted('🌿'.repeat(Math.max(min, 1)))]),
  ]
}

function refusedRows(circumstances: Circumstances, taking: Taking, property: TextProperty): Row[] {
  const { min, max, bound } = boundsOf(circumstances.plants, property)
  const rowOf = (what: string, says: string, texts: readonly string[], ...more: readonly Write[]): Row => {
    const writes = [...texts.map((literal) => writing(property, literal)), ...more]
    return refusing(circumstances, taking, `a ${property} ${what}`, says, 'invalidPlant', writes)
  }
  const short = min > 0 ? ['a'.repeat(min - 1)] : []
  const beyond = [...short, 'a'.repeat(max + 1), '🌿'.repeat(max + 1)].map(quoted)
  const missing: readonly Write[] = [
    (start) => `${start.replace(/,$/, '')}}`,
    (start) => `${start}"tag":"t"}`,
    (start) => `${start}"Name":"m","NAME":"m","name ":"m"," name":"m"}`,
  ]
  return [
    rowOf(`of more than ${inDigits(max)} characters`, bound, beyond),
    rowOf('that is no string', strings, noStrings, ...(property === 'name' ? missing : [])),
    rowOf('with NUL or half a surrogate pair', unkeepable, noText),
  ]
}

function boundsOf(plants: Plants, property: TextProperty) {
  const { min, max } = plants.lengthsOf(property)
  const document = `${property} has ${min === 0 ? '' : `${inDigits(min)} to `}${inDigits(max)} characters at most`
  return { min, max, bound: `${document} (the schema Plant)` }
}

function inDigits(count: number): string {
  return count.toLocaleString('en')
}

/** Further properties: kept as they are sent, replaced and removed. */
export function furtherRows(circumstances: Circumstances): readonly Row[] {
  return circumstances.plants.further.map((property) => furtherRow(circumstances, property))
}

function furtherRow({ ids }: Circumstances, { name: property, isRequired, sample }: FurtherProperty): Row {
  const says = `a plant has the property ${property} (createPlant)`
  return row(`the property ${property} is kept as it is sent`, says, ids.near(1), async (store, id) => {
    const [plant, without] = [{ name: 'n', [property]: sample }, { name: 'n' }]
    const tagged = [status(200), field('ETag', etagForm)]
    await store.send({ body: toJson({ id, ...plant }) }, isCreated({ id, ...plant }))
    const first = await store.read({ id, ...plant }, tagged)
    const isAsBefore = [...tagged, isPlant(plant), sameField('ETag', first)]
    if (!isRequired) {
      await store.put(id, toJson(without), [...tagged, isPlant(without), otherField('ETag', first)])
      await store.read({ id, ...without })
      await store.put(id, toJson(plant), isAsBefore)
    }
    await store.put(id, toJson(plant), isAsBefore)
    await store.listUpTo(id, `after=${id - 1n}`, [{ id, ...plant }])
  })
}
