// Names and tags: valid text is returned unchanged, invalid text is refused.

import { type Plants, plantJson } from '../plant.ts'
import type { Circumstances, Row } from '../row.ts'
import { kept, notJson, refusing, type Source } from './building.ts'

const anyText: Source = {
  document: 'name and tag are any Unicode text without NUL characters',
  where: 'the schema Plant',
}
const unkeepable: Source = { document: 'NUL characters and unpaired surrogates are refused', where: 'the schema Plant' }
const strings: Source = { document: 'name and tag are strings, and name must be there', where: 'the schema Plant' }

/** The bounds of a text, and the rules about them. */
function boundsOf(plants: Plants, property: 'name' | 'tag') {
  const { min, max } = plants.lengthsOf(property)
  const most: Source = { document: `${property} has ${inDigits(max)} characters at most`, where: 'the schema Plant' }
  const least: Source = { document: `${property} has ${inDigits(min)} characters at least`, where: 'the schema Plant' }
  return { min, max, most, least }
}

function inDigits(count: number): string {
  return count.toLocaleString('en')
}

export function nameRows({ ids, plants }: Circumstances): readonly Row[] {
  return [...keptNames(ids, plants), ...refusedNames(ids, plants)]
}

function keptNames(ids: Circumstances['ids'], plants: Plants): Row[] {
  const { min, max, most, least } = boundsOf(plants, 'name')
  const keptAs = (title: string, literal: string, name: string, says = anyText): Row => {
    const id = ids.next()
    return kept(`name ${title}`, says, { id, name }, { body: `{"id":${id},"name":"${literal}"}` })
  }
  const keptText = (title: string, name: string, says?: Source): Row =>
    keptAs(title, JSON.stringify(name).slice(1, -1), name, says)
  return [
    keptText('empty', ''),
    ...(min > 0 ? [keptText('of the least length', '🌿'.repeat(min), least)] : []),
    keptText(`of ${inDigits(max)} letters`, 'a'.repeat(max), most),
    keptText(`of ${inDigits(max)} characters outside the BMP`, '🌿'.repeat(max), most),
    keptText(`of ${inDigits(max)} ligatures that NFKC makes 18 characters of each`, '\ufdfa'.repeat(max), most),
    keptText(`of ${inDigits(max)} letters whose lower case is longer`, '\u0130'.repeat(max), most),
    keptText('of brackets', '['.repeat(max)),
    keptText('of braces and quotes', '{"a":'.repeat(200)),
    keptText('with a replacement character', '\ufffd'),
    keptText('in Greek', 'Φοίνιξ ἡ δακτυλοφόρος'),
    keptText('in Arabic', 'نخلة التمر'),
    keptText('in Japanese', '紫陽花'),
    keptText('with combining marks not composed', 'e\u0301 a\u030a'),
    keptText('with a noncharacter', '\uffff\u{10ffff}'),
    keptText('with a byte order mark inside', 'a\ufeffb'),
    keptText('with a byte order mark in front', '\ufeffa'),
    keptText('with joiners and variation selectors', '❤\ufe0f 👩\u200d🌾 a\u200bb'),
    keptText('with marks of direction', '\u200fa\u202eb\u202c'),
    keptText('with line separators', 'a\u2028b\u2029c'),
    keptText('with quotes and backslashes', '"\\/'),
    keptText('with control characters escaped', '\u0001\b\f\n\r\t\u001f'),
    keptText('with markup', '<script>alert(1)</script>'),
    keptText('with white space around it', ' \t name\u00a0 '),
    keptText('with runs of spaces', 'a  b   c'),
    keptText('of spaces alone', '  '),
    keptText('with line breaks of every kind', 'a\r\nb\rc\nd'),
    keptText('with compatibility characters', '\ufb01 ① ＡＢ'),
    keptText('in upper and lower case', 'Aa Ää ß İ'),
    keptText('that looks like a number', '007'),
    keptText('that looks like an entity', '&amp; %41 \\u0041'),
    keptAs('with a delete character as it is', '\u007f', '\u007f'),
    keptAs('with a surrogate pair escaped', '\\ud83c\\udf3f', '🌿'),
    keptAs('with every escape', '\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041', '"\\/\b\f\n\r\tA'),
  ]
}

