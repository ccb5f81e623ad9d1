// Lists. Every row filters by a tag unique to this run.

import { int64Min } from '../../domain/plant.ts'
import { areListed, isListOf, refusal, status } from '../checks.ts'
import { type Answer, fieldOf, type RowRequest } from '../message.ts'
import type { Circumstances, Row, Step } from '../row.ts'
import { create, put, remove, row, type Source } from './building.ts'

const pages: Source = {
  document: 'lists plants in ascending order of id; Link has the next page, and is absent on the last one',
  where: 'listPlants',
}
const filters: Source = {
  document:
    'tag selects plants with exactly this tag, name plants whose name begins with it, ignoring case; both combine',
  where: 'the parameters tag and name',
}

const pagePlants = 100

export function listRows(circumstances: Circumstances): readonly Row[] {
  return [
    pagesRow(circumstances),
    defaultRow(circumstances),
    ...filterRows(circumstances),
    changedRow(circumstances),
    ...queryRows(),
  ]
}

/** A list that must contain these plants, in any number of pages. */
function list(query: string, ids: readonly bigint[], limit?: number): Step {
  return {
    request: { method: 'GET', target: `/plants?${query}${limit === undefined ? '' : `&limit=${limit}`}` },
    checks: [status(200), isListOf(limit ?? pagePlants)],
    pages: { next: nextPage, check: areListed(...ids) },
  }
}

/** The target of a page's Link. A proxy may prefix its path. */
function nextPage(page: Answer): RowRequest | undefined {
  const query = /^<[^?>]*(\?[^>]*)>; rel="next"$/.exec(fieldOf(page, 'link') ?? '')?.[1]
  return query === undefined ? undefined : { method: 'GET', target: `/plants${query}` }
}

function pagesRow({ ids, nonce }: Circumstances): Row {
  const tag = `pages & ${nonce}`
  const [one, two] = [ids.next(), ids.next()]
  // In most ranges, these ids have more digits than the others.
  const [five, other, four, three] = [ids.nextFromEnd(), ids.nextFromEnd(), ids.nextFromEnd(), ids.nextFromEnd()]
  const all = [one, two, three, four, five]
  const query = among(tag)
  return row(
    'a list follows its links to the end, in the order of the ids, and keeps its filters',
    pages,
    [...all, other],
    create({ id: other, name: 'n' }),
    ...all.toReversed().map((id) => create({ id, name: 'n', tag })),
    list(query, all, 2),
    list(query, all),
    list(`${query}&after=${two}`, [three, four, five]),
    list(`${query}&after=${int64Min}`, all),
    list(`${query.replaceAll('%20', '+')}&after=${three}`, [four, five], 1),
  )
}

function defaultRow({ ids, nonce }: Circumstances): Row {
  const tag = `default ${nonce}`
  const all = Array.from({ length: pagePlants + 1 }, () => ids.next())
  return row(
    `a page has ${pagePlants} plants at most, unless it is asked for more`,
    { document: `limit is ${pagePlants} by default`, where: 'the parameter limit' },
    all,
    ...all.map((id) => create({ id, name: 'n', tag })),
    list(among(tag), all),
    list(among(tag), all, 1_000),
  )
}

function filterRows({ ids, nonce }: Circumstances): Row[] {
  const [fern, moss, untagged] = [ids.next(), ids.next(), ids.next()]
  const [greek, german] = [ids.next(), ids.next()]
  const [plain, literal] = [ids.next(), `literal ${nonce}`]
  const special = ['%Rosa', '_Rosa', '*Rosa', '\\Rosa'].map((name) => ({ id: ids.next(), name }))
  const tag = `filters ${nonce}`
  const tagged = among(tag)
  const named = (name: string) => `${tagged}&name=${encodeURIComponent(name)}`
  return [
    row(
      'a tag lists exactly the plants that have it',
      filters,
      [fern, moss, untagged],
      create({ id: fern, name: 'Fern', tag: `${tag} fern` }),
      create({ id: moss, name: 'Moss', tag: `${tag} FERN` }),
      create({ id: untagged, name: `${tag} fern` }),
      list(`${tagged}%20fern`, [fern]),
      list(`${tagged}%20fer`, []),
      list(`${tagged}%20%25`, []),
    ),
    row(
      'a name lists the plants whose name begins with it, in upper or lower case of every script',
      filters,
      [greek, german],
      create({ id: greek, name: 'ΦΊΚΟΣ η ελαστική', tag }),
      create({ id: german, name: 'Straße der Rosen', tag }),
      list(named('φίκος'), [greek]),
      list(named('STRASSE'), [german]),
      list(named('Rosen'), []),
    ),
    row(
      'a name prefix may contain any characters, and none is a wildcard',
      filters,
      [plain, ...special.map(({ id }) => id)],
      create({ id: plain, name: 'Rosa', tag: literal }),
      ...special.map((plant) => create({ ...plant, tag: literal })),
      ...special.map(({ id, name }) => list(`${among(literal)}&name=${encodeURIComponent(name.charAt(0))}`, [id])),
    ),
  ]
}

/** A list contains the plants that match now, not those that matched earlier. */
function changedRow({ ids, nonce }: Circumstances): Row {
  const id = ids.next()
  const [before, after] = [`before ${nonce}`, `after ${nonce}`]
  const find = (tag: string, name: string): string => `${among(tag)}&name=${name}`
  return row(
    'a replaced plant is listed only by its new tag and name, a deleted plant not at all',
    filters,
    [id],
    create({ id, name: 'Rosa', tag: before }),
    list(find(before, 'rosa'), [id]),
    put(id, JSON.stringify({ name: 'Salvia', tag: after }), [status(200)]),
    list(among(before), []),
    list(find(after, 'rosa'), []),
    list(find(after, 'salvia'), [id]),
    remove(id, [status(204)]),
    list(among(after), []),
  )
}

function among(tag: string): string {
  return `tag=${encodeURIComponent(tag)}`
}

function queryRows(): Row[] {
  const says: Source = {
    document: 'a query parameter that is unknown, or has a value that is not allowed, is refused with 400',
    where: 'the parameters of listPlants',
  }
  return [
    ...['limit=0', 'limit=-1', 'limit=1001', 'limit=1.5', 'limit=ten', 'limit=01', 'limit=', 'limit=1&limit=1'],
    ...['after=x', 'after=9223372036854775808', 'tag=%00', `tag=${'a'.repeat(257)}`, 'tag=%ff', 'name=%zz'],
    ...['colour=green', 'Limit=1'],
  ].map((query) => {
    const request = { method: 'GET', target: `/plants?${query}` }
    return row(`the query ${query.slice(0, 30)} is refused`, says, [], { request, checks: refusal('invalidParameter') })
  })
}
