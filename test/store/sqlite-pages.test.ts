// Lists of the SQLite engine: each query by its index, and pages that stay cheap in a large store.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { getPriority, platform } from 'node:os'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { AppError } from '../../src/domain/errors.ts'
import type { PlantQuery } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import { openWritable } from '../../src/store/sqlite/file/database.ts'
import { pageQueries } from '../../src/store/sqlite/pages.ts'
import { onFolder } from '../support/folder.ts'
import { listPage, readPage, toPlant } from '../support/plants.ts'
import { importPlants, onPath, onStore, openTestStore, readPlant } from '../support/store.ts'
import { rejectsWith, TestClock } from './suite.ts'

/** What SQLite says it does for each query; a SCAN of the table would grow with the store. */
const plans: Readonly<Record<keyof typeof pageQueries, RegExp | string>> = {
  byId: inSteps(
    'SEARCH plants USING INTEGER PRIMARY KEY (rowid>?)',
    'SEARCH plants USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
    'SEARCH plants USING INTEGER PRIMARY KEY (rowid>?)',
  ),
  byTag: inSteps(
    'SEARCH plants USING COVERING INDEX plants_by_tag (<expr>=? AND rowid>?)',
    'SEARCH plants USING INDEX plants_by_tag (<expr>=? AND rowid>? AND rowid<?)',
    'SEARCH plants USING COVERING INDEX plants_by_tag (<expr>=? AND rowid>?)',
  ),
  rowsById: /^SEARCH plants USING INTEGER PRIMARY KEY \(rowid>\?\)$/,
  rowsByTag: /^SEARCH plants USING INDEX plants_by_tag \(<expr>=\? AND rowid>\?\)$/,
  countByName: /SEARCH names USING PRIMARY KEY \(head>\? AND head<\?\)/,
  idsByName: /^SEARCH names USING PRIMARY KEY \(head>\? AND head<\?\)\nUSE TEMP B-TREE FOR ORDER BY$/,
  // Each SCAN reads one row, the first or the last: none sorts.
  size: /^SEARCH plant_counts USING PRIMARY KEY \(of=\?\)(\nSCALAR SUBQUERY \d\nSCAN changes){2}$/m,
  // It sorts, and keeps no more than it gives.
  summary: /^SEARCH plant_counts USING PRIMARY KEY \(of>\? AND of<\?\)\n(.*\n){2}USE TEMP B-TREE FOR ORDER BY$/m,
  plantById: /^SEARCH plants USING INTEGER PRIMARY KEY \(rowid=\?\)$/,
}

/** The steps of a page: its last id, its plants, whether there are more. None sorts: plants come as they are read. */
function inSteps(last: string, plants: string, more: string): string {
  const steps = ['MATERIALIZE page', 'SCAN CONSTANT ROW', 'SCALAR SUBQUERY 1', last, 'SCAN page']
  const correlated = 'CORRELATED SCALAR SUBQUERY'
  return [...steps, `${correlated} 3`, plants, `${correlated} 4`, more].join('\n')
}

describe('the pages of SQLite', () => {
  for (const [name, sql] of Object.entries(pageQueries)) {
    onPath(`${name} goes by an index`, async (path) => {
      using database = openWritable(path, limits.storeBusyMsMax)
      const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
      const steps = rows.map((row) => row['detail']).join('\n')
      const plan = plans[name as keyof typeof plans]
      if (typeof plan === 'string') assert.equal(steps, plan)
      else assert.match(steps, plan)
    })
  }

  onPath('a summary of more tags than it looks at says that it is not exact', async (path) => {
    const own = { summaryTagsCounted: 3, quickSummaryTagsMax: 3, summaryTagsMax: 2 }
    await using store = await openTestStore(path, { clock: new TestClock(), limits: own })
    const create = (tag: string, id: number) => store.createPlant(toPlant({ id: BigInt(id), name: 'a', tag }))
    await Promise.all(['a', 'b', 'c', 'c'].map(create))
    const tags = [
      { tag: 'c', plants: 2 },
      { tag: 'a', plants: 1 },
    ]
    assert.deepEqual(await store.getSummary(), { plants: 4, tags, isExact: true })
    await create('d', 4)
    assert.deepEqual(await store.getSummary(), { plants: 5, tags, isExact: false })
  })

  onPath('a summary of the longest tags hardly takes the main thread, and a plant waits for none', async (path) => {
    await using store = await openTestStore(path, { clock: new TestClock() })
    const tagOf = (id: number): string => `${'\u{1f33f}'.repeat(250)}${String(id).padStart(6, '0')}`
    const ids = [...Array(limits.summaryTagsCounted).keys()]
    const plants = ids.map((id) => ({ id: BigInt(id), name: 'n', tag: tagOf(id) }))
    await importPlants(store, [...plants, { id: -1n, name: 'n', tag: tagOf(9_999) }])
    // Starts the thread.
    const { tags, ...others } = await store.getSummary()
    assert.deepEqual(others, { plants: 10_001, isExact: true })
    const [most, ...rest] = tags
    assert.deepEqual(most, { tag: tagOf(9_999), plants: 2 })
    const expected = Array.from({ length: 99 }, (_, id) => ({ tag: tagOf(id), plants: 1 }))
    assert.deepEqual(rest, expected)
    // The least of some: a thread's CPU time also has what the kernel does meanwhile for others.
    let cpuMsMin = Number.POSITIVE_INFINITY
    for (let asked = 0; asked < 5; asked += 1) {
      const before = process.threadCpuUsage()
      await store.getSummary()
      const { user, system } = process.threadCpuUsage(before)
      cpuMsMin = Math.min(cpuMsMin, (user + system) / 1_000)
    }
    assert.ok(cpuMsMin < 5, `${cpuMsMin} ms`)
    const done: string[] = []
    const asked = Array.from({ length: 4 }, () => store.getSummary().then(() => done.push('summary')))
    await readPlant(store, 1n).then(() => done.push('plant'))
    assert.deepEqual(done, ['plant'])
    await Promise.all(asked)
  })
})

