// Lists of the SQLite engine: each query by its index, and pages that stay cheap in a large store.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../src/limits.ts'
import { openWritable } from '../../src/store/sqlite/database.ts'
import { pageQueries } from '../../src/store/sqlite/pages.ts'
import { makeFolder } from '../support/folder.ts'
import { openTestStore } from '../support/store.ts'
import { TestClock, walk } from './suite.ts'

/** What SQLite says it does for each query; a SCAN of the table would grow with the store. */
const plans: Readonly<Record<keyof typeof pageQueries, RegExp>> = {
  byId: /^SEARCH plants USING INTEGER PRIMARY KEY \(rowid>\?\)$/,
  byTag: /^SEARCH plants USING INDEX plants_by_tag \(tag=\? AND rowid>\?\)$/,
  countByName: /SEARCH plants USING COVERING INDEX plants_by_name \(name_head>\? AND name_head<\?\)/,
  idsByName:
    /^SEARCH plants USING COVERING INDEX plants_by_name \(name_head>\? AND name_head<\?\)\nUSE TEMP B-TREE FOR ORDER BY$/,
  plantCount: /^SEARCH plant_counts USING PRIMARY KEY \(of=\?\)$/,
  tagCounts: /^SEARCH plant_counts USING PRIMARY KEY \(of>\?\)$/,
  plantById: /^SEARCH plants USING INTEGER PRIMARY KEY \(rowid=\?\)$/,
  scan: /^SEARCH plants USING INTEGER PRIMARY KEY \(rowid>\?\)$/,
  scanByTag: /^SEARCH plants USING INDEX plants_by_tag \(tag=\? AND rowid>\?\)$/,
}

describe('the pages of SQLite', () => {
  for (const [name, sql] of Object.entries(pageQueries)) {
    test(`${name} goes by an index`, async () => {
      await using folder = await makeFolder()
      const database = openWritable(folder.file('plants.db'), { ...limits, isAlone: true })
      const steps = database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => String(row['detail']))
      assert.match(steps.join('\n'), plans[name as keyof typeof plans])
      database.close()
    })
  }

  test('a summary of more tags than it looks at says that it is not exact', async () => {
    await using folder = await makeFolder()
    const own = { ...limits, summaryTagsCounted: 3, summaryTagsMax: 2 }
    await using store = await openTestStore(folder.file('plants.db'), { clock: new TestClock(), limits: own })
    const create = (tag: string, id: number) => store.createPlant({ id: BigInt(id), name: 'a', tag })
    await Promise.all(['a', 'b', 'c', 'c'].map(create))
    const tags = [
      { tag: 'c', plants: 2 },
      { tag: 'a', plants: 1 },
    ]
    assert.deepEqual(await store.getSummary(), { plants: 4, tags, isExact: true })
    await create('d', 4)
    assert.deepEqual(await store.getSummary(), { plants: 5, tags, isExact: false })
  })

  test('a search by name finds the same however few plants it may look at', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    const options = { exclusive: true, clock: new TestClock() }
    const expected: bigint[] = []
    {
      await using store = await openTestStore(path, { ...options, limits })
      for (let id = -200n; id < 200n; id += 1n) {
        const name = id % 3n === 0n ? `Ficus ${id}` : `Monstera ${id}`
        if (id % 3n === 0n && id % 2n === 0n) expected.push(id)
        await store.createPlant({ id, name, tag: id % 2n === 0n ? 'even' : 'odd' })
      }
      await store.createPlant({ id: 2n ** 63n - 1n, name: 'ficus of the end', tag: 'even' })
      expected.push(2n ** 63n - 1n)
    }
    for (const pageScanPlantsMax of [1, 7, 50, 1_000]) {
      await using store = await openTestStore(path, { ...options, limits: { ...limits, pageScanPlantsMax } })
      const query = { namePrefix: 'ficus', tag: 'even', limit: 10 }
      assert.deepEqual(await walk(store, query), expected, `${pageScanPlantsMax}`)
      const all = await walk(store, { namePrefix: 'FICUS', limit: 3 })
      assert.equal(all.length, 134, `${pageScanPlantsMax}`)
      const page = await store.listPlants({ namePrefix: 'monstera', limit: 1_000 })
      assert.ok(page.plants.length <= Math.max(pageScanPlantsMax, 267))
    }
  })
})
