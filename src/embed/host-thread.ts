// The thread that runs a test's servers. A test's fake timers or busy loops do not affect them, and they end with its
// process.

import { parentPort } from 'node:worker_threads'
import { type NewPlant, PlantStoreClient } from '../../client/client.ts'
import { defaultConfig } from '../config.ts'
import { openContract } from '../contract/contract.ts'
import { allScopes, type Scope } from '../domain/caller.ts'
import { systemClock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import { limits } from '../limits.ts'
import { createToken } from '../serve/new-token.ts'
import { startServer } from '../serve/running-server.ts'
import { emptyStore, sqliteEngine } from '../store/sqlite/engine.ts'
import { Faults } from './faults.ts'
import type { CallMessage, Calls, Reply } from './host.ts'

const common = {
  config: { ...defaultConfig, port: 0 },
  observe: (): void => {},
  // Idle connections close at once, so that a finished test does not wait.
  limits: { ...limits, stopGraceMs: 0 },
  descriptorsMax: Number.MAX_SAFE_INTEGER,
}
/** Initial plants created concurrently. */
const plantsAtOnce = 64

const servers = new Map<number, Omit<Calls, 'start'>>()

/** Pending calls by server. Calls of one server run sequentially. */
const underWay = new Map<number, Promise<void>>()

parentPort?.on('message', (message: CallMessage) => {
  const before = underWay.get(message.server) ?? Promise.resolve()
  underWay.set(
    message.server,
    before.then(() => reply(message)),
  )
})

async function reply(message: CallMessage): Promise<void> {
  const reply: Reply = await perform(message).then(
    (answer) => ({ answer }),
    (error) => ({ failure: messageOf(error) }),
  )
  message.port.postMessage(reply)
}

async function perform({ server, name, asked }: CallMessage): Promise<unknown> {
  if (name === 'start') return start(server, asked as Parameters<Calls['start']>[0])
  const calls = servers.get(server)
  if (calls === undefined) throw new Error('this plant store was stopped')
  return calls[name](asked as never)
}

async function start(number: number, { file, document, plants }: Parameters<Calls['start']>[0]) {
  const contract = await openContract(document)
  const { observe, limits } = common
  const options = { exclusive: true, mayMake: true, clock: systemClock, limits, environment: {}, observe }
  const store = await sqliteEngine.open(file, options)
  const faults = new Faults()
  const stopping = new AbortController()
  const makeToken = async (scopes: readonly Scope[]): Promise<string> =>
    (await createToken(store, { name: 'test', scopes })).secret
  try {
    const token = await makeToken(allScopes)
    const { intercept } = faults
    const { url, ended, beReady } = await startServer({
      ...common,
      store,
      contract,
      stopping: stopping.signal,
      intercept,
    })
    beReady()
    // No timeout: the test decides how long a start may take on a busy machine.
    const patience = { timeoutMs: Number.POSITIVE_INFINITY, tryTimeoutMs: Number.POSITIVE_INFINITY, triesMax: 1 }
    const client = new PlantStoreClient({ url, token, ...patience })
    await createAll(client, plants)
    servers.set(number, {
      makeToken,
      fail: async (fault) => faults.order(fault),
      reset: async () => {
        await faults.clear()
        emptyStore(file, limits.storeBusyMsMax)
        await createAll(client, plants)
      },
      stop: async () => {
        servers.delete(number)
        underWay.delete(number)
        stopping.abort()
        await faults.clear()
        await ended
        await store.close()
      },
    })
    return { url, token }
  } catch (error) {
    stopping.abort()
    await store.close()
    throw error
  }
}

/** Rejects if any plant is rejected, such as for a duplicate id. */
async function createAll(client: PlantStoreClient, plants: readonly NewPlant[]): Promise<void> {
  const left = plants.values()
  const createSome = async (): Promise<void> => {
    for (const plant of left) await client.createPlant(plant)
  }
  await Promise.all(Array.from({ length: plantsAtOnce }, createSome))
}