function refusedNames(ids: Circumstances['ids'], plants: Plants): Row[] {
  const { min, max, most, least } = boundsOf(plants, 'name')
  const refusedName = (title: string, says: Source, literal: string): Row =>
    refusing(ids, says, 'invalidPlant', 'name ')(title, (id) => `{"id":${id},"name":${literal}}`)
  const broken = (title: string, rest: string): Row =>
    refusing(ids, notJson, 'invalidJson', 'name ')(title, (id) => `{"id":${id},"name":${rest}`)
  return [
    ...(min > 0 ? [refusedName('of less than the least length', least, `"${'a'.repeat(min - 1)}"`)] : []),
    refusedName(`of ${inDigits(max + 1)} letters`, most, `"${'a'.repeat(max + 1)}"`),
    refusedName(`of ${inDigits(max + 1)} characters outside the BMP`, most, `"${'🌿'.repeat(max + 1)}"`),
    refusedName('null', strings, 'null'),
    refusedName('a number', strings, '7'),
    refusedName('a boolean', strings, 'false'),
    refusedName('an array', strings, '["a"]'),
    refusedName('an object', strings, '{}'),
    refusedName('with NUL escaped', unkeepable, '"a\\u0000b"'),
    refusedName('with a lone high surrogate', unkeepable, '"\\ud83c"'),
    refusedName('with a lone low surrogate', unkeepable, '"\\udf3f"'),
    refusedName('with a pair the wrong way round', unkeepable, '"\\udf3f\\ud83c"'),
    refusing(ids, strings, 'invalidPlant', 'name ')('missing', (id) => `{"id":${id}}`),
    broken('with a raw NUL', '"a\u0000b"}'),
    broken('with a raw newline', '"a\nb"}'),
    broken('with a raw tab', '"a\tb"}'),
    broken('with an unknown escape', '"\\x41"}'),
    broken('with a short unicode escape', '"\\u12"}'),
    broken('without its closing quote', '"a'),
    broken('in single quotes', `'a'}`),
  ]
}

export function tagRows({ ids, plants }: Circumstances): readonly Row[] {
  const { min, max, most, least } = boundsOf(plants, 'tag')
  const keptTag = (title: string, tag: string, says = anyText): Row => {
    const id = ids.next()
    return kept(`tag ${title}`, says, { id, name: 'n', tag }, { body: plantJson(id, 'n', tag) })
  }
  const bad = (title: string, says: Source, literal: string): Row =>
    refusing(ids, says, 'invalidPlant', 'tag ')(title, (id) => `{"id":${id},"name":"n","tag":${literal}}`)
  return [
    keptTag('of one word', 'aroid'),
    keptTag('empty', ''),
    ...(min > 0 ? [keptTag('of the least length', '🌿'.repeat(min), least)] : []),
    keptTag(`of ${inDigits(max)} characters outside the BMP`, '🌿'.repeat(max), most),
    keptTag(`of ${inDigits(max)} ligatures that NFKC makes 18 characters of each`, '\ufdfa'.repeat(max), most),
    keptTag('with white space around it', ' \t tag\u00a0 '),
    keptTag('with runs of spaces', 'a  b'),
    keptTag('of a space', ' '),
    keptTag('with line breaks of every kind', 'a\r\nb\rc\nd'),
    keptTag('with combining marks not composed', 'e\u0301'),
    keptTag('with compatibility characters', '\ufb01 ① ＡＢ'),
    keptTag('in upper and lower case', 'Aa Ää ß İ'),
    keptTag('with control characters', '\u0001\u007f'),
    keptTag('with separators', 'a,b;c/d?e&f=g+h%20'),
    ...(min > 0 ? [bad('of less than the least length', least, `"${'a'.repeat(min - 1)}"`)] : []),
    bad(`of ${inDigits(max + 1)} characters`, most, `"${'a'.repeat(max + 1)}"`),
    bad('null', strings, 'null'),
    bad('a number', strings, '1'),
    bad('an array', strings, '["a"]'),
    bad('an object', strings, '{}'),
    bad(`of ${inDigits(max + 1)} characters outside the BMP`, most, `"${'🌿'.repeat(max + 1)}"`),
    bad('with NUL', unkeepable, '"\\u0000"'),
    bad('with a lone surrogate', unkeepable, '"\\udfff"'),
  ]
}
