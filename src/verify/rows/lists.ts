// Lists. Every row lists only plants with a tag that no other run has.

import { field, isList, refusal, status } from '../checks.ts'
import { fieldOf } from '../message.ts'
import type { Check, Circumstances, Row, Step } from '../row.ts'
import { create, type Says } from './building.ts'

const pages: Says = {
  document: 'lists plants in ascending order of id; Link has the next page, and is absent on the last one',
  where: 'listPlants',
}
const filters: Says = {
  document:
    'tag lists plants with exactly this tag, name those whose name begins with it, ignoring case; both together',
  where: 'the parameters tag and name',
}

export function listRows(circumstances: Circumstances): readonly Row[] {
  return [pagesRow(circumstances), ...filterRows(circumstances), ...queryRows()]
}

function list(query: string, checks: readonly Check[]): Step {
  return { request: { method: 'GET', target: `/plants?${query}` }, checks: [status(200), ...checks] }
}

/** The page that the Link of the answer before leads to. A proxy may put a path before that of the Link. */
function nextPage(checks: readonly Check[]): Step {
  return {
    request: (before) => {
      const last = before.at(-1)
      const link = (last && fieldOf(last, 'link')) ?? ''
      const query = /^<[^?>]*(\?[^>]*)>/.exec(link)?.[1] ?? ''
      return { method: 'GET', target: `/plants${query}` }
    },
    checks: [status(200), ...checks],
  }
}

function pagesRow({ ids, nonce }: Circumstances): Row {
  const tag = `pages & ${nonce}`
  const [one, two, three, four, five] = [1, 2, 3, 4, 5].map(() => ids.next()) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const all = [one, two, three, four, five]
  const query = `tag=${encodeURIComponent(tag)}`
  const hasNext = field('Link', /^<[^>]*>; rel="next"$/)
  const isLast = field('Link', undefined)
  return {
    title: 'a list follows its links to the end, in the order of the ids, and keeps its filters',
    level: 'complete',
    ...pages,
    ids: all,
    steps: [
      ...all.toReversed().map((id) => create({ id, name: 'n', tag })),
      list(`${query}&limit=2`, [isList(one, two), hasNext]),
      nextPage([isList(three, four), hasNext]),
      nextPage([isList(five), isLast]),
      list(query, [isList(...all), isLast]),
      list(`${query}&after=${two}`, [isList(three, four, five), isLast]),
      list(`${query.replaceAll('%20', '+')}&limit=1&after=${three}`, [isList(four), hasNext]),
    ],
  }
}

function filterRows({ ids, nonce }: Circumstances): Row[] {
  const [fern, moss, untagged] = [ids.next(), ids.next(), ids.next()]
  const [greek, german] = [ids.next(), ids.next()]
  const row = (title: string, rowIds: readonly bigint[], steps: readonly Step[]): Row => ({
    title,
    level: 'complete',
    ...filters,
    ids: rowIds,
    steps,
  })
  const tag = `filters ${nonce}`
  const tagged = `tag=${encodeURIComponent(tag)}`
  const named = (name: string) => `${tagged}&name=${encodeURIComponent(name)}`
  return [
    row(
      'a tag lists exactly the plants that have it',
      [fern, moss, untagged],
      [
        create({ id: fern, name: 'Fern', tag: `${tag} fern` }),
        create({ id: moss, name: 'Moss', tag: `${tag} FERN` }),
        create({ id: untagged, name: `${tag} fern` }),
        list(`${tagged}%20fern`, [isList(fern)]),
        list(`${tagged}%20fer`, [isList()]),
      ],
    ),
    row(
      'a name lists the plants whose name begins with it, in upper or lower case of every script',
      [greek, german],
      [
        create({ id: greek, name: 'ΦΊΚΟΣ η ελαστική', tag }),
        create({ id: german, name: 'Straße der Rosen', tag }),
        list(named('φίκος'), [isList(greek)]),
        list(named('STRASSE'), [isList(german)]),
        list(named('Rosen'), [isList()]),
      ],
    ),
  ]
}

function queryRows(): Row[] {
  const bad = (query: string): Row => ({
    title: `the query ${query.slice(0, 30)} is refused`,
    level: 'complete',
    document: 'a query parameter that is unknown, or has a value that is not allowed, is refused with 400',
    where: 'the parameters of listPlants',
    ids: [],
    steps: [{ request: { method: 'GET', target: `/plants?${query}` }, checks: refusal('invalidParameter') }],
  })
  return [
    bad('limit=0'),
    bad('limit=-1'),
    bad('limit=1001'),
    bad('limit=1.5'),
    bad('limit=ten'),
    bad('limit=01'),
    bad('limit='),
    bad('limit=1&limit=1'),
    bad('after=x'),
    bad('after=9223372036854775808'),
    bad('tag=%00'),
    bad(`tag=${'a'.repeat(257)}`),
    bad('tag=%ff'),
    bad('name=%zz'),
    bad('colour=green'),
    bad('Limit=1'),
  ]
}
