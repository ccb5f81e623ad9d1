// Counts of plants. Others may create and delete meanwhile, so rows count only a tag unique to this run. They run last,
// when no other row creates plants.

import { isDeepStrictEqual } from 'node:util'
import { type AnswerCheck, isOf, ok, refusal } from '../checks.ts'
import { type Answer, fieldOf, itemsOf, objectOf } from '../message.ts'
import { near, type Row, type Rule, row, type Store, take } from '../row.ts'

const tagsMax = 100
/** After all creates of other rows. */
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

export const summaryRows: readonly Row[] = [
  row(
    'the summary counts plants by their tag as they are created, replaced and deleted',
    atLast(take(4)),
    async (store, ...own) => {
      const [tag, other] = [`summary ${store.nonce}`, `other ${store.nonce}`]
      await store.createAll(own.map((id) => ({ id, name: 'n', tag })))
      await summarise(store, tag, 4n)
      const [deleted = 0n, ...replaced] = own
      await store.remove(deleted)
      await summarise(store, tag, 3n)
      // Two are still more than most tags of others have, so that the tag is listed.
      for (const id of replaced.slice(1)) await store.put(id, { name: 'n', tag: other })
      await summarise(store, other, 2n)
    },
  ),
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
  row(
    'the summary counts tags of any name, and different ones apart',
    atLast(take(2 * tagsOf('').length)),
    async (store, ...own) => {
      const tags = tagsOf(store.nonce)
      // Two of each, so that a hundred tags of single plants of others do not hide them.
      await store.createAll(own.map((id, at) => ({ id, name: 'n', tag: tags[at >> 1] as string })))
      for (const tag of tags) await summarise(store, tag, 2n, common.includes(tag))
    },
  ),
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
