// The corpus: bodies, and the required result of each, written by hand in the order of RFC 8259. What only differs in
// the character that is wrong is left to mutated bodies.

import type { JsonValue } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'
import type { NewPlant } from '../../verify/plant.ts'

export interface Case {
  readonly bytes: Buffer
  readonly outcome: Outcome
}

export type Outcome =
  /** JSON, and a plant that is kept as `plant`. */
  | { readonly answer: 200; readonly value: JsonValue; readonly plant: NewPlant }
  /** JSON, but no plant. */
  | { readonly answer: 40002; readonly value: JsonValue }
  /** Not JSON; `at` is the first byte that no JSON text could have there, or the length of what ends too early. */
  | { readonly answer: 40001; readonly at: number }

const depthMax = limits.jsonDepthMax
const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const inArrays = (depth: number): JsonValue => (depth === 1 ? [] : [inArrays(depth - 1)])
const objects = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
const inObjects = (depth: number): JsonValue => (depth === 1 ? {} : { a: inObjects(depth - 1) })
/** Has `__proto__` as an own property, which a literal cannot have. */
const own = (...members: [string, JsonValue][]): JsonValue => Object.fromEntries(members)
const manyNines = '9'.repeat(400)
const manyZeros = '0'.repeat(5_000)

/** Plants, with all their members where the contract knows fewer. */
const plants: readonly (readonly [body: string, plant: NewPlant, value?: JsonValue])[] = [
  ['{"id":1,"name":"n"}', { id: 1n, name: 'n' }],
  [' \t\n\r{ \t\n\r"id" \t\n\r: \t\n\r1 \t\n\r, \t\n\r"name":"n" \t\n\r} \t\n\r', { id: 1n, name: 'n' }],
  ['{"id":1,"name":"","tag":""}', { id: 1n, name: '', tag: '' }],
  ['{"\\u0069\\u0064":1,"n\\u0061me":"n","t\\u0061g":"t"}', { id: 1n, name: 'n', tag: 't' }],
  ['{"id":1,"name":"aé€🌿\\ud83c\\udf3f\\u0001"}', { id: 1n, name: 'aé€🌿🌿\u0001' }],
  [
    '{"id":1,"name":"n","__proto__":{"tag":"t"}}',
    { id: 1n, name: 'n' },
    own(['id', 1n], ['name', 'n'], ['__proto__', { tag: 't' }]),
  ],
]

/** JSON, but no plants. */
const others: readonly (readonly [body: string, value: JsonValue])[] = [
  ['7', 7n],
  ['"n"', 'n'],
  ['\r\n null\t', null],
  ['[]', []],
  ['{}', {}],
  ['[{"id":1,"name":"n"}]', [{ id: 1n, name: 'n' }]],
  ['{"__proto__":{"id":1,"name":"n"}}', own(['__proto__', { id: 1n, name: 'n' }])],
  ['{"ID":1,"name":"n"}', { ID: 1n, name: 'n' }],
  ['{"id\\u0000":1,"name":"n"}', { 'id\0': 1n, name: 'n' }],
  ['{"id":1,"name":"\\u0000"}', { id: 1n, name: '\0' }],
  ['{"id":1,"name":"\\ud83c"}', { id: 1n, name: '\ud83c' }],
  ['{"id":1,"name":"\\udf3f\\ud83c"}', { id: 1n, name: '\udf3f\ud83c' }],
  ['{"id":1,"name":"n","tag":"a\\udf3f"}', { id: 1n, name: 'n', tag: 'a\udf3f' }],
  ['{"id":1,"name":"n","tag":null}', { id: 1n, name: 'n', tag: null }],
  [arrays(depthMax), inArrays(depthMax)],
  [objects(depthMax), inObjects(depthMax)],
]

