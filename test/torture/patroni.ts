// The cluster of deploy/patroni, which fails over by itself: machines that are switched off, frozen, cut off from each
// other, under load; nobody but Patroni and HAProxy does anything about it.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import { replaceAll } from '../deploy/files.ts'
import { Load } from '../fleet/load.ts'
import { type RunningProxy, startProxy } from '../http/framing/proxies.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { until } from '../support/time.ts'
import { Answers, type Outage } from './patroni/answers.ts'
import { ownerPassword, PatroniCluster } from './patroni/cluster.ts'
import { type Fault, faults, killMachine } from './patroni/faults.ts'
import { canMakeMachines } from './patroni/machines.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const patroni: Torture = {
  name: 'patroni',
  counts: 'FAULTS',
  usualCount: 32,
  shortCount: 1,
  isSeeded: false,
  run,
}

const serverCount = 2
const clients = 15
const faithful = 9
const plantsBetween = 300
const controlPlants = 30
const controlRoundsMax = 3
/** Far longer than a failover takes. */
const patienceMs = 180_000
/** Without a failover, creates go on within this time. */
const silentMsMax = 10_000
const programs = ['patroni', 'patronictl', 'etcd', 'haproxy', 'unshare', 'nsenter', 'runuser', 'ip', 'nft']

async function run({ count, say }: Run): Promise<Verdict> {
  const lacking = missing()
  if (lacking !== undefined) {
    say(`patroni: ${lacking}`)
    return 'missing'
  }
  await using cluster = await PatroniCluster.start()
  await using proxy = await startHaproxy(cluster)
  const servers: RunningServer[] = []
  try {
    const store = `postgres://garden@127.0.0.1:${proxy.port}/plants`
    const environment = { PGPASSWORD: ownerPassword }
    for (let count = 0; count < serverCount; count += 1) servers.push(await startServer(store, { environment }))
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

async function startHaproxy(cluster: PatroniCluster): Promise<RunningProxy> {
  const text = cluster.readFile('haproxy.cfg')
  const configure = (_folder: string, port: number): string =>
    replaceAll(text, { 'bind 127.0.0.1:5000': `bind 127.0.0.1:${port}` })
  const kind = { name: 'HAProxy', command: 'haproxy', configure, args: (file: string) => ['-db', '-f', file] }
  const proxy = await startProxy(kind, 0)
  // HAProxy takes all machines for primaries until it has checked them.
  await until('HAProxy knows the primary', async () => {
    for (const _ of cluster.machines) if (!(await cluster.isPrimaryAt('127.0.0.1', proxy.port))) return false
    return true
  })
  return proxy
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
  const outages = new Map<Fault, Outage[]>()
  for (let round = 0; round < count; round += 1) {
    const fault = faults[round % faults.length] as Fault
    const outage = await strike(cluster, load, answers, fault)
    outages.set(fault, [...(outages.get(fault) ?? []), outage])
    say(
      `  ${round + 1}: ${fault.name}: away ${seconds(outage.awayMs)}, no create acknowledged for ${seconds(outage.silentMs)}`,
    )
  }
  const { acknowledged, failed, replayed } = await load.end()
  const kept = await readPlants(cluster)
  const lost = [...acknowledged].filter(([id, plant]) => kept.get(id) !== `${plant.name}/${plant.tag}`)
  const surplus = kept.size - acknowledged.size + lost.length
  await untilAllAlike(cluster)
  for (const [fault, all] of outages) say(`  ${summaryOf(fault, all)}`)
  say(
    `patroni: ${count} faults, ${acknowledged.size} plants acknowledged, ${lost.length} lost, ${surplus} more than acknowledged; ${failed} requests repeated, ${replayed} creates of them done before`,
  )
  const isLate = [...outages].some(
    ([fault, all]) => !fault.takesOver && all.some((each) => each.silentMs > silentMsMax),
  )
  return lost.length === 0 && surplus === 0 && !isLate
}

async function strike(cluster: PatroniCluster, load: Load, answers: Answers, fault: Fault): Promise<Outage> {
  await load.untilMore(plantsBetween)
  await cluster.untilWhole()
  const primary = await cluster.primary()
  answers.restart()
  const undo = await fault.strike(cluster, primary)
  if (fault.takesOver) await cluster.untilTakenOver(primary)
  await allAnswer(answers)
  await undo()
  await cluster.untilWhole()
  await allAnswer(answers)
  return answers.outage()
}

/** Waits until every server has acknowledged creates from now on. */
async function allAnswer(answers: Answers): Promise<void> {
  const counts = answers.acknowledged()
  await until(
    'every server acknowledges creates again',
    () => answers.acknowledged().every((count, server) => count > (counts[server] ?? 0) + faithful),
    patienceMs,
  )
}

/** Median and worst. */
function summaryOf({ name }: Fault, outages: readonly Outage[]): string {
  const both = (of: (outage: Outage) => number): string => {
    const sorted = outages.map(of).sort((a, b) => a - b)
    return `${seconds(sorted[(sorted.length - 1) >> 1])} and ${seconds(sorted.at(-1))}`
  }
  const [away, silent] = [both(({ awayMs }) => awayMs), both(({ silentMs }) => silentMs)]
  return `${outages.length} times, ${name}: away ${away}; no create acknowledged for ${silent}`
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
  const rows = await cluster.queryPrimary(`SELECT id::text, plant ->> 'name', plant ->> 'tag' FROM plants`, 'plants')
  return new Map(rows.map(([id, name, tag]) => [BigInt(String(id)), `${name}/${tag}`]))
}

/** Waits until all machines have the same plants. */
async function untilAllAlike(cluster: PatroniCluster): Promise<void> {
  const text = `SELECT count(*), md5(string_agg(plant::text, ',' ORDER BY id)) FROM plants`
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

function seconds(ms = 0): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
