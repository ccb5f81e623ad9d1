// The corpus: bodies in the order of RFC 8259, each with its expected result, written by hand. A mark stands before the
// first byte that no JSON text could have there. The reference decides which plants valid JSON contains. Cases that
// differ only in the wrong character are left to mutated bodies.

import { limits } from '../../src/limits.ts'

export interface Case {
  readonly bytes: Buffer
  /** A plant, other JSON, or no JSON. */
  readonly answer: 200 | 40002 | 40001
  /** Of what is not JSON: the first wrong byte, or the length of what ends too early. */
  readonly at: number
}

const mark = '▸'
const depthMax = limits.jsonDepthMax
/** Texts with two spaces or a new line between them. */
const split = (texts: string): readonly string[] => texts.trim().split(/ {2,}|\n\s*/)
const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
const manyNines = '9'.repeat(400)
const manyZeros = '0'.repeat(5_000)

const plants: readonly string[] = [
  ...split(String.raw`{"id":1,"name":"n"}  {"id":1,"name":"","tag":""}  {"\u0069\u0064":1,"n\u0061me":"n","t\u0061g":"t"}
    {"id":1,"name":"aé€🌿\ud83c\udf3f\u0001"}  {"id":1,"name":"n","__proto__":{"tag":"t"}}`),
  ' \t\n\r{ \t\n\r"id" \t\n\r: \t\n\r1 \t\n\r, \t\n\r"name":"n" \t\n\r} \t\n\r',
]

/** JSON, but no plants. */
const others: readonly string[] = [
  ...split(String.raw`7  "n"  []  {}  [{"id":1,"name":"n"}]  {"__proto__":{"id":1,"name":"n"}}  {"ID":1,"name":"n"}
    {"id\u0000":1,"name":"n"}  {"id":1,"name":"\u0000"}  {"id":1,"name":"\ud83c"}  {"id":1,"name":"\udf3f\ud83c"}
    {"id":1,"name":"n","tag":"a\udf3f"}  {"id":1,"name":"n","tag":null}`),
  ...['\r\n null\t', arrays(depthMax), objects(depthMax)],
]

/** Whole bodies that are not JSON. */
const brokenBodies: readonly string[] = [
  // Section 2: white space is four characters, and a text is one value.
  ...['▸', ' \t\r\n▸', '▸\u00a0{"id":1}', '{"id":1,▸\u2028"name":"n"}', '{"id":1}\n▸{"id":2}'],
  ...split('{"id":1}▸}  {"id":1}▸,  {"id":1} ▸// a comment  {"id":1,▸/**/"name":"n"}'),
  // Section 4: objects. The position is that of the byte, whatever stands before it.
  ...split(String.raw`{▸  {"id"▸  {"id":1,▸  {"id":1▸]  {"id":1,▸}  {"id":1 ▸"name":"n"}  {"id":▸}  {"id" ▸1}  {▸'id':1}
    {"id":1,▸name:"n"}  {"é€🌿\ud83c\udf3f":1,▸}  ["aé€🌿"▸`),
  '{\r\n  "id": 1,\r\n▸}',
  // Section 4 leaves repeated keys open: here the second one is refused.
  ...split(String.raw`{"id":1,"name":"n",▸"id":1}  {"\u0069d":1,"name":"n",▸"id":1}  {"\u00e9":1,▸"é":1}  {"":1,▸"":1}
    {"\udf3f":1,▸"\uDF3F":1}  {"__proto__":null,▸"__proto__":2}  {"toString":1,▸"toString":2}
    {"x":[{"a":1},{"a":{"b":1},▸"a":2}]}`),
  // Section 5: arrays, and values that the text cuts short.
  ...split(String.raw`[▸  [1,▸  [1]▸]  "a▸  "a\▸  "a\"▸  "\u00▸  -▸  1.▸  fals▸
    {"id":1,"name":"n","x":"\\\"}▸`),
  // Section 9 allows a limit of nesting.
  `${'['.repeat(depthMax)}▸[${']'.repeat(depthMax + 1)}`,
  `${'{"a":'.repeat(depthMax)}▸{}${'}'.repeat(depthMax)}`,
  `${'['.repeat(depthMax)}▸${'['.repeat(60_000 - depthMax)}`,
  `${'[{"a":'.repeat(depthMax / 2)}▸${'[{"a":'.repeat(10_000 - depthMax / 2)}`,
  // Section 8.1: no byte order mark.
  ...['▸\ufeff{"id":1}', ' ▸\ufeff{"id":1}'],
]

/** Values that are not JSON, in an otherwise valid plant. */
const brokenValues: readonly string[] = [
  // Sections 3 and 5: three words in lower case, and arrays.
  ...split('t▸Rue  tru▸  null▸0  ▸undefined  [1▸}  [1,▸]  ["a"▸:1]  [1 ▸2]  [{"a":1▸]'),
  `${'['.repeat(depthMax - 1)}▸[${']'.repeat(depthMax)}`,
  // Section 6: numbers.
  ...split('0▸1  -▸-1  -▸.5  ▸+1  ▸١  0▸x1F  ▸NaN  -▸Infinity  ▸.5  1.▸  1▸·5  1e▸  1e+▸-1  1.▸e1  0▸1e1'),
  `${'9'.repeat(5_000)}▸a`,
  // Section 7: strings.
  ...split(String.raw`▸'a'  "a"▸b"  "\u▸"  "\u004▸"  "\u004▸g"  "\u▸００４１"  "\u00▸\u0041"  "\ud83c\▸df3f"`),
  ...Array.from({ length: 0x20 }, (_, code) => `"a▸${String.fromCharCode(code)}b"`),
  ...[..."0xvesNU'`{\né🌿"].map((letter) => `"\\▸${letter}041"`),
]