/** Whole bodies that are not JSON. */
const brokenBodies: readonly (readonly [body: string, at: number])[] = [
  // Section 2: white space is four characters, and a text is one value.
  ['', 0],
  [' \t\r\n', 4],
  ['\u00a0{"id":1}', 0],
  ['{"id":1,\u2028"name":"n"}', 8],
  ['{"id":1}\n{"id":2}', 9],
  ['{"id":1}}', 8],
  ['{"id":1},', 8],
  ['{"id":1} // a comment', 9],
  ['{"id":1,/**/"name":"n"}', 8],
  // Section 4: objects.
  ['{', 1],
  ['{"id"', 5],
  ['{"id":1,', 8],
  ['{"id":1]', 7],
  ['{"id":1,}', 8],
  ['{"id":1 "name":"n"}', 8],
  ['{"id":}', 6],
  ['{"id" 1}', 6],
  ["{'id':1}", 1],
  ['{"id":1,name:"n"}', 8],
  // The position is that of the byte, whatever stands before it.
  ['{"é€🌿\\ud83c\\udf3f":1,}', 27],
  ['{\r\n  "id": 1,\r\n}', 15],
  ['["aé€🌿"', 13],
  // Section 4 leaves repeated keys open: here the second one is refused.
  ['{"id":1,"name":"n","id":1}', 19],
  ['{"\\u0069d":1,"name":"n","id":1}', 24],
  ['{"\\u00e9":1,"é":1}', 12],
  ['{"":1,"":1}', 6],
  ['{"\\udf3f":1,"\\uDF3F":1}', 12],
  ['{"__proto__":null,"__proto__":2}', 18],
  ['{"toString":1,"toString":2}', 14],
  ['{"x":[{"a":1},{"a":{"b":1},"a":2}]}', 27],
  // Section 5: arrays.
  ['[', 1],
  ['[1,', 3],
  ['[1]]', 3],
  // Section 9 allows a limit of nesting.
  [arrays(depthMax + 1), depthMax],
  [objects(depthMax + 1), 5 * depthMax],
  ['['.repeat(60_000), depthMax],
  ['[{"a":'.repeat(10_000), 3 * depthMax],
  // Values that the text cuts short.
  ['"a', 2],
  ['"a\\', 3],
  ['"a\\"', 4],
  ['"\\u00', 5],
  ['-', 1],
  ['1.', 2],
  ['fals', 4],
  // Section 8.1: no byte order mark.
  ['\ufeff{"id":1}', 0],
  [' \ufeff{"id":1}', 1],
]

/** Values that are not JSON, in an otherwise valid plant; the position counts from the beginning of the value. */
const brokenValues: readonly (readonly [text: string, at: number])[] = [
  // Section 3: three words in lower case.
  ['tRue', 1],
  ['tru', 3],
  ['null0', 4],
  ['undefined', 0],
  // Section 5: arrays.
  ['[1}', 2],
  ['[1,]', 3],
  ['["a":1]', 4],
  ['[1 2]', 3],
  ['[{"a":1]', 7],
  [arrays(depthMax), depthMax - 1],
  // Section 6: numbers.
  ['01', 1],
  ['--1', 1],
  ['-.5', 1],
  ['+1', 0],
  ['١', 0],
  ['0x1F', 1],
  ['NaN', 0],
  ['-Infinity', 1],
  ['.5', 0],
  ['1.', 2],
  ['1·5', 1],
  ['1e', 2],
  ['1e+-1', 3],
  ['1.e1', 2],
  ['01e1', 1],
  [`${'9'.repeat(5_000)}a`, 5_000],
  // Section 7: strings.
  ["'a'", 0],
  ['"a"b"', 3],
  ...Array.from({ length: 0x20 }, (_, code) => [`"a${String.fromCharCode(code)}b"`, 2] as const),
  ...[..."0xvesNU'`{\né🌿"].map((letter) => [`"\\${letter}041"`, 2] as const),
  ['"\\\\\\"', 6],
  ['"\\u"', 3],
  ['"\\u004"', 6],
  ['"\\u004g"', 6],
  ['"\\u００４１"', 3],
  ['"\\u00\\u0041"', 5],
  ['"\\ud83c\\df3f"', 8],
]

