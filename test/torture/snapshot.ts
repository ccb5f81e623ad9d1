// Clients that hold a snapshot of PostgreSQL beside a store under load. Until they end, PostgreSQL removes no old version
// of any row, and a commit must not get dearer for it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Store } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import { rejectsWith } from '../store/suite.ts'
import { toPlant } from '../support/plants.ts'
import { type Cluster, hasReplication, makeCluster, programOf, untilStreaming } from '../support/postgres.ts'
import { launcher } from '../support/program.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'
import { cpuOf } from './process-figures.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const snapshot: Torture = {
  name: 'snapshot',
  counts: 'SECONDS',
  usualCount: 300,
  shortCount: 1,
  isSeeded: false,
  run,
}

/** The machine has other things to do: over less time a rate says nothing. */
const judgedSecondsMin = 60
const lastToFirstMin = 0.8
const clients = 64
const loadName = 'snapshot-load'
const plantsBefore = 20_000
const importBatch = 5_000

/** Whole rounds of ids: a new id is found at once, an old one through its versions. */
const countedCommits = 3 * limits.registrationCommitsMax
const uncountedCommits = 800
const buffersGrownMax = 1.25

async function run({ count, say }: Run): Promise<Verdict> {
  if (!hasReplication()) {
    say('snapshot: pg_basebackup is not to be had here')
    return 'missing'
  }
  const own = await countBuffers(limits.registrationCommitsMax)
  const control = await countBuffers(Number.POSITIVE_INFINITY)
  const told = ({ first, last }: Growth): string => `${first.toFixed(0)} pages each, ${last.toFixed(0)} later`
  say(`snapshot: commits of all kinds: ${told(own)}; control, one row for ever: ${told(control)}`)
  const rates = await measureRates(count, say)
  const isQuick = count < judgedSecondsMin || rates.every(isAsQuick)
  const isFlat = ({ first, last }: Growth): boolean => last <= first * buffersGrownMax
  return isFlat(own) && !isFlat(control) && isQuick ? 'good' : 'bad'
}

interface Growth {
  readonly first: number
  readonly last: number
}

/** Pages of the tables that a commit looks at, while a snapshot is held: those of the first commits, and of later ones. */
async function countBuffers(registrationCommitsMax: number): Promise<Growth> {
  await using cluster = await makeCluster()
  // It would look at pages, too.
  await cluster.start(['fsync=off', 'autovacuum=off'])
  await using store = await openTestStore(cluster.url, { limits: { ...limits, registrationCommitsMax } })
  await using _holder = await holdSnapshot(cluster)
  const changes = new Changes(store, cluster)
  await changes.make(uncountedCommits)
  const first = await changes.count(countedCommits)
  await changes.make(uncountedCommits)
  return { first, last: await changes.count(countedCommits) }
}

/** One commit after the other, each on plants of its own. */
class Changes {
  readonly #store: Store
  readonly #cluster: Cluster
  #commits = 0

  constructor(store: Store, cluster: Cluster) {
    this.#store = store
    this.#cluster = cluster
  }

