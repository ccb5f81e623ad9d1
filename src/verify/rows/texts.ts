// Names and tags: valid text is returned unchanged, invalid text is refused.

import { plantJson } from '../plant.ts'
import type { Circumstances, Row } from '../row.ts'
import { kept, notJson, refusing, type Source } from './building.ts'

const anyText: Source = {
  document: 'name and tag are any Unicode text without NUL characters',
  where: 'the schema Plant',
}
const nameBound: Source = { document: 'name has 1,024 characters at most', where: 'the schema Plant' }
const tagBound: Source = { document: 'tag has 256 characters at most', where: 'the schema Plant' }
const unkeepable: Source = { document: 'NUL characters and unpaired surrogates are refused', where: 'the schema Plant' }
const strings: Source = { document: 'name and tag are strings, and name must be there', where: 'the schema Plant' }

export function nameRows({ ids }: Circumstances): readonly Row[] {
  return [...keptNames(ids), ...refusedNames(ids)]
}

function keptNames(ids: Circumstances['ids']): Row[] {
  const keptAs = (title: string, literal: string, name: string, says = anyText): Row => {
    const id = ids.next()
    return kept(`name ${title}`, says, { id, name }, { body: `{"id":${id},"name":"${literal}"}` })
  }
  const keptText = (title: string, name: string, says?: Source): Row =>
    keptAs(title, JSON.stringify(name).slice(1, -1), name, says)
  return [
    keptText('empty', ''),
    keptText('of 1,024 letters', 'a'.repeat(1_024), nameBound),
    keptText('of 1,024 characters outside the BMP', '🌿'.repeat(1_024), nameBound),
    keptText('of 1,024 ligatures that NFKC makes 18 characters of each', '\ufdfa'.repeat(1_024), nameBound),
    keptText('of 1,024 letters whose lower case is longer', '\u0130'.repeat(1_024), nameBound),
    keptText('of brackets', '['.repeat(1_024)),
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

function refusedNames(ids: Circumstances['ids']): Row[] {
  const refusedName = (title: string, says: Source, literal: string): Row =>
    refusing(ids, says, 'invalidPlant', 'name ')(title, (id) => `{"id":${id},"name":${literal}}`)
  const broken = (title: string, rest: string): Row =>
    refusing(ids, notJson, 'invalidJson', 'name ')(title, (id) => `{"id":${id},"name":${rest}`)
  return [
    refusedName('of 1,025 letters', nameBound, `"${'a'.repeat(1_025)}"`),
    refusedName('of 1,025 characters outside the BMP', nameBound, `"${'🌿'.repeat(1_025)}"`),
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

export function tagRows({ ids }: Circumstances): readonly Row[] {
  const keptTag = (title: string, tag: string, says = anyText): Row => {
    const id = ids.next()
    return kept(`tag ${title}`, says, { id, name: 'n', tag }, { body: plantJson(id, 'n', tag) })
  }
  const bad = (title: string, says: Source, literal: string): Row =>
    refusing(ids, says, 'invalidPlant', 'tag ')(title, (id) => `{"id":${id},"name":"n","tag":${literal}}`)
  return [
    keptTag('of one word', 'aroid'),
    keptTag('empty', ''),
    keptTag('of 256 characters outside the BMP', '🌿'.repeat(256), tagBound),
    keptTag('of 256 ligatures that NFKC makes 18 characters of each', '\ufdfa'.repeat(256), tagBound),
    keptTag('with white space around it', ' \t tag\u00a0 '),
    keptTag('with runs of spaces', 'a  b'),
    keptTag('of a space', ' '),
    keptTag('with line breaks of every kind', 'a\r\nb\rc\nd'),
    keptTag('with combining marks not composed', 'e\u0301'),
    keptTag('with compatibility characters', '\ufb01 ① ＡＢ'),
    keptTag('in upper and lower case', 'Aa Ää ß İ'),
    keptTag('with control characters', '\u0001\u007f'),
    keptTag('with separators', 'a,b;c/d?e&f=g+h%20'),
    bad('of 257 characters', tagBound, `"${'a'.repeat(257)}"`),
    bad('null', strings, 'null'),
    bad('a number', strings, '1'),
    bad('an array', strings, '["a"]'),
    bad('an object', strings, '{}'),
    bad('of 257 characters outside the BMP', tagBound, `"${'🌿'.repeat(257)}"`),
    bad('with NUL', unkeepable, '"\\u0000"'),
    bad('with a lone surrogate', unkeepable, '"\\udfff"'),
  ]
}
