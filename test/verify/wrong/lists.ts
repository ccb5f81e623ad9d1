// Sentences about lists and the summary, each before the servers that break it.

import { createHash, randomUUID } from 'node:crypto'
import {
  type AnyPlant,
  accepting,
  answering,
  asking,
  caughtBy,
  drop,
  edit,
  empty,
  fieldOf,
  isMeant,
  json,
  type Made,
  nullTags,
  parameter,
  parsed,
  plants,
  query,
  queryOf,
  receiving,
  refusal,
  refuse,
  rememberingDeleted,
  remembers,
  rounded,
  set,
  target,
  text,
  untagged,
  type Wrong,
  weakEtag,
} from '../operators.ts'
import type { Answered, Behaviour, Received } from '../wrong-servers.ts'

const list = 'GET /plants'
const listed = 'GET /plants 200'
const refusedList = 'GET /plants 400'

const isList = (received: Received): boolean => isMeant(`${list} *`, received, 0)
/** Whether it is a list of a row, whose tags are of two words. */
const isOfRow = (received: Received): boolean =>
  isList(received) && queryOf(received).get('tag')?.includes(' ') === true

const textsOf = ({ status, body }: Answered): readonly string[] =>
  status === 200 ? (body.toString().match(/\{[^}]*\}/g) ?? []) : []
const reordered = (change: (plants: readonly string[]) => readonly string[]) => (answered: Answered) => ({
  body: Buffer.from(`[${change(textsOf(answered)).join()}]`),
})
const idOf = (plant: string): string => /"id":(-?\d+)/.exec(plant)?.[1] ?? ''
/** Only in the default range do ids have different lengths. */
export const sortsIdsAsText = 'lists plants in the order of the texts of their ids'
/** Exact up to 10^18, as a decimal of 18 digits is. */
export const sortsLargeIds = 'lists ids beyond 10^18 in the order of their doubles'
const isLarge = (plant: string): boolean => BigInt(idOf(plant)) > 10n ** 18n

/** Pages that begin where the last one ended when nothing has changed. */
const countsOffsets: Behaviour = async (received, forward) => {
  if (!isOfRow(received)) return forward(received)
  const asked = queryOf(received)
  const offset = Number(asked.get('after')?.match(/^9{4}(\d+)$/)?.[1] ?? 0)
  const end = offset + Number(asked.get('limit') ?? 100)
  const all = parameter('after', /^9{4}\d+$/, '-9223372036854775808')(received)
  const answered = await forward({ ...received, ...asking('limit', '1000')({ ...received, ...all }) })
  const { target } = asking('after', `9999${end}`)(received)
  const link = end < textsOf(answered).length ? `<${target}>; rel="next"` : undefined
  return { ...answered, ...reordered((found) => found.slice(offset, end))(answered), ...set('Link', link)(answered) }
}

function linksOnAndOn(): Behaviour {
  let pages = 0
  return async (received, forward) => {
    const target = received.target.replace(/&page=\d+/, '')
    const answered = await forward({ ...received, target })
    if (!isOfRow(received) || queryOf(received).get('limit') !== '2') return answered
    return { ...answered, ...set('Link', `<${target}&page=${++pages}>; rel="next"`)(answered) }
  }
}

/** Also lists plants as an index has them that changes with creates alone. */
function keepsIndexed(method: string, indexed: (before: AnyPlant, now: AnyPlant) => AnyPlant): Behaviour {
  const kept: AnyPlant[] = []
  return async (received, forward) => {
    const before = received.method === method ? await forward({ ...received, ...empty, method: 'GET' }) : undefined
    const answered = await forward(received)
    if (before?.status === 200 && answered.status < 300) {
      const plant = parsed(before) as AnyPlant
      kept.push({ ...plant, ...indexed(plant, method === 'PUT' ? (parsed(received) as AnyPlant) : {}) })
    }
    if (!isList(received) || answered.status !== 200) return answered
    const asked = queryOf(received)
    const isFound = ({ name, tag }: AnyPlant): boolean =>
      tag === asked.get('tag') &&
      String(name)
        .toLowerCase()
        .startsWith(asked.get('name') ?? '')
    return { ...answered, ...json((found: readonly AnyPlant[]) => [...found, ...kept.filter(isFound)])(answered) }
  }
}

/** A page begins where the plant before it is. */
const listsNothingAfterDeleted = rememberingDeleted(async (gone, received, forward) => {
  const answered = await forward(received)
  const isAfterDeleted = isList(received) && gone.has(`/plants/${queryOf(received).get('after')}`)
  return isAfterDeleted ? { ...answered, ...drop('Link')(answered), body: Buffer.from('[]') } : answered
})

