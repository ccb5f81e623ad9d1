// Sentences about lists and the summary.

import { createHash, randomUUID } from 'node:crypto'
import { accepts, answers, fieldOf, instead, plants, query, receives, set, text } from '../changes.ts'
import {
  forgetsFiltersInLinks,
  hasNoDefaultLimit,
  ignoresLimits,
  linksOnAndOn,
  linksToTheSamePage,
  neverForgets,
  neverUpdatesItsIndex,
  ofLists,
  plantsIn,
  sortsIdsAsText,
  takesAfterAsUnsigned,
  takesWildcards,
  takesWildcardsInTags,
  withParameter,
  withPlants,
} from '../wrong-lists.ts'
import type { Answered, Behaviour } from '../wrong-servers.ts'
import type { Entry, Wrong } from './table.ts'

const listed = 'GET /plants 200'
const pages = 'a list follows its links to the end, in the order of the ids, and keeps its filters'
const whole = 'without a filter, a list has every plant, whole and in order'
const limit = 'a page has 100 plants at most, unless it is asked for more'
const changing = 'following the links visits every plant that stays exactly once, whatever changes meanwhile'
const changed = 'a replaced plant is listed only by its new tag and name, a deleted plant not at all'
const pageEtags = 'the ETag of a page changes with the page, and If-None-Match gets 304 until then'
const counting = 'the summary counts plants by their tag as they are created and deleted'
const tags = (what: string): string => `a tag lists exactly the plants that have it: ${what}`
const names = (what: string): string => `a name lists the plants whose name begins with it: ${what}`

const rounded = (digits: string): string => String(BigInt(Number(digits)))

/** Pages that begin where the last one ended when nothing has changed. */
const countsOffsets: Behaviour = ofLists(async (asked, ask) => {
  const offset = Number(asked.get('after')?.match(/^9{4}(\d+)$/)?.[1] ?? 0)
  const all = withParameter(
    withParameter(asked, 'limit', '1000'),
    'after',
    offset > 0 ? undefined : (asked.get('after') ?? undefined),
  )
  const answered = await ask(all)
  const count = Number(asked.get('limit') ?? 100)
  const found = plantsIn(answered)
  const next = withParameter(asked, 'after', `9999${offset + count}`)
  const more = offset + count < found.length
  const page = withPlants(answered, found.slice(offset, offset + count))
  return { ...page, ...set('Link', more ? `</plants?${next}>; rel="next"` : undefined)(page) }
})

/** Changes what a list asks for. */
const asks = (does: string, change: (parameters: URLSearchParams) => void, ...rows: [string, ...string[]]): Wrong => [
  does,
  receives('GET /plants', query(change)),
  ...rows,
]
const changesParameter = (name: string, change: (value: string) => string | undefined) => {
  return (parameters: URLSearchParams): void => {
    const value = parameters.get(name)
    if (value === null) return
    const other = change(value)
    if (other === undefined) parameters.delete(name)
    else parameters.set(name, other)
  }
}
/** Filters lists as it does, among the plants that have the tag, or are in the range. */
const filters = (
  does: string,
  isMatch: (plant: string, wanted: string) => boolean,
  ...rows: [string, ...string[]]
): Wrong => [
  does,
  async (received, forward) => {
    const wanted = new URLSearchParams(received.target.split('?')[1] ?? '').get('name')
    if (received.method !== 'GET' || !received.target.startsWith('/plants?') || wanted === null)
      return forward(received)
    const all = await forward({ ...received, ...query(changesParameter('name', () => undefined))(received) })
    return withPlants(
      all,
      plantsIn(all).filter((plant) => isMatch((JSON.parse(plant) as { name: string }).name, wanted)),
    )
  },
  ...rows,
]
const inAscii = (value: string): string => value.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
const folded = (value: string): string => value.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')

const small = (value: string): string => value.normalize('NFKC').toLowerCase().replaceAll('\u03c2', '\u03c3')