/** Values in a member of a plant that the contract does not know. */
const values: readonly string[] = [
  // Sections 4 and 5.
  ...split(String.raw`{"a":true,"b":[false],"c":[null]}  {"":1,"0":{"a":1},"a":{"a":1}," ":1}  [null,true,1,1.5,"s",[],{}]
    {"a\"b":1,"\u0000":1,"\ud83c":1,"🌿":1}  {"__proto__":null}  {"\u005f_proto__":{"a":1}}
    {"constructor":{"prototype":{}},"hasOwnProperty":1}  ["a",":","b",{"c":":",":":":"}]`),
  ...['{"a":1,"A":1,"a ":1,"\u00e9":1,"e\u0301":1}', arrays(depthMax - 1), objects(depthMax - 1)],
  ...[`[${'0,'.repeat(999)}0]`, `[${'[],{},'.repeat(20)}0]`, `"${'['.repeat(100)}/* a */"`],
  // Section 6; what a double cannot hold is still a number.
  ...split('1.005  1.25e1  5e-324  1.7976931348623157e308  7.000  1.5E+1  1000e-3  -1e400  -1e-400'),
  ...[`1e${manyNines}`, `1e-${manyNines}`, `0.0e${manyNines}`, `1.${manyZeros}`, `7${manyZeros}e-5000`],
  `0.${manyZeros}7e5001`,
  // Sections 7 and 8.2: half of a pair stays what it is.
  ...split(String.raw`""  "'{}[]:,!#/"  "a\"b\\c\/d\be\ff\ng\rh\ti"  "\\\\n\\\""  "\u0000\u001f\u0022\u005cn"
    "\u0123\u4567\u89ab\ucdef\uABCD\uEF00"  "\u00410"  "\ud800\udc00\uDBFF\uDFFF"  "\ud83c\ud83c\udf3f\udf3f"
    "\udf3f\ud83ca\ud83c🌿"  "\ud7ff\ue000"`),
  '"\u007f\u0080\u009f\u2028\u2029\ufeff\ufffd\uffff"',
]

/** An int64, however it is written. */
const ids = split(`0  -0  -0.000e-7  0e99999999  1E3  0.001e3  -2.50e1  9007199254740993  9223372036854775807
  -9223372036854775808  -9223372036854775808.000  92233720368547758070e-1  0.9223372036854775807e19  9.2e18`)
/** Beyond forty digits no integer is told from another, as none can be an id. */
const wrongIds = split(`9223372036854775808  -9223372036854775809  9223372036854775.808e3  18446744073709551617  1.5
  1.00000000000000000001  9223372036854775807.5  ${'1'.repeat(40)}  1e39  ${'1'.repeat(41)}  -1e40  "1"  null`)

/** The borders of RFC 3629, section 4, as the only character of a string. */
const characters = split('c280  dfbf  e0a080  ed9fbf  ee8080  efbfbf  f0908080  f48fbfbf')
/** What is not UTF-8, in a string, with the first wrong byte of it. */
const notUtf8 =
  split(`80 0  c3a9a9 2  c080 0  e09fbf 0  f08fbfbf 0  eda080 0  f4908080 0  c3 0  e282 0  f09f8c 0  e24141 0
  efbf 0  efbfbdff 3  61c3a9e282acf09f8cbfff 10`)
/** Other whole bodies that are not UTF-8, or another encoding of it. */
const brokenBytes: readonly (readonly [bytes: Buffer, at: number])[] = [
  [Buffer.from('{"id":1}\xff', 'latin1'), 8],
  [Buffer.from('{"id" 1,"name":"\xff"}', 'latin1'), 16],
  [Buffer.from('22efbfbdefbf', 'hex'), 4],
  [Buffer.from('{"id":1}', 'utf16le'), 1],
  [Buffer.from('\ufeff{"id":1}', 'utf16le'), 0],
]

const before = '{"id":1,"name":"n","x":'

export const corpus: readonly Case[] = [
  ...[...plants, ...values.map(inPlant), ...ids.map(withId)].map((text) => toCase(text, 200)),
  ...characters.map((hex) => toCase(inString(hex), 200)),
  ...[...others, ...wrongIds.map(withId)].map((text) => toCase(text, 40002)),
  ...[...brokenBodies, ...brokenValues.map(inPlant)].map((text) => {
    return toCase(text.replace(mark, ''), 40001, Buffer.byteLength(text.slice(0, text.indexOf(mark))))
  }),
  ...brokenBytes.map(([bytes, at]) => toCase(bytes, 40001, at)),
  ...notUtf8.map((each) => {
    const [hex = '', at] = each.split(' ')
    return toCase(inString(hex), 40001, before.length + 1 + Number(at))
  }),
]

function inPlant(text: string): string {
  return `${before}${text}}`
}

function withId(literal: string): string {
  return `{"id":${literal},"name":"n"}`
}

function inString(hex: string): Buffer {
  return Buffer.concat([Buffer.from(`${before}"`), Buffer.from(hex, 'hex'), Buffer.from('"}')])
}

function toCase(body: string | Buffer, answer: Case['answer'], at = 0): Case {
  return { bytes: Buffer.from(body), answer, at }
}