describe('the threads that make pages of a file', () => {
  const long = { tag: 'shade', limit: 1_000 }

  onPath('as many lists wait for each other as may, and the others are refused', async (path) => {
    await using store = await openTestStore(path, { limits: { listsMax: 5 } })
    await store.createPlant(toPlant({ id: 1n, name: 'n', tag: 'shade' }))
    const lists = await Promise.allSettled(Array.from({ length: 8 }, () => store.listPlants(long)))
    const outcomes = lists.map((list) => (list.status === 'fulfilled' ? 'listed' : (list.reason as AppError).code))
    assert.deepEqual(outcomes, [...Array(5).fill('listed'), ...Array(3).fill('overloaded')])
    assert.equal((await listPage(store, long)).length, 1)
  })

  onStore('a list waits for no search, and a short one for no list', async (store) => {
    const plants = Array.from({ length: 12_000 }, (_, id) => ({ id: BigInt(id), name: 'fern' }))
    await importPlants(store, plants)
    // Starts both threads.
    await Promise.all([store.listPlants({ namePrefix: 'fern', ...long }), store.listPlants(long)])
    /** Returns what was answered last. */
    const askAll = async (): Promise<string | undefined> => {
      const done: string[] = []
      const noted = (what: string, query: PlantQuery) => readPage(store, query).then(() => done.push(what))
      // Each looks at 10,000 plants.
      const search: PlantQuery = { namePrefix: 'fern', tag: 'of none', limit: 1 }
      const searches = Array.from({ length: 30 }, () => noted('search', search))
      const lists = [noted('list', long), noted('list', long)]
      await noted('short list', { limit: 1 })
      assert.deepEqual(done, ['short list'])
      await Promise.all([...searches, ...lists])
      return done.at(-1)
    }
    // A busy machine may leave the thread of the lists without time for once.
    for (let times = 1; (await askAll()) !== 'search'; times += 1) assert.ok(times < 5, 'the lists waited each time')
  })

  onStore('a page of large plants comes from a thread once their size is known', async (store) => {
    const names = [...Array(100).fill('n'), ...Array(1_001).fill('n'.repeat(1_024))]
    const plants = names.map((name, at) => ({ id: BigInt(at - 100), name }))
    await importPlants(store, plants)
    const isQuick = async (query: PlantQuery): Promise<boolean> => {
      const page = store.listPlants(query)
      await page
      return !(page instanceof Promise)
    }
    assert.ok(await isQuick({ limit: 1_000 }))
    assert.ok(!(await isQuick({ limit: 1_000 })))
    assert.ok(await isQuick({ limit: 100, after: 0n }))
    // The last page has few plants, and the first hundred are small.
    assert.ok(await isQuick({ limit: 100, after: 990n }))
    for (let times = 0; times < 100; times += 1) assert.ok(await isQuick({ limit: 99 }))
    assert.ok(!(await isQuick({ limit: 1_000 })))
  })

  onFolder('they give way to other threads, on Linux', { skip: platform() !== 'linux' }, async (folder) => {
    await using store = await openTestStore(folder.file('plants.db'))
    await Promise.all([store.listPlants(long), store.listPlants({ namePrefix: 'n', limit: 1 })])
    const tasks = globSync('/proc/self/task/*').map((task) => ({
      name: readFileSync(`${task}/comm`, 'utf8').trim(),
      // proc_pid_stat(5): the 19th field, the 17th after the name in brackets.
      niceness: Number(readFileSync(`${task}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[16]),
    }))
    const nicenessOf = (name: string) => tasks.find((task) => task.name.startsWith(name))?.niceness
    const own = getPriority(0)
    assert.deepEqual(['plantstore-list', 'plantstore-sear', 'plantstore-writ'].map(nicenessOf), [
      Math.max(own, 10),
      Math.max(own, 10),
      own,
    ])
  })

  onStore('of one that dies, no request waits for ever, and the next one starts another', async (store) => {
    await store.createPlant(toPlant({ id: 1n, name: 'n', tag: 'shade' }))
    const inTime = async <T>(settled: Promise<T>): Promise<T> => {
      const isLate = Symbol('late')
      const result = await Promise.race([settled, sleep(10_000, isLate, { ref: false })])
      assert.ok(result !== isLate, 'a request still waits after 10 s')
      return result as T
    }
    for (const query of [long, { namePrefix: 'n', limit: 1 }]) {
      // The process tells of each thread that it starts.
      const started = once(process, 'worker') as Promise<[Worker]>
      const pages = Promise.allSettled(Array.from({ length: 5 }, () => readPage(store, query)))
      const [thread] = await started
      await thread.terminate()
      for (const page of await inTime(pages)) {
        assert.equal(page.status === 'rejected' && page.reason.code, 'overloaded')
      }
      assert.equal((await inTime(listPage(store, query))).length, 1)
    }
  })

  onPath('closing leaves nobody waiting', async (path) => {
    const store = await openTestStore(path)
    const queries = [long, { namePrefix: 'n', limit: 1 }]
    const pages = Array.from({ length: 20 }, () => queries.map((query) => readPage(store, query))).flat()
    const settled = Promise.allSettled(pages)
    await store.close()
    for (const page of await settled) {
      if (page.status === 'rejected') assert.equal((page.reason as AppError).code, 'overloaded')
    }
    await rejectsWith(readPage(store, long), 'shuttingDown')
  })
})
