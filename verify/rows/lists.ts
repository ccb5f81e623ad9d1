// Lists: pages, filters, and ETags of pages; and counts of plants. Most rows have a tag unique to this run.

import { isDeepStrictEqual } from 'node:util'
import { type AnswerCheck, etagFor, field, hasNoBody, isOf, ok, refusal, status, whyNotListed } from '../checks.ts'
import { int64Max, int64Min } from '../ids.ts'
import { toJson } from '../json.ts'
import { type Answer, fieldOf, itemsOf, objectOf } from '../message.ts'
import type { NewPlant, Plant } from '../plant.ts'
import { type Circumstances, near, nextPage, pagePlants, type Row, type Rule, row, type Store, take } from '../row.ts'

const visits: Rule = { place: 'listPlants: exactly once', ids: near(5) }
const filters = 'listPlants: match all given filters'

export function among(tag: string): string {
  return `tag=${encodeURIComponent(tag)}`
}

/** Plants that are equal except for their ids. */
function plantsOf(ids: readonly bigint[], plant: Plant): readonly NewPlant[] {
  return ids.map((id) => ({ id, ...plant }))
}

/** A tag, the tags, or none, of other plants, and tags that no plant has. */
type Tagged = readonly [title: string, tag: string, others: readonly (string | undefined)[], ...absent: string[]]

const tagged: readonly Tagged[] = [
  ['in its case', 'f\u00e9rn', ['F\u00c9RN', 'F\u00e9rn', undefined], 'f\u00e9r', '%', 'f\u00c9rn'],
  ['with its spaces', 'two  words ', ['two  words', 'two words '], ' two  words '],
  ['not composed', 'e\u0301', ['\u00e9'], 'e'],
  ['with every sign', 'a+b&c=d%20?#;,:|!$\'()*/@[]<>"\\^{}~`\u{1f33f}\r\n', ['a b&c=d%20?#;\u{1f33f}'], 'a'],
]

/** A name, prefixes that find it, and names of other plants that they do not find. */
type Named = readonly [title: string, name: string, found: readonly string[], others: readonly string[]]

const named: readonly Named[] = [
  ['in upper or lower case', 'Salvia OFFICINALIS', ['salvia', 'SALVIA OFFICINALIS'], ['Rosa', 'Rosa salvia']],
  ['in Greek', 'ΦΊΚΟΣ η ελαστική', ['φίκος'], ['Φοίνιξ']],
  ['in Greek, whose sigma has two small forms', 'ΟΔΟΣΑ', ['ΟΔΟΣ', 'οδος', 'οδοσ', 'οδοσα'], ['ΟΔΟΙ']],
  ['whatever form its letters have', 'ſt\u212a\u00b5ǅẞ\u2126', ['STK\u03bcǆssω', 'stk\u039cǄ'], ['stl']],
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
  // They are the greatest for some programs.
  ['before U+FFFF', 'Rosa\uffffa', ['rosa', 'rosa\uffff'], ['Ros']],
  ['before U+10FFFF', 'Rosa\u{10ffff}a', ['rosa', 'rosa\u{10ffff}'], ['Ros']],
  ...['%Rosa', '_Rosa', '*Rosa', '\\Rosa', '.Rosa', '^Rosa', '[Rosa', '"Rosa'].map(
    (name): Named => [`${name.charAt(0)} is no wildcard`, name, [name.charAt(0)], ['Rosa', 'aRosa']],
  ),
]

/** Plants in both halves of the range: in most ranges, the last ones have more digits. */
const inOrder: Rule = {
  place: 'listPlants: ascending order',
  ids: (range) => [...range.near(3), ...range.near(3, range.takeEnd(1)), ...range.takeEnd(1)],
}
const limited: Rule = { place: 'parameters/Limit', ids: near(pagePlants + 1) }
const covers: Rule = { place: 'listPlants: `ETag` covers', ids: near(3) }

