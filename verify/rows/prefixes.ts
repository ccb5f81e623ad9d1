// Lists of plants whose name begins with a text, in every script.

import type { NewPlant } from '../plant.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import { among, filters } from './lists.ts'

/** A name, prefixes that find it, and names of other plants that they do not find. */
type Named = readonly [title: string, name: string, found: readonly string[], others: readonly string[]]

const named: readonly Named[] = [
  ['in upper or lower case', 'Salvia OFFICINALIS', ['salvia', 'SALVIA OFFICINALIS'], ['Rosa', 'Rosa salvia']],
  ['in Greek', 'ΦΊΚΟΣ η ελαστική', ['φίκος'], ['Φοίνιξ']],
  ['in Greek, whose sigma has two small forms', 'ΟΔΟΣΑ', ['ΟΔΟΣ', 'οδος', 'οδοσ', 'οδοσα'], ['ΟΔΟΙ']],
  [
    'whatever form its letters have',
    '\u017ft\u212a\u00b5\u01c5\u1e9e\u2126',
    ['STK\u03bc\u01c6ss\u03c9', 'stk\u039c\u01c4'],
    ['stl'],
  ],
  [
    'in Georgian and Cherokee',
    '\u10d0\u10d1\u13a0\uab71',
    ['\u1c90\u1c91\uab70', '\u10d0\u1c91\u13a0\u13a1'],
    ['\u10d2'],
  ],
  ['in German', 'Straße der Rosen', ['STRASSE'], ['Strand']],
  ['compared in NFKC', '\ufb01cus ①', ['fic', 'ＦＩＣＵＳ 1'], ['cus']],
  ['not by what it is composed of', 'epine', ['e'], ['\u00e9pine']],
  ['outside the BMP', '\u{10400}x', ['\u{10428}X'], ['x']],
  ['with letters that have no case of their own', '\u{1d400}b', ['ab', 'AB', '\u{1d41a}B'], ['b']],
  ['composed or not', 'E\u0301pine', ['\u00e9'], ['Epine', 'epinE']],
  ['with the spaces around it', ' Rosa  alba ', [' ', ' rosa', ' rosa  alba '], ['Rosa  alba ', 'Rosa alba']],
  ['longer when it is folded', '\ufdfa'.repeat(100), ['\ufdfa', '\ufdfa'.repeat(50), '\u0635\u0644\u0649'], ['a']],
  ...['%Rosa', '_Rosa', '*Rosa', '\\Rosa', '.Rosa', '^Rosa', '[Rosa', '"Rosa'].map(
    (name): Named => [`${name.charAt(0)} is no wildcard`, name, [name.charAt(0)], ['Rosa', 'aRosa']],
  ),
]

export function prefixRows(circumstances: Circumstances): readonly Row[] {
  return [...named.map((each) => namedRow(circumstances, each)), followedRow(circumstances), plusRow(circumstances)]
}

function namedRow({ ids, nonce }: Circumstances, [title, name, found, others]: Named): Row {
  const own = ids.take(others.length + 2)
  return row(
    `a name lists the plants whose name begins with it: ${title}`,
    filters,
    own,
    async (store, untagged, ...rest) => {
      const tag = `names ${title} ${nonce}`
      const [plant, ...unlike] = [name, ...others].map((each, at) => ({ id: rest[at] as bigint, name: each, tag }))
      await store.create({ id: untagged, name })
      await store.createAll([plant as NewPlant, ...unlike])
      for (const prefix of found)
        await store.list(`${among(tag)}&name=${encodeURIComponent(prefix)}`, [plant as NewPlant])
    },
  )
}

/** Characters at the limits of encodings, and of those that some programs consider the greatest. */
const boundaries = [
  ...['\u0001', '\u007f', '\u07ff', '\u0800', '\ue000', '\ufffd', '\uffff', '\u{10000}', '🌿', '\u{10ffff}'],
]

function followedRow({ ids, nonce }: Circumstances): Row {
  const title = 'a name lists the plants whose name begins with it, whatever character follows'
  return row(title, filters, ids.take(boundaries.length + 1), async (store, ...own) => {
    const tag = `followed ${nonce}`
    const plants = ['', ...boundaries].map((character, at) => ({
      id: own[at] as bigint,
      name: `Rosa${character}`,
      tag,
    }))
    await store.createAll(plants)
    await store.list(`${among(tag)}&name=rosa`, plants)
    await store.list(`${among(tag)}&name=rosa`, plants, 3)
    for (const plant of plants.slice(1)) {
      await store.list(`${among(tag)}&name=${encodeURIComponent(plant.name)}`, [plant])
    }
  })
}

const plus = 'a name prefix may contain any characters, and none is a wildcard (the parameter name)'

function plusRow({ ids, nonce }: Circumstances): Row {
  return row('in a query, + is a space and %2B a plus sign', plus, ids.take(2), async (store, one, other) => {
    const tag = `plus ${nonce}`
    const [spaced, signed] = [
      { id: one, name: 'Rosa alba', tag },
      { id: other, name: 'Rosa+alba', tag },
    ]
    await store.createAll([spaced, signed])
    await store.list(`${among(tag)}&name=rosa+a`, [spaced])
    await store.list(`${among(tag)}&name=rosa%20a`, [spaced])
    await store.list(`${among(tag)}&name=rosa%2Ba`, [signed])
  })
}
