// What every engine behind the Store interface has to do: src/domain/store.ts, as tests.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { ChangeQuery } from '../../src/domain/change.ts'
import type { Clock } from '../../src/domain/clock.ts'
import { AppError, type ErrorCode } from '../../src/domain/errors.ts'
import {
  foldName,
  int64Max,
  int64Min,
  namesOf,
  type Plant,
  type PlantNames,
  revisionOf,
} from '../../src/domain/plant.ts'
import type { PlantQuery, Store } from '../../src/domain/store.ts'
import { hashSecret, type Token } from '../../src/domain/token.ts'
import { beginAfter, type Webhook } from '../../src/domain/webhook.ts'
import type { Limits } from '../../src/limits.ts'
import type { NewPlant } from '../../verify/plant.ts'
import { changesOf, listPage, plantsOf, toPlant } from '../support/plants.ts'
import { inRing } from '../support/ring.ts'
import { importPlants, readPlant } from '../support/store.ts'
import { Model, type Step, step } from './model.ts'

export interface Engine {
  readonly name: string
  /** Makes an empty place for a store; it is gone when its scope is left. */
  makePlace(): Promise<Place>
}

export interface Place extends AsyncDisposable {
  /** Opens the store there, as often as the test asks, one after the other. */
  open(clock: Clock, limits?: Partial<Limits>): Promise<Store>
}

const allChanges = { after: undefined, kind: undefined, limit: 100 } as const

/** Characters that JSON, UTF-8 or a database might treat in a way of their own. */
const oddCharacter = fc.oneof(
  fc.integer({ min: 1, max: 0x9f }).map((code) => String.fromCharCode(code)),
  fc.constantFrom(
    ...'"\\/\'{}[],:%$\u2028\u2029\ufeff\ud7ff\ue000\ufffd\uffff',
    '\u{10000}',
    '\u{1f33f}',
    '\u{10ffff}',
  ),
)
const oddText = fc.oneof(
  fc.array(oddCharacter, { maxLength: 20 }).map((characters) => characters.join('')),
  fc.constantFrom('', 'null', '","tag":null}', '\\u0000', '\\'),
)

/** A plant whose texts are hard to write, and whose id may be at an end of int64. */
const oddPlant: fc.Arbitrary<NewPlant> = fc
  .record(
    {
      id: fc.oneof(fc.bigInt({ min: int64Min, max: int64Max }), fc.constantFrom(int64Min, -1n, 0n, int64Max)),
      name: oddText,
      tag: oddText,
    },
    { requiredKeys: ['id', 'name'] },
  )
  .map(({ id, name, tag }) => (tag === undefined ? { id, name } : { id, name, tag }))

export function newWebhook(id: string): Webhook {
  return {
    id,
    name: 'n',
    url: 'https://receiver.example/',
    kinds: ['created', 'deleted'],
    secrets: [{ secret: 'whsec_c2VjcmV0' }],
    createdAtMs: 1,
    progress: beginAfter(undefined),
  }
}