const pageOf = (received: Received): string | undefined =>
  isList(received)
    ? `${received.target} ${fieldOf(received, 'authorization')} ${fieldOf(received, 'if-none-match')}`
    : undefined
const summaryIn = ({ target }: Received): string | undefined => (target === '/summary' ? target : undefined)
const always = (): boolean => true

type Finds = (name: string, wanted: string) => boolean
/** Filters by names as it does, among the plants that have the tag, or are in the range. */
const filtering = (...lines: readonly (readonly [does: string, finds: Finds])[]): readonly Made[] =>
  lines.map(([does, finds]) => [
    does,
    async (received, forward) => {
      const wanted = isList(received) ? queryOf(received).get('name') : null
      if (wanted === null) return forward(received)
      const all = await forward({ ...received, ...asking('name')(received) })
      return { ...all, ...plants((plant) => (finds(String(plant.name), wanted) ? plant : undefined))(all) }
    },
  ])
/** Whether a name begins with another, after both were changed. */
const begins = (change: (text: string) => string): Finds => {
  return (name, wanted) => change(name).startsWith(change(wanted))
}
const nfkc = (text: string): string => text.normalize('NFKC')
const nfkd = (text: string): string => text.normalize('NFKD')
const uncased = (text: string): string => text.toUpperCase().toLowerCase()
const folded = (text: string): string => nfkc(uncased(nfkc(text)))
const endsAtFfff: Finds = (name, wanted) =>
  begins(folded)(name, wanted) && (folded(name).codePointAt(folded(wanted).length) ?? 0) < 0xffff
const matches: Finds = (name, wanted) => /^[\w .]+$/.test(wanted) && new RegExp(`^${folded(wanted)}`).test(folded(name))

const tooLong = (name: string, most: number) => (_: Answered, received: Received) =>
  (queryOf(received).get(name) ?? '').length > most ? refusal(40005) : {}
const beside = (name: string, ignored: string) => (received: Received) =>
  queryOf(received).has(name) ? asking(ignored)(received) : {}
const lowerOutsideAscii = (tag: string): string => tag.replaceAll(/[\u0080-\uffff]/g, (each) => each.toLowerCase())
const asNumber = (text: string): string => `${Number(text)}`
const firstOfEach = query((parameters) => {
  for (const name of new Set(parameters.keys())) parameters.set(name, parameters.get(name) ?? '')
})

/** Makes the ETag of a page of something else than the page. */
const pageEtag = (made: (page: string) => string) => (answered: Answered) => {
  const digest = createHash('sha256').update(made(answered.body.toString())).digest('base64url')
  return set('ETag', `"${digest.slice(0, 22)}"`)(answered)
}

interface Summary {
  readonly plants: number
  readonly tags: readonly { readonly tag: string; readonly plants: number }[]
  readonly isExact: boolean
}
const sum = (change: (summary: Summary) => unknown) => json(change)
const sumOfTags = (change: (tags: Summary['tags']) => Summary['tags']) =>
  sum(({ tags, ...summary }) => ({ ...summary, tags: change(tags) }))
const totalOf = ({ tags }: Summary): number => tags.reduce((total, each) => total + each.plants, 0)
/** Other counts of tags, with as many plants in total. */
const sumOfMore = (change: (tag: Summary['tags'][number]) => Summary['tags']) =>
  sum(({ plants, tags, isExact }) => ({ plants: plants * 2 + 1_000, tags: tags.flatMap(change), isExact }))
const mostFirst = (tags: Summary['tags']): Summary['tags'] => tags.toSorted((one, other) => other.plants - one.plants)
const merged = (change: (tag: string) => string) =>
  sumOfTags((tags) => {
    const counts = new Map<string, number>()
    for (const { tag, plants } of tags) counts.set(change(tag), (counts.get(change(tag)) ?? 0) + plants)
    return mostFirst([...counts].map(([tag, plants]) => ({ tag, plants })))
  })
/** Counts plants by the tags with which they were created. */
function countsCreated(): Behaviour {
  const moves: (readonly [from: unknown, to: unknown])[] = []
  return async (received, forward) => {
    const before = received.method === 'PUT' ? await forward({ ...received, ...empty, method: 'GET' }) : undefined
    const answered = await forward(received)
    if (before?.status === 200 && answered.status === 200)
      moves.push([(parsed(before) as AnyPlant).tag, (parsed(answered) as AnyPlant).tag])
    if (received.target !== '/summary' || answered.status !== 200) return answered
    const plus = (wanted: string): number =>
      moves.filter(([from]) => from === wanted).length - moves.filter(([, to]) => to === wanted).length
    const back = sumOfTags((tags) => mostFirst(tags.map(({ tag, plants }) => ({ tag, plants: plants + plus(tag) }))))
    return { ...answered, ...back(answered) }
  }
}
/** Its list of many stands still, so that nobody else's changes are in the way. */
function countsReplays(): Behaviour {
  let [replays, list] = [0, undefined as Answered | undefined]
  return async (received, forward) => {
    const answered = await forward(received)
    if (fieldOf(answered, 'idempotency-replayed') !== '') replays += 1
    if (received.target === '/summary' && list !== undefined) {
      const plants = textsOf(list).length + replays
      return { ...answered, ...sum(() => ({ plants, tags: [], isExact: true }))(answered) }
    }
    if (received.target !== '/plants?limit=1000' || answered.status !== 200) return answered
    list ??= { ...answered, ...drop('Link')(answered) }
    return list
  }
}