const generalRows: readonly Row[] = [
  row('a list follows its links in the order of the ids, and keeps its filters', inOrder, async (store, ...ids) => {
    const tag = `pages & + ${store.nonce}`
    const [own, query] = [ids.slice(0, 6), among(tag)]
    const first = plantsOf(own.slice(0, 3), { name: 'Rosa "GLAUCA"', tag })
    const all = [...first, ...plantsOf(own.slice(3), { name: 'n', tag })]
    await store.create({ id: ids[6] ?? 0n, name: 'n' })
    for (const plant of all.toReversed()) await store.create(plant)
    await store.list(query, all, 1)
    await store.list(query, all)
    await store.list(`${query}&after=${own[1]}`, all.slice(2))
    await store.list(`${query}&after=${own[4]}`, all.slice(5))
    await store.list(`${query}&after=${int64Min}`, all)
    await store.list(`${query}&after=${int64Max}`, [])
    await store.list(`${query}&name=rosa`, first, 1)
    await store.list(`${query}&name=`, all)
    await store.list(`${query.replaceAll('%20', '+')}&after=${own[1]}`, all.slice(2), 1)
    // A page may have fewer plants than its limit, but with one plant left there is another page.
    const target = `/plants?${query}&limit=${all.length - 1}`
    await store.call('HEAD', target, [...ok, hasNoBody, field('Link', /rel="next"/)])
    await store.call('GET', target, [...ok, field('Link', /rel="next"/)])
  }),
  row(`a page has ${pagePlants} plants at most, unless it is asked for more`, limited, async (store, ...own) => {
    const tag = `default ${store.nonce}`
    const plants = plantsOf(own, { name: 'n', tag })
    await store.createAll(plants)
    await store.list(among(tag), plants)
    await store.list(among(tag), plants, 1_000)
  }),
  // Creates and deletes a plant before the place where the first page ends.
  row('following the links visits what stays exactly once, whatever changes', visits, async (store, ...own) => {
    const tag = `changing ${store.nonce}`
    const [late, mortal, ...stay] = plantsOf(own, { name: 'n', tag }) as [NewPlant, NewPlant, ...NewPlant[]]
    await store.createAll([mortal, ...stay])
    const first = await store.call('GET', `/plants?${among(tag)}&limit=2`, ok)
    const next = nextPage(first)
    const isStaying = ({ id }: { readonly id?: unknown }): boolean => stay.some((plant) => plant.id === id)
    const goOn = async (): Promise<void> => {
      const pages = next === undefined ? [first] : [first, ...(await store.pages(next, ok))]
      store.assert(whyNotListed(pages.flatMap(itemsOf).filter(isStaying), stay, store.plants))
    }
    await store.create(late)
    await goOn()
    for (const { id } of [late, mortal]) await store.remove(id)
    await goOn()
    await store.list(`${among(tag)}&after=${mortal.id}`, stay)
  }),
  row('the links of a list keep an empty tag', { place: filters, ids: near(3) }, async (store, ...own) => {
    const name = `empty ${store.nonce}`
    const [first, other, last] = plantsOf(own, { name, tag: '' }) as [NewPlant, NewPlant, NewPlant]
    await store.createAll([first, { ...other, tag: 't' }, last])
    await store.list(`tag=&name=${encodeURIComponent(name)}`, [first, last], 1)
  }),
  // Equal exactly for equal pages, so that a client that polls gets 304 until something changes.
  row('the ETag of a page changes with the page; If-None-Match gets 304', covers, async (store, ...own) => {
    const tag = `etags of pages ${store.nonce}`
    const [one, other, late] = plantsOf(own, { name: 'n', tag }) as [NewPlant, NewPlant, NewPlant]
    const polled = [1_000, 2].map(
      (limit) => [`/plants?${among(tag)}&limit=${limit}`, new Map<string, string>()] as const,
    )
    // A client that has the ETag of a page gets 304; with any other, also of an earlier page, the page.
    const poll = async (count = 2): Promise<void> => {
      const known = polled.flatMap(([, contents]) => [...contents.keys()])
      for (const [target, contents] of polled.slice(0, count)) {
        const isOfContent: AnswerCheck = (page) => {
          const plants = itemsOf(page).map(({ id, name, tag }) => [id, name, tag])
          return etagFor(`${toJson(plants)} with Link ${fieldOf(page, 'link')}`, contents)(page)
        }
        const etag = fieldOf(await store.call('GET', target, [...ok, isOfContent]), 'etag') ?? ''
        for (const each of new Set([...known, etag, '"x"'])) {
          const checks = each === etag ? [status(304), field('ETag', etag)] : [...ok, isOfContent]
          await store.call('GET', target, checks, { 'If-None-Match': each })
        }
      }
    }
    const rename = (name: string) => store.put(one.id, { name, tag })
    await store.createAll([one, other])
    await poll()
    await rename('m')
    await poll()
    await store.create(late)
    await poll()
    await store.list(among(tag), [{ ...one, name: 'm' }, other, late])
    for (const { id } of [late, other]) await store.remove(id)
    await poll(1)
    await store.list(among(tag), [{ ...one, name: 'm' }])
    await store.create(other)
    await rename('n')
    await poll()
  }),
]

