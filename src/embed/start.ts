// A plant store inside a test: a real server on a free port, with a store of its own that is gone afterwards.

import { join } from 'node:path'
// Not the global one, which a test may have replaced.
import { clearTimeout, setTimeout } from 'node:timers'
import { type NewPlant, PlantStoreClient } from '../client/client.ts'
import { allScopes, type Scope } from '../domain/caller.ts'
import { checkFault, type Fault } from './fault.ts'
import { Host } from './host.ts'
import { makeScratch, type Scratch } from './scratch.ts'

export type { Fault, NewPlant, Scope }

export interface StartOptions {
  /** The plants that it has at the start. */
  readonly plants?: Iterable<NewPlant>
}

/** A running plant store: `await using store = await startPlantStore()`. */
export interface TestPlantStore extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** A token that may read and write. */
  readonly token: string
  /** A client with that token. */
  readonly client: PlantStoreClient
  /** Makes another token, such as one that may only read: `['plants:read']`. */
  tokenWith(scopes: readonly Scope[]): Promise<string>
  /** Puts the plants of the start back, and nothing else: keys and faults that were ordered are forgotten. */
  reset(): Promise<void>
  /** Orders a fault, in force when the promise resolves. Those of one operation happen in the order of the calls. */
  fail(fault: Fault): Promise<void>
  /** Ends the server and removes its store. */
  stop(): Promise<void>
}

/** A thread without servers ends after this time: Jest, for one, loads this module anew for each file of tests. */
const idleMsMax = 1_000

/** Made by the import, so that the first start is quick. */
let host: Host | undefined = new Host()
let idle: NodeJS.Timeout | undefined
/** Of all servers that run. */
let scratch: Promise<Scratch> | undefined
let running = 0
let started = 0

/** Starts a plant store. Any number may run side by side. Rejects when a plant of `plants` cannot be created. */
export async function startPlantStore({ plants = [] }: StartOptions = {}): Promise<TestPlantStore> {
  const number = ++started
  const { folder, host } = await enter()
  try {
    const asked = {
      file: join(folder, `${number}.db`),
      plants: Array.from(plants, ({ id, name, tag }) => ({ id, name, ...(tag !== undefined && { tag }) })),
    }
    const { url, token } = await host.ask(number, 'start', asked)
    let stopping: Promise<void> | undefined
    const stop = (): Promise<void> => {
      stopping ??= host.ask(number, 'stop', undefined).finally(leave)
      return stopping
    }
    return {
      url,
      token,
      client: new PlantStoreClient({ url, token }),
      tokenWith: async (scopes) => {
        const unknown = scopes.find((scope) => !allScopes.includes(scope))
        if (unknown !== undefined) throw new TypeError(`there is no scope ${unknown}, only ${allScopes.join(', ')}`)
        return host.ask(number, 'makeToken', scopes)
      },
      reset: () => host.ask(number, 'reset', undefined),
      fail: async (fault) => {
        checkFault(fault)
        await host.ask(number, 'fail', fault)
      },
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await leave()
    throw error
  }
}

async function enter(): Promise<{ readonly folder: string; readonly host: Host }> {
  running += 1
  clearTimeout(idle)
  host ??= new Host()
  const thread = host
  try {
    scratch ??= makeScratch()
    return { folder: (await scratch).folder, host: thread }
  } catch (error) {
    // The next one tries anew.
    scratch = undefined
    await leave()
    throw error
  }
}

/** The last one removes the folder, and the thread when no other starts soon. */
async function leave(): Promise<void> {
  running -= 1
  if (running > 0) return
  idle = setTimeout(() => {
    host?.end()
    host = undefined
  }, idleMsMax).unref()
  const left = scratch
  scratch = undefined
  await (await left)?.remove()
}
