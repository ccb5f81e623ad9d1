// The log of changes while servers are killed: one on a file, and those of a fleet.

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { patient } from '../crash/kill.ts'
import { makeFolder } from '../support/folder.ts'
import type { Database } from '../support/postgres.ts'
import { type RunningServer, type ServerOptions, startServer } from '../support/program.ts'
import {
  assertAllSeen,
  Changers,
  countWrong,
  type Fleet,
  Follower,
  Importer,
  type Maker,
  poll,
  stream,
} from './changers.ts'
import { type Cut, CuttingProxy } from './proxy.ts'

const clients = 16
const cuts: readonly Cut[] = ['lostAnswer', 'lostCommit', 'lateCommit', 'silentAnswer', 'silentCommit']
/** How long each piece takes to and from the database, for one of the servers. */
const delayMs = 5
const lateLog = fileURLToPath(new URL('late-log.ts', import.meta.url))
const killMsMax = 1_000

/** Kills the server of a file while clients change plants and others follow; or counts what a late log misses. */
export async function killOneFile(kills: number, isLate = false) {
  await using folder = await makeFolder()
  const path = folder.file('plants.db')
  const options: ServerOptions = isLate ? { before: ['--import', lateLog] } : {}
  await using stack = new AsyncDisposableStack()
  let server = stack.use(await startServer(path, options))
  const { token } = server
  const fleet = (): Fleet => ({ urls: [server.url], token })
  const changers = new Changers(fleet, clients)
  const makers = isLate ? [changers] : [changers, new Importer(path)]
  const followers = followersOf(fleet)
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep((isLate ? 1 : Math.random()) * killMsMax)
    await server.stop('SIGKILL')
    server = stack.use(await startServer(path, options))
  }
  if (!isLate) await assertAllSeen(makers, followers)
  await changers.end()
  // The control never sees everything.
  if (isLate) await sleep(2_000)
  for (const follower of followers) await follower.end()
  const wrong = isLate ? countWrong(changers.histories, followers[0]?.histories ?? new Map()) : 0
  // Plants whose changes a follower saw in another way than they were made.
  return { changes: countDone(makers), wrong }
}

/**
 * Kills servers of a fleet, while backends are terminated and plants imported. One is far from its database, so that it
 * commits after others what it wrote before them; connections of another are cut in the middle of commits.
 */
export async function killFleet(database: Database, kills: number) {
  const store = await database.makePlace()
  await using cutting = await CuttingProxy.start(portOf(store))
  await using far = await CuttingProxy.start(portOf(store), delayMs)
  const places = [store, at(store, cutting), at(store, far)]
  await using stack = new AsyncDisposableStack()
  const fleet: RunningServer[] = []
  for (const place of places) fleet.push(stack.use(await startServer(place, patient)))
  const token = fleet.map((server) => server.token).join('')
  const urls = (): Fleet => ({ urls: fleet.map(({ url }) => url), token })
  const makers = [new Changers(urls, clients), new Importer(store)]
  const followers = followersOf(urls)
  for (let kill = 0; kill < kills; kill += 1) {
    cutting.cutNext(cuts[kill % cuts.length] as Cut)
    await sleep(Math.random() * killMsMax)
    const victim = kill % places.length
    if (kill % 2 === 0) await terminateBackends(store)
    await fleet[victim]?.stop('SIGKILL')
    fleet[victim] = stack.use(await startServer(places[victim] as string, patient))
    cutting.release()
  }
  await assertAllSeen(makers, followers)
  return { changes: countDone(makers), cuts: cutting.cuts }
}

function countDone(makers: readonly Maker[]): number {
  return makers.reduce((sum, { done }) => sum + done, 0)
}

function portOf(store: string): number {
  return Number(new URL(store).port)
}

/** The same place by another way. */
function at(store: string, { port }: CuttingProxy): string {
  const url = new URL(store)
  url.port = String(port)
  return url.href
}

function followersOf(fleet: () => Fleet): readonly Follower[] {
  return [new Follower((signal) => poll(fleet, signal)), new Follower((signal) => stream(fleet, signal))]
}

async function terminateBackends(store: string): Promise<void> {
  const client = new pg.Client({ connectionString: store })
  await client.connect()
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'plantstore%' AND pid <> pg_backend_pid()`,
  )
  await client.end()
}