export function listRows({ plants }: Circumstances): readonly Row[] {
  return [
    ...generalRows,
    ...tagged.map(tagRow),
    ...named.map(nameRow),
    ...(['tag', 'name'] as const).map((filter) => longRow(filter, plants.lengthsOf(filter).max)),
  ]
}

function tagRow([title, wanted, others, ...absent]: Tagged): Row {
  const rule = { place: filters, ids: take(others.length + 1) }
  return row(`a tag lists exactly the plants that have it: ${title}`, rule, async (store, id, ...rest) => {
    const ofRow = (tag: string): string => `filters ${store.nonce} ${tag}`
    const plant = { id, name: 'Fern', tag: ofRow(wanted) }
    await store.create(plant)
    for (const [at, other] of others.entries()) {
      const more = other === undefined ? {} : { tag: ofRow(other) }
      await store.create({ id: rest[at] ?? 0n, name: ofRow(wanted), ...more })
    }
    await store.list(among(plant.tag), [plant])
    for (const tag of absent) await store.list(among(ofRow(tag)), [])
  })
}

function nameRow([title, name, found, others]: Named): Row {
  const rule = { place: 'parameters/NamePrefix', ids: take(others.length + 2) }
  return row(
    `a name lists the plants whose name begins with it: ${title}`,
    rule,
    async (store, untagged, id, ...rest) => {
      const tag = `names ${title} ${store.nonce}`
      const plant = { id, name, tag }
      await store.create({ id: untagged, name })
      await store.createAll([plant, ...others.map((other, at) => ({ id: rest[at] ?? 0n, name: other, tag }))])
      for (const prefix of found) await store.list(`${among(tag)}&name=${encodeURIComponent(prefix)}`, [plant])
    },
  )
}

/** The bounds of texts count characters. */
function longRow(filter: 'tag' | 'name', max: number): Row {
  const title = `a list is filtered by a ${filter} of ${max.toLocaleString('en')} characters outside the BMP`
  const rule = { place: filters, isForProxies: filter === 'name', ids: near(2) }
  return row(title, rule, async (store, first, id) => {
    const plantOf = (id: bigint, count: number): NewPlant => {
      // The first character puts the others at odd places of UTF-16.
      return { id, name: 'n', tag: `long ${store.nonce}`, [filter]: 'n'.padEnd(2 * count - 1, '🌿') }
    }
    const plant = plantOf(id, max)
    await store.createAll([plantOf(first, max - 1), plant])
    await store.list(`after=${first - 1n}&${filter}=${encodeURIComponent(plant[filter] ?? '')}`, [plant], 1, id)
  })
}

const tagsMax = 100
/**
 * After all creates of other rows. Others may create and delete plants meanwhile, so rows count only a tag unique to
 * this run.
 */
function atLast(ids: NonNullable<Rule['ids']>) {
  return { place: 'getSummary: in total and by tag', turn: 'last', ids } as const
}

/** As its check `isOf` finds it. */
interface Summary {
  readonly plants: bigint
  readonly tags: readonly { readonly tag: string; readonly plants: bigint }[]
  readonly isExact: boolean
}

const summaryOf = (answer: Answer): Summary => objectOf(answer) as unknown as Summary

/** Names that objects of some languages have. */
const common = ['', 'constructor', 'toString', '__proto__', 'null']
const apart = ['\u00e9', 'e\u0301', 'E\u0301', '\u00e9 ', ' \u00e9', '\ufb01', 'fi']
const tagsOf = (nonce: string): readonly string[] => [...common, ...apart.map((end) => `apart ${nonce}${end}`)]

const ofOddTags = atLast(take(2 * tagsOf('').length))

