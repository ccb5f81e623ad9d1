// Sentences about lists, the summary and the log of changes, each before the servers that break it.

import { createHash, randomUUID } from 'node:crypto'
import {
  type AnyPlant,
  accepting,
  answering,
  asked,
  asking,
  drop,
  edit,
  empty,
  fieldOf,
  having,
  instead,
  isMeant,
  json,
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
  says,
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
const pages = 'a list follows its links to the end, in the order of the ids, and keeps its filters'
const whole = 'without a filter, a list has every plant, whole and in order'
const limit = 'a page has 100 plants at most, unless it is asked for more'
const changing = 'following the links visits every plant that stays exactly once, whatever changes meanwhile'
const changed = 'a replaced plant is listed only by its new tag and name, a deleted plant not at all'
const pageEtags = 'the ETag of a page changes with the page, and If-None-Match gets 304 until then'
const counting = 'the summary counts plants by their tag as they are created and deleted'
const apart = 'the summary counts different tags apart'
const anyTag = 'the summary counts tags of any name'
const plus = 'in a query, + is a space and %2B a plus sign'
const tags = (what: string): string => `a tag lists exactly the plants that have it: ${what}`
const names = (what: string): string => `a name lists the plants whose name begins with it: ${what}`
const refused = (...queries: readonly string[]): readonly string[] =>
  queries.map((query) => `the query ${query} is refused`)

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
const filtering = (
  ...lines: readonly (readonly [does: string, finds: Finds, ...rows: readonly string[]])[]
): readonly Wrong[] =>
  lines.map(([does, finds, ...rows]) => [
    does,
    async (received, forward) => {
      const wanted = isList(received) ? queryOf(received).get('name') : null
      if (wanted === null) return forward(received)
      const all = await forward({ ...received, ...asking('name')(received) })
      return { ...all, ...plants((plant) => (finds(String(plant.name), wanted) ? plant : undefined))(all) }
    },
    ...rows,
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
function neverLess(): (summary: Summary) => Summary {
  const most = new Map<string, number>()
  return ({ plants, tags, isExact }) => {
    for (const each of tags) most.set(each.tag, Math.max(each.plants, most.get(each.tag) ?? 0))
    const more = tags.map((each) => ({ ...each, plants: most.get(each.tag) ?? 0 }))
    return { plants: plants + 1_000, tags: mostFirst(more), isExact }
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

export const lists: readonly (string | Wrong)[] = [
  ...says('Lists plants in ascending order of id.', 'A stored plant, with its id', 'A page of plants.'),
  ...answering(listed)(
    ['lists plants in descending order', reordered((all) => all.toReversed()), whole, pages],
    [sortsIdsAsText, reordered((all) => all.toSorted((one, two) => (idOf(one) < idOf(two) ? -1 : 1))), pages],
    ['rounds the ids of lists', text(/(?<="id":)-?\d+/g, rounded), whole, pages],
    ['lists ids in quotes', text(/(?<="id":)-?\d+/g, '"$&"'), whole],
    ['lists plants without their names', text(/"name":"[^"]*"/g, '"name":""'), whole, pages],
    ['lists names in lower case', text(/"name":"[^"]*"/g, (name) => name.toLowerCase()), whole, pages],
    ['lists plants without their tags', untagged, whole, pages],
    [nullTags, whole],
    ['lists an empty tag for none', plants((plant) => ({ tag: '', ...plant })), whole],
    ['lists no empty tags', text(/,"tag":""/g, ''), whole],
    ['lists characters outside ASCII as question marks', text(/[\u0080-\u{10ffff}]/gu, '?'), whole],
    ['wraps lists in an object', json((plants) => ({ plants })), whole],
    [set('Content-Type', 'text/plain'), whole],
    ['lists no untagged plants', plants((plant) => (plant.tag === undefined ? undefined : plant)), whole],
  ),
  'A page can contain fewer plants than `limit`, or none, and still not be the last: while the response has a `Link` with `rel="next"`, another page follows.',
  ...says('The next page, such as `</plants?after=7&limit=100>; rel="next"`.', 'Absent on the last page.'),
  ['links on and on, without an end', linksOnAndOn(), pages],
  ...answering(listed)(
    ['forgets names in the links of its pages', edit('Link', /&name=[^&>]*|(?<=\?)name=[^&>]*&/, ''), pages],
    ['forgets empty tags in the links of its pages', edit('Link', /([?&])tag=(?=[&>])&?/, '$1'), whole],
    ['forgets filters in the links of its pages', edit('Link', /tag=[^&>]*&?/, ''), pages],
    ['writes plus signs as they are in the links of its pages', edit('Link', /%2B/i, '+'), pages],
    ['links to no other page', drop('Link'), pages, whole],
    ['links to no other page of an unfiltered list', (it, to) => (isOfRow(to) ? {} : drop('Link')(it)), whole],
    ['rounds the ids in its links', edit('Link', (link) => link.replace(/(?<=after=)-?\d+/, rounded)), pages],
    ['links with another relation', edit('Link', /next/, 'last'), pages],
    ['links from a page to itself', (it, { target }) => edit('Link', () => `<${target}>; rel="next"`)(it), pages],
  ),
  'Following the links visits every plant that exists throughout exactly once; concurrent changes do not affect this.',
  ['counts the plants before a page', countsOffsets, changing],
  ...receiving(list)(
    ['skips a plant between pages', parameter('after', (id) => String(BigInt(id) + 1n)), whole],
    ['repeats a plant between pages', parameter('after', (id) => String(BigInt(id) - 1n)), whole],
  ),
  'A plant must match all given filters.',
  ...receiving(list)(
    ['ignores names beside tags', beside('tag', 'name'), names('in German')],
    ['ignores tags beside names', beside('name', 'tag'), names('in German')],
    ['ignores after beside tags', beside('tag', 'after'), pages],
  ),
  'Unknown query parameters are rejected.',
  '| 40005 | invalidParameter | A path or query parameter is unknown or has a value that is not allowed. |',
  'Maximum number of plants in a page',
  ...receiving(list)(
    [asking('limit', '1000'), pages, limit],
    ['has 1,000 plants by default', (it) => (queryOf(it).has('limit') ? {} : asking('limit', '1000')(it)), limit],
  ),
  ...answering(refusedList)([refuse(40401), ...refused('limit=0')]),
  ...accepting(refusedList)(
    [asking('colour'), ...refused('colour=green')],
    [asking('Limit'), ...refused('Limit=1')],
    [asking('limit'), ...refused('limit=0', 'limit=ten', 'limit=1&limit=1')],
    [asking('after'), ...refused('after=x')],
    ['takes the first', firstOfEach, ...refused('limit=1&limit=2', 'tag=a&tag=a', 'name=a&name=b', 'after=1&after=1')],
    ['takes underscores within numbers', target(/(\d)_(\d)/, '$1$2'), ...refused('limit=1_0', 'after=1_0')],
    [target(/%0[09A]|%20/, ''), ...refused('limit=1%0A', 'limit=1%00', 'after=1%0A', 'after=%091')],
    ['reads numbers', parameter('limit', asNumber), ...refused('limit=+1', 'limit=%201', 'limit=1e2', 'limit=0x10')],
    ['takes any number', parameter('after', (id) => `${Number(id)}`), ...refused('after=01', 'after=1.0', 'after=-0')],
    ['takes any limit above 1,000', parameter('limit', /^\d{4,}$/, '1000'), ...refused('limit=1001')],
    ['takes limits with leading zeros', parameter('limit', /^0+(?=\d)/, ''), ...refused('limit=01')],
    ['takes any great id', parameter('after', /^922.*/, '9'), ...refused('after=9223372036854775808')],
  ),
  'Lists only plants with a greater id',
  ['lists nothing after a deleted plant', listsNothingAfterDeleted, changing],
  ...receiving(list)(
    ['begins again after the greatest id', parameter('after', /^9223372036854775807$/, '-9223372036854775808'), pages],
    ['lists nothing after a negative id', parameter('after', /^-.*/, '9223372036854775807'), pages],
    ['rounds the id in after', parameter('after', rounded), pages, whole],
    [asking('after'), pages],
  ),
  ...says('Lists only plants with exactly this tag.', 'NUL and unpaired surrogates are rejected.'),
  ['lists plants that were deleted', keepsIndexed('DELETE', (before) => before), changed],
  ['lists a plant by the tag that it once had', keepsIndexed('PUT', ({ tag }, now) => ({ ...now, tag })), changed],
  ...receiving(list)(
    ['takes % in a tag for a wildcard', parameter('tag', / %$/, ' fern'), tags('in its case')],
    ['lists everything for an empty tag', parameter('tag', (tag) => tag || undefined), whole],
    ['ignores spaces at the end of a tag', parameter('tag', / +$/, ''), tags('with its spaces')],
    ['ignores spaces within a tag', parameter('tag', / {2}/, ' '), tags('with its spaces')],
    ['composes the tag that it looks for', parameter('tag', (tag) => tag.normalize('NFC')), tags('not composed')],
    ['looks for tags in lower case', parameter('tag', (tag) => tag.toLowerCase()), tags('in its case')],
  ),
  ...accepting(refusedList)([asking('tag'), ...refused('tag=%00', `tag=${'a'.repeat(26)}`)]),
  'Lists only plants whose name begins with this text, ignoring case in every script (compared in NFKC).',
  ['lists a plant by the name that it once had', keepsIndexed('PUT', ({ name }, now) => ({ ...now, name })), changed],
  ...filtering(
    ['compares names in NFKD', begins((name) => nfkd(folded(nfkd(name)))), names('not by what it is composed of')],
    ['knows one small sigma', begins((name) => nfkc(name).toLowerCase()), names('in Greek, whose sigma …')],
    ['knows small letters', begins((name) => nfkc(name).toLowerCase().replaceAll('ς', 'σ')), names('whatever form …')],
    ['ends the range of a prefix at U+FFFF', endsAtFfff, 'a name lists the plants whose name begins with it, …'],
    ['knows the case of the BMP', begins((it) => nfkc(it).replaceAll(/[\0-\uffff]/gu, uncased)), names('outside …')],
    ['ignores the case before NFKC', begins((name) => nfkc(uncased(name))), names('with letters …')],
    ['compares names with case', begins((name) => name), names('in upper or lower case'), names('in Greek')],
    ['knows the case of ASCII', begins((name) => name.replaceAll(/[A-Z]/g, uncased)), names('in Greek')],
    ['compares names without NFKC', begins((name) => name.toUpperCase()), names('compared in NFKC')],
    ['finds a name anywhere', (name, wanted) => folded(name).includes(folded(wanted)), names('in upper or lower case')],
    ['finds words', (name, it) => name.split(' ').some((word) => begins(folded)(word, it)), names('in upper …')],
    ['ignores accents', begins((name) => folded(nfkd(name).replaceAll(/\p{M}/gu, ''))), names('composed or not')],
    ['takes a name for a pattern', matches, names('. is no wildcard')],
  ),
  ...answering(list)(
    ['counts UTF-16 units of the name', tooLong('name', 1_024), 'a list is filtered by a name of 1,024 characters …'],
    ['counts UTF-16 units of the tag', tooLong('tag', 256), 'a list is filtered by a tag of 256 characters …'],
  ),
  ...receiving(list)(
    ['takes % and _ in a name for wildcards', parameter('name', /^[%_].*/, ''), names('% is …'), names('_ is …')],
    ['trims names', parameter('name', (name) => name.trim()), names('with the spaces around it')],
    ['takes no + for a space', target(/\+/, '%2B'), plus],
    ['takes %2B for a space', target(/%2B/, '%20'), plus],
  ),
  ...says('The `ETag` covers the page and its `Link`.', 'The page still has one of the ETags in If-None-Match.'),
  ['keeps pages that have changed', remembers(pageOf, always), pageEtags],
  ...answering(listed)(
    [drop('ETag'), pageEtags],
    [weakEtag, pageEtags],
    ['has another ETag of a page each time', pageEtag(() => randomUUID()), pageEtags],
    ['has ETags of how many plants a page has', pageEtag((page) => `${page.split('"id"').length}`), pageEtags],
    ['has ETags of the ids in a page', pageEtag((page) => page.match(/"id":-?\d+/g)?.join() ?? ''), pageEtags],
  ),
  ...receiving(list)([drop('If-None-Match'), pageEtags], [edit('If-None-Match', /^.*$/, '*'), pageEtags]),
  ...says('Counts the plants, in total and by tag.', 'The current numbers.'),
  ...says('The number of plants, in total and by tag', 'The total number of plants, with and without a tag'),
  'The most common tags, most common first',
  ['counts creates that were replayed', countsReplays(), 'the summary counts the plants that are listed, …'],
  ['counts once', remembers(summaryIn, always), counting],
  ...answering('GET /summary 200')(
    ['counts tags together but for case', merged((tag) => tag.toLowerCase()), apart],
    ['counts tags together but for composition', merged((tag) => tag.normalize('NFC')), apart],
    ['counts tags together but for spaces at the end', merged((tag) => tag.trimEnd()), apart],
    ['counts tags together but for compatibility', merged(nfkc), apart],
    ['loses tags that objects have', sumOfTags((tags) => tags.filter(({ tag }) => !(tag in {}))), anyTag],
    ['counts no empty tags', sumOfTags((tags) => tags.filter(({ tag }) => tag !== '')), anyTag],
    ['counts no plants', sum(() => ({ plants: 0, tags: [], isExact: true })), counting],
    ['counts no tags', sumOfTags(() => []), counting],
    ['counts too many of a tag', sumOfMore((each) => [{ ...each, plants: each.plants + 1 }]), counting],
    ['counts fewer plants than its tags have', sum((it) => ({ ...it, plants: totalOf(it) - 1 })), counting],
    ['never counts less', sum(neverLess()), counting],
    ['counts in texts', text(/(?<="plants":)\d+/, '"$&"'), counting],
    ['does not say whether it counts', sum(({ isExact: _, ...summary }) => summary), counting],
    ['lists the first tags', sumOfTags((all) => all.filter(({ tag }) => !tag.endsWith(' z'))), 'the summary lists …'],
    ['lists the most common tags last', sumOfTags((tags) => [{ tag: 'rare', plants: 0 }, ...tags]), counting],
    ['lists a tag twice', sumOfMore((each) => [each, each]), counting],
  ),
]

const page = 'GET /changes 200'
const ordered = 'each change is listed once, in order, with the plant that it made or deleted'
const paged = 'changes are listed to the last, in pages of any length and after any position'
const byKind = 'changes are listed by their kind'
const callers = 'a change says with which token it was made'
const events = 'a stream has the changes after its position, and goes on after Last-Event-ID'
const live = 'a stream has a change that is made while it is open'
const isRefused = 'a stream is refused like a page, before it begins'
const described = 'listChanges: answers are as the document describes them'
const inChanges = (...queries: readonly string[]): readonly string[] =>
  queries.map((query) => `of changes, the query ${query} is refused`)

interface Change {
  readonly position: string
  readonly kind: string
  readonly plant: AnyPlant
  readonly callerId?: string
}

/** Changes pages, but no streams. */
const listing = (change: (changes: readonly Change[]) => readonly object[]) => (answered: Answered) =>
  answered.body.toString().startsWith('[') ? json(change)(answered) : {}
const each = (change: (each: Change) => object) => listing((changes) => changes.map(change))
const ofKind = (kind: string, change: (each: Change) => object) =>
  each((one) => (one.kind === kind ? { ...one, ...change(one) } : one))
const isReplaced = ({ kind }: Change): boolean => kind === 'replaced'
const stream = (from: RegExp, to: string) => having('Content-Type', /^text\/event-stream/, text(from, to))
const isStream = /^text\/event-stream$/

/** Begins a page with the change that the page before ended with. */
function repeats(): (answered: Answered, received: Received) => Partial<Answered> {
  const known = new Map<string, string>()
  return ({ body }, received) => {
    const changes = [...body.toString().matchAll(/\{"position":"([^"]+)".*?\}(?=,\{"position"|\]$)/g)]
    for (const [change, position = ''] of changes) known.set(position, change)
    const again = known.get(queryOf(received).get('after') ?? '')
    if (again === undefined || changes.length === 0) return {}
    return { body: Buffer.from(`[${[again, ...changes.map(([change]) => change)].join()}]`) }
  }
}

const linksToItself = (answered: Answered, { target }: Received): Partial<Answered> =>
  target.includes('after=') ? set('Link', `<${target}>; rel="next"`)(answered) : {}
const beginsStream = (answered: Answered) => ({ ...set('Content-Type', 'text/event-stream')(answered), status: 200 })

const listsForWriters: Behaviour = async (received, forward) => {
  const answered = await forward(received)
  const isMeant = received.target.startsWith('/changes') && answered.status === 403
  return isMeant ? instead(200, [], ['Link', '</changes?after=x>; rel="next"']) : answered
}

export const changes: readonly (string | Wrong)[] = [
  'Lists the changes of plants, oldest first.',
  'A client that always continues with the `Link` of the previous page sees every change exactly once, and the changes of one plant in their order.',
  ...says('A replacement that changes nothing is not a change.', 'A page of changes.', 'A change of a plant'),
  ...says('What happened to the plant', 'The plant after the change; if it was deleted, the plant before.'),
  ['lists changes for writers', listsForWriters, 'a token that may only write creates, …'],
  ...answering(page)(
    ['lists the newest change first', listing((all) => all.toReversed()), ordered, paged],
    ['leaves deleted plants out', listing((all) => all.filter(({ kind }) => kind !== 'deleted')), ordered],
    ['leaves replaced plants out', listing((all) => all.filter(({ kind }) => kind !== 'replaced')), ordered],
    ['lists no-op replacements', listing((all) => all.flatMap((it) => [it, ...(isReplaced(it) ? [it] : [])])), ordered],
    ['repeats the last change of a page', repeats(), paged],
    ['leaves the first change after a position out', listing((all) => all.slice(1)), paged],
    ['shows no plant that was deleted', ofKind('deleted', ({ plant }) => ({ plant: { ...plant, name: '' } })), ordered],
    ['keeps tags of replaced plants', ofKind('replaced', ({ plant }) => ({ plant: { tag: '', ...plant } })), ordered],
    ['rounds ids of changes', text(/(?<="id":)-?\d+/g, rounded), ordered],
    ['calls replacements updates', ofKind('replaced', () => ({ kind: 'updated' })), ordered],
    ['has changes without their plant', each(({ plant: _, ...rest }) => rest), ordered, described],
  ),
  '`after=now` gives an empty page, whose `Link` begins with the next change.',
  'A page can contain fewer changes than `limit`, or none, and still not be the last: the last page has a `Link` to itself, where the next changes will be.',
  ...says('Of a page, not of a stream.', 'The next page, such as `</changes?after=7-mh3x2k1a&limit=100>; rel="next"`.'),
  'Always present: later changes are on that page.',
  ...answering(page)(
    ['has no Link to later changes', drop('Link'), ordered, paged],
    ['has no Link on the last page', (one) => (one.body.toString() === '[]' ? drop('Link')(one) : {}), ordered],
    ['links to the page itself', linksToItself, ordered],
  ),
  ...answering('HEAD /changes 200')([drop('Link'), paged]),
  ...receiving('GET /changes')(['takes now for the oldest change', target(/after=now/, ''), ordered]),
  ...says('The position of a change, or `now`.', 'Lists only changes after it.', 'Where the change is in the log.'),
  'Opaque; a client may only send it back in `after`.',
  ...answering(page)(['gives all changes one position', each((one) => ({ ...one, position: 'same' })), ordered]),
  ...accepting('GET /changes 410')([asking('after'), 'a position that the server never gave is refused']),
  ...accepting('GET /changes 400')([asking('after'), ...inChanges('after=', 'after=%20')]),
  'Maximum number of changes in a page',
  ...receiving('GET /changes')([asking('limit', '1000'), paged]),
  ...accepting('GET /changes 400')(
    [asking('limit'), ...inChanges('limit=0', 'limit=1001', 'limit=1%0A')],
    [asking('tag'), ...inChanges('tag=a')],
    [asking('colour'), ...inChanges('colour=green')],
  ),
  'Lists only changes of this kind.',
  ...receiving('GET /changes')([asking('kind'), byKind]),
  ...accepting('GET /changes 400')([asking('kind'), ...inChanges('kind=', 'kind=Created', 'kind=created,deleted')]),
  ...answering(page)(['forgets the kind on the next page', edit('Link', /&kind=\w+/, ''), byKind]),
  'The id of the token that was used; for a JWT, an id of its issuer and subject.',
  ...answering(page)(
    ['does not say who made a change', each(({ callerId: _, ...rest }) => rest), callers],
    ['says that one token made all changes', each((one) => ({ ...one, callerId: 'tok_a' })), callers],
    ['says that each change has a caller of its own', each((one) => ({ ...one, callerId: one.position })), callers],
  ),
  'When the change was made, by the clock of its server, in UTC (RFC 3339)',
  ...answering(page)(
    ['has times without a zone', each((one) => ({ ...one, time: '2026-11-23T08:00:00.000' })), described],
    ['has times in seconds', each((one) => ({ ...one, time: 1_763_884_800 })), described],
  ),
  'Clients that accept `text/event-stream` get a stream of Server-Sent Events (WHATWG HTML, section 9.2) instead, which has no end: first the changes after the position, then each later change as it happens.',
  'The `id` of an event is the position of the change, `event` is `plant.` and its kind, and `data` is the Change.',
  'Of a stream.',
  ...answering(page)(
    ['has events without an id', stream(/^id: .*\n(?=event)/gm, ''), events],
    ['numbers events by itself', stream(/^id: .*$/gm, 'id: 7'), events],
    ['has events without plant. in their name', stream(/^event: plant\./gm, 'event: '), events],
    ['has events without a name', stream(/^event: .*\n/gm, ''), events],
    ['has events with the plant alone', stream(/^data: .*"plant":(\{.*?\}).*$/gm, 'data: $1'), events],
    ['ends an event with one line break', stream(/^(data: .*)\n\n/gm, '$1\n'), events],
    ['has no events of deletes', stream(/^id: .*\nevent: plant\.deleted\ndata: .*\n\n/gm, ''), events],
  ),
  ...receiving('GET /changes')(
    ['has no stream', set('Accept', 'application/json'), events, live],
    [having('Last-Event-ID', /^$/, having('Accept', isStream, asking('after'))), isRefused],
  ),
  ...answering('GET /changes 400')(['refuses within a stream', asked('Accept', isStream, beginsStream), isRefused]),
  'A client that reconnects with `Last-Event-ID` misses nothing and gets nothing twice.',
  ...says('The position of the last change that the client has received.', 'Takes precedence over `after`.'),
  ...receiving('GET /changes')([drop('Last-Event-ID'), events, isRefused]),
  ...answering(page)([asked('Last-Event-ID', /./, stream(/(id: .*\nevent: .*\ndata: .*\n\n)/g, '$1$1')), events]),
]
