// Bodies that are nearly plants: random mutations of valid bodies and of the corpus.

import { limits } from '../../src/limits.ts'
import type { Random } from '../power-loss/random.ts'
import { corpus } from './corpus.ts'

type Change = (bytes: Buffer, random: Random) => Buffer

/** Longer bodies of the corpus would only make each change less likely to matter. */
const seedBytesMax = 1_024
const mutatedBytesMax = 4_096
const changesMax = 4
/** How often only such changes are made to a plant as may well leave it JSON. */
const gentleShare = 0.5

const seeds = corpus.map(({ bytes }) => bytes).filter(({ length }) => length > 0 && length <= seedBytesMax)
const split = (texts: string): readonly string[] => texts.trim().split(/ {2,}|\n\s*/)

const spaces = [' ', '\t', '\r\n']
const texts = [...split(String.raw`\n  \/  \u0041  \u0000  \ud83c  \udf3f  \uD83C\uDF3F  é€🌿`), '\x7f']
const members = split('"id":1,  "x":{},  "tag":"t",  "tag":null,  "y":[-0,1e400],  "__proto__":{"id":1},')
const numbers =
  split(`0  -0  -1  7.0  1e3  70e-1  1.5  -0.0e9  1e18  1e19  1e400  -1e-400  0e999  1e-999999999  01  -012
  1.  1e  9223372036854775807  9223372036854775808  -9223372036854775808  -9223372036854775809  9007199254740993
  92233720368547758070e-1  9223372036854775807.5  1e39  1e40`)
/** What means something to a decoder, or nearly does. */
const pieces = [
  ...[...spaces, ...texts, ...members, ...numbers, ...'{}[]:,"\\\0\u001f\ufeff\u2028\u00a0.e-+'],
  ...split(String.raw`true  tru  NaN  /**/  '  [[[[[[[[  {"a":[{"a":[  \v  \u  \x41  0x1  ١`),
  ...['80', 'c0', 'c3', 'e282', 'eda080', 'efbf', 'f09f8c', 'f4908080', 'ff'].map((hex) => Buffer.from(hex, 'hex')),
]

/** Changes that may leave a plant a plant. */
const gentleChanges: readonly Change[] = [
  (bytes, random) => put(bytes, pickEnd(bytes, /:"/g, random), 0, random.pick(texts)),
  (bytes, random) => put(bytes, pickEnd(bytes, /[{}[\]:,"]/g, random), 0, random.pick(spaces)),
  (bytes, random) => put(bytes, bytes.indexOf('{') + 1, 0, random.pick(members)),
  (bytes, random) => put(bytes, bytes.indexOf('{') + 1, 0, drawNested(random)),
  replaceNumber,
  replaceNumber,
]
/** Changes that few bodies survive. */
const changes: readonly Change[] = [
  ...gentleChanges,
  (bytes, random) => put(bytes, at(bytes, random), 1, Buffer.of(random.below(256))),
  (bytes, random) => put(bytes, at(bytes, random), random.between(1, 8), ''),
  (bytes, random) => bytes.subarray(0, at(bytes, random)),
  (bytes, random) => put(bytes, at(bytes, random), random.below(8), slice(random.pick(seeds), random)),
  (bytes, random) => put(bytes, at(bytes, random), random.below(4), random.pick(pieces)),
  (bytes, random) => put(bytes, pickEnd(bytes, /\d(?=\D)/g, random), 0, random.pick(pieces)),
  (bytes, random) => put(bytes, pickEnd(bytes, /[{}[\]:,"]/g, random), 0, random.pick(pieces)),
]

/** A body of the corpus, or a plant, with some changes; the same for the same random numbers. */
export function mutateBody(random: Random): Buffer {
  const isGentle = random.chance(gentleShare)
  let bytes = isGentle || random.chance(0.5) ? drawPlant(random) : random.pick(seeds)
  for (let left = random.between(1, changesMax); left > 0; left -= 1) {
    bytes = random.pick(isGentle ? gentleChanges : changes)(bytes, random)
  }
  return bytes.subarray(0, mutatedBytesMax)
}

function drawPlant(random: Random): Buffer {
  const id = random.chance(0.5) ? String(random.below(1_000)) : `${random.below(2 ** 31)}${random.below(2 ** 31)}`
  const members = [
    `"id":${random.pick(['', '', '-'])}${id}${random.pick(['', '', '.0', 'e0', '0e-1'])}`,
    `"name":${drawText(random)}`,
    ...(random.chance(0.5) ? [`"tag":${drawText(random)}`] : []),
  ]
  return Buffer.from(`{${members.join(random.pick([',', ', ', ',\n  ']))}}`)
}

/** A string of JSON, with characters of any length in UTF-8, and now and then half a pair. */
function drawText(random: Random): string {
  const beyond = [0x7f, 0x7f, 0x20, 0x800, 0x10000, 0x110000]
  const characters = Array.from({ length: random.below(12) }, () => random.below(random.pick(beyond)))
  return JSON.stringify(String.fromCodePoint(...characters))
}

/** A member about as deep as is allowed. */
function drawNested(random: Random): string {
  const depth = random.between(limits.jsonDepthMax - 4, limits.jsonDepthMax + 2)
  return `"z":${'['.repeat(depth)}${']'.repeat(depth)},`
}

function replaceNumber(bytes: Buffer, random: Random): Buffer {
  const found = [...bytes.toString('latin1').matchAll(/-?\d[\d.eE+-]*/g)]
  if (found.length === 0) return bytes
  const { index, 0: number } = random.pick(found)
  return put(bytes, index, number.length, random.pick(numbers))
}

function at(bytes: Buffer, random: Random): number {
  return random.below(bytes.length + 1)
}

/** Just behind one of the places where a pattern matches, or anywhere when there is none. */
function pickEnd(bytes: Buffer, pattern: RegExp, random: Random): number {
  const ends = [...bytes.toString('latin1').matchAll(pattern)].map((match) => match.index + match[0].length)
  return ends.length === 0 ? at(bytes, random) : random.pick(ends)
}

function slice(bytes: Buffer, random: Random): Buffer {
  const start = at(bytes, random)
  return bytes.subarray(start, start + random.between(1, 24))
}

function put(bytes: Buffer, start: number, removed: number, inserted: string | Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(inserted), bytes.subarray(start + removed)])
}
