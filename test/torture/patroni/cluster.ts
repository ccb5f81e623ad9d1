// Three machines with the etcd, Patroni and PostgreSQL of deploy/patroni, and what may befall them.

import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { readDeployed } from '../../deploy/files.ts'
import { until } from '../../support/time.ts'
import { Machine, type Mounts, Network, run } from './machines.ts'

/** The addresses that deploy/patroni has for them. */
const deployedPrefix = '10.0.0.'
const hosts = [11, 12, 13] as const
const patroniFile = '/etc/patroni/config.yml'
const mounts: Mounts = {
  '/etc/patroni': 'postgres',
  '/var/lib/postgresql': 'postgres',
  '/var/lib/etcd': 'etcd',
}
const superuserPassword = 'SUPERUSER_PASSWORD'
export const ownerPassword = 'GARDEN_PASSWORD'
const askMsMax = 1_000
/** Between two questions to Patroni and etcd, which have other things to do. */
const askPauseMs = 100
/** For PostgreSQL to end the session of a client that it cannot reach. */
const silentMsMax = 60_000
/** For whatever Patroni and etcd do by themselves: far longer than any of it takes. */
const patienceMs = 180_000

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

export class PatroniCluster implements AsyncDisposable {
  readonly #network: Network
  readonly machines: readonly Machine[]

  private constructor(network: Network, machines: readonly Machine[]) {
    this.#network = network
    this.machines = machines
  }

