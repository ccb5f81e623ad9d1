// Three machines with the etcd, Patroni and PostgreSQL of deploy/patroni, whose processes can be killed and frozen.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { readDeployed, replaceAll } from '../deploy/files.ts'
import { type Folder, makeFolder } from '../support/folder.ts'
import { processesOf, signalAll } from '../support/postgres.ts'
import { until } from '../support/time.ts'

const dataFolder = '/var/lib/postgresql/15/plants'
const superuserPassword = 'SUPERUSER_PASSWORD'
export const ownerPassword = 'GARDEN_PASSWORD'
const askMsMax = 1_000
/** Between two questions to Patroni, which has other things to do. */
const askPauseMs = 100
/** For whatever Patroni and etcd do by themselves: far longer than any of it takes. */
const patienceMs = 180_000
const lastLines = 60
const repeated = /no action|Exception happened|Traceback|STATEMENT|FATAL: {2}the database system is/

interface Member {
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

interface User {
  readonly uid: number
  readonly gid: number
}

type Program = 'etcd' | 'patroni' | 'postgres'

export class Machine implements AsyncDisposable {
  readonly name: string
  readonly address: string
  readonly #folder: Folder
  readonly #user: User
  readonly #started = new Map<Program, ChildProcess>()

  /** @param user who runs Patroni and PostgreSQL, which refuses to be run by root. */
  constructor(name: string, address: string, folder: Folder, user: User) {
    this.name = name
    this.address = address
    this.#folder = folder
    this.#user = user
    mkdirSync(this.file('postgresql'), { mode: 0o700 })
    for (const path of [folder.path, this.file('postgresql')]) chownSync(path, user.uid, user.gid)
  }

  file(name: string): string {
    return this.#folder.file(name)
  }