export function storeSuite({ name, makePlace }: Engine): void {
  describe(`the store suite on ${name}`, () => {
    const onStore = (title: string, run: (store: Store, clock: TestClock) => Promise<void>): void => {
      test(title, async () => {
        const clock = new TestClock()
        await using place = await makePlace()
        await using store = await place.open(clock)
        await run(store, clock)
      })
    }

    onStore('whatever is done at once or in a row comes to what it comes to in a model', async (store, clock) => {
      const model = new Model()
      let after: string | undefined = (await store.listChanges({ ...allChanges, after: 'now' })).next
      for (const steps of fc.sample(fc.array(step, { minLength: 5, maxLength: 25 }), inRing(20, 60))) {
        await takeAll(store, model, clock, steps)
        for (const { id } of steps.map((each) => each.plant)) {
          assert.equal((await store.getPlant(id))?.json, model.plants.get(id))
        }
        const { name, tag } = steps[0]?.plant ?? {}
        for (const query of [{}, { tag: tag ?? '' }, { namePrefix: name?.slice(0, 2) }, { namePrefix: name, tag }]) {
          const plants = await listAll(store, { ...query, limit: 2 })
          const texts = plants.map((plant) => toPlant({ ...plant }).json)
          assert.deepEqual(texts, model.list(query))
        }
        assert.deepEqual(await exported(store), model.list())
        assert.deepEqual(await store.getSummary(), model.summary())
        const { changes, next } = await store.listChanges({ ...allChanges, after, limit: 1_000 })
        // An import may make new plants first: only the changes of each plant are in order.
        const byPlant = (some: readonly { readonly plant: string }[]) =>
          Object.groupBy(some, ({ plant }) => idIn(plant))
        const told = changesOf(changes).map(({ plant, ...rest }) => ({ ...rest, plant: toPlant({ ...plant }).json }))
        assert.deepEqual(byPlant(told), byPlant(model.changes.splice(0)))
        after = next
      }
    })

    onStore('from any position the log goes on with the next change, whatever the pages', async (store) => {
      const creates = Array.from({ length: 40 }, (_, id) => ({ id: BigInt(id), name: `${id}` }))
      for (const some of [creates.slice(0, 3), creates.slice(3, 4), creates.slice(4)]) {
        await Promise.all(some.map((plant) => store.createPlant(toPlant(plant))))
      }
      await Promise.all(creates.slice(10, 20).map(({ id }) => store.deletePlant(id)))
      const { changes: all, next, isLast } = await store.listChanges(allChanges)
      assert.deepEqual([all.length, isLast, next], [50, true, all.at(-1)?.position])
      const short = await store.listChanges({ ...allChanges, charactersMax: 1 })
      assert.deepEqual([short.changes, short.isLast], [all.slice(0, short.changes.length), false])
      for (const kind of [undefined, 'deleted', 'replaced'] as const) {
        const wanted = all.filter((change) => kind === undefined || change.kind === kind)
        for (const limit of [1, 7, 50]) {
          const found: unknown[] = []
          let query: ChangeQuery = { after: undefined, kind, limit }
          for (let isLastPage = false; !isLastPage; ) {
            const page = await store.listChanges(query)
            assert.ok(page.changes.length <= limit)
            found.push(...page.changes)
            query = { ...query, after: page.next }
            isLastPage = page.isLast
          }
          assert.deepEqual(found, wanted)
          assert.equal(query.after, next)
        }
      }
      for (const [index, { position }] of all.entries()) {
        const page = await store.listChanges({ ...allChanges, after: position })
        assert.deepEqual(page.changes, all.slice(index + 1))
      }
    })

    onStore('the position of now is before every later change, also in a new store', async (store) => {
      const now = await store.listChanges({ ...allChanges, after: 'now' })
      assert.deepEqual(now.changes, [])
      assert.deepEqual(await store.listChanges(allChanges), now)
      assert.deepEqual(await store.listChanges({ ...allChanges, after: now.next }), now)
      await store.createPlant(toPlant({ id: 1n, name: 'n' }))
      assert.equal((await store.listChanges({ ...allChanges, after: now.next })).changes.length, 1)
      const later = await store.listChanges({ ...allChanges, after: 'now' })
      assert.notEqual(later.next, now.next)
      assert.deepEqual((await store.listChanges({ ...allChanges, after: later.next })).changes, [])
    })

    onStore('what is no position is gone, like one of another log', async (store, clock) => {
      clock.wall = 1_700_000_000_000
      await Promise.all([1n, 2n].map((id) => store.createPlant(toPlant({ id, name: 'n' }))))
      const { next } = await store.listChanges({ ...allChanges, after: 'now' })
      const [number, time] = next.split('-')
      for (const after of [
        '',
        '1',
        'now ',
        'NOW',
        '-1',
        `${next}-`,
        `0${next}`,
        `${next}\n`,
        '1-',
        '９-a',
        `${'9'.repeat(19)}-a`,
        `${Number(number) + 1}-${time}`,
        `${number}-0`,
        `1-${time}`,
        `${'9'.repeat(18)}-${time}`,
      ]) {
        await rejectsWith(store.listChanges({ ...allChanges, after }), 'positionGone')
      }
    })

    onStore('old changes are swept, but a reader who has read them all goes on', async (store, clock) => {
      clock.wall = 1_700_000_000_000
      const first = await store.listChanges(allChanges)
      await store.createPlant(toPlant({ id: 1n, name: 'n' }))
      clock.wall += 1_000
      await store.createPlant(toPlant({ id: 2n, name: 'n' }))
      const { changes, next } = await store.listChanges(allChanges)
      clock.wall += 1_000
      assert.equal(await store.sweepChanges(clock.wall - 1_000), false)
      await rejectsWith(store.listChanges({ ...allChanges, after: first.next }), 'positionGone')
      await rejectsWith(store.listChanges({ ...allChanges, after: changes[0]?.position ?? '' }), 'positionGone')
      assert.deepEqual((await store.listChanges({ ...allChanges, after: next })).changes, [])
      await store.createPlant(toPlant({ id: 3n, name: 'n' }))
      assert.equal((await store.listChanges({ ...allChanges, after: next })).changes.length, 1)
      assert.equal((await store.listChanges(allChanges)).changes.length, 2)
      for (let id = 4n; id < 600n; id += 1n) await store.createPlant(toPlant({ id, name: 'n' }))
      clock.wall += 1_000
      assert.equal(await store.sweepChanges(clock.wall), true)
      while (await store.sweepChanges(clock.wall)) {}
      assert.equal((await store.listChanges(allChanges)).changes.length, 1)
    })

    onStore('a clock that was set back leaves no hole in the log', async (store, clock) => {
      const startMs = 1_700_000_000_000
      for (const [id, afterMs] of [0, 100_000, 100_000, 500, 600].entries()) {
        clock.wall = startMs + afterMs
        await store.createPlant(toPlant({ id: BigInt(id), name: 'n' }))
      }
      const { changes, next } = await store.listChanges(allChanges)
      const first = changes[0]?.position ?? ''
      while (await store.sweepChanges(startMs + 1_000)) {}
      assert.deepEqual((await store.listChanges({ ...allChanges, after: first })).changes, changes.slice(1))
      while (await store.sweepChanges(startMs + 100_000)) {}
      await rejectsWith(store.listChanges({ ...allChanges, after: first }), 'positionGone')
      assert.deepEqual((await store.listChanges({ ...allChanges, after: next })).changes, [])
    })

    onStore('a clock that was years ahead for a moment keeps no change for ever', async (store, clock) => {
      const startMs = 1_700_000_000_000
      const yearsMs = 1_000_000_000_000
      for (const [id, afterMs] of [0, yearsMs, yearsMs, 1_000, 2_000].entries()) {
        clock.wall = startMs + afterMs
        await store.createPlant(toPlant({ id: BigInt(id), name: 'n' }))
      }
      const { changes, next } = await store.listChanges(allChanges)
      while (await store.sweepChanges(startMs + 1_500)) {}
      assert.deepEqual((await store.listChanges(allChanges)).changes, changes.slice(1))
      while (await store.sweepChanges(startMs + 2_000)) {}
      assert.deepEqual((await store.listChanges(allChanges)).changes, changes.slice(4))
      assert.deepEqual((await store.listChanges({ ...allChanges, after: next })).changes, [])
      clock.wall = 0
      assert.equal(await store.sweepChanges(startMs + 2_000), false)
    })

    onStore('the log says how many bytes it has', async (store, clock) => {
      const before = (await store.measure()).changesBytes
      const first = await store.listChanges(allChanges)
      for (const id of [1n, 2n]) await store.createPlant(toPlant({ id, name: '🌿'.repeat(1_000) }))
      await store.listChanges(allChanges)
      const bytes = (await store.measure()).changesBytes - before
      assert.ok(bytes > 8_000 && bytes < 8_200, `${bytes} bytes`)
      clock.wall += 1_000
      while (await store.sweepChanges(clock.wall)) {}
      await rejectsWith(store.listChanges({ ...allChanges, after: first.next }), 'positionGone')
      assert.equal((await store.measure()).changesBytes, 0)
    })

    onStore('changes that are needed are not swept', async (store, clock) => {
      clock.wall = 1_700_000_000_000
      const plants = [1n, 2n, 3n, 4n].map((id) => ({ id, name: 'n' }))
      for (const plant of plants) await store.createPlant(toPlant(plant))
      const { changes } = await store.listChanges(allChanges)
      clock.wall += 60_000
      const [, second, third] = changes.map(({ position }) => position)
      while (await store.sweepChanges(clock.wall, [third as string, second as string])) {}
      const kept = await store.listChanges({ ...allChanges, after: second })
      assert.deepEqual(kept.changes, changes.slice(2))
      while (await store.sweepChanges(clock.wall)) {}
      await rejectsWith(store.listChanges({ ...allChanges, after: second }), 'positionGone')
    })

    onStore('a webhook is replaced only in the version that was read', async (store) => {
      const hook = { ...newWebhook('hook_1'), name: 'a "name"\n\u2028 🌿' }
      await store.addWebhook(hook)
      await store.addWebhook(newWebhook('hook_0'))
      await assert.rejects(store.addWebhook(hook))
      assert.deepEqual(await store.listWebhooks(), [
        { ...hook, version: 1 },
        { ...newWebhook('hook_0'), version: 1 },
      ])
      const writes = ['a', 'b', 'c'].map((owner) => store.replaceWebhook({ ...hook, owner }, 1))
      assert.equal((await Promise.all(writes)).filter((isDone) => isDone).length, 1)
      assert.equal(await store.replaceWebhook(hook, 1), false)
      assert.equal(await store.replaceWebhook(newWebhook('unknown'), 1), false)
      assert.equal(await store.replaceWebhook(hook, 2), true)
      assert.deepEqual((await store.listWebhooks())[0], { ...hook, version: 3 })
      const removed = await Promise.all(['hook_1', 'hook_1', 'x'].map((id) => store.removeWebhook(id)))
      assert.deepEqual(removed, [true, false, false])
      assert.equal(await store.replaceWebhook(hook, 3), false)
      const ids = (await store.listWebhooks()).map(({ id }) => id)
      assert.deepEqual(ids, ['hook_0'])
    })

    onStore('a page of long changes is cut short, not empty', async (store) => {
      const name = '\u0001'.repeat(1_024)
      await Promise.all(Array.from({ length: 400 }, (_, id) => store.createPlant(toPlant({ id: BigInt(id), name }))))
      const query = { ...allChanges, limit: 1_000 }
      const page = await store.listChanges(query)
      assert.ok(page.changes.length > 0 && page.changes.length < 400 && !page.isLast)
      const rest = await store.listChanges({ ...query, after: page.next })
      assert.ok(rest.changes.length > 0)
    })

    onStore('the revision of a page is another one when its plants or its end change, and only then', async (store) => {
      const plant = (id: bigint, name: string, tag?: string) => toPlant({ id, name, tag })
      const revision = async (): Promise<string> => (await store.listPlants({ limit: 2 })).revision
      const seen = [await revision()]
      for (const [change, isChanged] of [
        [() => store.createPlant(plant(1n, 'fern')), true],
        [() => store.createPlant(plant(2n, 'moss')), true],
        // There is a next page now.
        [() => store.createPlant(plant(3n, 'far away')), true],
        [() => store.replacePlant(plant(3n, 'still far away')), false],
        [() => store.replacePlant(plant(2n, 'moss', 'moss')), true],
        [() => store.deletePlant(1n), true],
        [() => store.createPlant(plant(1n, 'fern')).then(() => store.deletePlant(3n)), true],
      ] as const) {
        await change()
        // A page that is asked for again and again may be a kept one.
        const [found = '', ...again] = [await revision(), await revision(), await revision()]
        assert.deepEqual(again, [found, found])
        assert.equal(seen.includes(found), !isChanged, `${seen.length}`)
        seen.push(found)
      }
      await store.replacePlant(plant(2n, 'moss'))
      assert.equal(await revision(), seen[2])
    })

    onStore('a page has the texts of its plants', async (store) => {
      const plants = fc.uniqueArray(oddPlant, { selector: ({ id }) => id, maxLength: 30 })
      await fc.assert(
        fc.asyncProperty(plants, async (some) => {
          const plain = some.map((plant) => ({ ...plant }))
          await importPlants(store, plain, 'replace')
          const all = (await Array.fromAsync(store.exportPlants())).flat()
          const byNames = (isWanted: (names: PlantNames) => boolean): Plant[] =>
            all.filter(({ json }) => isWanted(namesOf(json)))
          for (const { tag, name } of some.slice(0, 3)) {
            // A short one and a long one: a store may make them in different ways.
            for (const limit of [20, 1_000]) {
              await assertPage(store, { limit }, all)
              const tagged = byNames((plant) => plant.tag === tag)
              if (tag !== undefined) await assertPage(store, { tag, limit }, tagged)
              const named = byNames((plant) => foldName(plant.name).startsWith(foldName(name)))
              await assertPage(store, { namePrefix: name, limit }, named)
            }
          }
        }),
        { numRuns: inRing(10, 30) },
      )
    })

    test('a search by name finds the same however few plants it may look at', async () => {
      await using place = await makePlace()
      const plants = Array.from({ length: 300 }, (_, index) => ({
        id: BigInt(index - 150),
        name: index % 4 === 0 ? `Ficus ${index}` : 'Moss',
        ...(index % 3 === 0 && { tag: 't' }),
      }))
      {
        await using store = await place.open(new TestClock())
        await importPlants(store, [...plants, { id: int64Max, name: 'ficus of the end', tag: 't' }])
      }
      for (const pageScanPlantsMax of [1, 50]) {
        await using store = await place.open(new TestClock(), { pageScanPlantsMax })
        for (const tag of [undefined, 't']) {
          const isFound = (plant: NewPlant) => plant.name !== 'Moss' && (tag === undefined || plant.tag === tag)
          const expected = [...plants.filter(isFound).map(({ id }) => id), int64Max]
          assert.deepEqual(await walk(store, { namePrefix: 'FICUS', tag, limit: 3 }), expected, `${pageScanPlantsMax}`)
        }
      }
    })

    onStore('an import keeps what is committed and nothing else', async (store) => {
      await store.createPlant(toPlant({ id: 1n, name: 'there' }))
      const bulk = await store.beginImport({ isWhole: true })
      const plants = [1n, 2n, 2n].map((id, at) => toPlant({ id, name: `imported ${at}` }))
      const outcomes = await bulk.add(plants, 'fail')
      assert.deepEqual(outcomes, ['idTaken', 'created', 'idTaken'])
      await bulk.commit()
      await bulk.add([toPlant({ id: 3n, name: 'not committed' })], 'fail')
      await bulk.end()
      assert.deepEqual(await walk(store, { limit: 9 }), [1n, 2n])
      assert.deepEqual(await readPlant(store, 1n), { name: 'there' })
      assert.equal((await store.listChanges(allChanges)).changes.length, 2)
    })

    onStore('a prefix is compared by its characters, whatever their order is elsewhere', async (store) => {
      const names = [...Array(128).keys()].slice(32).map((code) => `${String.fromCharCode(code)}x`.toLowerCase())
      const prefixes = [...new Set(names)]
      await Promise.all(prefixes.map((name, id) => store.createPlant(toPlant({ id: BigInt(id), name }))))
      for (const [id, name] of prefixes.entries()) {
        const plants = await listPage(store, { namePrefix: name.slice(0, 1), limit: 10 })
        assert.deepEqual(plants, [{ id: BigInt(id), name }])
      }
    })

    onStore('each of several exports is one moment, whatever is changed while it is read', async (store) => {
      const plants = Array.from({ length: 5_000 }, (_, id) => ({ id: BigInt(id), name: 'n' }))
      await importPlants(store, plants)
      const exports = [store.exportPlants(), store.exportPlants()].map((batches) => batches[Symbol.asyncIterator]())
      const seen: Plant[][] = []
      for (const batches of exports) seen.push([...((await batches.next()).value ?? [])])
      await store.deletePlant(4_990n)
      await store.replacePlant(toPlant({ id: 4_991n, name: 'm' }))
      await store.createPlant(toPlant({ id: 6_000n, name: 'n' }))
      assert.deepEqual(await readPlant(store, 6_000n), { name: 'n' })
      for await (const _ of store.exportPlants()) break
      for (const [index, batches] of exports.entries()) {
        for (let next = await batches.next(); !next.done; next = await batches.next()) seen[index]?.push(...next.value)
        assert.deepEqual(seen[index], plants.map(toPlant))
      }
      assert.equal(await store.createPlant(toPlant({ id: 6_001n, name: 'after' })), 'created')
    })

    onStore('an export ends at the greatest id, however many plants there are', async (store) => {
      for (const count of [999, 1, 999, 1]) {
        const first = int64Max - BigInt((await Array.fromAsync(store.exportPlants())).flat().length)
        const plants = Array.from({ length: count }, (_, index) => ({ id: first - BigInt(index), name: 'n' }))
        await importPlants(store, plants, 'skip')
        const ids = (await Array.fromAsync(store.exportPlants())).flat().map(({ id }) => id)
        assert.equal(ids.length, Number(int64Max - first) + count)
        assert.equal(ids.at(-1), int64Max)
      }
    })

    onStore('a token is found by its hash, listed by its age, and keeps its first revocation', async (store) => {
      const make = (createdAtMs: number): Token => makeToken({ createdAtMs, expiresAtMs: 2e12 })
      const [three, one, two] = [make(3), make(1), make(2)]
      const made = [store.createFirstToken(three), store.createFirstToken(one)]
      assert.deepEqual(await Promise.all(made), [true, false])
      assert.equal(await store.revokeToken(three.id, 1_000), true)
      for (const token of [one, two]) await store.createToken(token)
      const ages = (await store.listTokens()).map(({ createdAtMs }) => createdAtMs)
      assert.deepEqual(ages, [1, 2, 3])
      const found = await store.findToken(two.hash)
      assert.deepEqual(found && { ...found, hash: Buffer.from(found.hash) }, { ...two, version: 1 })
      assert.equal(await store.findToken(hashSecret('another')), undefined)
      assert.equal(await store.revokeToken(three.id, 2_000), true)
      assert.equal((await store.findToken(three.hash))?.revokedAtMs, 1_000)
      assert.equal(await store.revokeToken('tok_unknown', 1_000), false)
    })

    onStore(
      'a token that is rotated twice at once is so once; without an overlap it is revoked, and stays so',
      async (store) => {
        const [old, ...successors] = [makeToken({}), makeToken({}), makeToken({})]
        await store.createToken(old)
        const rotations = successors.map((successor) => ({ id: old.id, successor, atMs: 100, endsAtMs: 100 }))
        const outcomes = await Promise.all(rotations.map((rotation) => store.rotateToken(rotation)))
        assert.deepEqual(outcomes.toSorted(), ['done', 'revoked'])
        assert.equal(await store.revokeToken(old.id, 300), true)
        const now = await store.findToken(old.hash)
        const successor = successors[outcomes.indexOf('done')]
        assert.deepEqual([now?.revokedAtMs, now?.expiresAtMs, now?.replacedBy], [100, undefined, successor?.id])
        const again = makeToken({})
        await store.createToken(again)
        await store.revokeToken(again.id, 300)
        const late = { id: again.id, successor: makeToken({}), atMs: 400, endsAtMs: 500 }
        assert.equal(await store.rotateToken(late), 'revoked')
      },
    )

    onStore('a token that is rotated ends no later than it did', async (store) => {
      for (const [expiresAtMs, endsAtMs] of [
        [300, 200],
        [300, 400],
      ] as const) {
        const old = makeToken({ expiresAtMs })
        await store.createToken(old)
        assert.equal(await store.rotateToken({ id: old.id, successor: makeToken({}), atMs: 100, endsAtMs }), 'done')
        assert.equal((await store.findToken(old.hash))?.expiresAtMs, Math.min(expiresAtMs, endsAtMs))
      }
    })

    onStore('of the days on which a token was used the latest stays; unknown tokens are passed over', async (store) => {
      const [one, two] = [makeToken({}), makeToken({})]
      for (const token of [one, two]) await store.createToken(token)
      const note = (...days: [Token, number][]): Promise<void> =>
        store.noteTokenUses(new Map([['tok_unknown', 9], ...days.map(([{ id }, day]) => [id, day] as const)]))
      await note([one, 5])
      await Promise.all([note([one, 4], [two, 7]), note([one, 6]), store.createPlant(toPlant({ id: 1n, name: 'n' }))])
      await note([one, 3])
      const days = (await store.listTokens()).map(({ id, lastUsedDay }) => [id, lastUsedDay])
      assert.deepEqual(Object.fromEntries(days), { [one.id]: 6, [two.id]: 7 })
      assert.equal((await store.findToken(one.hash))?.lastUsedDay, 6)
    })

    test('closing lets what was submitted finish and refuses what comes later', async () => {
      const clock = new TestClock()
      await using place = await makePlace()
      const store = await place.open(clock)
      const plants = Array.from({ length: 50 }, (_, index) => toPlant({ id: BigInt(index), name: 'n' }))
      const creates = plants.map((plant) => store.createPlant(plant))
      const closed = store.close()
      await rejectsWith(store.createPlant(toPlant({ id: 99n, name: 'late' })), 'shuttingDown')
      await rejectsWith(readPlant(store, 1n), 'shuttingDown')
      await closed
      await store.close()
      await rejectsWith(store.listTokens(), 'shuttingDown')
      const outcomes = await Promise.all(creates)
      const wanted = creates.map(() => 'created')
      assert.deepEqual(outcomes, wanted)
      await using again = await place.open(clock)
      assert.deepEqual(await readPlant(again, 49n), { name: 'n' })
      assert.equal(await again.getPlant(99n), undefined)
    })
  })
}

