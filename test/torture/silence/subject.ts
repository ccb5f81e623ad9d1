// A server on a schema of its own, under load, and its connections to PostgreSQL.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { limits } from '../../../src/limits.ts'
import { Load, type LoadReport } from '../../fleet/load.ts'
import { type RunningServer, type ServerOptions, startServer } from '../../support/program.ts'
import { until } from '../../support/time.ts'
import type { Firewall, Way } from './firewall.ts'

export type Flow = 'changes' | 'reads' | 'look-up' | 'prober' | 'path'

/** Connections that a server keeps. */
type Kept = Exclude<Flow, 'look-up' | 'path'>

/** What was sent last over a connection of a kind. */
const lastSent: Readonly<Record<Kept, string>> = {
  changes: 'COMMIT%',
  reads: 'SELECT name, tag FROM plants%',
  prober: 'SELECT format(%may not read and change%',
}
const clients = 4
/** Two that write, one for the log of changes, one that looks, and those that read. */
const connectionsWanted = 4 + limits.databaseReaders
/** What is left of a silent connection when the network is back has gone by then. */
const leftMsMax = 60_000

/** A look-up has begun by then, or there was nothing to look up. */
const lookUpMsMax = 4_000

/** Nearly all of the time of a change is then that of its COMMIT. */
const slowCommits = `
  CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON plants DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION slow()`

export interface Struck {
  /** The longest time without an acknowledged create, from the silence until everything is in order again. */
  readonly longestMs: number
  /** How long after the network was back PostgreSQL had no more sessions than the server has connections. */
  readonly leftMs: number
}

export class Subject implements AsyncDisposable {
  readonly #name: string
  readonly #place: string
  readonly #server: RunningServer
  readonly #load: Load
  readonly #database: pg.Client
  readonly #firewall: Firewall
  readonly #heard: { atMs: number; longestMs: number }

  static async start(
    name: string,
    place: string,
    firewall: Firewall,
    options: Pick<ServerOptions, 'limits'> = {},
  ): Promise<Subject> {
    const server = await startServer(`${place}&application_name=${name}`, options)
    const heard = { atMs: performance.now(), longestMs: 0 }
    const load = await Load.start([server], server.token, clients, {
      onAnswer: (_, isAcknowledged) => {
        if (!isAcknowledged) return
        heard.longestMs = Math.max(heard.longestMs, performance.now() - heard.atMs)
        heard.atMs = performance.now()
      },
    })
    const database = await connect(place)
    await load.untilMore(100)
    return new Subject(name, place, server, load, database, firewall, heard)
  }

  private constructor(
    name: string,
    place: string,
    server: RunningServer,
    load: Load,
    database: pg.Client,
    firewall: Firewall,
    heard: { atMs: number; longestMs: number },
  ) {
    this.#name = name
    this.#place = place
    this.#server = server
    this.#load = load
    this.#database = database
    this.#firewall = firewall
    this.#heard = heard
  }

  /** Silences a connection for some seconds, and waits until PostgreSQL has noticed everything. */
  async strike(flow: Flow, way: Way, seconds: number): Promise<Struck> {
    this.#heard.longestMs = 0
    const mend = await this.#silence(flow, way)
    await sleep(seconds * 1_000)
    await mend()
    const mendedMs = performance.now()
    await this.#load.untilMore(1)
    await until('nothing is left of it', async () => (await this.#connections()) <= connectionsWanted, leftMsMax)
    const leftMs = performance.now() - mendedMs
    await this.#load.untilMore(100)
    return { longestMs: this.#heard.longestMs, leftMs }
  }

  /** How long no create has been acknowledged, by the end of a silence of the changes. */
  async standStill(way: Way, seconds: number): Promise<number> {
    await this.#silenceKept('changes', way)
    await sleep(seconds * 1_000)
    return performance.now() - this.#heard.atMs
  }

  /** Ends the load, every answer of which was true, and gives what was acknowledged and is not there. */
  async end(): Promise<LoadReport & { readonly lost: number }> {
    const report = await this.#load.end()
    const { rows } = await this.#database.query('SELECT id, name, tag FROM plants')
    const kept = new Map(rows.map(({ id, name, tag }) => [BigInt(id), `${name}/${tag}`]))
    const lost = [...report.acknowledged].filter(([id, { name, tag }]) => kept.get(id) !== `${name}/${tag}`)
    assert.equal(await this.#server.stop(), 0)
    return { ...report, lost: lost.length }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.end()
    await this.#server[Symbol.asyncDispose]()
  }

  async #silence(flow: Flow, way: Way): Promise<() => Promise<void>> {
    if (flow === 'look-up') return this.#silenceLookUp(way)
    if (flow !== 'path') return this.#silenceKept(flow, way)
    await this.#firewall.silencePath(await this.#findPort(`query LIKE '${lastSent.changes}'`), way)
    return () => this.#firewall.mendPath()
  }

  async #silenceKept(flow: Kept, way: Way): Promise<() => Promise<void>> {
    const port = await this.#findPort(`query LIKE '${lastSent[flow]}'`)
    await this.#firewall.silence(port, way)
    return () => this.#firewall.mend(port, way)
  }

  /** Silences changes until the outcome of one is looked up, and the look-up, too, which is held by a lock so long. */
  async #silenceLookUp(way: Way): Promise<() => Promise<void>> {
    await this.#database.query(slowCommits)
    for (;;) {
      const mendChanges = await this.#silenceKept('changes', 'answers')
      await using holder = await this.#holdRegistrations()
      const port = await this.#findLookUp()
      if (port !== undefined) {
        await this.#firewall.silence(port, way)
        await holder.query('ROLLBACK')
        await this.#database.query('DROP TRIGGER slow ON plants')
        return async () => {
          await mendChanges()
          await this.#firewall.mend(port, way)
        }
      }
      // The silence came before a COMMIT was sent: there was nothing to look up.
      await mendChanges()
      await holder.query('ROLLBACK')
      await this.#load.untilMore(1)
    }
  }

  async #holdRegistrations(): Promise<pg.Client & AsyncDisposable> {
    const holder = await connect(this.#place)
    await holder.query('BEGIN; SELECT 1 FROM registrations FOR UPDATE')
    return Object.assign(holder, { [Symbol.asyncDispose]: () => holder.end() })
  }

  /** The port of a look-up that waits for its row; undefined when none has begun in time. */
  async #findLookUp(): Promise<number | undefined> {
    const startedMs = performance.now()
    while (performance.now() - startedMs < lookUpMsMax) {
      const [port] = await this.#find(`wait_event_type = 'Lock' AND query LIKE 'SELECT last_commit%'`)
      if (port !== undefined) return port
      await sleep(20)
    }
    return undefined
  }

  /** The client's port of a connection of the server. */
  async #findPort(condition: string): Promise<number> {
    let port: number | undefined
    await until(`there is a connection whose ${condition}`, async () => {
      const found = await this.#find(condition)
      port = found[0]
      return port !== undefined
    })
    return port as number
  }

  async #connections(): Promise<number> {
    return (await this.#find('true')).length
  }

  async #find(condition: string): Promise<readonly number[]> {
    const { rows } = await this.#database.query(
      `SELECT client_port FROM pg_stat_activity WHERE application_name = $1 AND ${condition} ORDER BY backend_start`,
      [this.#name],
    )
    return rows.map(({ client_port }) => client_port)
  }
}

/** What ends with PostgreSQL is told by those who use it. */
async function connect(place: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: place })
  client.on('error', () => {})
  await client.connect()
  return client
}