export const summaryRows: readonly Row[] = [
  row('the summary counts plants by their tag as they change', atLast(take(4)), async (store, ...own) => {
    const [tag, other] = [`summary ${store.nonce}`, `other ${store.nonce}`]
    await store.createAll(own.map((id) => ({ id, name: 'n', tag })))
    await summarise(store, tag, 4n)
    const [deleted = 0n, ...replaced] = own
    await store.remove(deleted)
    await summarise(store, tag, 3n)
    // Two are still more than most tags of others have, so that the tag is listed.
    for (const id of replaced.slice(1)) await store.put(id, { name: 'n', tag: other })
    await summarise(store, other, 2n)
  }),
  // Requests that change nothing count nothing. Checks only a small store, while no other client changes it.
  row('the summary counts the plants that are listed, however often sent', atLast(take(1)), async (store, id) => {
    const plant = { name: 'n', tag: `total ${store.nonce}` }
    const key = { 'Idempotency-Key': `total-${store.nonce}` }
    for (const _ of [1, 2, 3]) await store.create({ id, ...plant }, key)
    await store.refuses('idTaken', { id, name: 'm' })
    await store.put(id, plant)
    await store.put(id, { name: 'm' })
    await store.put(id, { name: 'm' }, refusal('preconditionFailed'), { 'If-Match': '"x"' })
    const list = (): Promise<Answer> => store.call('GET', '/plants?limit=1000', ok)
    const first = await list()
    const summary = summaryOf(await store.call('GET', '/summary', [...ok, isOf('Summary')]))
    const again = await list()
    const isQuiet = isDeepStrictEqual(itemsOf(first), itemsOf(again)) && fieldOf(again, 'link') === undefined
    const { length } = itemsOf(again)
    const isWrong = isQuiet && summary.isExact && summary.plants !== BigInt(length)
    store.assert(isWrong ? `plants is ${summary.plants}, but ${length} are listed` : undefined)
  }),
  row('the summary lists the most common of many tags', atLast(near(tagsMax + 2)), async (store, ...own) => {
    const tagOf = (at: number): string => `many ${store.nonce} ${at < tagsMax ? `a${at}` : 'z'}`
    await store.createAll(own.map((id, at) => ({ id, name: 'n', tag: tagOf(at) })))
    await summarise(store, tagOf(tagsMax), 2n)
  }),
  row('the summary counts tags of any name, and different ones apart', ofOddTags, async (store, ...own) => {
    const tags = tagsOf(store.nonce)
    // Two of each, so that a hundred tags of single plants of others do not hide them.
    await store.createAll(own.map((id, at) => ({ id, name: 'n', tag: tags[at >> 1] as string })))
    for (const tag of tags) await summarise(store, tag, 2n, common.includes(tag))
  }),
]

/** @param mayHaveMore whether others may use the tag, too. */
async function summarise(store: Store, tag: string, plants: bigint, mayHaveMore = false): Promise<void> {
  await store.call('GET', '/summary', [...ok, isOf('Summary'), counts(tag, plants, mayHaveMore)])
}

/** Estimates may have any value. With more tags than the list holds, this one may be missing. */
function counts(wanted: string, plants: bigint, mayHaveMore: boolean): AnswerCheck {
  return (answer) => {
    const summary = summaryOf(answer)
    if (!summary.isExact) return undefined
    const { tags } = summary
    if (summary.plants < plants) return `plants is ${summary.plants}, although there are at least ${plants}`
    const isWhole = tags.reduce((sum, each) => sum + each.plants, 0n) <= summary.plants
    if (!isWhole) return 'the tags have more plants than there are'
    if (new Set(tags.map(({ tag }) => tag)).size < tags.length) return 'a tag is listed twice'
    const isSorted = tags.every(({ plants }, at) => plants <= (tags[at - 1]?.plants ?? plants))
    if (!isSorted) return 'the most common tags do not come first'
    const found = tags.find(({ tag }) => tag === wanted)
    if (found === undefined) {
      const isCrowded = tags.length >= tagsMax && tags.every((each) => each.plants >= plants)
      return isCrowded ? undefined : `the tag ${JSON.stringify(wanted)} is missing, although ${plants} plants have it`
    }
    const isRight = found.plants === plants || (mayHaveMore && found.plants > plants)
    return isRight ? undefined : `the tag ${JSON.stringify(wanted)} has ${found.plants} plants, not ${plants}`
  }
}
