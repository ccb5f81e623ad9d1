// Clients that change plants of their own, and followers of the log, which must see exactly these changes.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Change, PlantStoreClient } from '../../client/client.ts'
import { makeFolder } from '../support/folder.ts'
import { importHere } from '../support/program.ts'
import { until } from '../support/time.ts'

/** A change as the one who made it and those who follow write it: `created a`. */
export type Told = string

/** By the id of the plant, in order. */
export type Histories = ReadonlyMap<bigint, readonly Told[]>

const plantsOfClient = 3
const plantsOfImport = 200
/** Ids of imported plants begin here. */
const importedFrom = 1_000_000
const retryMs = 20

/** Addresses may change while servers come and go. */
export interface Fleet {
  readonly urls: readonly string[]
  readonly token: string
}

/** Something that changes plants. */
export interface Maker {
  readonly histories: Histories
  /** Changes that are certain. */
  readonly done: number
  /** Resolves when all changes that were begun are certain. */
  end(): Promise<void>
}

/** Each plant has one client. */
export class Changers implements Maker {
  readonly #fleet: () => Fleet
  readonly histories = new Map<bigint, Told[]>()
  readonly #running: readonly Promise<void>[]
  #isEnding = false
  done = 0

  constructor(fleet: () => Fleet, clients: number) {
    this.#fleet = fleet
    this.#running = Array.from({ length: clients }, (_, client) => this.#run(client))
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await Promise.all(this.#running)
  }

  async #run(client: number): Promise<void> {
    const store = clientOf(this.#fleet)
    const ids = Array.from({ length: plantsOfClient }, (_, at) => BigInt(client * plantsOfClient + at))
    const names = new Map<bigint, string | undefined>()
    for (let count = 0; !this.#isEnding; count += 1) {
      const id = ids[count % ids.length] as bigint
      const name = `${client}-${count}`
      const there = names.get(id)
      const kind = there === undefined ? 'created' : Math.random() < 0.7 ? 'replaced' : 'deleted'
      if (kind === 'created') await store.createPlant({ id, name })
      else if (kind === 'replaced') await store.replacePlant(id, { name })
      else await store.deletePlant(id)
      names.set(id, kind === 'deleted' ? undefined : name)
      note(this.histories, id, `${kind} ${kind === 'deleted' ? there : name}`)
      this.done += 1
    }
  }
}

/** A client that repeats each call, every time at any server of the fleet, until its outcome is certain. */
function clientOf(fleet: () => Fleet): PlantStoreClient {
  const anywhere: typeof fetch = (target, init) => {
    const { urls } = fleet()
    const { pathname, search } = new URL(String(target))
    return fetch(`${urls[Math.floor(Math.random() * urls.length)]}${pathname}${search}`, init)
  }
  const patience = { triesMax: Number.POSITIVE_INFINITY, timeoutMs: Number.POSITIVE_INFINITY }
  return new PlantStoreClient({ url: 'http://fleet.example', token: fleet().token, ...patience, fetch: anywhere })
}

/** Imports one file of new plants after the other, each again until it is imported. */
export class Importer implements Maker {
  readonly histories = new Map<bigint, Told[]>()
  readonly #running: Promise<void>
  #isEnding = false
  done = 0

  constructor(store: string) {
    this.#running = this.#run(store)
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await this.#running
  }

  async #run(store: string): Promise<void> {
    await using folder = await makeFolder()
    const file = folder.file('plants.ndjson')
    while (!this.#isEnding) {
      const ids = Array.from({ length: plantsOfImport }, (_, at) => importedFrom + this.done + at)
      await writeFile(file, ids.map((id) => `{"id":${id},"name":"imported"}\n`).join(''))
      while ((await importHere(file, store, '--on-conflict', 'skip')).status !== 0) await sleep(retryMs)
      for (const id of ids) note(this.histories, BigInt(id), 'created imported')
      this.done += plantsOfImport
      await sleep(retryMs)
    }
  }
}

/** What a follower has seen, in order. */
export class Follower {
  readonly seen: { readonly position: string; readonly id: bigint; readonly told: Told }[] = []
  failure: unknown
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  /** @param follow yields changes until the signal aborts. */
  constructor(follow: (signal: AbortSignal) => AsyncIterable<Change>) {
    this.#running = this.#run(follow)
  }

  async end(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  get histories(): Histories {
    const histories = new Map<bigint, Told[]>()
    for (const { id, told } of this.seen) note(histories, id, told)
    return histories
  }

  async #run(follow: (signal: AbortSignal) => AsyncIterable<Change>): Promise<void> {
    const { signal } = this.#stopping
    try {
      for await (const { position, kind, plant } of follow(signal)) {
        this.seen.push({ position, id: plant.id, told: `${kind} ${plant.name}` })
      }
    } catch (error) {
      if (!signal.aborted) this.failure = error
    }
  }
}

/** Follows by pages. */
export async function* poll(fleet: () => Fleet, signal: AbortSignal): AsyncGenerator<Change, void, undefined> {
  const store = clientOf(fleet)
  let after: string | undefined
  for (;;) {
    for await (const page of store.listChanges({ after }, { signal }).pages()) {
      yield* page.changes
      after = page.next
    }
    await sleep(retryMs, undefined, { signal })
  }
}

/** Follows by a stream, which goes on at another server when one ends. */
export function stream(fleet: () => Fleet, signal: AbortSignal): AsyncIterable<Change> {
  return clientOf(fleet).followChanges({}, { signal })
}

/** How many plants have another history with a follower than with the clients. */
export function countWrong(wanted: Histories, found: Histories): number {
  const ids = new Set([...wanted.keys(), ...found.keys()])
  return [...ids].filter((id) => (wanted.get(id) ?? []).join() !== (found.get(id) ?? []).join()).length
}

export function note(histories: Map<bigint, Told[]>, id: bigint, told: Told): void {
  const history = histories.get(id)
  if (history === undefined) histories.set(id, [told])
  else history.push(told)
}

/** Waits until followers have seen as many changes as were made; then all must have seen the same, in one order. */
export async function assertAllSeen(makers: readonly Maker[], followers: readonly Follower[]): Promise<void> {
  for (const maker of makers) await maker.end()
  const made = new Map(makers.flatMap(({ histories }) => [...histories]))
  const done = makers.reduce((sum, maker) => sum + maker.done, 0)
  for (const follower of followers) {
    await until('all changes are seen', () => follower.failure !== undefined || follower.seen.length >= done)
    assert.equal(follower.failure, undefined)
  }
  // What is seen once more would come now.
  await sleep(500)
  for (const follower of followers) await follower.end()
  for (const { seen, histories } of followers) {
    assert.equal(countWrong(made, histories), 0)
    assert.equal(new Set(seen.map(({ position }) => position)).size, seen.length)
    const positions = seen.map(({ position }) => position)
    const expected = followers[0]?.seen.map(({ position }) => position)
    assert.deepEqual(positions, expected)
  }
}