/** Values in a member of a plant that the contract does not know. */
const values: readonly (readonly [text: string, value: JsonValue])[] = [
  ['{"a":true,"b":[false],"c":[null]}', { a: true, b: [false], c: [null] }],
  // Sections 4 and 5.
  ['{"":1,"0":{"a":1},"a":{"a":1}," ":1}', { '': 1n, 0: { a: 1n }, a: { a: 1n }, ' ': 1n }],
  ['{"a\\"b":1,"\\u0000":1,"\\ud83c":1,"🌿":1}', { 'a"b': 1n, '\0': 1n, '\ud83c': 1n, '🌿': 1n }],
  ['{"a":1,"A":1,"a ":1,"\u00e9":1,"e\u0301":1}', { a: 1n, A: 1n, 'a ': 1n, '\u00e9': 1n, 'e\u0301': 1n }],
  ['{"__proto__":null}', own(['__proto__', null])],
  ['{"\\u005f_proto__":{"a":1}}', own(['__proto__', { a: 1n }])],
  ['{"constructor":{"prototype":{}},"hasOwnProperty":1}', { constructor: { prototype: {} }, hasOwnProperty: 1n }],
  ['[null,true,1,1.5,"s",[],{}]', [null, true, 1n, 1.5, 's', [], {}]],
  [`[${'0,'.repeat(999)}0]`, Array.from({ length: 1_000 }, () => 0n)],
  [arrays(depthMax - 1), inArrays(depthMax - 1)],
  [objects(depthMax - 1), inObjects(depthMax - 1)],
  [`[${'[],{},'.repeat(20)}0]`, [...Array.from({ length: 20 }, () => [[], {}]).flat(), 0n]],
  [`"${'['.repeat(100)}/* a */"`, `${'['.repeat(100)}/* a */`],
  // Section 6; what a double cannot hold is still a number.
  ['1.005', 1.005],
  ['1.25e1', 12.5],
  ['5e-324', 5e-324],
  ['1.7976931348623157e308', 1.7976931348623157e308],
  ['7.000', 7n],
  ['1.5E+1', 15n],
  ['1000e-3', 1n],
  ['-1e400', Number.NEGATIVE_INFINITY],
  ['-1e-400', -0],
  [`1e${manyNines}`, Number.POSITIVE_INFINITY],
  [`1e-${manyNines}`, 0],
  [`0.0e${manyNines}`, 0n],
  [`1.${manyZeros}`, 1n],
  [`7${manyZeros}e-5000`, 7n],
  [`0.${manyZeros}7e5001`, 7n],
  // Section 7.
  ['""', ''],
  ['"\'{}[]:,!#/"', "'{}[]:,!#/"],
  ['"\u007f\u0080\u009f\u2028\u2029\ufeff\ufffd\uffff"', '\u007f\u0080\u009f\u2028\u2029\ufeff\ufffd\uffff'],
  ['"a\\"b\\\\c\\/d\\be\\ff\\ng\\rh\\ti"', 'a"b\\c/d\be\ff\ng\rh\ti'],
  ['"\\\\\\\\n\\\\\\""', '\\\\n\\"'],
  ['"\\u0000\\u001f\\u0022\\u005cn"', '\0\u001f"\\n'],
  ['"\\u0123\\u4567\\u89ab\\ucdef\\uABCD\\uEF00"', '\u0123\u4567\u89ab\ucdef\uabcd\uef00'],
  ['"\\u00410"', 'A0'],
  // Section 8.2: half of a pair stays what it is.
  ['"\\ud800\\udc00\\uDBFF\\uDFFF"', '\u{10000}\u{10ffff}'],
  ['"\\ud83c\\ud83c\\udf3f\\udf3f"', '\ud83c🌿\udf3f'],
  ['"\\udf3f\\ud83ca\\ud83c🌿"', '\udf3f\ud83ca\ud83c🌿'],
  ['"\\ud7ff\\ue000"', '\ud7ff\ue000'],
]

