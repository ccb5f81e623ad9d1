// The cluster of deploy/patroni under load: its primary is switched off and frozen, a connection goes silent.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { replaceAll } from '../deploy/files.ts'
import { Load } from '../fleet/load.ts'
import { CuttingProxy } from '../fleet/proxy.ts'
import { type RunningProxy, startProxy } from '../http/framing/proxies.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { until } from '../support/time.ts'
import { type Machine, ownerPassword, PatroniCluster } from './patroni-cluster.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const patroni: Torture = { name: 'patroni', counts: 'FAULTS', usualCount: 20, shortCount: 1, run }

const clients = 15
const plantsBetween = 300
/** What the primary goes on with while its standbys do not hear it. */
const deafMs = 150
const controlPlants = 30
const controlRoundsMax = 3
/** Without a failover, creates go on within this time. */
const silentMsMax = 10_000
const programs = ['patroni', 'patronictl', 'etcd', 'haproxy']

interface Fault {
  readonly name: string
  /** Whether another machine has to take over. */
  readonly takesOver: boolean
  /** @param primary the machine that has the role. Gives what ends the fault. */
  strike(cluster: PatroniCluster, primary: Machine, cutting: CuttingProxy): Promise<() => void>
}

const faults: readonly Fault[] = [
  {
    name: 'the primary is switched off',
    takesOver: true,
    strike: (cluster, primary) => switchOff(cluster, primary, () => sleep(deafMs)),
  },
  {
    name: 'the primary freezes, and wakes up',
    takesOver: true,
    strike: async (_cluster, primary) => {
      primary.signal('SIGSTOP', 'patroni', 'postgres')
      return () => primary.signal('SIGCONT', 'patroni', 'postgres')
    },
  },
  {
    name: 'Patroni of the primary freezes, PostgreSQL goes on',
    takesOver: true,
    strike: async (_cluster, primary) => {
      primary.signal('SIGSTOP', 'patroni')
      return () => primary.signal('SIGCONT', 'patroni')
    },
  },
  {
    name: 'the connection for changes goes silent',
    takesOver: false,
    strike: async (_cluster, _primary, cutting) => {
      cutting.cutNext('silentAnswer')
      await until('it is silent', () => cutting.cuts > 0)
      return () => {}
    },
  },
  {
    name: 'switchover',
    takesOver: true,
    strike: async (cluster) => {
      await cluster.control('switchover')
      return () => {}
    },
  },
]

async function run({ count, say }: Run): Promise<Verdict> {
  const lacking = missing()
  if (lacking !== undefined) {
    say(`patroni: ${lacking}`)
    return 'missing'
  }
  await using cluster = await PatroniCluster.start()
  await using proxy = await startHaproxy(cluster)
  await using cutting = await CuttingProxy.start(proxy.port)
  try {
    const store = `postgres://garden@127.0.0.1:${cutting.port}/plants`
    await using server = await startServer(store, { environment: { PGPASSWORD: ownerPassword } })
    const isGood = await strikeAll(cluster, server, cutting, count, say)
    await cluster.beAsynchronous()
    const isControlGood = await loseSome(cluster, server, say)
    assert.equal(await server.stop(), 0)
    return isGood && isControlGood ? 'good' : 'bad'
  } catch (error) {
    for (const machine of cluster.machines) for (const line of machine.lastWords()) say(`${machine.name}: ${line}`)
    throw error
  }
}

/** What there is to say why it cannot be run here; undefined when it can. */
function missing(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const absent = programs.filter((program) => !folders.some((folder) => existsSync(`${folder}/${program}`)))
  if (!existsSync('/usr/lib/postgresql/15/bin/postgres')) absent.push('PostgreSQL 15 of Debian')
  if (absent.length > 0) return `there is no ${absent.join(', ')} here`
  return process.getuid?.() === 0 ? undefined : 'only root can run programs as postgres'
}

