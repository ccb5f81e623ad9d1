// Kept pages: after any changes of any process, each is what a fresh read gives. A control that does not look at the
// changes must differ.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { PlantPage, PlantQuery, Store } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import { openReadable } from '../../src/store/sqlite/file/database.ts'
import { KeptPages, type KeptPagesLimits } from '../../src/store/sqlite/kept-pages.ts'
import { Pages } from '../../src/store/sqlite/pages.ts'
import { RecentChanges } from '../../src/store/sqlite/recent-changes.ts'
import { makeFolder } from '../support/folder.ts'
import { inRing } from '../support/ring.ts'
import { openTestStore } from '../support/store.ts'

type Step =
  | { readonly kind: 'list'; readonly query: PlantQuery; readonly meanwhile: 'nothing' | 'before' | 'after' }
  | { readonly kind: 'change'; readonly id: bigint; readonly tag: string | undefined; readonly isOther: boolean }
  | { readonly kind: 'delete'; readonly id: bigint }
  | { readonly kind: 'import'; readonly count: number }
  | { readonly kind: 'sweep' }

const id = fc.bigInt({ min: 0n, max: 12n })
const tag = fc.constantFrom('fern', 'moss', undefined)
/** Few, so that each comes again and again. */
const query: fc.Arbitrary<PlantQuery> = fc.constantFrom(
  { limit: 3 },
  { limit: 100 },
  { after: 5n, limit: 3 },
  { after: 2n, tag: 'fern', limit: 2 },
  { after: 2n ** 63n - 1n, limit: 1 },
)
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constant('list' as const),
        query,
        meanwhile: fc.constantFrom('nothing' as const, 'nothing' as const, 'before' as const, 'after' as const),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), id, tag, isOther: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), id }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('import' as const), count: fc.constantFrom(2, 5_000) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
  ),
  { minLength: 20, maxLength: 60 },
)

interface Stores extends AsyncDisposable {
  readonly path: string
  readonly store: Store
  /** That of another process. */
  readonly other: Store
}

async function openStores(): Promise<Stores> {
  const folder = await makeFolder()
  const path = folder.file('plants.db')
  const store = await openTestStore(path)
  const other = await openTestStore(path, { exclusive: false })
  return {
    path,
    store,
    other,
    [Symbol.asyncDispose]: async () => {
      await other.close()
      await store.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** Takes steps. Returns how often a page was kept; throws when one is not what it should be. */
async function take(
  { path, store, other }: Stores,
  taken: readonly Step[],
  own: KeptPagesLimits,
  isBlind = false,
): Promise<number> {
  using reader = openReadable(path, limits.storeBusyMsMax)
  const changes = new RecentChanges(reader)
  if (isBlind) changes.mayHaveChanged = () => false
  const kept = new KeptPages(changes, own)
  const pages = new Pages(reader, limits)
  let found = 0
  let names = 0
  const put = async (target: Store, id: bigint, tag: string | undefined): Promise<void> => {
    names += 1
    const plant = { id, name: `n${names}`, ...(tag !== undefined && { tag }) }
    await target.createPlant(plant).catch(() => target.replacePlant(plant))
  }
  const list = async (query: PlantQuery, meanwhile: string): Promise<PlantPage> => {
    const page = kept.find(query)
    if (page !== undefined) {
      found += 1
      return page
    }
    const atChange = kept.newestChange()
    if (meanwhile === 'before') await put(other, 3n, 'fern')
    const made = pages.list(query)
    if (meanwhile === 'after') await put(other, 3n, 'moss')
    kept.keep(query, made, atChange)
    return meanwhile === 'after' ? pages.list(query).page : made.page
  }
  for (const step of taken) {
    switch (step.kind) {
      case 'list':
        assert.deepEqual(await list(step.query, step.meanwhile), pages.list(step.query).page)
        break
      case 'change':
        await put(step.isOther ? other : store, step.id, step.tag)
        break
      case 'delete':
        await store.deletePlant(step.id).catch(() => {})
        break
      case 'import': {
        const bulk = await other.beginImport({ isWhole: false })
        const plants = Array.from({ length: step.count }, (_, at) => ({ id: BigInt(at) * 2n, name: 'imported' }))
        await bulk.add(plants, 'replace')
        await bulk.commit()
        await bulk.end()
        break
      }
      case 'sweep':
        while (await store.sweepChanges(Date.now() + 1_000)) {}
    }
  }
  return found
}

describe('a kept page', () => {
  for (const [what, own] of [
    ['of many', limits],
    ['of few', { ...limits, keptPagesBytesMax: 300, keptPageQueriesMax: 2 }],
  ] as const) {
    test(`${what} is what a fresh read gives, whatever has changed`, async () => {
      await using stores = await openStores()
      let found = 0
      await fc.assert(
        fc.asyncProperty(steps, async (taken) => {
          found += await take(stores, taken, own)
        }),
        { numRuns: inRing(6, 150) },
      )
      assert.ok(found > 5, `${found} were kept`)
    })
  }

  test('control: one that is kept whatever has changed differs', async () => {
    await using stores = await openStores()
    await assert.rejects(
      fc.assert(
        fc.asyncProperty(steps, async (taken) => {
          await take(stores, taken, limits, true)
        }),
        { numRuns: 50, endOnFailure: true },
      ),
    )
  })

  test('is kept from the third time on, stays while other plants change, and takes no more than its bytes', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'), { limits: { ...limits, keptPagesBytesMax: 600 } })
    for (let id = 1n; id <= 40n; id += 1n) await store.createPlant({ id, name: 'a fern of the woods', tag: 'fern' })
    const first: PlantQuery = { limit: 5 }
    const [once, twice, thrice, again] = [first, first, first, first].map((query) => store.listPlants(query))
    assert.notEqual(once, twice)
    assert.equal(thrice, twice)
    assert.equal(again, twice)
    await store.replacePlant({ id: 30n, name: 'far away' })
    assert.equal(store.listPlants(first), twice)
    // The first plant behind a page decides whether it has a next one.
    await store.deletePlant(6n)
    assert.notEqual(store.listPlants(first), twice)
    const kept = store.listPlants(first)
    assert.equal(store.listPlants(first), kept)
    for (const after of [5n, 5n, 10n, 10n, 15n, 15n]) await store.listPlants({ after, limit: 5 })
    assert.notEqual(store.listPlants(first), kept)
  })

  test('of many plants comes from its thread the second time, and then at once', async () => {
    await using folder = await makeFolder()
    await using store = await openTestStore(folder.file('plants.db'))
    await store.createPlant({ id: 1n, name: 'fern' })
    const long: PlantQuery = { limit: 1_000 }
    await store.listPlants(long)
    const page = await store.listPlants(long)
    assert.equal(store.listPlants(long), page)
    await store.createPlant({ id: 2n ** 63n - 1n, name: 'moss' })
    assert.equal(JSON.parse(Buffer.from((await store.listPlants(long)).json).toString()).length, 2)
  })
})