/** Takes steps with a store and its model: most at once, which have to come to what they come to in a row. */
async function takeAll(store: Store, model: Model, clock: TestClock, steps: readonly Step[]): Promise<void> {
  const taken: [each: Step, expected: unknown, found: Promise<unknown>][] = []
  const settle = async (): Promise<void> => {
    for (const [{ kind, plant }, expected, found] of taken.splice(0)) {
      assert.deepEqual(await found, expected, `${kind} ${plant.id}`)
    }
  }
  for (const each of steps) {
    // An engine may have a shorter way for plain creates that are alone.
    const isAlone = /import|wait/.test(each.kind) || (each.kind === 'create' && each.isWhole)
    if (isAlone) await settle()
    taken.push([each, ...take(store, model, clock, each)])
    if (isAlone) await settle()
  }
  await settle()
}

function take(store: Store, model: Model, clock: TestClock, each: Step): [expected: unknown, found: Promise<unknown>] {
  const { kind, callerId, plants, onConflict, isWhole } = each
  const plant = toPlant(each.plant)
  const there = model.plants.get(plant.id)
  const revisions = { '*': '*', stale: ['stale'], current: ['stale', revisionOf(there ?? '')] } as const
  const preconditions = {
    ifMatch: each.ifMatch && revisions[each.ifMatch],
    ifNoneMatch: each.ifNoneMatch && revisions[each.ifNoneMatch],
  }
  const outcome = (change: Promise<unknown>): Promise<unknown> =>
    change.then(
      (done) => done ?? 'done',
      (error) => (error instanceof AppError ? error.code : Promise.reject(error)),
    )
  model.atMs = clock.wallMs()
  switch (kind) {
    case 'create':
      return [model.create(plant.id, plant.json, callerId), outcome(store.createPlant(plant, undefined, callerId))]
    case 'createOnce': {
      const caller = callerId ?? 'jwt'
      const expected = model.createOnce(plant.id, plant.json, caller)
      return [expected, outcome(store.createPlant(plant, { callerId: caller, key: 'k' }, caller))]
    }
    case 'replace':
      return [
        model.change(plant.id, plant.json, preconditions, callerId),
        outcome(store.replacePlant(plant, preconditions, callerId)),
      ]
    case 'delete':
      return [
        model.change(plant.id, undefined, preconditions, callerId),
        outcome(store.deletePlant(plant.id, preconditions, callerId)),
      ]
    case 'import': {
      const expected = plants.map(toPlant).map(({ id, json }) => model.import(id, json, onConflict))
      return [expected, importPlants(store, plants, onConflict, isWhole)]
    }
    case 'wait':
      clock.wall += each.waitMs
      return [undefined, Promise.resolve()]
  }
}

