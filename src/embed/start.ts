// Starts a plant store inside a test: a real server on a free port with a temporary store.

// Before anything that older versions do not have.
import './runtime.ts'
import { join } from 'node:path'
// The global timers may be faked by a test.
import { clearTimeout, setTimeout } from 'node:timers'
import { type NewPlant, PlantStoreClient } from '../../client/client.ts'
import { allScopes, type Scope } from '../domain/caller.ts'
import { checkFault, type Fault, isRecord } from './fault.ts'
import { Host } from './host.ts'
import { makeScratch, type Scratch } from './scratch.ts'

export type { Fault, NewPlant, Scope }

export interface StartOptions {
  /** The path of your own OpenAPI document, whose `POST /plants` defines a plant. */
  readonly document?: string | undefined
  /** The initial plants. */
  readonly plants?: Iterable<NewPlant> | undefined
}

/** A running plant store: `await using store = await startPlantStore()`. */
export interface TestPlantStore extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** A token that can read and write. */
  readonly token: string
  /** A client that uses `token`. */
  readonly client: PlantStoreClient
  /** Creates another token, such as a read-only one: `['plants:read']`. */
  tokenWith(scopes: readonly Scope[]): Promise<string>
  /** Restores the initial plants, and discards idempotency keys and pending faults. */
  reset(): Promise<void>
  /** Orders a fault, in effect once the promise resolves. Faults of one operation apply in the order of the calls. */
  fail(fault: Fault): Promise<void>
  /** Stops the server and removes its store. */
  stop(): Promise<void>
}

/** A thread without servers ends after this time: Jest, for example, loads this module once per test file. */
const idleMsMax = 1_000

/** Created on import, so that its thread loads the server while the test loads. */
let host: Host | undefined = new Host()
let idle: NodeJS.Timeout | undefined
/** Shared by all running servers. */
let scratch: Promise<Scratch> | undefined
let running = 0
let started = 0

/** Starts a plant store. Any number can run side by side. Rejects if one of `plants` cannot be created. */
export async function startPlantStore(options: StartOptions = {}): Promise<TestPlantStore> {
  if (!isRecord(options)) throw new TypeError('the options must be an object, such as { plants: [] }')
  const { document, plants = [] } = options
  const unknown = Object.keys(options).find((name) => !['plants', 'document'].includes(name))
  if (unknown !== undefined) throw new TypeError(`startPlantStore has no ${unknown}, only plants and document`)
  if (document !== undefined && typeof document !== 'string') throw new TypeError('document must be a path')
  if (typeof plants !== 'object' || plants === null || !(Symbol.iterator in plants))
    throw new TypeError('plants must be an array or another iterable')
  const number = ++started
  running += 1
  clearTimeout(idle)
  host ??= new Host()
  scratch ??= makeScratch()
  const thread = host
  try {
    const { folder } = await scratch
    const asked = {
      file: join(folder, `${number}.db`),
      document,
      // A spread would lose the accessors of a plant that is an instance of a class.
      plants: Array.from(plants, (plant) => {
        if (!isRecord(plant)) throw new TypeError('each plant must be an object')
        return { ...plant, id: plant.id, name: plant.name }
      }),
    }
    const { url, token } = await thread.ask(number, 'start', asked)
    let stopping: Promise<void> | undefined
    const stop = (): Promise<void> => {
      stopping ??= thread.ask(number, 'stop', undefined).finally(leave)
      return stopping
    }
    return {
      url,
      token,
      client: new PlantStoreClient({ url, token }),
      tokenWith: async (scopes) => {
        if (!Array.isArray(scopes)) throw new TypeError(`scopes must be an array, such as ['plants:read']`)
        const unknown = scopes.find((scope) => !allScopes.includes(scope))
        if (unknown !== undefined) throw new TypeError(`there is no scope ${unknown}, only ${allScopes.join(', ')}`)
        return thread.ask(number, 'makeToken', [...scopes])
      },
      reset: () => thread.ask(number, 'reset', undefined),
      fail: async (fault) => {
        checkFault(fault)
        await thread.ask(number, 'fail', fault)
      },
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await leave()
    throw error
  }
}

/** The last server to stop removes the folder, and ends the thread unless another server starts soon. */
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
