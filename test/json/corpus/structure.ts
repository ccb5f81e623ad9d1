// RFC 8259, sections 4 and 5: objects and arrays. Repeated keys and nesting, for which the RFC leaves the choice.

import type { JsonValue } from '../../../src/json/decode.ts'
import { limits } from '../../../src/limits.ts'
import { broken, brokenValue, type Case, differing, goodPlant, goodValue, noPlant } from './case.ts'

const depthMax = limits.jsonDepthMax

export const structure: readonly Case[] = [
  // Section 4, object = begin-object [ member *( value-separator member ) ] end-object
  goodValue('an object without a member', '{}', {}),
  goodValue('an object with one member', '{"a":1}', { a: 1n }),
  goodValue('an object with three members', '{"a":1,"b":2,"c":3}', { a: 1n, b: 2n, c: 3n }),
  goodValue('an object in an object', '{"a":{"b":{}}}', { a: { b: {} } }),
  goodValue('an object in an array in an object', '{"a":[{"b":1},{"b":2}]}', { a: [{ b: 1n }, { b: 2n }] }),
  goodValue('a key that is empty', '{"":1}', { '': 1n }),
  goodValue('a key that is a number', '{"1":1,"0":0}', { 1: 1n, 0: 0n }),
  goodValue('a key that is a space', '{" ":1}', { ' ': 1n }),
  goodValue('a key with an escaped quote', '{"a\\"b":1}', { 'a"b': 1n }),
  goodValue('a key with an escaped NUL', '{"\\u0000":1}', { '\0': 1n }),
  goodValue('a key of a lone surrogate', '{"\\ud83c":1}', { '\ud83c': 1n }),
  goodValue('a key beyond the basic plane', '{"🌿":1}', { '🌿': 1n }),
  goodValue('a thousand members', `{${keys(1_000)}}`, Object.fromEntries(numbered(1_000))),
  broken('an object that is not closed', '{', 1),
  broken('an object that ends after a key', '{"id"', 5),
  broken('an object that ends after the name separator', '{"id":', 6),
  broken('an object that ends after a value', '{"id":1', 7),
  broken('an object that ends after a value separator', '{"id":1,', 8),
  broken('an object that ends in a key', '{"id', 4),
  broken('an object that ends before its closing brace', '{"id":1,"name":"n"', 18),
  broken('a plant without its opening brace', '"id":1}', 4),
  broken('an object that is closed as an array', '{"id":1,"name":"n"]', 18),
  broken('a closing brace alone', '}', 0),
  broken('a comma before the first member', '{,"id":1,"name":"n"}', 1),
  broken('a comma after the last member', '{"id":1,"name":"n",}', 19),
  broken('two commas between members', '{"id":1,,"name":"n"}', 8),
  broken('an object of a comma alone', '{,}', 1),
  broken('a semicolon between members', '{"id":1;"name":"n"}', 7),
  broken('nothing between members', '{"id":1"name":"n"}', 7),
  broken('a space between members', '{"id":1 "name":"n"}', 8),
  broken('a colon between members', '{"id":1:"name":"n"}', 7),
  broken('a full-width comma between members', '{"id":1，"name":"n"}', 7),
  broken('a plus between members', '{"id":1+"name":"n"}', 7),

  // Section 4, member = string name-separator value
  broken('a key without a value', '{"id"}', 5),
  broken('a key with a colon and no value', '{"id":}', 6),
  broken('a key with a comma for a value', '{"id":,"name":"n"}', 6),
  broken('a key without a colon', '{"id"1,"name":"n"}', 5),
  broken('a space for a colon', '{"id" 1,"name":"n"}', 6),
  broken('an equals sign for a colon', '{"id"=1,"name":"n"}', 5),
  broken('an arrow for a colon', '{"id"=>1,"name":"n"}', 5),
  broken('a comma for a colon', '{"id",1,"name":"n"}', 5),
  broken('two colons', '{"id"::1,"name":"n"}', 6),
  broken('two values for a key', '{"id":1 2,"name":"n"}', 8),
  broken('two keys for a value', '{"id":"name":"n"}', 12),
  broken('a value without a key', '{1}', 1),
  broken('a colon without a key', '{:1}', 1),
  broken('a string without a colon', '{"id":1,"name"}', 14),
  broken('a key without quotes', '{id:1,"name":"n"}', 1),
  broken('a key in single quotes', '{\'id\':1,"name":"n"}', 1),
  broken('a key in backticks', '{`id`:1,"name":"n"}', 1),
  broken('a key in typographic quotes', '{“id”:1,"name":"n"}', 1),
  broken('a key that is a number without quotes', '{1:1,"id":1,"name":"n"}', 1),
  broken('a key that is null', '{null:1,"id":1,"name":"n"}', 1),
  broken('a key that is an array', '{["id"]:1,"name":"n"}', 1),
  broken('a key that is an object', '{{}:1}', 1),
  broken('a key without its opening quote', '{id":1}', 1),
  broken('a second key without quotes', '{"id":1,name:"n"}', 8),
  broken('a spread', '{...plant}', 1),

  // The position is that of the byte, whatever stands before it.
  broken('a comma at the end, behind a character of two bytes', '{"é":1,}', 8),
  broken('a comma at the end, behind a character of three bytes', '{"€":1,}', 9),
  broken('a comma at the end, behind a character of four bytes', '{"🌿":1,}', 10),
  broken('a comma at the end, behind a pair in escapes', '{"\\ud83c\\udf3f":1,}', 18),
  broken('a comma at the end, behind line breaks', '{\r\n  "id": 1,\r\n  "name": "n",\r\n}', 31),
  broken('a missing end, behind characters of every length', '["aé€🌿"', 13),

  // Section 5, array = begin-array [ value *( value-separator value ) ] end-array
  goodValue('an array without a value', '[]', []),
  goodValue('an array of one value', '[1]', [1n]),
  goodValue('an array of every type', '[null,true,1,1.5,"s",[],{}]', [null, true, 1n, 1.5, 's', [], {}]),
  goodValue('arrays in arrays', '[[],[[]],[[],[]]]', [[], [[]], [[], []]]),
  goodValue(
    'an array of a thousand values',
    `[${'0,'.repeat(999)}0]`,
    Array.from({ length: 1_000 }, () => 0n),
  ),
  broken('an array that is not closed', '[', 1),
  broken('an array that ends after a value', '[1', 2),
  broken('an array that ends after a comma', '[1,', 3),
  broken('an inner array that is not closed', '[[1]', 4),
  broken('a closing bracket alone', ']', 0),
  broken('an array that is closed twice', '[1]]', 3),
  brokenValue('an array that is closed as an object', '[1}', 2),
  brokenValue('an array that is closed by a round bracket', '[1)', 2),
  brokenValue('a comma at the end of an array', '[1,]', 3),
  brokenValue('a comma at the beginning of an array', '[,1]', 1),
  brokenValue('two commas in an array', '[1,,2]', 3),
  brokenValue('an array of a comma alone', '[,]', 1),
  brokenValue('a semicolon in an array', '[1;2]', 2),
  brokenValue('a colon in an array', '[1:2]', 2),
  brokenValue('a member in an array', '["a":1]', 4),
  brokenValue('a space for a comma in an array', '[1 2]', 3),
  brokenValue('strings without a comma in an array', '["a""b"]', 4),
  brokenValue('arrays without a comma in an array', '[[][]]', 3),
  brokenValue('objects without a comma in an array', '[{}{}]', 3),
  brokenValue('an ellipsis in an array', '[1,...]', 3),
  brokenValue('an array that is closed in the middle of an object', '[{"a":1]', 7),
  brokenValue('an array of full-width brackets', '［1］', 0),

  ...repeatedKeys(),
  ...nesting(),
]