/** The id in the text of a plant. */
function idIn(json: string): string {
  return /"id":(-?\d+)/.exec(json)?.[1] ?? ''
}

async function exported(store: Store): Promise<readonly string[]> {
  return (await Array.fromAsync(store.exportPlants())).flat().map(({ json }) => json)
}

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  wall = 1_700_000_000_000
  monotonic = 0

  wallMs(): number {
    return this.wall
  }

  monotonicMs(): number {
    return this.monotonic
  }
}

export async function rejectsWith(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(promise, (error) => error instanceof AppError && error.code === code)
}

/** All plants of a query, page by page. */
async function listAll(store: Store, query: PlantQuery): Promise<NewPlant[]> {
  const plants: NewPlant[] = []
  for (let after = query.after; ; ) {
    const page = await store.listPlants({ ...query, after })
    plants.push(...plantsOf(page.json))
    if (page.nextAfter === undefined) return plants
    after = page.nextAfter
  }
}

/** The ids of all plants of a query, page by page. */
export async function walk(store: Store, query: PlantQuery): Promise<bigint[]> {
  return (await listAll(store, query)).map(({ id }) => id)
}

/** Asserts that a page has the first of the plants of its query, and says where to go on when there are more. */
async function assertPage(store: Store, query: PlantQuery, plants: readonly Plant[]): Promise<void> {
  const { json, nextAfter } = await store.listPlants(query)
  const expected = plants.slice(0, query.limit)
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(json)
  assert.equal(text, `[${expected.map((plant) => plant.json).join()}]`)
  assert.equal(nextAfter, plants.length > query.limit ? expected.at(-1)?.id : undefined)
}

function makeToken(parts: Partial<Token>): Token {
  const id = `tok_${randomBytes(6).toString('hex')}`
  return {
    id,
    hash: randomBytes(32),
    name: 'a name',
    scopes: ['plants:read', 'plants:write'],
    createdAtMs: 1,
    ...parts,
  }
}