/** Ids, however an int64 is written. */
const ids: readonly (readonly [literal: string, id: bigint])[] = [
  ['0', 0n],
  ['-0', 0n],
  ['-0.000e-7', 0n],
  ['0e99999999', 0n],
  ['1E3', 1000n],
  ['0.001e3', 1n],
  ['-2.50e1', -25n],
  ['9007199254740993', 2n ** 53n + 1n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
  ['-9223372036854775808.000', -(2n ** 63n)],
  ['92233720368547758070e-1', 2n ** 63n - 1n],
  ['0.9223372036854775807e19', 2n ** 63n - 1n],
  ['9.2e18', 9_200_000_000_000_000_000n],
]
/** Beyond forty digits no integer is told from another, as none can be an id. */
const wrongIds: readonly (readonly [literal: string, id: JsonValue])[] = [
  ['9223372036854775808', 2n ** 63n],
  ['-9223372036854775809', -(2n ** 63n) - 1n],
  ['9223372036854775.808e3', 2n ** 63n],
  ['18446744073709551617', 2n ** 64n + 1n],
  ['1.5', 1.5],
  ['1.00000000000000000001', 1],
  ['9223372036854775807.5', Number(2n ** 63n)],
  ['1'.repeat(40), BigInt('1'.repeat(40))],
  ['1e39', 10n ** 39n],
  ['1'.repeat(41), Number('1'.repeat(41))],
  ['-1e40', -1e40],
  ['"1"', '1'],
  ['null', null],
]

/** The borders of RFC 3629, section 4, as the only character of a string. */
const characters: readonly (readonly [hex: string, character: string])[] = [
  ['c280', '\u0080'],
  ['dfbf', '\u07ff'],
  ['e0a080', '\u0800'],
  ['ed9fbf', '\ud7ff'],
  ['ee8080', '\ue000'],
  ['efbfbf', '\uffff'],
  ['f0908080', '\u{10000}'],
  ['f48fbfbf', '\u{10ffff}'],
]

/** What is not UTF-8, in a string; the position counts from its beginning. */
const notUtf8: readonly (readonly [hex: string, at: number])[] = [
  ['80', 0],
  ['c3a9a9', 2],
  ['c080', 0],
  ['e09fbf', 0],
  ['f08fbfbf', 0],
  ['eda080', 0],
  ['f4908080', 0],
  ['c3', 0],
  ['e282', 0],
  ['f09f8c', 0],
  ['e24141', 0],
  ['efbf', 0],
  ['efbfbdff', 3],
  ['61c3a9e282acf09f8cbfff', 10],
]

/** Other whole bodies that are not UTF-8, or another encoding of it. */
const brokenBytes: readonly (readonly [bytes: Buffer, at: number])[] = [
  [Buffer.from('{"id":1}\xff', 'latin1'), 8],
  [Buffer.from('{"id" 1,"name":"\xff"}', 'latin1'), 16],
  [Buffer.from('22efbfbdefbf', 'hex'), 4],
  [Buffer.from('{"id":1}', 'utf16le'), 1],
  [Buffer.from('\ufeff{"id":1}', 'utf16le'), 0],
]

const plant: NewPlant = { id: 1n, name: 'n' }
const before = '{"id":1,"name":"n","x":'

export const corpus: readonly Case[] = [
  ...plants.map(([body, plant, value = { ...plant }]) => toCase(body, { answer: 200, value, plant })),
  ...ids.map(([literal, id]) => {
    const plant = { id, name: 'n' }
    return toCase(`{"id":${literal},"name":"n"}`, { answer: 200, value: plant, plant })
  }),
  ...values.map(([text, x]) => toCase(`${before}${text}}`, { answer: 200, value: { ...plant, x }, plant })),
  ...characters.map(([hex, x]) => toCase(inString(hex), { answer: 200, value: { ...plant, x }, plant })),
  ...others.map(([body, value]) => toCase(body, { answer: 40002, value })),
  ...wrongIds.map(([literal, id]) =>
    toCase(`{"id":${literal},"name":"n"}`, { answer: 40002, value: { id, name: 'n' } }),
  ),
  ...[...brokenBodies, ...brokenBytes].map(([body, at]) => toCase(body, { answer: 40001, at })),
  ...brokenValues.map(([text, at]) => toCase(`${before}${text}}`, { answer: 40001, at: before.length + at })),
  ...notUtf8.map(([hex, at]) => toCase(inString(hex), { answer: 40001, at: before.length + 1 + at })),
]

function inString(hex: string): Buffer {
  return Buffer.concat([Buffer.from(`${before}"`), Buffer.from(hex, 'hex'), Buffer.from('"}')])
}

function toCase(body: string | Buffer, outcome: Outcome): Case {
  return { bytes: Buffer.from(body), outcome }
}