  async make(commits: number): Promise<void> {
    for (const last = this.#commits + commits; this.#commits < last; this.#commits += 1) {
      const id = BigInt(this.#commits)
      const kind = this.#commits % 6
      if (kind === 0) await this.#store.createPlant(toPlant({ id, name: 'n' }))
      if (kind === 1) await this.#store.createPlant(toPlant({ id, name: 'n' }), { callerId: 't', key: `k${id}` })
      if (kind === 2) await rejectsWith(this.#store.replacePlant(toPlant({ id, name: 'n' })), 'unknownPlant')
      if (kind === 3) await this.#store.replacePlant(toPlant({ id: plantOf(id), name: 'm', tag: 't' }))
      if (kind === 4) await rejectsWith(this.#store.createPlant(toPlant({ id: plantOf(id), name: 'taken' })), 'idTaken')
      if (kind === 5) await this.#store.deletePlant(plantOf(id))
    }
  }

  /** Pages for each of so many commits. */
  async count(commits: number): Promise<number> {
    const [pagesBefore, before] = [await this.#pages(), this.#commits]
    await this.make(commits)
    return ((await this.#pages()) - pagesBefore) / (this.#commits - before)
  }

  /** A connection tells once a second at most what it looked at, and when it commits: so commits go on until it has. */
  async #pages(): Promise<number> {
    const created = await this.#read('SELECT n_tup_ins FROM pg_stat_user_tables', 'plants')
    await until('the statistics are there', async () => {
      await this.make(6)
      return (await this.#read('SELECT n_tup_ins FROM pg_stat_user_tables', 'plants')) > created
    })
    const tables = ['plants', 'idempotency_keys', 'registrations']
    const pages = 'SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit FROM pg_statio_user_tables'
    return (await Promise.all(tables.map((table) => this.#read(pages, table)))).reduce((sum, each) => sum + each)
  }

  async #read(select: string, table: string): Promise<number> {
    const [row] = await this.#cluster.query(`${select} WHERE relname = '${table}'`)
    return Number(row?.[0])
  }
}

/** The plant that the round of six commits has created. */
function plantOf(id: bigint): bigint {
  return id - (id % 6n)
}

/** What creates a second lose to other programs of the machine, the time of the processor for each does not. */
function isAsQuick({ first, last }: Rates): boolean {
  return last.perSecond >= first.perSecond * lastToFirstMin || last.cpuUs * lastToFirstMin <= first.cpuUs
}

interface Rate {
  readonly perSecond: number
  /** Time of the processor that PostgreSQL's sessions took for each create, in microseconds. */
  readonly cpuUs: number
}

interface Rates {
  readonly first: Rate
  readonly last: Rate
}

/** Creates a second of 64 clients in the first and in the last fifth of the time that each kind of snapshot is held. */
async function measureRates(seconds: number, say: Run['say']): Promise<readonly Rates[]> {
  await using primary = await makeCluster()
  await primary.start(['max_wal_size=4GB'])
  await using standby = await makeCluster(primary)
  await standby.start(['hot_standby_feedback=on', 'max_standby_streaming_delay=-1', 'wal_receiver_status_interval=1s'])
  await untilStreaming(primary)
  await using store = await openTestStore(`${primary.url}?application_name=${loadName}`)
  const load = await Load.start(store, primary)
  const kinds: Readonly<Record<string, () => Promise<AsyncDisposable>>> = {
    'no snapshot': async () => ({ [Symbol.asyncDispose]: async () => {} }),
    'an idle transaction': () => holdSnapshot(primary),
    pg_dump: () => holdUnread(programOf('pg_dump'), [primary.url]),
    'plantstore export': () => holdUnread(process.execPath, [launcher, 'export', '--store', primary.url]),
    'a query on a standby with hot_standby_feedback': () => holdSnapshot(standby),
  }
  const rates: Rates[] = []
  for (const [name, hold] of Object.entries(kinds)) {
    await using _holder = await hold()
    const { first, last } = await load.measure(seconds * 1_000)
    rates.push({ first, last })
    const told = ({ perSecond, cpuUs }: Rate): string =>
      `${perSecond.toFixed(0)} creates/s (${cpuUs.toFixed(0)} us each)`
    say(`  ${name}: ${told(first)} at first, ${told(last)} at last`)
  }
  await load.end()
  return rates
}

class Load {
  readonly #running: Promise<void>[]
  readonly #cluster: Cluster
  #created = 0
  #isEnding = false

  private constructor(store: Store, cluster: Cluster, from: number) {
    this.#cluster = cluster
    let id = from
    const create = async (): Promise<void> => {
      while (!this.#isEnding) {
        id += 1
        await store.createPlant(toPlant({ id: BigInt(id), name: `Monstera ${id}`, tag: 'aroid' }))
        this.#created += 1
      }
    }
    this.#running = Array.from({ length: clients }, create)
  }

  static async start(store: Store, cluster: Cluster): Promise<Load> {
    const bulk = await store.beginImport({ isWhole: false })
    for (let from = 0; from < plantsBefore; from += importBatch) {
      await bulk.add(
        Array.from({ length: importBatch }, (_, index) =>
          toPlant({ id: BigInt(from + index), name: 'Monstera', tag: 'aroid' }),
        ),
        'fail',
      )
    }
    await bulk.end()
    return new Load(store, cluster, plantsBefore)
  }

  async measure(durationMs: number): Promise<Rates> {
    const first = await this.#rate(durationMs / 5)
    await sleep((durationMs * 3) / 5)
    return { first, last: await this.#rate(durationMs / 5) }
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await Promise.all(this.#running)
  }

  async #rate(durationMs: number): Promise<Rate> {
    const [created, cpuUs, startedMs] = [this.#created, await this.#cpuUs(), performance.now()]
    await Promise.race([sleep(durationMs), Promise.all(this.#running)])
    const creates = this.#created - created
    const perSecond = (creates * 1_000) / (performance.now() - startedMs)
    return { perSecond, cpuUs: ((await this.#cpuUs()) - cpuUs) / creates }
  }

  async #cpuUs(): Promise<number> {
    const sessions = await this.#cluster.query(
      `SELECT pid FROM pg_stat_activity WHERE application_name = '${loadName}'`,
    )
    const times = await Promise.all(sessions.map(([pid]) => cpuOf(Number(pid))))
    return times.reduce((sum, us) => sum + us, 0)
  }
}

async function holdSnapshot({ url }: Cluster): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM plants LIMIT 1')
  return { [Symbol.asyncDispose]: () => client.end() }
}

/** A program whose output is not read waits, and holds its snapshot for so long; it has to end well then. */
async function holdUnread(command: string, args: readonly string[]): Promise<AsyncDisposable> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await once(child.stdout, 'readable')
  return {
    [Symbol.asyncDispose]: async () => {
      child.stdout.resume()
      const [status] = await exited
      if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`)
    },
  }
}
