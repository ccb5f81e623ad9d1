// A plant store inside a test: a real server on a free port, with a store of its own that is gone afterwards.

import { join } from 'node:path'
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

const host = new Host()
/** Of all servers that run. */
let scratch: Promise<Scratch> | undefined
let running = 0
let started = 0

/** Starts a plant store. Any number may run side by side. Rejects when a plant of `plants` cannot be created. */
export async function startPlantStore({ plants = [] }: StartOptions = {}): Promise<TestPlantStore> {
  const number = ++started
  const { folder } = await enterScratch()
  try {
    const asked = {
      file: join(folder, `${number}.db`),
      plants: Array.from(plants, ({ id, name, tag }) => ({ id, name, ...(tag !== undefined && { tag }) })),
    }
    const { url, token } = await host.ask(number, 'start', asked)
    let stopping: Promise<void> | undefined
    const stop = (): Promise<void> => {
      stopping ??= host.ask(number, 'stop', undefined).finally(leaveScratch)
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
    await leaveScratch()
    throw error
  }
}

async function enterScratch(): Promise<Scratch> {
  running += 1
  try {
    scratch ??= makeScratch()
    return await scratch
  } catch (error) {
    // The next one tries anew.
    running -= 1
    scratch = undefined
    throw error
  }
}

/** The last one removes the folder. */
async function leaveScratch(): Promise<void> {
  running -= 1
  if (running > 0) return
  const left = scratch
  scratch = undefined
  await (await left)?.remove()
}
