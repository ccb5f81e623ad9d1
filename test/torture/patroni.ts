// A cluster that fails over by itself, set up as docs/operating.md says: machines that are switched off, frozen, cut off
// from each other, under load; nobody but Patroni does anything about it.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import { Load } from '../fleet/load.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { until } from '../support/time.ts'
import { Answers } from './patroni/answers.ts'
import { Between } from './patroni/between.ts'
import { PatroniCluster, superuserPassword } from './patroni/cluster.ts'
import { Documented } from './patroni/documented.ts'
import { type Fault, faults, killMachine } from './patroni/faults.ts'
import { Figures } from './patroni/figures.ts'
import { canMakeMachines } from './patroni/machines.ts'
import { Witness } from './patroni/witness.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const patroni: Torture = {
  name: 'patroni',
  counts: 'FAULTS',
  usualCount: 28,
  shortCount: 1,
  isSeeded: false,
  run,
}

const ways = ['HAProxy', 'PgBouncer', 'three hosts']
const clients = 15
const faithful = 9
const plantsBetween = 300
const controlPlants = 30
const controlRoundsMax = 3
/** Far longer than a failover takes. */
const patienceMs = 180_000
const programs = [
  'patroni',
  'patronictl',
  'etcd',
  'haproxy',
  'pgbouncer',
  'psql',
  'unshare',
  'nsenter',
  'runuser',
  'ip',
]

async function run({ count, say }: Run): Promise<Verdict> {
  const lacking = missing()
  if (lacking !== undefined) {
    say(`patroni: ${lacking}`)
    return 'missing'
  }
  const documented = new Documented()
  await using cluster = await PatroniCluster.start(documented)
  await cluster.makeDatabase()
  await using between = await Between.start(documented, cluster)
  await cluster.queryPrimary(Witness.table)
  const servers: RunningServer[] = []
  try {
    const environment = { PGPASSWORD: 'GARDEN_PASSWORD' }
    for (const store of between.stores) servers.push(await startServer(store, { environment }))
    const isGood = await strikeAll(cluster, servers, count, say)
    await cluster.beAsynchronous()
    const isControlGood = await loseSome(cluster, servers, say)
    for (const server of servers) assert.equal(await server.stop(), 0)
    return isGood && isControlGood ? 'good' : 'bad'
  } catch (error) {
    for (const line of cluster.lastWords()) say(line)
    throw error
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]()
  }
}

/** What there is to say why it cannot be run here; undefined when it can. */
function missing(): string | undefined {
  const folders = ['/usr/lib/postgresql/15/bin', ...(process.env['PATH'] ?? '').split(delimiter)]
  const absent = programs.filter((program) => !folders.some((folder) => existsSync(`${folder}/${program}`)))
  if (!existsSync('/usr/lib/postgresql/15/bin/postgres')) absent.push('PostgreSQL 15 of Debian')
  if (absent.length > 0) return `there is no ${absent.join(', ')} here`
  return canMakeMachines() ? undefined : 'namespaces of networks and processes cannot be made here'
}

async function strikeAll(
  cluster: PatroniCluster,
  servers: readonly RunningServer[],
  count: number,
  say: Run['say'],
): Promise<boolean> {
  const answers = new Answers(servers.length)
  const token = servers.map((server) => server.token).join('')
  const load = await Load.start(servers, token, clients, { faithful, onAnswer: answers.add })
  const figures = new Figures(ways)
  const confirmed: number[] = []
  const numbers = countUp()
  for (let round = 0; round < count; round += 1) {
    const fault = faults[round % faults.length] as Fault
    const struck = await strike(cluster, load, answers, fault, numbers)
    confirmed.push(...struck.confirmed)
    say(`  ${round + 1}: ${figures.add(fault.name, struck)}`)
  }
  const { acknowledged, failed, replayed } = await load.end()
  const kept = await readPlants(cluster)
  const lost = [...acknowledged].filter(([id, plant]) => kept.get(id) !== `${plant.name}/${plant.tag}`)
  const surplus = kept.size - acknowledged.size + lost.length
  const unwitnessed = await findUnwitnessed(cluster, confirmed)
  await untilAllAlike(cluster)
  for (const line of figures.lines()) say(`  ${line}`)
  say(
    `patroni: ${count} faults, ${acknowledged.size} plants acknowledged, ${lost.length} lost, ${surplus} more than acknowledged; ${failed} requests repeated, ${replayed} creates of them done before; ${confirmed.length} rows confirmed by machines themselves, ${unwitnessed} lost`,
  )
  return lost.length === 0 && surplus === 0 && unwitnessed === 0
}

