// Counts of plants. Others may create and delete meanwhile, so rows count only a tag unique to this run. They run last,
// when no other row creates plants.

import { type Check, ok, refusal } from '../checks.ts'
import { canonical } from '../json.ts'
import type { Answer } from '../message.ts'
import { fieldOf, itemsOf, jsonOf, objectOf } from '../message.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import type { Store } from '../store.ts'

const tagsMax = 100
const says =
  'counts the plants, in all and by tag; up to 100 tags are listed, the most common first (getSummary and the ' +
  'schema Summary)'
const total = 'plants is the total number of plants, with and without a tag (the schema Summary)'

interface Counted {
  readonly plants: bigint
  readonly tags: readonly { readonly tag: string; readonly plants: bigint }[]
  readonly isExact: boolean
}

export function summaryRows({ ids, nonce }: Circumstances): readonly Row[] {
  const tag = `summary ${nonce}`
  const apart = ['\u00e9', 'e\u0301', 'E\u0301', '\u00e9 ', ' \u00e9', '\ufb01', 'fi'].map((end) => `${tag}${end}`)
  // Names that objects of some languages have.
  const common = ['', 'constructor', 'toString', '__proto__', 'null']
  /** Two of each tag, so that a hundred tags of single plants of others do not hide them. */
  const pairs = (title: string, tags: readonly string[], mayHaveMore: boolean): Row =>
    row(title, says, ids.take(2 * tags.length), async (store, ...own) => {
      await store.createAll(own.map((id, at) => ({ id, name: 'n', tag: tags[at >> 1] as string })))
      for (const each of tags) await summarise(store, each, 2n, mayHaveMore)
    })
  const rows = [
    row(
      'the summary counts plants by their tag as they are created and deleted',
      says,
      ids.take(3),
      async (store, ...own) => {
        await store.createAll(own.map((id) => ({ id, name: 'n', tag })))
        await summarise(store, tag, 3n)
        await store.remove(own[0] as bigint)
        // Still more than most tags of others have, so that it is listed.
        await summarise(store, tag, 2n)
      },
    ),
    totalRow(ids, nonce),
    pairs('the summary counts different tags apart', apart, false),
    row('the summary lists the most common of many tags', says, ids.near(tagsMax + 2), async (store, ...own) => {
      await store.createAll(own.map((id, at) => ({ id, name: 'n', tag: at < tagsMax ? `${tag} a${at}` : `${tag} z` })))
      await summarise(store, `${tag} z`, 2n)
    }),
    pairs('the summary counts tags of any name', common, true),
  ]
  return rows.map((each) => ({ ...each, turn: 'last' }))
}

/** Requests that change nothing count nothing. Checks only a small store, while no other client changes it. */
function totalRow(ids: Circumstances['ids'], nonce: string): Row {
  const title = 'the summary counts the plants that are listed, however often they were sent'
  return row(title, total, ids.take(1), async (store, id) => {
    const tag = `total ${nonce}`
    for (const _ of [1, 2, 3]) await store.create({ id, name: 'n', tag }, { 'Idempotency-Key': `total-${nonce}` })
    await store.refuses('idTaken', { id, name: 'm' })
    await store.put(id, JSON.stringify({ name: 'n', tag }))
    await store.put(id, '{"name":"m"}')
    await store.put(id, '{"name":"m"}', refusal('preconditionFailed'), { 'If-Match': '"x"' })
    const list = (): Promise<Answer> => store.call('GET', '/plants?limit=1000', ok)
    const first = await list()
    const summary = summaryOf(await store.call('GET', '/summary', ok))
    const again = await list()
    const isQuiet = canonical(jsonOf(first)) === canonical(jsonOf(again)) && fieldOf(again, 'link') === undefined
    const { length } = itemsOf(again)
    const isWrong = isQuiet && summary?.isExact === true && summary.plants !== BigInt(length)
    store.assert(isWrong ? `plants is ${summary.plants}, but ${length} are listed` : undefined)
  })
}

/** @param mayHaveMore whether others may use the tag, too. */
async function summarise(store: Store, tag: string, plants: bigint, mayHaveMore = false): Promise<void> {
  await store.call('GET', '/summary', [...ok, counts(tag, plants, mayHaveMore)])
}

/** Estimates may have any value. With more tags than the list holds, this one may be missing. */
function counts(wanted: string, plants: bigint, mayHaveMore: boolean): Check {
  return (answer) => {
    const summary = summaryOf(answer)
    if (summary === undefined) return 'the body is not a valid Summary'
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

function summaryOf(answer: Answer): Counted | undefined {
  const { plants, tags, isExact } = objectOf(answer)
  const isSummary =
    typeof plants === 'bigint' &&
    typeof isExact === 'boolean' &&
    Array.isArray(tags) &&
    tags.every((each) => typeof (each as { plants?: unknown } | null)?.plants === 'bigint')
  return isSummary ? (objectOf(answer) as unknown as Counted) : undefined
}
