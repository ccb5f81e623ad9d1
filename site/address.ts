// What the address of the page says: the search, its page and the open plant. A link shows others the same; it never
// contains the token.

import type { Summary } from './client.js'

/** Where the page is, with a final slash, behind any path of a proxy. */
export const base = new URL('.', document.baseURI)

/** What the page shows. */
export interface View {
  /** The beginning of the names. */
  readonly name: string
  /** Empty for all. */
  readonly tag: string
  /** Plants a page. */
  readonly size: number
  /** The id before the first plant of the page; undefined for the first page. */
  readonly after?: string | undefined
  /** The number of the first plant of the page, from 1. */
  readonly from: number
  /** The id of the open plant, or what the address has in its place. */
  readonly plant?: string | undefined
}

export const sizes = [25, 100, 500] as const

/** Where a page began. */
export type Place = Pick<View, 'after' | 'from'>

/** Reads the address. What it should not contain is left out. */
export function readView(): View {
  const query = new URLSearchParams(location.search)
  const plant = query.get('plant') || undefined
  const [after, id] = [query.get('after'), plant].map((text) => idOf(text ?? '')?.toString())
  const from = Number(query.get('from'))
  return {
    name: query.get('name') ?? '',
    tag: query.get('tag') ?? '',
    size: sizes.find((size) => String(size) === query.get('size')) ?? sizes[0],
    from: after !== undefined && Number.isSafeInteger(from) && from > 1 ? from : 1,
    ...(after !== undefined && { after }),
    plant: id ?? plant,
  }
}

/** The id that a text names, if it is one. */
export function idOf(text: string): bigint | undefined {
  const id = /^\s*-?\d{1,19}\s*$/.test(text) ? BigInt(text) : undefined
  return id !== undefined && BigInt.asIntN(64, id) === id ? id : undefined
}

/** The pages before this one, which the history keeps, and a link does not have. */
export function placesBefore(): readonly Place[] {
  return history.state?.before ?? []
}

/** @param isStep whether "back" leads to what the address said before. */
export function writeView(view: View, before: readonly Place[], isStep: boolean): void {
  const url = hrefOf(view)
  if (isStep && url !== hrefOf(readView())) history.pushState({ before }, '', url)
  else history.replaceState({ before }, '', url)
  if (view.plant === undefined) titlePage()
}

/** The address of a view, relative to the page. */
export function hrefOf({ name, tag, size, after, from, plant }: View): string {
  const parts = {
    name,
    tag,
    size: size === sizes[0] ? '' : String(size),
    after: after ?? '',
    from: after === undefined ? '' : String(from),
    plant: plant ?? '',
  }
  const query = new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== ''))
  return query.size === 0 ? `.${location.hash}` : `?${query}`
}

/** Names the page after the open plant, or what is searched. */
export function titlePage(plant?: string): void {
  const { name, tag } = readView()
  document.title = [plant, ...(plant === undefined ? [name, tag] : []), 'Plant Store'].filter(Boolean).join(' - ')
}

/**
 * The sentence that says which plants are shown, of how many.
 *
 * @param totals undefined if they are unknown.
 */
export function rangeOf(count: number, view: View, hasMore: boolean, totals: Summary | undefined): string {
  const id = idOf(view.name)
  if (count === 0 && id !== undefined) {
    return `There is no plant ${id}${view.tag === '' ? '' : ' with this tag'}.\nA number is searched as an id.`
  }
  if (count === 0 && hasMore) return 'Nothing found yet. The next page continues the search.'
  if (count === 0 && view.after !== undefined) return 'There are no more plants.'
  if (count === 0 && view.name !== '') {
    const kind = view.tag === '' ? 'No plant' : 'No plant with this tag'
    return `${kind} begins with ${JSON.stringify(view.name)}.\nThe search matches the beginning of a name, or an id.`
  }
  if (count === 0) return view.tag === '' ? 'There are no plants.' : 'No plant has this tag.'
  const last = view.from + count - 1
  const range = `${view.from.toLocaleString('en')} to ${last.toLocaleString('en')}`
  if (!hasMore && view.from === 1) return plantsOf(count)
  const total = hasMore ? totalOf(view, totals) : last
  // Another client may have changed the plants since they were counted.
  if (total === undefined || total < last) return range
  const about = hasMore && totals?.isExact === false ? 'about ' : ''
  return `${range} of ${about}${total.toLocaleString('en')}`
}

/** The number of plants that a search finds, as far as the totals say. */
function totalOf({ name, tag }: View, totals: Summary | undefined): number | undefined {
  if (name !== '') return undefined
  return tag === '' ? totals?.plants : totals?.tags.find((each) => each.tag === tag)?.plants
}

/** Such as `1 plant`. */
export function plantsOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'plant' : 'plants'}`
}