export interface Struck {
  /** For each way, between the first create that was refused and the first that was acknowledged again, in ms. */
  readonly awayMs: readonly number[]
  /** For each way, the longest time without an acknowledged create, in ms. */
  readonly silentMs: readonly number[]
  /** For how long there were two that said that they were the primary, in ms. */
  readonly twoPrimariesMs: number
  readonly confirmed: readonly number[]
}

async function strike(
  cluster: PatroniCluster,
  load: Load,
  answers: Answers,
  fault: Fault,
  numbers: Iterator<number>,
): Promise<Struck> {
  await load.untilMore(plantsBetween)
  await cluster.untilWhole()
  const primary = await cluster.primary()
  const witness = new Witness(primary, superuserPassword, numbers)
  await witness.begin()
  await cluster.untilWhole()
  answers.restart()
  const undo = await fault.strike(cluster, primary)
  if (fault.takesOver) await cluster.untilTakenOver(primary)
  const takenOverMs = performance.now()
  await allAnswer(load, answers)
  await undo()
  await cluster.untilWhole()
  await allAnswer(load, answers)
  const { confirmed, primaryAtMs } = await witness.end()
  const twoPrimariesMs = fault.takesOver ? Math.max(primaryAtMs - takenOverMs, 0) : 0
  return { ...answers.times(), twoPrimariesMs, confirmed }
}

/** Waits until every way has acknowledged creates from now on. */
async function allAnswer(load: Load, answers: Answers): Promise<void> {
  await load.untilMore(1)
  const counts = answers.acknowledged()
  await until(
    'every server acknowledges creates again',
    () => answers.acknowledged().every((count, server) => count > (counts[server] ?? 0) + faithful),
    patienceMs,
  )
}

/** The control: the primary waits for nobody, and goes on for a moment without its standbys before it is switched off. */
async function loseSome(cluster: PatroniCluster, servers: readonly RunningServer[], say: Run['say']): Promise<boolean> {
  const token = servers.map((server) => server.token).join('')
  for (let round = 0; round < controlRoundsMax; round += 1) {
    await cluster.untilWhole(false)
    const primary = await cluster.primary()
    await cluster.queryPrimary('TRUNCATE plants, idempotency_keys', 'plants')
    const load = await Load.start(servers, token, clients, { readsBack: false })
    await load.untilMore(plantsBetween)
    const undo = await killMachine(cluster, primary, () => load.untilMore(controlPlants))
    await cluster.untilTakenOver(primary)
    await load.untilMore(plantsBetween)
    const { acknowledged } = await load.end()
    const kept = await readPlants(cluster)
    const lost = [...acknowledged.keys()].filter((id) => !kept.has(id)).length
    say(`patroni: control, asynchronous: ${acknowledged.size} plants acknowledged, ${lost} lost`)
    if (lost > 0) return true
    await undo()
  }
  return false
}

async function readPlants(cluster: PatroniCluster): Promise<ReadonlyMap<bigint, string>> {
  const rows = await cluster.queryPrimary('SELECT id::text, name, tag FROM plants', 'plants')
  return new Map(rows.map(([id, name, tag]) => [BigInt(String(id)), `${name}/${tag}`]))
}

async function findUnwitnessed(cluster: PatroniCluster, confirmed: readonly number[]): Promise<number> {
  const rows = await cluster.queryPrimary('SELECT n FROM witness')
  const kept = new Set(rows.map(([number]) => Number(number)))
  return confirmed.filter((number) => !kept.has(number)).length
}

/** Waits until all machines have the same plants. */
async function untilAllAlike(cluster: PatroniCluster): Promise<void> {
  const text = `SELECT count(*), md5(string_agg(id || '/' || name || '/' || tag, ',' ORDER BY id)) FROM plants`
  await until(
    'all machines have the same plants',
    async () => {
      const found = await Promise.all(
        cluster.machines.map((machine) => cluster.query(machine, text, 'plants').catch(() => [[machine.name]])),
      )
      return new Set(found.map((rows) => String(rows[0]))).size === 1
    },
    patienceMs,
  )
}

function* countUp(): Generator<number, never> {
  for (let number = 1; ; number += 1) yield number
}
