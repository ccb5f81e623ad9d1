// The thread that runs a test's servers. A test's fake timers or busy loops do not affect them, and they end with its
// process.

import { parentPort } from 'node:worker_threads'
import { type NewPlant, PlantStoreClient } from '../client/client.ts'
import { defaultConfig } from '../config.ts'
import { allScopes, type Scope } from '../domain/caller.ts'
import { systemClock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { type Limits, limits } from '../limits.ts'
import { createToken } from '../serve/new-token.ts'
import { type RunningServer, startServer } from '../serve/running-server.ts'
import { emptyStore, sqliteEngine } from '../store/sqlite/engine.ts'
import type { CallMessage, Calls, Reply, Started } from './calls.ts'
import { Faults } from './faults.ts'

/** Options that all servers share. */
const common = {
  config: { ...defaultConfig, port: 0 },
  observe: (): void => {},
  // A finished test does not wait: idle connections close at once.
  limits: { ...limits, stopGraceMs: 0 } as unknown as Limits,
  descriptorsMax: Number.MAX_SAFE_INTEGER,
}
/** Initial plants created concurrently. */
const plantsAtOnce = 64

interface Server {
  readonly file: string
  readonly plants: readonly NewPlant[]
  readonly client: PlantStoreClient
  readonly store: Store
  readonly faults: Faults
  readonly serving: RunningServer
  readonly stopping: AbortController
}

const servers = new Map<number, Server>()

/** Pending calls by server. Calls of one server run sequentially. */
const underWay = new Map<number, Promise<void>>()

parentPort?.on('message', (ask: CallMessage) => {
  const before = underWay.get(ask.server) ?? Promise.resolve()
  underWay.set(
    ask.server,
    before.then(() => serve(ask)),
  )
})

async function serve({ number, server, name, asked }: CallMessage): Promise<void> {
  const tell = (told: Reply): void => parentPort?.postMessage(told)
  try {
    tell({ number, answer: await calls[name](server, asked as never) })
  } catch (error) {
    tell({ number, failure: messageOf(error) })
  }
}

const calls: {
  readonly [Name in keyof Calls]: (server: number, asked: Calls[Name]['asked']) => Promise<Calls[Name]['answer']>
} = {
  start,
  makeToken: (server, scopes) => makeToken(find(server).store, scopes),
  fail: async (server, fault) => {
    find(server).faults.order(fault)
    return undefined
  },
  reset: async (server) => {
    const { file, client, plants, faults } = find(server)
    await faults.clear()
    emptyStore(file, limits.storeBusyMsMax)
    await createAll(client, plants)
    return undefined
  },
  stop: async (number) => {
    const { store, serving, stopping, faults } = find(number)
    servers.delete(number)
    underWay.delete(number)
    stopping.abort()
    await faults.clear()
    await serving.ended
    await store.close()
    return undefined
  },
}

async function start(number: number, { file, plants }: Calls['start']['asked']): Promise<Started> {
  const { observe, limits } = common
  const options = { exclusive: true, mayMake: true, clock: systemClock, limits, environment: {}, observe }
  const store = await sqliteEngine.open(file, options)
  const faults = new Faults()
  const stopping = new AbortController()
  try {
    const token = await makeToken(store, allScopes)
    const { intercept } = faults
    const serving = await startServer({ ...common, store, stopping: stopping.signal, intercept })
    serving.beReady()
    const { url } = serving
    // No timeout: how long a start may take on a busy machine is the test's decision.
    const patience = { timeoutMs: Number.POSITIVE_INFINITY, tryTimeoutMs: Number.POSITIVE_INFINITY, triesMax: 1 }
    const client = new PlantStoreClient({ url, token, ...patience })
    await createAll(client, plants)
    servers.set(number, { file, plants, client, store, faults, serving, stopping })
    return { url, token }
  } catch (error) {
    stopping.abort()
    await store.close()
    throw error
  }
}

function find(number: number): Server {
  const server = servers.get(number)
  if (server === undefined) throw new Error('this plant store was stopped')
  return server
}

async function makeToken(store: Store, scopes: readonly Scope[]): Promise<string> {
  return (await createToken(store, { name: 'test', scopes })).secret
}

/** Rejects if any plant is refused, such as for a duplicate id. */
async function createAll(client: PlantStoreClient, plants: readonly NewPlant[]): Promise<void> {
  const left = plants.values()
  const createSome = async (): Promise<void> => {
    for (const plant of left) await client.createPlant(plant)
  }
  await Promise.all(Array.from({ length: plantsAtOnce }, createSome))
}
