// Bodies that are nearly plants: valid ones and those of the corpus, changed here and there.

import { limits } from '../../src/limits.ts'
import type { Random } from '../power-loss/random.ts'
import { corpus } from './corpus.ts'

type Change = (bytes: Buffer, random: Random) => Buffer

/** Longer bodies of the corpus would only make each change less likely to matter. */
const seedBytesMax = 1_024
const mutatedBytesMax = 4_096
const changesMax = 4
/** How often a plant is changed so that it may well stay JSON; few others do. */
const gentleShare = 0.5
/** Of the members that are added. */
const nestedShare = 0.1

const seeds = corpus.map(({ bytes }) => bytes).filter(({ length }) => length > 0 && length <= seedBytesMax)

/** What means something to a decoder, or nearly does. */
const pieces = [
  ...['{', '}', '[', ']', ':', ',', '"', '\\', ' ', '\t', '\r\n', '\0', '\u001f', '\ufeff', '\u2028', '\u00a0'],
  ...[
    '"id":',
    '"name":',
    '"tag":',
    '"x":',
    ',"id":1',
    ',"name":"n"',
    '"\\u0069d":',
    '"__proto__":',
    '"constructor":{}',
  ],
  ...['0', '-', '-0', '1', '00', '.', '.0', '.5', 'e', 'E', 'e1', 'e-1', 'E+2', 'e99', 'e400', 'e-400', '+'],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '9007199254740993',
    '1e18',
    '1e19',
    '70e-1',
  ],
  ...['true', 'false', 'null', 'tru', 'NaN', 'Infinity', '//', '/**/', "'", '[]', '{}', '[[[[[[[[', '{"a":[{"a":['],
  ...[';', '=', '{"a":', '\\v', "\\'", '\\x41', '0x1', '1_0', '١', '１'],
  ...[
    '\\n',
    '\\/',
    '\\u',
    '\\u0000',
    '\\u0041',
    '\\ud83c',
    '\\udf3f',
    '\\ud83c\\udf3f',
    '\\uD8',
    'é',
    '€',
    '🌿',
    '\u0301',
  ],
].map(toBytes)
/** And what is not UTF-8. */
const brokenPieces = ['80', 'c0', 'c3', 'e282', 'eda080', 'efbf', 'f09f8c', 'f4908080', 'ff'].map((hex) =>
  Buffer.from(hex, 'hex'),
)

/** Whole members and numbers, which often leave a body JSON. */
const members = ['"id":1', '"x":1', '"x":{}', '"tag":"t"', '"tag":null', '"y":[-0,1e400]', '"__proto__":{"id":1}'].map(
  toBytes,
)
const numbers = [
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '7.0',
    '1e3',
    '1E-3',
    '70e-1',
    '1.5',
    '-0.0e9',
    '1e18',
    '1e19',
    '1e400',
    '-1e-400',
    '0e999',
  ],
  ...['9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809', '9007199254740993'],
  ...[
    '92233720368547758070e-1',
    '9223372036854775807.5',
    `1${'0'.repeat(39)}`,
    `1${'0'.repeat(40)}`,
    '1e-999999999',
    '01',
    '-012',
    '1.',
    '1e',
  ],
].map(toBytes)

