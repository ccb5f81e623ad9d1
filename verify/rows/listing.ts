// Steps that read lists, page by page.

import { areListed, isListOf, plantsOf, status } from '../checks.ts'
import { type Answer, fieldOf, type RowRequest } from '../message.ts'
import type { NewPlant } from '../plant.ts'
import type { Circumstances, OneStep, Step } from '../row.ts'
import type { Source } from './building.ts'

export const filters: Source = {
  document:
    'tag selects plants with exactly this tag, name plants whose name begins with it, ignoring case; both combine',
  where: 'the parameters tag and name',
}

/** Default page size. */
export const pagePlants = 100

/** A list that must contain these plants, in any number of pages. */
export function list(query: string, plants: readonly NewPlant[], limit?: number): Step {
  return {
    request: { method: 'GET', target: `/plants?${query}${limit === undefined ? '' : `&limit=${limit}`}` },
    checks: [status(200), isListOf(limit ?? pagePlants)],
    pages: { next: (page) => nextPage(page), check: (pages, known) => areListed(...plants)(pages, known) },
  }
}

/** A list whose plants up to an id must be these. Others may follow: it is not read to its end. */
export function listUpTo(last: bigint, query: string, plants: readonly NewPlant[], limit = 2): Step {
  const isBeyond = ({ id }: { readonly id?: unknown }): boolean => typeof id === 'bigint' && id > last
  const { request, checks } = list(query, plants, limit) as OneStep
  return {
    request,
    checks,
    pages: {
      next: (page) => (plantsOf([page]).some(isBeyond) ? undefined : nextPage(page)),
      check: (pages, known) => {
        const within = plantsOf(pages).findIndex(isBeyond)
        return areListed(...plants)(pages, known, within === -1 ? undefined : within)
      },
    },
  }
}

/** The target of a page's Link. A proxy may prefix its path. */
export function nextPage(page: Answer | undefined, path = '/plants'): RowRequest | undefined {
  const query = /^<[^?>]*(\?[^>]*)>; rel="next"$/.exec((page && fieldOf(page, 'link')) ?? '')?.[1]
  return query === undefined ? undefined : { method: 'GET', target: `${path}${query}` }
}

/** Neighbours, which no double tells apart. */
export function neighbours(ids: Circumstances['ids'], count: number, plant: Omit<NewPlant, 'id'>): readonly NewPlant[] {
  const first = ids.next()
  return Array.from({ length: count }, (_, at) => ({ id: first + BigInt(at) + 1n, ...plant }))
}

export function idsOf(...plants: readonly NewPlant[]): readonly bigint[] {
  return plants.map(({ id }) => id)
}

export function among(tag: string): string {
  return `tag=${encodeURIComponent(tag)}`
}