export const lists: readonly Wrong[] = [
  ...caughtBy('lists')(
    ...answering('HEAD /plants 200')(drop('Link')),
    ...answering(listed)([
      'forgets the limit after the second page',
      (it, { target }) => (/after=/.test(target) ? edit('Link', /&limit=\d+/, '')(it) : {}),
    ]),
    ...answering(listed)(
      [sortsIdsAsText, reordered((all) => all.toSorted((one, two) => (idOf(one) < idOf(two) ? -1 : 1)))],
      [
        sortsLargeIds,
        reordered((all) => [
          ...all.filter((each) => !isLarge(each)),
          ...all
            .filter(isLarge)
            .toReversed()
            .toSorted((one, two) => Number(idOf(one)) - Number(idOf(two))),
        ]),
      ],
      ['rounds the ids of lists', text(/(?<="id":)-?\d+/g, rounded)],
      ['lists plants without their names', text(/"name":"[^"]*"/g, '"name":""')],
      ['lists names in lower case', text(/"name":"[^"]*"/g, (name) => name.toLowerCase())],
      ['lists plants without their tags', untagged],
      ['lists characters outside ASCII as question marks', text(/[\u0080-\u{10ffff}]/gu, '?')],
    ),
    ['links on and on, without an end', linksOnAndOn()],
    ...answering(listed)([
      'lists nothing for an empty name',
      (one, received) =>
        queryOf(received).get('name') === '' ? { ...drop('Link')(one), body: Buffer.from('[]') } : {},
    ]),
    ...answering(listed)(['makes the ETag of a page without its Link', pageEtag((page) => page)]),
    ...answering(listed)(
      ['forgets names in the links of its pages', edit('Link', /&name=[^&>]*|(?<=\?)name=[^&>]*&/, '')],
      ['forgets empty tags in the links of its pages', edit('Link', /([?&])tag=(?=[&>])&?/, '$1')],
      ['forgets filters in the links of its pages', edit('Link', /tag=[^&>]*&?/, '')],
      ['writes plus signs as they are in the links of its pages', edit('Link', /%2B/i, '+')],
      ['links to no other page', drop('Link')],
      ['rounds the ids in its links', edit('Link', (link) => link.replace(/(?<=after=)-?\d+/, rounded))],
      ['links with another relation', edit('Link', /next/, 'last')],
      ['links from a page to itself', (it, { target }) => edit('Link', () => `<${target}>; rel="next"`)(it)],
    ),
    ['counts the plants before a page', countsOffsets],
    ...receiving(list)(
      ['skips a plant between pages', parameter('after', (id) => String(BigInt(id) + 1n))],
      ['repeats a plant between pages', parameter('after', (id) => String(BigInt(id) - 1n))],
      ['ignores names beside tags', beside('tag', 'name')],
      ['ignores tags beside names', beside('name', 'tag')],
      ['ignores after beside tags', beside('tag', 'after')],
      asking('limit', '1000'),
    ),
    ['lists nothing after a deleted plant', listsNothingAfterDeleted],
    ...receiving(list)(
      ['begins again after the greatest id', parameter('after', /^9223372036854775807$/, '-9223372036854775808')],
      ['rounds the id in after', parameter('after', rounded)],
      asking('after'),
    ),
    ...receiving(list)(
      ['takes % in a tag for a wildcard', parameter('tag', / %$/, ' f\u00e9rn')],
      ['takes a comma for the end of a tag', parameter('tag', /,.*/, '')],
      ['ignores spaces at the end of a tag', parameter('tag', / +$/, '')],
      ['composes the tag that it looks for', parameter('tag', (tag) => tag.normalize('NFC'))],
      ['looks for tags in lower case outside ASCII', parameter('tag', lowerOutsideAscii)],
    ),
    ...filtering(
      ['knows one small sigma', begins((name) => nfkc(name).toLowerCase())],
      ['ends the range of a prefix at U+FFFF', endsAtFfff],
      ['ignores the case before NFKC', begins((name) => nfkc(uncased(name)))],
      ['compares names with case', begins((name) => name)],
      ['compares names without NFKC', begins((name) => name.toUpperCase())],
      ['finds a name anywhere', (name, wanted) => folded(name).includes(folded(wanted))],
      ['ignores accents', begins((name) => folded(nfkd(name).replaceAll(/\p{M}/gu, '')))],
      ['takes a name for a pattern', matches],
    ),
    ...answering(list)(
      ['counts UTF-16 units of the name', tooLong('name', 1_024)],
      ['counts UTF-16 units of the tag', tooLong('tag', 256)],
    ),
    ...receiving(list)(
      ['takes % and _ in a name for wildcards', parameter('name', /^[%_].*/, '')],
      ['compares names in their first 64 characters', parameter('name', (name) => [...name].slice(0, 64).join(''))],
      ['trims names', parameter('name', (name) => name.trim())],
      ['takes no + for a space', target(/\+/, '%2B')],
    ),
    ['keeps pages that have changed', remembers(pageOf, always)],
    ...answering(listed)(
      weakEtag,
      ['has another ETag of a page each time', pageEtag(() => randomUUID())],
      ['has ETags of the ids in a page', pageEtag((page) => page.match(/"id":-?\d+/g)?.join() ?? '')],
    ),
    ...receiving(list)(drop('If-None-Match'), edit('If-None-Match', /^.*$/, '*')),
  ),
  ...caughtBy('parameters')(
    ...answering(refusedList)(refuse(40401)),
    ...accepting('GET /plants/{id} 400')(['takes -0 for 0', target(/-0$/, '0')]),
    ...accepting(refusedList)(
      asking('colour'),
      asking('offset'),
      ['takes names without a value', target(/\?\w+$/, '')],
      asking('Limit'),
      asking('limit'),
      asking('after'),
      ['takes the first', firstOfEach],
      ['takes underscores within numbers', target(/(\d)_(\d)/, '$1$2')],
      target(/%0[09A]|%20/, ''),
      ['reads numbers', parameter('limit', asNumber)],
      ['takes any number', parameter('after', (id) => `${Number(id)}`)],
      ['takes any limit above 1,000', parameter('limit', /^\d{4,}$/, '1000')],
      ['takes limits with leading zeros', parameter('limit', /^0+(?=\d)/, '')],
      ['takes any great id', parameter('after', /^922.*/, '9')],
      asking('tag'),
    ),
  ),
  ...caughtBy('random requests')(
    ...answering(listed)(
      nullTags,
      ['lists an empty tag for none', plants((plant) => ({ tag: '', ...plant }))],
      ['lists no empty tags', text(/,"tag":""/g, '')],
      ['lists no untagged plants', plants((plant) => (plant.tag === undefined ? undefined : plant))],
      ['links to no other page of an unfiltered list', (it, to) => (isOfRow(to) ? {} : drop('Link')(it))],
    ),
    ['lists plants that were deleted', keepsIndexed('DELETE', (before) => before)],
    ['lists a plant by the tag that it once had', keepsIndexed('PUT', ({ tag }, now) => ({ ...now, tag }))],
    ['lists a plant by the name that it once had', keepsIndexed('PUT', ({ name }, now) => ({ ...now, name }))],
    ...receiving(list)(['lists everything for an empty tag', parameter('tag', (tag) => tag || undefined)]),
  ),
  ...caughtBy('summary')(
    ['counts creates that were replayed', countsReplays()],
    ['counts once', remembers(summaryIn, always)],
    ['counts the tags with which plants were created', countsCreated()],
    ...answering('GET /summary 200')(
      ['counts tags together but for case', merged((tag) => tag.toLowerCase())],
      ['counts tags together but for composition', merged((tag) => tag.normalize('NFC'))],
      ['loses tags that objects have', sumOfTags((tags) => tags.filter(({ tag }) => !(tag in {})))],
      ['counts no plants', sum(() => ({ plants: 0, tags: [], isExact: true }))],
      ['counts too many of a tag', sumOfMore((each) => [{ ...each, plants: each.plants + 1 }])],
      ['counts fewer plants than its tags have', sum((it) => ({ ...it, plants: totalOf(it) - 1 }))],
      ['counts in texts', text(/(?<="plants":)\d+/, '"$&"')],
      ['lists the first tags', sumOfTags((all) => all.filter(({ tag }) => !tag.endsWith(' z')))],
      ['lists the most common tags last', sumOfTags((tags) => [{ tag: 'rare', plants: 0 }, ...tags])],
      ['lists a tag twice', sumOfMore((each) => [each, each])],
    ),
  ),
]
