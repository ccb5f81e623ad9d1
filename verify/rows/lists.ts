// Lists. Every row filters by a tag unique to this run.

import { int64Max, int64Min } from '../../src/domain/plant.ts'
import { field, hasNoBody, isListOf, plantsOf, status } from '../checks.ts'
import type { RowRequest } from '../message.ts'
import type { NewPlant } from '../plant.ts'
import type { Circumstances, Row, Step } from '../row.ts'
import { call, create, forProxies, put, remove, row, type Source } from './building.ts'
import { among, filters, idsOf, list, listUpTo, neighbours, nextPage, pagePlants } from './listing.ts'
import { pageEtagRow } from './page-etags.ts'
import { prefixRows } from './prefixes.ts'
import { queryRows } from './queries.ts'

const pages: Source = {
  document: 'lists plants in ascending order of id; Link has the next page, and is absent on the last one',
  where: 'listPlants',
}
export function listRows(circumstances: Circumstances): readonly Row[] {
  return [
    pagesRow(circumstances),
    unfilteredRow(circumstances),
    defaultRow(circumstances),
    changingRow(circumstances),
    ...tagRows(circumstances),
    ...prefixRows(circumstances),
    changedRow(circumstances),
    pageEtagRow(circumstances),
    ...longRows(circumstances),
    ...queryRows(),
  ]
}

function pagesRow({ ids, nonce }: Circumstances): Row {
  const tag = `pages & + ${nonce}`
  const first = neighbours(ids, 3, { name: 'Rosa "GLAUCA"', tag })
  const [two] = first.slice(1).map(({ id }) => id) as [bigint]
  // In most ranges, these ids have more digits than the others.
  const last = [1, 2, 3].map(() => ({ id: ids.nextFromEnd() + 1n, name: 'n', tag })).toReversed()
  const other = ids.nextFromEnd()
  const all = [...first, ...last]
  const query = among(tag)
  return row(
    'a list follows its links to the end, in the order of the ids, and keeps its filters',
    pages,
    [...idsOf(...all), other],
    create({ id: other, name: 'n' }),
    ...all.toReversed().map((plant) => create(plant)),
    list(query, all, 2),
    list(query, all),
    list(`${query}&after=${two}`, all.slice(2)),
    list(`${query}&after=${int64Min}`, all),
    list(`${query}&after=${int64Max}`, []),
    list(`${query}&name=rosa`, first, 1),
    list(`${query.replaceAll('%20', '+')}&after=${two}`, all.slice(2), 1),
    call('HEAD', `/plants?${query}&limit=${all.length - 1}`, [status(200), hasNoBody, field('Link', /rel="next"/)]),
    {
      // A page may have fewer plants than its limit, but with one plant left there is another page.
      request: { method: 'GET', target: `/plants?${query}&limit=${all.length - 1}` },
      checks: [status(200), field('Link', /rel="next"/)],
    },
  )
}

function unfilteredRow({ ids }: Circumstances): Row {
  const [one, two, three, four] = neighbours(ids, 4, { name: 'N' }) as [NewPlant, NewPlant, NewPlant, NewPlant]
  const plants = [one, { ...two, tag: '' }, { ...three, name: 'n', tag: 'Ünïcode' }, { ...four, tag: '' }]
  const after = `after=${one.id - 1n}`
  const tagged = plants.filter(({ tag }) => tag === '')
  return row(
    'without a filter, a list has every plant, whole and in order',
    pages,
    idsOf(...plants),
    ...plants.toReversed().map((plant) => create(plant)),
    listUpTo(four.id, after, plants),
    listUpTo(four.id, `after=${one.id}`, plants.slice(1)),
    listUpTo(four.id, `${after}&tag=`, tagged),
    listUpTo(four.id, `${after}&tag=`, tagged, 1),
    listUpTo(four.id, `${after}&name=`, plants),
    listUpTo(four.id, `${after}&name=n`, plants),
  )
}

function defaultRow({ ids, nonce }: Circumstances): Row {
  const tag = `default ${nonce}`
  const all = neighbours(ids, pagePlants + 1, { name: 'n', tag })
  return row(
    `a page has ${pagePlants} plants at most, unless it is asked for more`,
    { document: `limit is ${pagePlants} by default`, where: 'the parameter limit' },
    idsOf(...all),
    ...all.map((plant) => create(plant)),
    list(among(tag), all),
    list(among(tag), all, 1_000),
  )
}