async function startHaproxy(cluster: PatroniCluster): Promise<RunningProxy> {
  const text = cluster.readFile('haproxy.cfg')
  const configure = (_folder: string, port: number): string =>
    replaceAll(text, { 'bind 127.0.0.1:5000': `bind 127.0.0.1:${port}` })
  const kind = { name: 'HAProxy', command: 'haproxy', configure, args: (file: string) => ['-db', '-f', file] }
  const proxy = await startProxy(kind, 0)
  const isPrimary = async (): Promise<boolean> => {
    const text = 'SELECT pg_is_in_recovery()'
    return (await cluster.query('127.0.0.1', text, 'postgres', proxy.port).catch(() => []))[0]?.[0] === false
  }
  // HAProxy takes all machines for primaries until it has checked them.
  await until('HAProxy knows the primary', async () => {
    for (const _ of cluster.machines) if (!(await isPrimary())) return false
    return true
  })
  return proxy
}

async function strikeAll(
  cluster: PatroniCluster,
  server: RunningServer,
  cutting: CuttingProxy,
  count: number,
  say: Run['say'],
): Promise<boolean> {
  const load = await Load.start([server], server.token, clients)
  let isPrompt = true
  for (let round = 0; round < count; round += 1) {
    const fault = faults[round % faults.length] as Fault
    await load.untilMore(plantsBetween)
    await cluster.untilWhole()
    const primary = await cluster.primary()
    load.takeSilenceMs()
    const undo = await fault.strike(cluster, primary, cutting)
    if (fault.takesOver) await cluster.primary(primary)
    await load.untilMore(plantsBetween)
    undo()
    await cluster.untilWhole()
    await load.untilMore(plantsBetween)
    const silentMs = load.takeSilenceMs()
    say(`  ${round + 1}: ${fault.name}: no create acknowledged for ${(silentMs / 1_000).toFixed(1)} s`)
    isPrompt &&= fault.takesOver || silentMs < silentMsMax
  }
  const { acknowledged, failed, replayed } = await load.end()
  const kept = await readPlants(cluster)
  const lost = [...acknowledged].filter(([id, plant]) => kept.get(id) !== `${plant.name}/${plant.tag}`)
  const surplus = kept.size - acknowledged.size + lost.length
  await untilAllAlike(cluster)
  say(
    `patroni: ${count} faults, ${acknowledged.size} plants acknowledged, ${lost.length} lost, ${surplus} more than acknowledged; ${failed} requests repeated, ${replayed} creates of them done before`,
  )
  return lost.length === 0 && surplus === 0 && isPrompt
}

/** Kills all of a machine in the middle of changes of which its standbys do not hear, once `goOn` resolves. */
async function switchOff(cluster: PatroniCluster, primary: Machine, goOn: () => Promise<unknown>): Promise<() => void> {
  primary.deafen()
  await goOn()
  primary.signal('SIGKILL', 'patroni', 'postgres', 'etcd')
  return () => cluster.switchOn(primary)
}

/** The control: the primary waits for nobody, and goes on for a moment without its standbys before it is switched off. */
async function loseSome(cluster: PatroniCluster, server: RunningServer, say: Run['say']): Promise<boolean> {
  for (let round = 0; round < controlRoundsMax; round += 1) {
    await cluster.untilWhole(false)
    const primary = await cluster.primary()
    await cluster.queryPrimary('TRUNCATE plants, idempotency_keys', 'plants')
    const load = await Load.start([server], server.token, clients, { readsBack: false })
    await load.untilMore(plantsBetween)
    const undo = await switchOff(cluster, primary, () => load.untilMore(controlPlants))
    await cluster.primary(primary)
    await load.untilMore(plantsBetween)
    const { acknowledged } = await load.end()
    const kept = await readPlants(cluster)
    const lost = [...acknowledged.keys()].filter((id) => !kept.has(id)).length
    say(`patroni: control, asynchronous: ${acknowledged.size} plants acknowledged, ${lost} lost`)
    if (lost > 0) return true
    undo()
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
  await until('all machines have the same plants', async () => {
    const found = await Promise.all(
      cluster.machines.map(({ name, address }) => cluster.query(address, text, 'plants').catch(() => [[name]])),
    )
    return new Set(found.map((rows) => String(rows[0]))).size === 1
  })
}
