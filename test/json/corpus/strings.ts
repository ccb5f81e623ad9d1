// RFC 8259, section 7: strings; and section 8.2: what JSON lets pass although no text of Unicode is so.

import { broken, brokenValue, type Case, goodPlant, goodValue, noPlant } from './case.ts'

export const strings: readonly Case[] = [
  // string = quotation-mark *char quotation-mark
  goodValue('an empty string', '""', ''),
  goodValue('a string of one character', '"a"', 'a'),
  goodValue('a string of a space, the first unescaped character', '" "', ' '),
  goodValue('a string of single quotes', '"\'a\'"', "'a'"),
  goodValue('a string of every structural character', '"{}[]:,"', '{}[]:,'),
  goodValue('a string of 10,000 characters', `"${'a'.repeat(10_000)}"`, 'a'.repeat(10_000)),
  brokenValue('a string in single quotes', "'a'", 0),
  brokenValue('a string in backticks', '`a`', 0),
  brokenValue('a string in typographic quotes', '“a”', 0),
  brokenValue('a string in guillemets', '«a»', 0),
  brokenValue('a string without quotes', 'abc', 0),
  brokenValue('a string without its opening quote', 'a"', 0),
  brokenValue('a string with a quote in it', '"a"b"', 3),
  brokenValue('a quote that is doubled', '"a""b"', 3),
  brokenValue('a string in three quotes', '"""a"""', 2),
  brokenValue('two strings with a plus', '"a"+"b"', 3),
  brokenValue('a prefix before a string', 'u"a"', 0),
  broken('a string without its closing quote', '"a', 2),
  broken('a quote alone', '"', 1),
  broken('a plant whose name is not closed', '{"id":1,"name":"n}', 18),
  broken('a string that ends in an escaped quote', '"a\\"', 4),
  broken('a string that ends in a backslash', '"a\\', 3),
  broken('a string closed by a quote in full width', '"a＂', 5),

  // unescaped = %x20-21 / %x23-5B / %x5D-10FFFF
  ...controls(),
  goodValue('the ones beside the quote, ! and #', '"!#"', '!#'),
  goodValue('the ones beside the backslash, [ and ]', '"[]"', '[]'),
  goodValue('controls of the second half, U+0080 to U+009F', '"\u0080\u009f"', '\u0080\u009f'),
  goodValue('a solidus without an escape', '"/"', '/'),
  goodValue('line and paragraph separators', '"\u2028\u2029"', '\u2028\u2029'),
  goodValue('a byte order mark in a string', '"\ufeffa"', '\ufeffa'),
  goodValue('a replacement character', '"\ufffd"', '\ufffd'),
  goodValue('noncharacters', '"\ufffe\uffff\u{1ffff}"', '\ufffe\uffff\u{1ffff}'),
  goodValue('private use', '"\ue000\u{f0000}"', '\ue000\u{f0000}'),
  goodValue('a combining mark at the beginning', '"\u0301a"', '\u0301a'),
  goodValue('writing from right to left, with its marks', '"\u202eabc\u202c"', '\u202eabc\u202c'),

  // char = escape ( %x22 / %x5C / %x2F / %x62 / %x66 / %x6E / %x72 / %x74 / %x75 4HEXDIG )
  goodValue('an escaped quote', '"\\""', '"'),
  goodValue('an escaped backslash', '"\\\\"', '\\'),
  goodValue('an escaped solidus', '"\\/"', '/'),
  goodValue('an escaped backspace', '"\\b"', '\b'),
  goodValue('an escaped form feed', '"\\f"', '\f'),
  goodValue('an escaped line feed', '"\\n"', '\n'),
  goodValue('an escaped carriage return', '"\\r"', '\r'),
  goodValue('an escaped tab', '"\\t"', '\t'),
  goodValue('every simple escape between letters', '"a\\"b\\\\c\\/d\\be\\ff\\ng\\rh\\ti"', 'a"b\\c/d\be\ff\ng\rh\ti'),
  goodValue('two escaped backslashes and a letter', '"\\\\\\\\n"', '\\\\n'),
  goodValue('an escaped backslash before the closing quote', '"a\\\\"', 'a\\'),
  goodValue('an escaped backslash and an escaped quote', '"\\\\\\""', '\\"'),
  ...unknownEscapes(),
  brokenValue('a backslash before a line break', '"\\\n"', 2),
  brokenValue('a backslash before a character of two bytes', '"\\é"', 2),
  brokenValue('a backslash before a character of four bytes', '"\\🌿"', 2),
  brokenValue('an escape without a string', '\\n', 0),
  brokenValue('three backslashes before the closing quote', '"\\\\\\"', 6),

  // Four hexadecimal digits in either case.
  goodValue('\\u0041', '"\\u0041"', 'A'),
  goodValue('\\u0000', '"\\u0000"', '\0'),
  goodValue('\\u001f', '"\\u001f"', '\u001f'),
  goodValue('\\u0022, which closes nothing', '"\\u0022"', '"'),
  goodValue('\\u005c, which escapes nothing', '"\\u005cn"', '\\n'),
  goodValue('\\uffff', '"\\uffff"', '\uffff'),
  goodValue('\\uFFFF', '"\\uFFFF"', '\uffff'),
  goodValue('\\u in mixed case', '"\\uAbCd"', '\uabcd'),
  goodValue('every hexadecimal digit', '"\\u0123\\u4567\\u89ab\\ucdef"', '\u0123\u4567\u89ab\ucdef'),
  goodValue('every hexadecimal digit in upper case', '"\\u89AB\\uCDEF"', '\u89ab\ucdef'),
  goodValue('\\u with a fifth digit', '"\\u00410"', 'A0'),
  goodValue('\\u next to another', '"\\u0041\\u0042"', 'AB'),
  brokenValue('\\u without digits', '"\\u"', 3),
  brokenValue('\\u with one digit', '"\\u0"', 4),
  brokenValue('\\u with two digits', '"\\u00"', 5),
  brokenValue(
    '\\u with three digits',
    '"\\u004"',
    6,
    /expected four hexadecimal digits after \\u at byte 29, got "\\""$/,
  ),
  brokenValue('\\u with a letter beyond f', '"\\u004g"', 6),
  brokenValue('\\u with a letter at its first digit', '"\\ug041"', 3),
  brokenValue('\\u with a space', '"\\u 041"', 3),
  brokenValue('\\u with a sign', '"\\u+041"', 3),
  brokenValue('\\u with a minus', '"\\u-041"', 3),
  brokenValue('\\u with 0x', '"\\u0x41"', 4),
  brokenValue('\\u with an underscore', '"\\u00_41"', 5),
  brokenValue('\\u with a point', '"\\u00.1"', 5),
  brokenValue('\\u with digits in full width', '"\\u００４１"', 3),
  brokenValue('\\u with braces', '"\\u{41}"', 3),
  brokenValue('\\U', '"\\U0041"', 2),
  brokenValue('\\u cut short by another escape', '"\\u00\\u0041"', 5),
  broken('a text that ends in \\u', '"\\u00', 5),

  // Section 8.2: an escape may be half of a pair, and stays what it is. A name or a tag must be a text of Unicode.
  goodValue('an escaped pair', '"\\ud83c\\udf3f"', '🌿'),
  goodValue('an escaped pair in upper case', '"\\uD83C\\uDF3F"', '🌿'),
  goodValue('the first pair', '"\\ud800\\udc00"', '\u{10000}'),
  goodValue('the last pair', '"\\udbff\\udfff"', '\u{10ffff}'),
  goodValue('a lone high surrogate', '"\\ud800"', '\ud800'),
  goodValue('a lone low surrogate', '"\\udc00"', '\udc00'),
  goodValue('the last high surrogate alone', '"\\udbff"', '\udbff'),
  goodValue('the last low surrogate alone', '"\\udfff"', '\udfff'),
  goodValue('a pair the wrong way round', '"\\udf3f\\ud83c"', '\udf3f\ud83c'),
  goodValue('a pair with a letter between', '"\\ud83ca\\udf3f"', '\ud83ca\udf3f'),
  goodValue('two high surrogates and a low one', '"\\ud83c\\ud83c\\udf3f"', '\ud83c🌿'),
  goodValue('a pair and a low surrogate', '"\\ud83c\\udf3f\\udf3f"', '🌿\udf3f'),
  goodValue('a lone high surrogate before a character of UTF-8', '"\\ud83c🌿"', '\ud83c🌿'),
  goodValue('what is beside the surrogates', '"\\ud7ff\\ue000"', '\ud7ff\ue000'),
  brokenValue('a pair whose second half is not finished', '"\\ud83c\\udf3"', 12),
  brokenValue('a pair whose second half has no u', '"\\ud83c\\df3f"', 8),

  goodPlant('a name with an escaped pair', '{"id":1,"name":"\\ud83c\\udf3f"}', { id: 1n, name: '🌿' }),
  goodPlant('a name with the same in UTF-8', '{"id":1,"name":"🌿"}', { id: 1n, name: '🌿' }),
  goodPlant('a name with every simple escape', '{"id":1,"name":"\\"\\\\\\/\\b\\f\\n\\r\\t"}', {
    id: 1n,
    name: '"\\/\b\f\n\r\t',
  }),
  goodPlant('a name with a control in an escape', '{"id":1,"name":"\\u0001\\u001f"}', { id: 1n, name: '\u0001\u001f' }),
  goodPlant('an empty name and an empty tag', '{"id":1,"name":"","tag":""}', { id: 1n, name: '', tag: '' }),
  goodPlant('keys in escapes', '{"\\u0069\\u0064":1,"n\\u0061me":"n","t\\u0061g":"t"}', {
    id: 1n,
    name: 'n',
    tag: 't',
  }),
  noPlant('a name with a NUL', '{"id":1,"name":"\\u0000"}', { id: 1n, name: '\0' }),
  noPlant('a tag with a NUL', '{"id":1,"name":"n","tag":"a\\u0000b"}', { id: 1n, name: 'n', tag: 'a\0b' }),
  noPlant('a name with a lone high surrogate', '{"id":1,"name":"\\ud83c"}', { id: 1n, name: '\ud83c' }),
  noPlant('a name with a lone low surrogate', '{"id":1,"name":"a\\udf3fb"}', { id: 1n, name: 'a\udf3fb' }),
  noPlant('a name with a pair the wrong way round', '{"id":1,"name":"\\udf3f\\ud83c"}', {
    id: 1n,
    name: '\udf3f\ud83c',
  }),
  noPlant('a tag with a lone high surrogate', '{"id":1,"name":"n","tag":"\\ud83c"}', {
    id: 1n,
    name: 'n',
    tag: '\ud83c',
  }),
  noPlant('a name that is a number', '{"id":1,"name":1}', { id: 1n, name: 1n }),
  noPlant('a tag that is null', '{"id":1,"name":"n","tag":null}', { id: 1n, name: 'n', tag: null }),
  noPlant('a key in another case', '{"ID":1,"name":"n"}', { ID: 1n, name: 'n' }),
  noPlant('a key with a NUL behind it', '{"id\\u0000":1,"name":"n"}', { 'id\0': 1n, name: 'n' }),
]

/** Each of the 32 control characters, which must be escaped. */
function controls(): Case[] {
  return Array.from({ length: 0x20 }, (_, code) =>
    brokenValue(
      `the control character ${code} in a string`,
      `"a${String.fromCharCode(code)}b"`,
      2,
      /expected a character of a string or its closing quote at byte 25, got "/,
    ),
  )
}

/** Letters behind a backslash that other languages know. */
function unknownEscapes(): Case[] {
  const letters = [..."01xavesUNBFRT'`&% -+.{["]
  return letters.map((letter) =>
    brokenValue(`the escape \\${letter}`, `"\\${letter}041"`, 2, /expected one of "\\\/bfnrtu after a backslash/),
  )
}