  /** Starts a program that goes on until it is killed; what it says is in a log. */
  start(program: Program, environment: NodeJS.ProcessEnv, ...args: string[]): void {
    const log = openSync(this.file(`${program}.log`), 'a')
    const env = { PATH: process.env['PATH'], HOME: this.#folder.path, ...environment }
    const child = spawn(program, args, { cwd: '/', env, ...this.#user, stdio: ['ignore', log, log] })
    this.#started.set(program, child)
  }

  /** Sends a signal to all processes of some programs. */
  signal(signal: NodeJS.Signals, ...programs: Program[]): void {
    const pids = programs.flatMap((program) => this.#processes(program))
    signalAll(pids, signal)
  }

  #processes(program: Program): readonly number[] {
    if (program === 'postgres') return processesOf(this.file('postgresql'))
    return [this.#started.get(program)?.pid ?? []].flat()
  }

  /** Freezes what sends changes to the standbys. */
  deafen(): void {
    for (const pid of this.#processes('postgres')) {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('walsender')) process.kill(pid, 'SIGSTOP')
    }
  }

  /** The end of Patroni's log, without what it repeats. */
  lastWords(): readonly string[] {
    const lines = readFileSync(this.file('patroni.log'), 'utf8').split('\n')
    return lines.filter((line) => /^\d{4}-/.test(line) && !repeated.test(line)).slice(-lastLines)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL', 'patroni', 'postgres', 'etcd')
    for (const child of this.#started.values()) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    }
    await this.#folder[Symbol.asyncDispose]()
  }
}

export class PatroniCluster implements AsyncDisposable {
  readonly #prefix: string
  readonly machines: readonly Machine[]

  private constructor(prefix: string, machines: readonly Machine[]) {
    this.#prefix = prefix
    this.machines = machines
  }

  /** Starts all three, with a database and its owner. */
  static async start(): Promise<PatroniCluster> {
    const idOf = async (flag: string): Promise<number> =>
      Number((await promisify(execFile)('id', [flag, 'postgres'])).stdout)
    const user = { uid: await idOf('-u'), gid: await idOf('-g') }
    const prefix = `127.77.${1 + Math.floor(Math.random() * 250)}.`
    const machines: Machine[] = []
    for (const number of [1, 2, 3]) {
      machines.push(new Machine(`db${number}`, `${prefix}1${number}`, await makeFolder(), user))
    }
    const cluster = new PatroniCluster(prefix, machines)
    process.once('exit', () => {
      for (const machine of machines) machine.signal('SIGKILL', 'patroni', 'postgres', 'etcd')
    })
    for (const machine of machines) cluster.switchOn(machine)
    await cluster.untilWhole()
    await cluster.queryPrimary(`CREATE ROLE garden LOGIN PASSWORD '${ownerPassword}'`)
    await cluster.queryPrimary('CREATE DATABASE plants OWNER garden')
    return cluster
  }

  /** A file of deploy/patroni with the addresses that the machines have here. */
  readFile(name: string): string {
    const text = readDeployed(`patroni/${name}`).replaceAll('10.0.0.0/24', '127.0.0.0/8')
    return text.replaceAll('10.0.0.', this.#prefix)
  }

  /** A file of db1, for another machine: its own name and address, where it is not about all of them. */
  #ownFile({ name, address }: Machine, file: string): string {
    const [first] = this.machines as [Machine]
    const isOfAll = (line: string): boolean => this.machines.every((each) => line.includes(each.address))
    const lines = this.readFile(file).split('\n')
    return lines
      .map((line) => (isOfAll(line) ? line : line.replaceAll(first.address, address).replace(/\bdb1$/, name)))
      .join('\n')
  }

  /** Starts what a machine starts by itself. */
  switchOn(machine: Machine): void {
    const variables = [...this.#ownFile(machine, 'etcd').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ])
    machine.start('etcd', { ETCD_DATA_DIR: machine.file('etcd'), ...Object.fromEntries(variables) })
    this.startPatroni(machine)
  }

  startPatroni(machine: Machine): void {
    const folder = machine.file('.')
    const config = replaceAll(this.#ownFile(machine, 'config.yml'), {
      // What three machines do not share otherwise.
      [`  data_dir: ${dataFolder}`]: `  parameters: { unix_socket_directories: ${folder} }\n  pgpass: ${folder}/pgpass\n  data_dir: ${machine.file('postgresql')}`,
    })
    writeFileSync(machine.file('config.yml'), config)
    machine.start('patroni', {}, machine.file('config.yml'))
  }

  async control(...args: string[]): Promise<void> {
    const [command = '', ...others] = args
    const config = (await this.primary()).file('config.yml')
    await promisify(execFile)('patronictl', ['-c', config, command, 'plants', ...others, '--force'])
  }

  /** Has the primary wait for nobody, for controls. */
  async beAsynchronous(): Promise<void> {
    await this.control('edit-config', '-s', 'synchronous_mode=false', '-s', 'synchronous_mode_strict=false')
    const show = 'SHOW synchronous_standby_names'
    await until('the primary waits for nobody', async () => (await this.queryPrimary(show))[0]?.[0] === '', patienceMs)
  }

  /** Waits until there is a primary with two standbys, one of them synchronous. */
  async untilWhole(isSynchronous = true): Promise<void> {
    const isWhole = async (): Promise<boolean> => {
      const members = await this.#members()
      const running = members.filter(({ role, state }) => role === 'leader' || /^(running|streaming)$/.test(state))
      const timelines = new Set(members.map(({ timeline }) => timeline))
      const isThere = (role: string): boolean => members.some((member) => member.role === role)
      if (running.length !== this.machines.length || timelines.size !== 1) return false
      return isThere('leader') && (!isSynchronous || isThere('sync_standby'))
    }
    await until('the cluster is whole', isWhole, patienceMs)
  }

  /** The machine that has the primary's role, or another than before once there is one. */
  async primary(before?: Machine): Promise<Machine> {
    let found: Machine | undefined
    const find = async (): Promise<boolean> => {
      for (const machine of this.machines.filter((each) => each !== before)) {
        if ((await ask(`http://${machine.address}:8008/primary`))?.status === 200) found = machine
      }
      return found !== undefined
    }
    await until(`there is a primary${before === undefined ? '' : ` after ${before.name}`}`, find, patienceMs)
    return found as Machine
  }

  /** Runs a statement on the primary as its superuser, again if that is another by then. */
  async queryPrimary(text: string, database?: string): Promise<readonly unknown[][]> {
    let rows: readonly unknown[][] | undefined
    const query = async (): Promise<boolean> => {
      rows = await this.query((await this.primary()).address, text, database).catch(() => undefined)
      return rows !== undefined
    }
    await until('the primary answers', query, patienceMs)
    return rows ?? []
  }

  /** Runs a statement on one machine, or wherever a port leads to, as its superuser. */
  async query(host: string, text: string, database = 'postgres', port = 5432): Promise<readonly unknown[][]> {
    const who = { user: 'postgres', password: superuserPassword, database }
    const client = new pg.Client({ host, port, ...who, connectionTimeoutMillis: askMsMax })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query({ text, rowMode: 'array' })).rows
    } finally {
      await client.end().catch(() => {})
    }
  }

  async #members(): Promise<readonly Member[]> {
    for (const machine of this.machines) {
      const { body } = (await ask(`http://${machine.address}:8008/cluster`)) ?? {}
      if (body !== undefined) return (body as { members: readonly Member[] }).members
    }
    return []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const machine of this.machines) await machine[Symbol.asyncDispose]()
  }
}

async function ask(url: string): Promise<{ status: number; body: unknown } | undefined> {
  await sleep(askPauseMs)
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(askMsMax) })
    return { status: response.status, body: await response.json() }
  } catch {
    return undefined
  }
}
