// Counts of plants. Others may create and delete meanwhile, so rows count only a tag unique to this run.

import type { JsonValue } from '../../src/json/decode.ts'
import { plantsOf, refusal, status } from '../checks.ts'
import { fieldOf, jsonOf } from '../message.ts'
import { plantJson } from '../plant.ts'
import type { Check, Circumstances, Row, Step } from '../row.ts'
import { call, create, put, remove, row } from './building.ts'

const tagsMax = 100

interface Counted {
  readonly plants: bigint
  readonly tags: readonly { readonly tag: string; readonly plants: bigint }[]
  readonly isExact: boolean
}

export function summaryRows({ ids, nonce }: Circumstances): readonly Row[] {
  const tag = `summary ${nonce}`
  const [kept, too, mortal] = [ids.next(), ids.next(), ids.next()]
  // Two of each, so that a hundred tags of single plants of others do not hide them.
  const pairs = (tags: readonly string[]) =>
    tags.flatMap((tag) => [ids.next(), ids.next()].map((id) => ({ id, name: 'n', tag })))
  const apart = ['\u00e9', 'e\u0301', 'E\u0301', '\u00e9 ', ' \u00e9', '\ufb01', 'fi'].map((end) => `${tag}${end}`)
  const inApart = pairs(apart)
  const first = ids.next()
  const many = Array.from({ length: tagsMax + 2 }, (_, at) => ({
    id: first + BigInt(at) + 1n,
    name: 'n',
    tag: at < tagsMax ? `${tag} a${at}` : `${tag} z`,
  }))
  // Names that objects of some languages have.
  const common = ['', 'constructor', 'toString', '__proto__', 'null']
  const inCommon = pairs(common)
  return [
    row(
      'the summary counts plants by their tag as they are created and deleted',
      {
        document: 'counts the plants, in all and by tag; up to 100 tags are listed, the most common first',
        where: 'getSummary and the schema Summary',
      },
      [kept, too, mortal],
      create({ id: kept, name: 'n', tag }),
      create({ id: too, name: 'n', tag }),
      create({ id: mortal, name: 'n', tag }),
      summarise(tag, 3n),
      remove(mortal, [status(204)]),
      // Still more than most tags of others have, so that it is listed.
      summarise(tag, 2n),
    ),
    totalRow(ids.next(), nonce),
    row(
      'the summary counts different tags apart',
      { document: 'counts the plants by tag', where: 'getSummary and the schema Summary' },
      inApart.map(({ id }) => id),
      ...inApart.map((plant) => create(plant)),
      ...apart.map((each) => summarise(each, 2n)),
    ),
    row(
      'the summary lists the most common of many tags',
      { document: 'up to 100 tags are listed, the most common first', where: 'the schema Summary' },
      many.map(({ id }) => id),
      ...many.map((plant) => create(plant)),
      summarise(`${tag} z`, 2n),
    ),
    row(
      'the summary counts tags of any name',
      { document: 'counts the plants by tag', where: 'getSummary and the schema Summary' },
      inCommon.map(({ id }) => id),
      ...inCommon.map((plant) => create(plant)),
      ...common.map((each) => summarise(each, 2n, { mayHaveMore: true })),
    ),
  ]
}

/** Requests that change nothing count nothing. Checks only a small store, while nobody else changes it. */
function totalRow(id: bigint, nonce: string): Row {
  const key = { 'Idempotency-Key': `total-${nonce}` }
  const list = { method: 'GET', target: '/plants?limit=1000' }
  const created = create({ id, name: 'n', tag: `total ${nonce}` }, key)
  const begin = 7
  return row(
    'the summary counts the plants that are listed, however often they were sent',
    { document: 'plants is the total number of plants, with and without a tag', where: 'the schema Summary' },
    [id],
    created,
    created,
    created,
    { request: { body: plantJson(id, 'm') }, checks: refusal('idTaken') },
    put(id, `{"name":"n","tag":"total ${nonce}"}`, [status(200)]),
    put(id, '{"name":"m"}', [status(200)]),
    put(id, '{"name":"m"}', refusal('preconditionFailed'), { 'If-Match': '"x"' }),
    { request: list, checks: [status(200)] },
    call('GET', '/summary', [status(200)]),
    {
      request: list,
      checks: [
        status(200),
        (answer, before) => {
          const [first, counted] = [before[begin], before[begin + 1]]
          const summary = counted && summaryOf(jsonOf(counted))
          const isQuiet = first?.body.equals(answer.body) === true && fieldOf(answer, 'link') === undefined
          if (!isQuiet || summary?.isExact !== true) return undefined
          const { length } = plantsOf([answer])
          return summary.plants === BigInt(length) ? undefined : `plants is ${summary.plants}, but ${length} are listed`
        },
      ],
    },
  )
}

/** @param mayHaveMore whether others may use the tag, too. */
function summarise(tag: string, plants: bigint, { mayHaveMore = false } = {}): Step {
  return call('GET', '/summary', [status(200), counts(tag, plants, mayHaveMore)])
}

/** Estimates may have any value. With more tags than the list holds, this one may be missing. */
function counts(wanted: string, plants: bigint, mayHaveMore: boolean): Check {
  return (answer) => {
    const summary = summaryOf(jsonOf(answer))
    if (summary === undefined) return 'the body is not a valid Summary'
    if (!summary.isExact) return undefined
    if (summary.plants < plants) return `plants is ${summary.plants}, although there are at least ${plants}`
    const isWhole = summary.tags.reduce((sum, each) => sum + each.plants, 0n) <= summary.plants
    if (!isWhole) return 'the tags have more plants than there are'
    if (new Set(summary.tags.map(({ tag }) => tag)).size < summary.tags.length) return 'a tag is listed twice'
    const isSorted = summary.tags.every(({ plants }, at) => plants <= (summary.tags[at - 1]?.plants ?? plants))
    if (!isSorted) return 'the most common tags do not come first'
    const found = summary.tags.find(({ tag }) => tag === wanted)
    if (found === undefined) {
      const isCrowded = summary.tags.length >= tagsMax && summary.tags.every((each) => each.plants >= plants)
      return isCrowded ? undefined : `the tag ${JSON.stringify(wanted)} is missing, although ${plants} plants have it`
    }
    return found.plants === plants || (mayHaveMore && found.plants > plants)
      ? undefined
      : `the tag ${JSON.stringify(wanted)} has ${found.plants} plants, not ${plants}`
  }
}

function summaryOf(value: JsonValue | undefined): Counted | undefined {
  const { plants, tags, isExact } = (value ?? {}) as Partial<Record<keyof Counted, JsonValue>>
  const isSummary =
    typeof plants === 'bigint' &&
    typeof isExact === 'boolean' &&
    Array.isArray(tags) &&
    tags.every((each) => typeof (each as { plants?: unknown } | null)?.plants === 'bigint')
  return isSummary ? (value as unknown as Counted) : undefined
}
