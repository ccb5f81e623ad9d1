// RFC 8259, section 8.1: UTF-8, without a byte order mark; and RFC 3629, section 4: what UTF-8 is.

import { broken, brokenValue, bytes, type Case, differing, goodPlant, goodValue } from './case.ts'

const plant = '{"id":1,"name":"n"}'

export const encodings: readonly Case[] = [
  // RFC 3629, section 4: the borders of each length.
  goodValue('the last character of one byte, the delete character', bytes('22 7f 22'), '\u007f'),
  goodValue('the first character of two bytes, U+0080', bytes('22 c280 22'), '\u0080'),
  goodValue('the last character of two bytes, U+07FF', bytes('22 dfbf 22'), '\u07ff'),
  goodValue('the first character of three bytes, U+0800', bytes('22 e0a080 22'), '\u0800'),
  goodValue('the last character before the surrogates, U+D7FF', bytes('22 ed9fbf 22'), '\ud7ff'),
  goodValue('the first character after the surrogates, U+E000', bytes('22 ee8080 22'), '\ue000'),
  goodValue('the last character of three bytes, U+FFFF', bytes('22 efbfbf 22'), '\uffff'),
  goodValue('the first character of four bytes, U+10000', bytes('22 f0908080 22'), '\u{10000}'),
  goodValue('the last character of all, U+10FFFF', bytes('22 f48fbfbf 22'), '\u{10ffff}'),
  goodPlant('a name with characters of every length', Buffer.from('{"id":1,"name":"aé€🌿"}'), {
    id: 1n,
    name: 'aé€🌿',
  }),

  ...differing('not UTF-8', [
    ...invalid('a lone continuation byte, 80', '80'),
    ...invalid('a lone continuation byte, BF', 'bf'),
    ...invalid('two lone continuation bytes', '80bf'),
    ...invalid('a continuation byte too many', 'c3a9 a9', 2),
    ...invalid('the byte C0, which begins nothing', 'c0'),
    ...invalid('the byte C1, which begins nothing', 'c1'),
    ...invalid('the byte F5, which begins nothing', 'f5'),
    ...invalid('the byte FE', 'fe'),
    ...invalid('the byte FF', 'ff'),
    ...invalid('a NUL in two bytes', 'c080'),
    ...invalid('a letter in two bytes', 'c1a1'),
    ...invalid('a quote in two bytes', 'c0a2'),
    ...invalid('a NUL in three bytes', 'e08080'),
    ...invalid('the last overlong form of three bytes', 'e09fbf'),
    ...invalid('a NUL in four bytes', 'f0808080'),
    ...invalid('the last overlong form of four bytes', 'f08fbfbf'),
    ...invalid('the first surrogate', 'eda080'),
    ...invalid('the last high surrogate', 'edafbf'),
    ...invalid('the first low surrogate', 'edb080'),
    ...invalid('the last surrogate', 'edbfbf'),
    ...invalid('a pair of surrogates (CESU-8)', 'eda0bc edbcbf'),
    ...invalid('the first character beyond U+10FFFF', 'f4908080'),
    ...invalid('a character far beyond U+10FFFF', 'f7bfbfbf'),
    ...invalid('a form of five bytes', 'f888808080'),
    ...invalid('a form of six bytes', 'fc8480808080'),
    ...invalid('one of two bytes', 'c3'),
    ...invalid('one of three bytes', 'e2'),
    ...invalid('two of three bytes', 'e282'),
    ...invalid('one of four bytes', 'f0'),
    ...invalid('two of four bytes', 'f09f'),
    ...invalid('three of four bytes', 'f09f8c'),
    ...invalid('a lead byte followed by another', 'c3c3a9'),
    ...invalid('a letter for a continuation byte', 'e24141'),
    ...invalid('two of three bytes that begin like a replacement character', 'efbf'),
    ...invalid('an invalid byte behind a replacement character', 'efbfbd ff', 3),
    ...invalid('an invalid byte behind characters of every length', '61 c3a9 e282ac f09f8cbf ff', 10),
    ...invalid('ISO 8859-1', 'e9'),
    ...invalid('Shift JIS', '93fa967b'),
    broken('an invalid byte in a key', Buffer.from('{"id":1,"n\xff":1,"name":"n"}', 'latin1'), 10),
    broken('an invalid byte in the tag', Buffer.from('{"id":1,"name":"n","tag":"\xff"}', 'latin1'), 26),
  ]),
  // Neither does JSON.parse take these, whatever stands for what is broken in them.
  broken('an invalid byte before the text', Buffer.from(`\xff${plant}`, 'latin1'), 0, /^not valid UTF-8 at byte 0$/),
  broken('an invalid byte after the text', Buffer.from(`${plant}\xff`, 'latin1'), 19),
  broken('an invalid byte between members', Buffer.from('{"id":1,\xa0"name":"n"}', 'latin1'), 8),
  broken('an invalid byte for a value', Buffer.from('{"id":\x80}', 'latin1'), 6),
  broken('an invalid byte behind broken JSON', Buffer.from('{"id" 1,"name":"\xff"}', 'latin1'), 16),
  broken('a text that ends in a character of two bytes', bytes('22 c3'), 1),
  broken('a text that ends in a character of three bytes', bytes('22 61 e282'), 2),
  broken('a text that ends in a character of four bytes', bytes('22 6161 f09f8c'), 3),
  broken('a text that ends in the middle of a replacement character', bytes('22 efbfbd efbf'), 4),
  broken('a text of one invalid byte', bytes('ff'), 0),

  // Section 8.1: a byte order mark must not be added, and may be refused.
  broken('a byte order mark', `\ufeff${plant}`, 0, /^not valid JSON: there is a byte order mark at byte 0$/),
  broken('a byte order mark alone', '\ufeff', 0),
  broken('two byte order marks', `\ufeff\ufeff${plant}`, 0),
  broken('a byte order mark behind a space', ` \ufeff${plant}`, 1),
  broken('a byte order mark after the text', `${plant}\ufeff`, 19),
  broken('two thirds of a byte order mark', Buffer.concat([bytes('efbb'), Buffer.from(plant)]), 0),

  // Section 8.1: no other encoding.
  broken('UTF-16, little end first', Buffer.from(plant, 'utf16le'), 1),
  broken('UTF-16, big end first', Buffer.from(plant, 'utf16le').swap16(), 0),
  broken('UTF-16 with its byte order mark', Buffer.from(`\ufeff${plant}`, 'utf16le'), 0, /^not valid UTF-8/),
  broken('UTF-16, big end and its byte order mark first', Buffer.from(`\ufeff${plant}`, 'utf16le').swap16(), 0),
  broken('UTF-32, little end first', toUtf32(plant), 1),
  broken('UTF-32, big end first', toUtf32(plant).swap32(), 0),
  broken('UTF-32 with its byte order mark', toUtf32(`\ufeff${plant}`), 0),
  broken('EBCDIC', bytes('c0 7f 8984 7f 7a f1 d0'), 0),
  broken('UTF-7', '+AHsAIg-id', 0),

  // What else may come for a body.
  broken('a gzip', bytes('1f8b 08 00 0000000000'), 1),
  broken('base64', Buffer.from(plant).toString('base64'), 0),
  broken('a form', 'id=1&name=n', 0),
  broken('a document of XML', '<plant id="1" name="n"/>', 0),
  broken('a document of YAML', '---\nid: 1\nname: n\n', 1),
  broken('CBOR', bytes('a2 62 6964 01 64 6e616d65 61 6e'), 0),
  broken('MessagePack', bytes('82 a2 6964 01 a4 6e616d65 a1 6e'), 0),
  broken('a body of NUL bytes', Buffer.alloc(100), 0),
]

/** Bytes that are not UTF-8, in a name and alone in a string; `at` counts from their beginning. */
function invalid(name: string, hex: string, at = 0): Case[] {
  const [before, inside, after] = [Buffer.from('{"id":1,"name":"'), bytes(hex), Buffer.from('"}')]
  const quoted = Buffer.concat([Buffer.from('"a'), inside, Buffer.from('b"')])
  return [
    broken(
      `${name}, in a name`,
      Buffer.concat([before, inside, after]),
      before.length + at,
      /^not valid UTF-8 at byte/,
    ),
    brokenValue(`${name}, between letters`, quoted, 2 + at),
  ]
}

function toUtf32(text: string): Buffer {
  const words = Uint32Array.from([...text], (character) => character.codePointAt(0) ?? 0)
  return Buffer.from(words.buffer)
}