const inBmp = (value: string): string =>
  [...value.normalize('NFKC')].map((each) => (each.length > 1 ? each : each.toUpperCase().toLowerCase())).join('')
const relinks = (change: (link: string) => string): Behaviour =>
  answers(listed, (answered) => set('Link', change(fieldOf(answered, 'link')) || undefined)(answered))
const countsUnits = (name: string, most: number, row: string): Wrong => [
  `counts UTF-16 units of the ${name} in a query`,
  answers('GET /plants', (_, { target }) => {
    const value = new URLSearchParams(target.split('?')[1] ?? '').get(name) ?? ''
    return value.length > most ? instead(400, { error: 40005, message: `${name}: too long` }) : {}
  }),
  row,
]
/** Makes the ETag of a page of something else than the page. */
function pageEtagOf(made: (page: string) => string): Behaviour {
  return answers(listed, (answered) => {
    const digest = createHash('sha256').update(made(answered.body.toString())).digest('base64url')
    return set('ETag', `"${digest.slice(0, 22)}"`)(answered)
  })
}
function keepsPages(): Behaviour {
  const kept = new Map<string, Answered>()
  return async (received, forward) => {
    if (received.method !== 'GET' || !received.target.startsWith('/plants?')) return forward(received)
    const key = `${received.target} ${fieldOf(received, 'authorization')} ${fieldOf(received, 'if-none-match')}`
    const answered = kept.get(key) ?? (await forward(received))
    kept.set(key, answered)
    return answered
  }
}
/** A page begins where the plant before it is. */
function listsNothingAfterDeleted(): Behaviour {
  const gone = new Set<string>()
  return async (received, forward) => {
    const answered = await forward(received)
    if (received.method === 'DELETE' && answered.status === 204) gone.add(received.target.slice('/plants/'.length))
    const after = new URLSearchParams(received.target.split('?')[1] ?? '').get('after') ?? ''
    const isMeant = received.method === 'GET' && received.target.startsWith('/plants?') && gone.has(after)
    return isMeant ? { ...answered, ...set('Link', undefined)(answered), body: Buffer.from('[]') } : answered
  }
}

/** Lets a wrong value of a query pass, by leaving the parameter out. */
const ignores = (does: string, name: string, ...rows: [string, ...string[]]): Wrong => [
  does,
  accepts(
    'GET /plants 400',
    query((parameters) => parameters.delete(name)),
  ),
  ...rows,
]

interface Summary {
  readonly plants: number
  readonly tags: readonly { readonly tag: string; readonly plants: number }[]
  readonly isExact: boolean
}
const sums = (does: string, change: (summary: Summary) => unknown, row = counting): Wrong => [
  does,
  answers('GET /summary 200', ({ body }) => ({
    body: Buffer.from(JSON.stringify(change(JSON.parse(body.toString()) as Summary))),
  })),
  row,
]
function merges(change: (tag: string) => string): (summary: Summary) => Summary {
  return ({ plants, tags, isExact }) => {
    const merged = new Map<string, number>()
    for (const each of tags) merged.set(change(each.tag), (merged.get(change(each.tag)) ?? 0) + each.plants)
    const sorted = [...merged]
      .map(([tag, count]) => ({ tag, plants: count }))
      .toSorted((one, other) => other.plants - one.plants)
    return { plants, tags: sorted, isExact }
  }
}
function remembers(): (summary: Summary) => Summary {
  let first: Summary | undefined
  return (summary) => {
    first ??= summary
    return first
  }
}
function neverLess(): (summary: Summary) => Summary {
  const most = new Map<string, number>()
  return ({ plants, tags, isExact }) => {
    for (const each of tags) most.set(each.tag, Math.max(each.plants, most.get(each.tag) ?? 0))
    const more = tags.map((each) => ({ ...each, plants: most.get(each.tag) ?? 0 }))
    return { plants: plants + 1_000, tags: more.toSorted((one, other) => other.plants - one.plants), isExact }
  }
}