  /** Starts all three, with a database and its owner. */
  static async start(): Promise<PatroniCluster> {
    const network = await Network.make()
    const machines: Machine[] = []
    for (const [index, host] of hosts.entries()) {
      machines.push(await Machine.make(network, `db${index + 1}`, host, mounts))
    }
    const cluster = new PatroniCluster(network, machines)
    for (const machine of machines) {
      const config = machine.file(patroniFile)
      writeFileSync(config, cluster.#ownFile(machine, 'config.yml'), { mode: 0o600 })
      await run('chown', 'postgres', config)
    }
    await Promise.all(machines.map((machine) => machine.switchOn()))
    for (const machine of machines) cluster.startEtcd(machine)
    for (const machine of machines) cluster.startPatroni(machine)
    await cluster.untilWhole()
    await cluster.queryPrimary(`CREATE ROLE garden LOGIN PASSWORD '${ownerPassword}'`)
    await cluster.queryPrimary('CREATE DATABASE plants OWNER garden')
    return cluster
  }

  /** A file of deploy/patroni with the addresses that the machines have here. */
  readFile(name: string): string {
    return readDeployed(`patroni/${name}`).replaceAll(deployedPrefix, this.#network.prefix)
  }

  /** A file of db1, for another machine: its own name and address, where it is not about all of them. */
  #ownFile({ name, address }: Machine, file: string): string {
    const [first] = this.machines as [Machine]
    const lines = this.readFile(file).split('\n')
    const isOfAll = (line: string): boolean => this.machines.every((each) => line.includes(each.address))
    return lines
      .map((line) => (isOfAll(line) ? line : line.replaceAll(first.address, address).replace(/\bdb1$/, name)))
      .join('\n')
  }

  startEtcd(machine: Machine): void {
    const lines = this.#ownFile(machine, 'etcd').matchAll(/^(\w+)=(.*)$/gm)
    const variables = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]))
    // As Debian's unit has it.
    const folder = { ETCD_DATA_DIR: '/var/lib/etcd/default' }
    machine.start('etcd', { ...folder, ...variables }, 'etcd')
  }

  startPatroni(machine: Machine): void {
    machine.start('postgres', {}, 'patroni', patroniFile)
  }

  /** Switches a machine on again with all that starts by itself. */
  async reboot(machine: Machine): Promise<void> {
    await machine.switchOn()
    this.startEtcd(machine)
    this.startPatroni(machine)
  }

  /** Hands the primary's role on. */
  async switchOver(): Promise<void> {
    await this.#running.run('patronictl', '-c', patroniFile, 'switchover', 'plants', '--force')
  }

  /** Silences the connection of a server that commits changes, both ways, and gives the port of its client. */
  async silenceChanges(primary: Machine): Promise<number> {
    const commits = `SELECT client_port FROM pg_stat_activity
      WHERE application_name = 'plantstore' AND query LIKE 'COMMIT%' ORDER BY state_change DESC`
    let port: number | undefined
    await until('a server commits', async () => {
      const found = await this.query(primary, commits)
      port = found[0]?.[0] as number | undefined
      return port !== undefined
    })
    await this.#network.silence(port as number)
    return port as number
  }

  /** Waits until PostgreSQL has ended the session of a silent client, and mends its connection. */
  async mendChanges(primary: Machine, port: number): Promise<void> {
    const sessions = `SELECT 1 FROM pg_stat_activity WHERE client_port = ${port}`
    const isGone = async (): Promise<boolean> => (await this.query(primary, sessions)).length === 0
    await until('PostgreSQL ends the silent session', isGone, silentMsMax)
    await this.#network.mend()
  }

  /** Has the primary wait for nobody, for controls. */
  async beAsynchronous(): Promise<void> {
    const off = ['-s', 'synchronous_mode=false', '-s', 'synchronous_mode_strict=false', '--force']
    await this.#running.run('patronictl', '-c', patroniFile, 'edit-config', 'plants', ...off)
    const show = 'SHOW synchronous_standby_names'
    await until('the primary waits for nobody', async () => (await this.queryPrimary(show))[0]?.[0] === '', patienceMs)
  }

  /** Waits until there is a primary with two standbys, one of them synchronous. */
  async untilWhole(isSynchronous = true): Promise<void> {
    await until(
      'the cluster is whole',
      async () => {
        const members = await this.#members()
        const running = members.filter(
          ({ role, state }) => role === 'leader' || state === 'running' || state === 'streaming',
        )
        const timelines = new Set(members.map(({ timeline }) => timeline))
        const isThere = (role: string): boolean => members.some((member) => member.role === role)
        if (running.length !== hosts.length || timelines.size !== 1) return false
        return isThere('leader') && (!isSynchronous || isThere('sync_standby'))
      },
      patienceMs,
    )
  }

  async primary(): Promise<Machine> {
    let found: Machine | undefined
    await until(
      'there is a primary',
      async () => {
        found = await this.#findPrimary()
        return found !== undefined
      },
      patienceMs,
    )
    return found as Machine
  }

  /** Waits until another machine has the primary's role. */
  async untilTakenOver(before: Machine): Promise<void> {
    await until(
      `another machine takes over from ${before.name}`,
      async () => {
        const now = await this.#findPrimary(before)
        return now !== undefined && now !== before
      },
      patienceMs,
    )
  }

  async etcdLeader(): Promise<Machine> {
    let found: Machine | undefined
    await until(
      'etcd has a leader',
      async () => {
        for (const machine of this.machines) {
          const status = await ask(`http://${machine.address}:2379/v3/maintenance/status`, '{}')
          const { header, leader } = (status?.body ?? {}) as { header?: { member_id: string }; leader?: string }
          if (leader !== undefined && header?.member_id === leader) found = machine
        }
        return found !== undefined
      },
      patienceMs,
    )
    return found as Machine
  }

  /** Runs a statement on the primary as its superuser, again if that is another by then. */
  async queryPrimary(text: string, database?: string): Promise<readonly unknown[][]> {
    let rows: readonly unknown[][] | undefined
    await until(
      'the primary answers',
      async () => {
        rows = await this.query(await this.primary(), text, database).catch(() => undefined)
        return rows !== undefined
      },
      patienceMs,
    )
    return rows ?? []
  }

  /** Runs a statement on one machine as its superuser. */
  query({ address }: Machine, text: string, database = 'postgres'): Promise<readonly unknown[][]> {
    return this.#query(address, 5432, text, database)
  }

  /** Whether there is a primary behind a port, wherever it leads to. */
  async isPrimaryAt(host: string, port: number): Promise<boolean> {
    const rows = await this.#query(host, port, 'SELECT pg_is_in_recovery()', 'postgres').catch(() => [])
    return rows[0]?.[0] === false
  }

  async #query(host: string, port: number, text: string, database: string): Promise<readonly unknown[][]> {
    const client = new pg.Client({
      host,
      port,
      user: 'postgres',
      password: superuserPassword,
      database,
      connectionTimeoutMillis: askMsMax,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query({ text, rowMode: 'array' })).rows
    } finally {
      await client.end().catch(() => {})
    }
  }

  /** The end of what Patroni and PostgreSQL have said on each machine. */
  lastWords(): readonly string[] {
    return this.machines.flatMap((machine) => [`${machine.name}:`, ...machine.lastWords('patroni')])
  }

  async #findPrimary(except?: Machine): Promise<Machine | undefined> {
    for (const machine of this.machines) {
      if (machine === except || !machine.isOn) continue
      if ((await ask(`http://${machine.address}:8008/primary`))?.status === 200) return machine
    }
    return undefined
  }

  async #members(): Promise<readonly Member[]> {
    for (const machine of this.machines) {
      const { body } = (await ask(`http://${machine.address}:8008/cluster`)) ?? {}
      if (body !== undefined) return (body as { members: readonly Member[] }).members
    }
    return []
  }

  get #running(): Machine {
    const running = this.machines.find(({ isOn }) => isOn)
    if (running === undefined) throw new Error('no machine is switched on')
    return running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const machine of this.machines) await machine[Symbol.asyncDispose]()
    await this.#network[Symbol.asyncDispose]()
  }
}

async function ask(url: string, body?: string): Promise<{ status: number; body: unknown } | undefined> {
  await sleep(askPauseMs)
  try {
    const request = body === undefined ? {} : { method: 'POST', body }
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(askMsMax) })
    return { status: response.status, body: await response.json() }
  } catch {
    return undefined
  }
}
