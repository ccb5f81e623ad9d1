// The log of changes under kills: of the server of a file, and of the servers of a fleet.

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { makeFolder } from '../support/folder.ts'
import type { Database } from '../support/postgres.ts'
import { type RunningServer, type ServerOptions, startServer } from '../support/program.ts'
import { assertAllSeen, Changers, countWrong, type Fleet, Follower, poll, stream, type Told } from './changers.ts'

export interface ChangesReport {
  readonly kills: number
  readonly changes: number
  /** Plants whose changes a follower saw in another way than they were made. */
  readonly wrong: number
}

const clients = 16
const servers = 3
const lateLog = fileURLToPath(new URL('late-log.ts', import.meta.url))
const killMsMax = 400

/** Kills the server of a file so many times, while clients change plants and others follow. */
export async function killOneFile(kills: number): Promise<ChangesReport> {
  await using folder = await makeFolder()
  const path = folder.file('plants.db')
  let server = await startServer(path)
  const { token } = server
  const fleet = (): Fleet => ({ urls: [server.url], token })
  try {
    const changers = new Changers(fleet, clients)
    const followers = followersOf(fleet)
    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(Math.random() * killMsMax)
      await server.stop('SIGKILL')
      server = await startServer(path)
    }
    await assertAllSeen(changers, followers)
    return { kills, changes: changers.done, wrong: 0 }
  } finally {
    await server[Symbol.asyncDispose]()
  }
}

/** The control: a server that writes the log outside of the transactions. Killed until the followers miss a change. */
export async function killLateLog(killsMax: number): Promise<ChangesReport> {
  await using folder = await makeFolder()
  const path = folder.file('plants.db')
  const options: ServerOptions = { before: ['--import', lateLog] }
  let server = await startServer(path, options)
  const { token } = server
  const fleet = (): Fleet => ({ urls: [server.url], token })
  try {
    const changers = new Changers(fleet, clients)
    for (let kill = 0; kill < killsMax; kill += 1) {
      await sleep(killMsMax)
      await server.stop('SIGKILL')
      server = await startServer(path, options)
    }
    await changers.end()
    const follower = new Follower((signal) => poll(fleet, signal))
    await sleep(2_000)
    await follower.end()
    return { kills: killsMax, changes: changers.done, wrong: countWrong(changers.histories, follower.histories) }
  } finally {
    await server[Symbol.asyncDispose]()
  }
}

/** Kills servers of a fleet, while backends are terminated, transactions left open and plants imported. */
export async function killFleet(
  database: Database,
  kills: number,
): Promise<ChangesReport & { readonly skipped: number }> {
  const store = await database.makePlace()
  const fleet: RunningServer[] = []
  const outsider = await connect(store)
  const bySequence = new SequenceReader(store)
  try {
    for (let count = 0; count < servers; count += 1) fleet.push(await startServer(store))
    const token = fleet.map((server) => server.token).join('')
    const urls = (): Fleet => ({ urls: fleet.map(({ url }) => url), token })
    const changers = new Changers(urls, clients)
    const followers = followersOf(urls)
    for (let kill = 0; kill < kills; kill += 1) {
      // A transaction of somebody else, which stays open over the kill.
      await outsider.query('BEGIN; SELECT txid_current()')
      await sleep(Math.random() * killMsMax)
      const victim = kill % servers
      if (kill % 2 === 0) await terminateBackends(store)
      await fleet[victim]?.stop('SIGKILL')
      fleet[victim] = await startServer(store)
      await outsider.query('COMMIT')
    }
    await assertAllSeen(changers, followers)
    const skipped = countWrong(changers.histories, await bySequence.end())
    return { kills, changes: changers.done, wrong: 0, skipped }
  } finally {
    await bySequence.end()
    await outsider.end()
    for (const server of fleet) await server[Symbol.asyncDispose]()
  }
}

function followersOf(fleet: () => Fleet): readonly Follower[] {
  return [new Follower((signal) => poll(fleet, signal)), new Follower((signal) => stream(fleet, signal))]
}

async function connect(store: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: store })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function terminateBackends(store: string): Promise<void> {
  const client = await connect(store)
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'plantstore%' AND pid <> pg_backend_pid()`,
  )
  await client.end()
}

/** The control: whoever reads by the order of a sequence skips what commits late. */
class SequenceReader {
  readonly #histories = new Map<bigint, Told[]>()
  readonly #running: Promise<void>
  #isEnding = false

  constructor(store: string) {
    this.#running = this.#run(store)
  }

  async end(): Promise<ReadonlyMap<bigint, readonly Told[]>> {
    this.#isEnding = true
    await this.#running
    return this.#histories
  }

  async #run(store: string): Promise<void> {
    const client = await connect(store)
    let last = '0'
    for (let isLast = false; !isLast; ) {
      isLast = this.#isEnding
      const { rows } = await client
        .query<{ place: string; lines: string }>(
          `SELECT place::text, lines FROM changes WHERE place > $1 AND lines <> '' ORDER BY place`,
          [last],
        )
        .catch(() => ({ rows: [] }))
      for (const { place, lines } of rows) {
        last = place
        for (const line of lines.split('\n')) this.#note(line)
      }
      await sleep(1)
    }
    await client.end()
  }

  #note(line: string): void {
    const [, kind = '', id = '', name = ''] = /^(.)\{"id":(\d+),"name":"([^"]*)"/.exec(line) ?? []
    const kinds: Readonly<Record<string, string>> = { c: 'created', r: 'replaced', d: 'deleted' }
    this.#histories.set(BigInt(id), [...(this.#histories.get(BigInt(id)) ?? []), `${kinds[kind]} ${name}`])
  }
}