export const lists: readonly Entry[] = [
  {
    says: ['Lists plants in ascending order of id.'],
    wrong: [
      [
        'lists plants in descending order',
        answers(listed, (answered) => withPlants(answered, plantsIn(answered).toReversed())),
        whole,
        pages,
      ],
      ['lists plants in the order of the texts of their ids', sortsIdsAsText, pages],
    ],
  },
  {
    says: ['A stored plant, with its id', 'A page of plants.'],
    wrong: [
      ['rounds the ids of lists', answers(listed, text(/(?<="id":)-?\d+/g, rounded)), whole, pages],
      [
        'lists ids in quotes',
        answers(
          listed,
          text(/(?<="id":)-?\d+/g, (id) => `"${id}"`),
        ),
        whole,
      ],
      [
        'lists plants without their names',
        answers(
          listed,
          plants((plant) => ({ ...plant, name: '' })),
        ),
        whole,
        pages,
      ],
      [
        'lists names in lower case',
        answers(
          listed,
          plants((plant) => ({ ...plant, name: String(plant.name).toLowerCase() })),
        ),
        whole,
        pages,
      ],
      [
        'lists plants without their tags',
        answers(
          listed,
          plants(({ tag: _, ...plant }) => plant),
        ),
        whole,
        pages,
      ],
      [
        'lists null for no tag',
        answers(
          listed,
          plants((plant) => ({ tag: null, ...plant })),
        ),
        whole,
      ],
      [
        'lists an empty tag for none',
        answers(
          listed,
          plants((plant) => ({ tag: '', ...plant })),
        ),
        whole,
      ],
      [
        'lists no empty tags',
        answers(
          listed,
          plants(({ tag, ...plant }) => (tag === '' ? plant : { ...plant, tag })),
        ),
        whole,
      ],
      ['lists characters outside ASCII as question marks', answers(listed, text(/[\u0080-\u{10ffff}]/gu, '?')), whole],
      [
        'wraps lists in an object',
        answers(listed, ({ body }) => ({ body: Buffer.from(`{"plants":${body.toString()}}`) })),
        whole,
      ],
      ['lists plants as text/plain', answers(listed, set('Content-Type', 'text/plain')), whole],
      [
        'lists no untagged plants',
        answers(
          listed,
          plants((plant) => (plant.tag === undefined ? undefined : plant)),
        ),
        whole,
      ],
    ],
  },
  {
    says: [
      'A page can contain fewer plants than `limit`, or none, and still not be the last: while the response has a `Link` with `rel="next"`, another page follows.',
      'The next page, such as `</plants?after=7&limit=100>; rel="next"`.',
      'Absent on the last page.',
    ],
    wrong: [
      [
        'forgets names in the links of its pages',
        relinks((link) => link.replace(/([?&])name=[^&>]*&?/, '$1').replace(/&>/, '>')),
        pages,
      ],
      [
        'forgets empty tags in the links of its pages',
        relinks((link) => link.replace(/([?&])tag=(?=[&>])&?/, '$1')),
        whole,
      ],
      ['writes plus signs as they are in the links of its pages', relinks((link) => link.replace(/%2B/gi, '+')), pages],
      ['links to no other page', answers(listed, set('Link', undefined)), pages, whole],
      [
        'links to no other page of an unfiltered list',
        answers(listed, (answered, { target }) => (target.includes('tag=') ? {} : set('Link', undefined)(answered))),
        whole,
      ],
      ['links from a page to the same page', linksToTheSamePage, pages],
      ['links on and on, without an end', linksOnAndOn(), pages],
      ['forgets filters in the links of its pages', forgetsFiltersInLinks, pages],
      [
        'rounds the ids in its links',
        answers(listed, (answered) =>
          set('Link', fieldOf(answered, 'link').replace(/(?<=after=)-?\d+/, rounded) || undefined)(answered),
        ),
        pages,
      ],
      [
        'links with another relation',
        answers(listed, (answered) =>
          set('Link', fieldOf(answered, 'link').replace('next', 'last') || undefined)(answered),
        ),
        pages,
      ],
    ],
  },
  {
    says: [
      'Following the links visits every plant that exists throughout exactly once; concurrent changes do not affect this.',
    ],
    wrong: [
      ['counts the plants before a page', countsOffsets, changing],
      asks(
        'skips a plant between pages',
        changesParameter('after', (id) => String(BigInt(id) + 1n)),
        whole,
      ),
      asks(
        'repeats a plant between pages',
        changesParameter('after', (id) => String(BigInt(id) - 1n)),
        whole,
      ),
    ],
  },
  {
    says: ['A plant must match all given filters.'],
    wrong: [
      asks(
        'ignores names beside tags',
        (parameters) => void (parameters.has('tag') && parameters.delete('name')),
        names('in German'),
      ),
      asks(
        'ignores tags beside names',
        (parameters) => void (parameters.has('name') && parameters.delete('tag')),
        names('in German'),
      ),
      asks(
        'ignores after beside tags',
        (parameters) => void (parameters.has('tag') && parameters.delete('after')),
        pages,
      ),
    ],
  },
  {
    says: [
      'Unknown query parameters are rejected.',
      '| 40005 | invalidParameter | A path or query parameter is unknown or has a value that is not allowed. |',
    ],
    wrong: [
      ignores('ignores parameters that it does not know', 'colour', 'the query colour=green is refused'),
      [
        'takes the first of repeated parameters',
        accepts(
          'GET /plants 400',
          query((parameters) => {
            for (const name of new Set(parameters.keys())) parameters.set(name, parameters.get(name) ?? '')
          }),
        ),
        'the query limit=1&limit=2 is refused',
        'the query tag=a&tag=a is refused',
        'the query name=a&name=b is refused',
        'the query after=1&after=1 is refused',
      ],
      [
        'takes underscores within numbers of a query',
        receives('GET /plants', ({ target }) => ({
          target: target.replaceAll(/(limit|after)=(\d+)_(\d+)/g, '$1=$2$3'),
        })),
        'the query limit=1_0 is refused',
        'the query after=1_0 is refused',
      ],
      [
        'trims numbers of a query',
        receives('GET /plants', ({ target }) => ({
          target: target.replaceAll(/(limit|after)=(?:%0[9A])?(-?\d+)(?:%0[0A]|%20)?/g, '$1=$2'),
        })),
        'the query limit=1%0A is refused',
        'the query limit=1%00 is refused',
        'the query after=1%0A is refused',
        'the query after=%091 is refused',
      ],
      [
        'takes numbers as JavaScript does',
        accepts('GET /plants 400', query(changesParameter('limit', (each) => (each === '' ? '' : `${Number(each)}`)))),
        'the query limit=+1 is refused',
        'the query limit=%201 is refused',
        'the query limit=1e2 is refused',
        'the query limit=0x10 is refused',
      ],
      [
        'takes ids in any form of a number',
        accepts('GET /plants 400', query(changesParameter('after', (each) => `${Number(each)}`))),
        'the query after=01 is refused',
        'the query after=1.0 is refused',
        'the query after=-0 is refused',
      ],
      asks(
        'trims names',
        changesParameter('name', (name) => name.trim()),
        'a name lists the plants whose name begins with it: with the spaces around it',
      ),
      ignores('ignores names of parameters in another case', 'Limit', 'the query Limit=1 is refused'),
      [
        'calls an invalid parameter an unknown path',
        answers('GET /plants 400', () => instead(404, { error: 40401, message: 'none' })),
        'the query limit=0 is refused',
      ],
    ],
  },
  {
    says: ['Maximum number of plants in a page'],
    wrong: [
      ['ignores the limit of a page', ignoresLimits, pages, limit],
      ['has pages of any length, unless it is asked for a limit', hasNoDefaultLimit, limit],
      ignores(
        'ignores limits that are not allowed',
        'limit',
        'the query limit=0 is refused',
        'the query limit=ten is refused',
        'the query limit=1&limit=1 is refused',
      ),
      [
        'takes 1,000 for any greater limit',
        accepts('GET /plants 400', query(changesParameter('limit', (each) => (Number(each) > 1_000 ? '1000' : each)))),
        'the query limit=1001 is refused',
      ],
      [
        'takes limits with leading zeros',
        accepts('GET /plants 400', query(changesParameter('limit', (each) => each.replace(/^0+(?=\d)/, '')))),
        'the query limit=01 is refused',
      ],
    ],
  },
  {
    says: ['Lists only plants with a greater id'],
    wrong: [
      asks(
        'begins again after the greatest id',
        changesParameter('after', (id) => id.replace('9223372036854775807', '-9223372036854775808')),
        pages,
      ),
      ['lists nothing after a deleted plant', listsNothingAfterDeleted(), changing],
      asks('rounds the id in after', changesParameter('after', rounded), pages, whole),
      ['lists nothing after a negative id', takesAfterAsUnsigned, pages],
      asks(
        'ignores after',
        changesParameter('after', () => undefined),
        pages,
      ),
      ignores('ignores an id in after that is none', 'after', 'the query after=x is refused'),
      [
        'takes too large an id in after for the largest',
        accepts('GET /plants 400', query(changesParameter('after', () => '9223372036854775807'))),
        'the query after=9223372036854775808 is refused',
      ],
    ],
  },
  {
    says: ['Lists only plants with exactly this tag.'],
    wrong: [
      ['takes % in a tag for a wildcard', takesWildcardsInTags, tags('in its case')],
      asks(
        'lists everything for an empty tag',
        changesParameter('tag', (each) => each || undefined),
        whole,
      ),
      asks(
        'ignores spaces at the end of a tag',
        changesParameter('tag', (each) => each.trimEnd()),
        tags('with its spaces'),
      ),
      asks(
        'ignores spaces at the beginning of a tag',
        changesParameter('tag', (each) => each.replace(/ {2}/, ' ')),
        tags('with its spaces'),
      ),
      asks(
        'composes the tag that it looks for',
        changesParameter('tag', (each) => each.normalize('NFC')),
        tags('not composed'),
      ),
      asks(
        'looks for tags in lower case',
        changesParameter('tag', (each) => each.toLowerCase()),
        tags('in its case'),
      ),
      ['lists a plant by the tag that it once had', neverUpdatesItsIndex('tag'), changed],
    ],
  },
  {
    says: ['NUL and unpaired surrogates are rejected.'],
    wrong: [
      ignores(
        'ignores tags with NUL',
        'tag',
        'the query tag=%00 is refused',
        'the query tag=aaaaaaaaaaaaaaaaaaaaaaaaaa is refused',
      ),
    ],
  },
  {
    says: ['Lists only plants whose name begins with this text, ignoring case in every script (compared in NFKC).'],
    wrong: [
      filters(
        'compares names in NFKD',
        (name, wanted) => folded(name.normalize('NFKD')).normalize('NFKD').startsWith(folded(wanted).normalize('NFKD')),
        names('not by what it is composed of'),
      ),
      filters(
        'knows one small sigma',
        (name, wanted) => name.normalize('NFKC').toLowerCase().startsWith(wanted.normalize('NFKC').toLowerCase()),
        names('in Greek, whose sigma has two small forms'),
      ),
      filters(
        'ignores case by small letters alone',
        (name, wanted) => small(name).startsWith(small(wanted)),
        names('whatever form its letters have'),
      ),
      filters(
        'ends the range of a prefix at U+FFFF',
        (name, wanted) =>
          folded(name).startsWith(folded(wanted)) && (folded(name).codePointAt(folded(wanted).length) ?? 0) < 0xffff,
        'a name lists the plants whose name begins with it, whatever character follows',
      ),
      filters(
        'ignores the case of the BMP alone',
        (name, wanted) => inBmp(name).startsWith(inBmp(wanted)),
        names('outside the BMP'),
      ),
      filters(
        'ignores the case before NFKC',
        (name, wanted) =>
          name
            .toUpperCase()
            .toLowerCase()
            .normalize('NFKC')
            .startsWith(wanted.toUpperCase().toLowerCase().normalize('NFKC')),
        names('with letters that have no case of their own'),
      ),
      countsUnits('name', 1_024, 'a list is filtered by a name of 1,024 characters outside the BMP'),
      countsUnits('tag', 256, 'a list is filtered by a tag of 256 characters outside the BMP'),
      ['takes % and _ in a name for wildcards', takesWildcards, names('% is no wildcard'), names('_ is no wildcard')],
      filters(
        'compares names with case',
        (name, wanted) => name.startsWith(wanted),
        names('in upper or lower case'),
        names('in Greek'),
      ),
      filters(
        'ignores the case of ASCII alone',
        (name, wanted) => inAscii(name).startsWith(inAscii(wanted)),
        names('in Greek'),
      ),
      filters(
        'compares names without NFKC',
        (name, wanted) => name.toUpperCase().startsWith(wanted.toUpperCase()),
        names('compared in NFKC'),
      ),
      filters(
        'finds a name anywhere',
        (name, wanted) => folded(name).includes(folded(wanted)),
        names('in upper or lower case'),
      ),
      filters(
        'finds a name by any of its words',
        (name, wanted) =>
          folded(name)
            .split(' ')
            .some((word) => word.startsWith(folded(wanted))),
        names('in upper or lower case'),
      ),
      filters(
        'ignores accents',
        (name, wanted) =>
          folded(name.normalize('NFD').replaceAll(/\p{M}/gu, '')).startsWith(
            folded(wanted.normalize('NFD').replaceAll(/\p{M}/gu, '')),
          ),
        names('composed or not'),
      ),
      filters(
        'takes a name for a pattern',
        (name, wanted) => matches(folded(name), folded(wanted)),
        names('. is no wildcard'),
      ),
      ['lists a plant by the name that it once had', neverUpdatesItsIndex('name'), changed],
      [
        'takes no + for a space',
        receives('GET /plants', ({ target }) => ({ target: target.replaceAll('+', '%2B') })),
        'in a query, + is a space and %2B a plus sign',
      ],
      [
        'takes %2B for a space',
        receives('GET /plants', ({ target }) => ({ target: target.replaceAll('%2B', '%20') })),
        'in a query, + is a space and %2B a plus sign',
      ],
    ],
  },
  {
    says: ['The `ETag` covers the page and its `Link`.', 'The page still has one of the ETags in If-None-Match.'],
    wrong: [
      ['has no ETags of pages', answers(listed, set('ETag', undefined)), pageEtags],
      [
        'has weak ETags of pages',
        answers(listed, (answered) => set('ETag', `W/${fieldOf(answered, 'etag')}`)(answered)),
        pageEtags,
      ],
      ['has another ETag of a page each time', pageEtagOf(() => randomUUID()), pageEtags],
      ['has ETags of how many plants a page has', pageEtagOf((page) => String(page.split('"id"').length)), pageEtags],
      ['has ETags of the ids in a page', pageEtagOf((page) => page.match(/"id":-?\d+/g)?.join() ?? ''), pageEtags],
      ['never says that a page is unchanged', receives('GET /plants', set('If-None-Match', undefined)), pageEtags],
      [
        'takes every page for unchanged',
        receives('GET /plants', (received) =>
          fieldOf(received, 'if-none-match') === '' ? {} : set('If-None-Match', '*')(received),
        ),
        pageEtags,
      ],
      ['keeps pages that have changed', keepsPages(), pageEtags],
    ],
  },
  {
    says: ['Deletes the plant.', 'The plant was deleted.'],
    wrong: [['lists plants that were deleted', neverForgets(), changed]],
  },
  {
    says: [
      'Counts the plants, in total and by tag.',
      'The current numbers.',
      'The number of plants, in total and by tag',
      'The total number of plants, with and without a tag',
    ],
    wrong: [
      [
        'counts creates that were replayed',
        countsReplays(),
        'the summary counts the plants that are listed, however often they were sent',
      ],
      ...(
        [
          ['case', (tag) => tag.toLowerCase()],
          ['composition', (tag) => tag.normalize('NFC')],
          ['spaces at the end', (tag) => tag.trimEnd()],
          ['compatibility', (tag) => tag.normalize('NFKC')],
        ] as const satisfies readonly (readonly [string, (tag: string) => string])[]
      ).map(([what, change]) =>
        sums(`counts tags together but for ${what}`, merges(change), 'the summary counts different tags apart'),
      ),
      sums(
        'loses tags that objects have',
        (summary) => ({ ...summary, tags: summary.tags.filter(({ tag }) => !(tag in {})) }),
        'the summary counts tags of any name',
      ),
      sums(
        'counts no empty tags',
        (summary) => ({ ...summary, tags: summary.tags.filter(({ tag }) => tag !== '') }),
        'the summary counts tags of any name',
      ),
      sums('counts no plants', () => ({ plants: 0, tags: [], isExact: true })),
      sums('counts no tags', (summary) => ({ ...summary, tags: [] })),
      sums('counts too many of a tag', (summary) => ({
        ...summary,
        plants: summary.plants + 1_000,
        tags: summary.tags.map((each) => ({ ...each, plants: each.plants + 1 })),
      })),
      sums('counts fewer plants than its tags have', (summary) => ({
        ...summary,
        plants: summary.tags.reduce((sum, each) => sum + each.plants, -1),
      })),
      sums('never counts less', neverLess()),
      sums('counts once', remembers()),
      sums('counts in texts', (summary) => ({ ...summary, plants: String(summary.plants) })),
      sums('does not say whether it counts', ({ isExact: _, ...summary }) => summary),
    ],
  },
  {
    says: ['The most common tags, most common first'],
    wrong: [
      sums(
        'lists the first tags of the alphabet',
        (summary) => ({ ...summary, tags: summary.tags.filter(({ tag }) => !tag.endsWith(' z')) }),
        'the summary lists the most common of many tags',
      ),
      sums('lists the most common tags last', (summary) => ({
        ...summary,
        tags: [{ tag: 'rare', plants: 0 }, ...summary.tags],
      })),
      sums('lists a tag twice', (summary) => ({
        ...summary,
        plants: summary.plants * 2,
        tags: summary.tags.flatMap((each) => [each, each]),
      })),
    ],
  },
]

/** Its list of many stands still, so that nobody else's changes are in the way. */
function countsReplays(): Behaviour {
  let [replays, list] = [0, undefined as Answered | undefined]
  return async (received, forward) => {
    const answered = await forward(received)
    if (fieldOf(answered, 'idempotency-replayed') !== '') replays += 1
    if (received.target === '/summary' && list !== undefined) {
      const plants = (JSON.parse(list.body.toString()) as unknown[]).length + replays
      return { ...answered, body: Buffer.from(JSON.stringify({ plants, tags: [], isExact: true })) }
    }
    if (received.target !== '/plants?limit=1000' || answered.status !== 200) return answered
    list ??= { ...answered, ...set('Link', undefined)(answered) }
    return list
  }
}

function matches(name: string, wanted: string): boolean {
  try {
    return new RegExp(`^${wanted}`).test(name)
  } catch {
    return false
  }
}