const changes: readonly Change[] = [
  // A bit, a byte.
  (bytes, random) => flip(bytes, at(bytes, random), 1 << random.below(8)),
  (bytes, random) => put(bytes, at(bytes, random), 1, [random.below(256)]),
  (bytes, random) => put(bytes, at(bytes, random), 0, [random.between(0x20, 0x7e)]),
  // What is there: less of it, more of it, in another order.
  (bytes, random) => put(bytes, at(bytes, random), random.between(1, 8), []),
  (bytes, random) => bytes.subarray(0, at(bytes, random)),
  (bytes, random) => put(bytes, at(bytes, random), 0, slice(bytes, random)),
  (bytes, random) => put(bytes, at(bytes, random), random.below(8), slice(random.pick(seeds), random)),
  (bytes, random) => Buffer.concat([bytes.subarray(0, at(bytes, random)), slice(random.pick(seeds), random)]),
  (bytes, random) => swapMembers(bytes, random),
  // What means something.
  (bytes, random) => put(bytes, at(bytes, random), 0, random.pick(pieces)),
  (bytes, random) => put(bytes, at(bytes, random), random.between(1, 4), random.pick(pieces)),
  (bytes, random) => put(bytes, 0, 0, random.pick(pieces)),
  (bytes, random) => put(bytes, endOfNumber(bytes, random), 0, random.pick(pieces)),
  (bytes, random) => put(bytes, afterStructure(bytes, random), 0, random.pick(pieces)),
  (bytes, random) => put(bytes, at(bytes, random), 0, repeat(random)),
  (bytes, random) => put(bytes, at(bytes, random), 0, random.pick(brokenPieces)),
  // A character of a text, whole.
  (bytes, random) => changeCharacter(bytes, random),
]
const escapes = ['\\n', '\\/', '\\u0041', '\\u0000', '\\ud83c', '\\udf3f', '\\uD83C\\uDF3F', '🌿', '\x7f'].map(toBytes)
const gentleChanges: readonly Change[] = [
  (bytes, random) => put(bytes, pickEnd(bytes, /:"/g, random), 0, escaped(drawCharacter(random))),
  (bytes, random) => put(bytes, pickEnd(bytes, /:"/g, random), 0, random.pick(escapes)),
  (bytes, random) => put(bytes, afterStructure(bytes, random), 0, random.pick([' ', '\t', '\r\n'].map(toBytes))),
  (bytes, random) => replaceNumber(bytes, random),
  (bytes, random) => replaceNumber(bytes, random),
  (bytes, random) => addMember(bytes, random),
  (bytes, random) => swapMembers(bytes, random),
]

/** A body of the corpus, or a plant, with some changes; the same for the same random numbers. */
export function mutateBody(random: Random): Buffer {
  const isGentle = random.chance(gentleShare)
  const chosen = isGentle ? gentleChanges : changes
  let bytes = isGentle || random.chance(0.5) ? drawPlant(random) : random.pick(seeds)
  for (let left = random.between(1, changesMax); left > 0; left -= 1) bytes = random.pick(chosen)(bytes, random)
  return bytes.subarray(0, mutatedBytesMax)
}

function drawPlant(random: Random): Buffer {
  const id = random.chance(0.5) ? String(random.below(1_000)) : `${random.below(2 ** 31)}${random.below(2 ** 31)}`
  const members = [
    `"id":${random.pick(['', '', '-'])}${id}${random.pick(['', '', '.0', 'e0', '0e-1'])}`,
    `"name":${JSON.stringify(drawText(random))}`,
    ...(random.chance(0.5) ? [`"tag":${JSON.stringify(drawText(random))}`] : []),
    ...(random.chance(0.3) ? ['"x":[1,{"a":[true,null,-2.5e3]},"\\ud83c\\udf3f"]'] : []),
  ]
  return Buffer.from(`{${members.join(random.pick([',', ', ', ',\n  ']))}}`)
}

function drawText(random: Random): string {
  return Array.from({ length: random.below(12) }, () => drawCharacter(random)).join('')
}

/** A character of any length in UTF-8, and now and then half a pair. */
function drawCharacter(random: Random): string {
  const [least = 0, most = 0] = random.pick([
    [0x20, 0x7e],
    [0x20, 0x7e],
    [0, 0x1f],
    [0x80, 0x7ff],
    [0x800, 0xffff],
    [0x10000, 0x10ffff],
  ])
  return String.fromCodePoint(random.between(least, most))
}

function at(bytes: Buffer, random: Random): number {
  return random.below(bytes.length + 1)
}

function put(bytes: Buffer, start: number, removed: number, inserted: ArrayLike<number>): Buffer {
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(inserted), bytes.subarray(start + removed)])
}

function flip(bytes: Buffer, start: number, bits: number): Buffer {
  return put(bytes, start, 1, [(bytes[start] ?? 0) ^ bits])
}

function slice(bytes: Buffer, random: Random): Buffer {
  const start = at(bytes, random)
  return bytes.subarray(start, start + random.between(1, 24))
}

function repeat(random: Random): Buffer {
  const piece = random.pick(pieces)
  return Buffer.concat(Array.from({ length: random.between(2, 50) }, () => piece))
}

/** Tears a body apart at its commas and puts it together in another order. */
function swapMembers(bytes: Buffer, random: Random): Buffer {
  const members = bytes.toString('latin1').split(',')
  const [one, other] = [random.below(members.length), random.below(members.length)]
  const [first = '', second = ''] = [members[one], members[other]]
  members[one] = second
  members[other] = first
  return Buffer.from(members.join(','), 'latin1')
}

function replaceNumber(bytes: Buffer, random: Random): Buffer {
  const found = [...bytes.toString('latin1').matchAll(/-?\d[\d.eE+-]*/g)]
  if (found.length === 0) return bytes
  const { index, 0: number } = random.pick(found)
  return put(bytes, index, number.length, random.pick(numbers))
}

function escaped(character: string): Buffer {
  return toBytes(JSON.stringify(character).slice(1, -1))
}

/** A member about as deep as is allowed. */
function drawNested(random: Random): Buffer {
  const depth = random.between(limits.jsonDepthMax - 4, limits.jsonDepthMax + 2)
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":[', ']}'],
  ])
  const levels = Math.ceil(depth / (open?.length === 1 ? 1 : 2))
  return toBytes(`"z":${open?.repeat(levels)}${close?.repeat(levels)}`)
}

function addMember(bytes: Buffer, random: Random): Buffer {
  const start = bytes.indexOf('{') + 1
  const member = random.chance(nestedShare) ? drawNested(random) : random.pick(members)
  return put(bytes, start, 0, Buffer.concat([member, toBytes(',')]))
}

function toBytes(text: string): Buffer {
  return Buffer.from(text)
}

function endOfNumber(bytes: Buffer, random: Random): number {
  return pickEnd(bytes, /\d(?=[^\d])/g, random)
}

function afterStructure(bytes: Buffer, random: Random): number {
  return pickEnd(bytes, /[{}[\]:,"]/g, random)
}

/** Just behind one of the places where a pattern matches, or anywhere when there is none. */
function pickEnd(bytes: Buffer, pattern: RegExp, random: Random): number {
  const ends = [...bytes.toString('latin1').matchAll(pattern)].map((match) => match.index + match[0].length)
  return ends.length === 0 ? at(bytes, random) : random.pick(ends)
}

function changeCharacter(bytes: Buffer, random: Random): Buffer {
  const characters = [...bytes.toString('utf8')]
  characters.splice(random.below(characters.length + 1), random.below(2), drawCharacter(random))
  return Buffer.from(characters.join(''))
}