/** Creates and deletes a plant before the place where the first page ends. */
function changingRow({ ids, nonce }: Circumstances): Row {
  const tag = `changing ${nonce}`
  const plants = neighbours(ids, 5, { name: 'n', tag })
  const [late, mortal, ...stay] = plants as readonly [NewPlant, NewPlant, ...NewPlant[]]
  const first: RowRequest = { method: 'GET', target: `/plants?${among(tag)}&limit=2` }
  const firstPage = stay.length + 1
  const goesOn: Step = {
    request: (before) => nextPage(before[firstPage]) ?? first,
    checks: [
      status(200),
      (page, before) => {
        const seen = plantsOf(before.slice(firstPage, firstPage + 1)).map(({ id }) => id)
        const ofStay = plantsOf([page]).filter(({ id }) => stay.some((plant) => plant.id === id))
        const wanted = stay.filter(({ id }) => !seen.includes(id)).slice(0, ofStay.length)
        const [came, next] = [ofStay.map(({ id }) => String(id)).join(', '), wanted.map(({ id }) => id).join(', ')]
        return came === next ? undefined : `the next page has ${came} of the plants that stay, not ${next || 'none'}`
      },
    ],
  }
  return row(
    'following the links visits every plant that stays exactly once, whatever changes meanwhile',
    { document: 'following the links visits every plant that exists throughout exactly once', where: 'listPlants' },
    idsOf(...plants),
    ...[mortal, ...stay].map((plant) => create(plant)),
    { request: first, checks: [status(200), isListOf(2)] },
    create(late),
    goesOn,
    remove(late.id, [status(204)]),
    remove(mortal.id, [status(204)]),
    goesOn,
    list(`${among(tag)}&after=${mortal.id}`, stay),
  )
}

function tagRows({ ids, nonce }: Circumstances): Row[] {
  const tag = `filters ${nonce}`
  const tagged = (title: string, wanted: string, others: readonly (string | undefined)[], ...absent: string[]): Row => {
    const plant = { id: ids.next() + 1n, name: 'Fern', tag: `${tag} ${wanted}` }
    const rest = others.map((other) => ({
      id: ids.next() + 1n,
      name: `${tag} ${wanted}`,
      ...(other !== undefined && { tag: `${tag} ${other}` }),
    }))
    return row(
      `a tag lists exactly the plants that have it: ${title}`,
      filters,
      idsOf(plant, ...rest),
      ...[plant, ...rest].map((each) => create(each)),
      list(among(plant.tag), [plant]),
      ...absent.map((each) => list(among(`${tag} ${each}`), [])),
    )
  }
  return [
    tagged('in its case', 'fern', ['FERN', undefined], 'fer', '%', 'Fern'),
    tagged('with its spaces', 'two  words ', ['two  words', 'two words '], ' two  words '),
    tagged('not composed', 'e\u0301', ['\u00e9'], 'e'),
    tagged('with every character', 'a+b&c=d%20?#;\u{1f33f}\r\n', ['a b&c=d%20?#;\u{1f33f}'], 'a'),
  ]
}

/** A list contains the plants that match now, not those that matched earlier. */
function changedRow({ ids, nonce }: Circumstances): Row {
  const id = ids.next()
  const [before, after] = [`before ${nonce}`, `after ${nonce}`]
  const find = (tag: string, name: string): string => `${among(tag)}&name=${name}`
  const [rosa, salvia] = [
    { id, name: 'Rosa', tag: before },
    { id, name: 'Salvia', tag: after },
  ]
  return row(
    'a replaced plant is listed only by its new tag and name, a deleted plant not at all',
    filters,
    [id],
    create(rosa),
    list(find(before, 'rosa'), [rosa]),
    put(id, JSON.stringify({ name: salvia.name, tag: after }), [status(200)]),
    list(among(before), []),
    list(find(after, 'rosa'), []),
    list(find(after, 'salvia'), [salvia]),
    put(id, JSON.stringify({ name: rosa.name }), [status(200)]),
    list(among(after), []),
    put(id, JSON.stringify({ name: salvia.name, tag: after }), [status(200)]),
    list(among(after), [salvia]),
    remove(id, [status(204)]),
    list(among(after), []),
  )
}

/** The bounds of texts count characters. */
function longRows({ ids, nonce, plants }: Circumstances): Row[] {
  const [nameMax, tagMax] = [plants.lengthsOf('name').max, plants.lengthsOf('tag').max]
  const [tag, tagged] = ['🌿'.repeat(tagMax), `long ${nonce}`]
  const [one, other] = [ids.next(), ids.next()]
  const name = '🌿'.repeat(nameMax)
  return [
    row(
      `a list is filtered by a tag of ${tagMax} characters outside the BMP`,
      filters,
      [one],
      create({ id: one, name: 'n', tag }),
      listUpTo(one, `after=${one - 1n}&${among(tag)}`, [{ id: one, name: 'n', tag }], 1),
    ),
    forProxies(
      row(
        `a list is filtered by a name of ${nameMax.toLocaleString('en')} characters outside the BMP`,
        filters,
        [other],
        create({ id: other, name, tag: tagged }),
        list(`${among(tagged)}&name=${encodeURIComponent(name)}`, [{ id: other, name, tag: tagged }]),
      ),
    ),
  ]
}