/**
 * Section 4: names should be unique, and what becomes of others is not predictable. Here they are refused, at the
 * second of them.
 */
function repeatedKeys(): Case[] {
  const refused = [
    broken('a key twice, with other values', '{"id":1,"name":"n","id":2}', 19, /the key "id" appears twice/),
    broken('a key twice, with the same value', '{"id":1,"name":"n","id":1}', 19),
    broken('a key twice, one after the other', '{"id":1,"id":1,"name":"n"}', 8),
    broken('a key three times', '{"id":1,"id":2,"id":3,"name":"n"}', 8),
    broken('an unknown key twice', '{"id":1,"name":"n","x":1,"x":1}', 25),
    broken('a key twice, the second time all in escapes', '{"id":1,"name":"n","\\u0069\\u0064":1}', 19),
    broken('a key twice, the first time with an escape', '{"\\u0069d":1,"name":"n","id":1}', 24),
    broken('a key twice, escaped in upper and lower case', '{"\\u00e9":1,"\\u00E9":1}', 12),
    broken('a key twice, once escaped and once in UTF-8', '{"\\u00e9":1,"é":1}', 12),
    broken('a key twice, beyond the basic plane', '{"🌿":1,"\\ud83c\\udf3f":1}', 10),
    broken('a key twice, with a simple escape', '{"/":1,"\\/":1}', 7),
    broken('an empty key twice', '{"":1,"":1}', 6),
    broken('a key of a lone surrogate twice', '{"\\udf3f":1,"\\uDF3F":1}', 12),
    broken('a key that is an index twice', '{"0":1,"0":1}', 7),
    broken('a key twice, the first with null', '{"id":1,"name":"n","tag":null,"tag":"t"}', 30),
    broken('__proto__ twice', '{"__proto__":1,"__proto__":2}', 15),
    broken('__proto__ twice, the first with null', '{"__proto__":null,"__proto__":2}', 18),
    broken('constructor twice', '{"constructor":1,"constructor":2}', 17),
    broken('toString twice', '{"toString":1,"toString":2}', 14),
    broken('hasOwnProperty twice', '{"hasOwnProperty":1,"hasOwnProperty":2}', 20),
    brokenValue('a key twice in an inner object', '{"a":1,"a":2}', 7),
    brokenValue('a key twice in an object in an array', '[{"a":1},{"a":1,"a":2}]', 16),
    brokenValue('a key twice, an object between them', '{"a":{"b":1},"a":2}', 13),
    brokenValue(
      'a key twice, seven members between them',
      '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"a":2}',
      49,
    ),
  ]
  const own = (members: [string, JsonValue][]): JsonValue => Object.fromEntries(members)
  return [
    ...differing('repeated key', refused),
    goodValue('the same key in an outer and an inner object', '{"a":{"a":{"a":1}}}', { a: { a: { a: 1n } } }),
    goodValue('the same key in two objects of an array', '[{"a":1},{"a":1}]', [{ a: 1n }, { a: 1n }]),
    goodValue('a key in the inner object and again after it', '{"a":{"b":1},"b":1}', { a: { b: 1n }, b: 1n }),
    goodValue('keys that differ in case', '{"a":1,"A":1}', { a: 1n, A: 1n }),
    goodValue('keys that differ in a space', '{"a":1,"a ":1}', { a: 1n, 'a ': 1n }),
    goodValue('keys that differ in how é is composed', '{"\u00e9":1,"e\u0301":1}', { '\u00e9': 1n, 'e\u0301': 1n }),
    goodValue('__proto__', '{"__proto__":{"a":1}}', own([['__proto__', { a: 1n }]])),
    goodValue('__proto__ with null', '{"__proto__":null}', own([['__proto__', null]])),
    goodValue('__proto__ written with an escape', '{"\\u005f_proto__":1}', own([['__proto__', 1n]])),
    goodValue('constructor', '{"constructor":{"prototype":{}}}', own([['constructor', { prototype: {} }]])),
    goodValue('toString', '{"toString":null}', own([['toString', null]])),
    goodValue(
      'hasOwnProperty and valueOf',
      '{"hasOwnProperty":1,"valueOf":2}',
      own([
        ['hasOwnProperty', 1n],
        ['valueOf', 2n],
      ]),
    ),
    noPlant('__proto__ with a plant', '{"__proto__":{"id":1,"name":"n"}}', own([['__proto__', { id: 1n, name: 'n' }]])),
    goodPlant(
      '__proto__ with a tag beside a plant',
      '{"id":1,"name":"n","__proto__":{"tag":"t"}}',
      { id: 1n, name: 'n' },
      own([
        ['id', 1n],
        ['name', 'n'],
        ['__proto__', { tag: 't' }],
      ]),
    ),
  ]
}

