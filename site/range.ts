// Says which plants the table shows, of how many: `3 plants`, or `1 to 25 of 130`.

import { idIn, type View } from './address.js'
import type { Summary } from './client.js'

/**
 * The sentence that says which plants are shown, of how many.
 *
 * @param totals undefined if they are unknown.
 */
export function rangeOf(count: number, view: View, hasMore: boolean, totals: Summary | undefined): string {
  if (count === 0 && hasMore) return 'Nothing found yet. The next page continues the search.'
  if (count === 0 && view.after !== undefined) return 'There are no more plants.'
  const id = idIn(view)
  if (count === 0 && id !== undefined) return `There is no plant ${id}, and none after it.`
  if (count === 0 && view.name !== '') return 'No plant matches. The search compares the beginning of each name.'
  if (count === 0) return view.tag === '' ? 'There are no plants.' : 'No plant has this tag.'
  if (id !== undefined) return `From id ${id} on`
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
