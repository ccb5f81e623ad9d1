// Servers with wrong lists: each is named by exactly the rows that are about what it does wrong.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startRight } from './right-server.ts'
import {
  forgetsFiltersInLinks,
  hasNoDefaultLimit,
  hasShortPages,
  ignoresLimits,
  linksOnAndOn,
  linksToTheSamePage,
  neverForgets,
  neverUpdatesItsIndex,
  sortsIdsAsText,
  takesAfterAsUnsigned,
  takesWildcards,
  takesWildcardsInTags,
} from './wrong-lists.ts'

describe('plantstore verify of a server that', async () => {
  const { failuresOf, ...server } = await startRight()

  after(() => server[Symbol.asyncDispose]())

  const filters = {
    pages: 'a list follows its links to the end, in the order of the ids, and keeps its filters',
    limit: 'a page has 100 plants at most, unless it is asked for more',
    tags: 'a tag lists exactly the plants that have it',
    literal: 'a name prefix may contain any characters, and none is a wildcard',
    changed: 'a replaced plant is listed only by its new tag and name, a deleted plant not at all',
  }
  for (const [what, behave, rows] of [
    ['takes % and _ in a name for wildcards', takesWildcards, [filters.literal]],
    ['takes % in a tag for a wildcard', takesWildcardsInTags, [filters.tags]],
    ['lists plants in the order of the texts of their ids', sortsIdsAsText, [filters.pages]],
    ['lists nothing after a negative id', takesAfterAsUnsigned, [filters.pages]],
    ['ignores the limit of a page', ignoresLimits, [filters.pages, filters.limit]],
    ['links from a page to the same page', linksToTheSamePage, [filters.pages, filters.limit]],
    ['links on and on, without an end', linksOnAndOn(), [filters.pages]],
    ['forgets filters in the links of its pages', forgetsFiltersInLinks, [filters.pages, filters.limit]],
    ['has pages of any length, unless it is asked for a limit', hasNoDefaultLimit, [filters.limit]],
    ['lists a plant by the tag that it once had', neverUpdatesItsIndex('tag'), [filters.changed]],
    ['lists a plant by the name that it once had', neverUpdatesItsIndex('name'), [filters.changed]],
    ['lists plants that were deleted', neverForgets(), [filters.changed]],
    ['has pages that are shorter than they may be does nothing wrong', hasShortPages, []],
  ] as const) {
    test(what, async () => {
      assert.deepEqual(await failuresOf(behave), rows)
    })
  }

  test('links in a circle is not followed round and round', async () => {
    let lists = 0
    await failuresOf((received, forward) => {
      if (received.target.startsWith('/plants?')) lists += 1
      return linksToTheSamePage(received, forward)
    })
    assert.ok(lists < 100, `${lists}`)
  })
})