/** Section 9: an implementation may set limits on the depth of nesting. */
function nesting(): Case[] {
  const arrays = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const objects = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
  const inArrays = (depth: number): JsonValue => (depth === 1 ? [] : [inArrays(depth - 1)])
  const inObjects = (depth: number): JsonValue => (depth === 1 ? {} : { a: inObjects(depth - 1) })
  const tooDeep = [
    broken('arrays one deeper than allowed', arrays(depthMax + 1), depthMax, /nested more than 32 deep/),
    broken('objects one deeper than allowed', objects(depthMax + 1), 5 * depthMax),
    brokenValue('arrays as deep as allowed, in a plant', arrays(depthMax), depthMax - 1),
    brokenValue('objects as deep as allowed, in a plant', objects(depthMax), 5 * (depthMax - 1)),
    broken('a thousand closed arrays', arrays(1_000), depthMax),
  ]
  return [
    noPlant('arrays as deep as allowed', arrays(depthMax), inArrays(depthMax)),
    noPlant('objects as deep as allowed', objects(depthMax), inObjects(depthMax)),
    goodValue('arrays as deep as allowed with the plant', arrays(depthMax - 1), inArrays(depthMax - 1)),
    goodValue('objects as deep as allowed with the plant', objects(depthMax - 1), inObjects(depthMax - 1)),
    goodValue('two arrays as deep as allowed beside each other', `[${arrays(depthMax - 2)},${arrays(depthMax - 2)}]`, [
      inArrays(depthMax - 2),
      inArrays(depthMax - 2),
    ]),
    goodValue('forty empty arrays and objects beside each other', `[${'[],{},'.repeat(20)}0]`, [
      ...Array.from({ length: 20 }, () => [[], {}]).flat(),
      0n,
    ]),
    goodValue('a hundred brackets in a string', `"${'['.repeat(100)}"`, '['.repeat(100)),
    ...differing('nesting', tooDeep),
    // Neither has JSON.parse anything to say for them, as they end too early.
    broken('60,000 opening brackets', '['.repeat(60_000), depthMax),
    broken('10,000 opening braces with keys', '{"a":'.repeat(10_000), 5 * depthMax),
    broken('10,000 brackets and braces in turn', '[{"a":'.repeat(10_000), 6 * (depthMax / 2)),
  ]
}

function numbered(count: number): [string, bigint][] {
  return Array.from({ length: count }, (_, index) => [`k${index}`, BigInt(index)])
}

function keys(count: number): string {
  return numbered(count)
    .map(([key, value]) => `"${key}":${value}`)
    .join(',')
}
