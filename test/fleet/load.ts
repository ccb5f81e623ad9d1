// Clients of a fleet: each creates plants with an Idempotency-Key, and repeats a failed create on the next server.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Acknowledged, idsFrom } from '../crash/burst.ts'
import { Client, type Connection, plantJson } from '../support/client.ts'
import { Conformance } from '../support/conformance.ts'

type Servers = readonly { readonly url: string; readonly port: number }[]

const usualOptions = {
  /** Whether what was acknowledged is read at once, and has to be there. */
  readsBack: true,
  /** Between two creates of a client: all clients together are no load test. */
  pauseMs: 5,
}

export class Load {
  readonly #connect: (target: number) => Promise<Connection>
  readonly #options: typeof usualOptions
  readonly #running: Promise<void>[]
  readonly acknowledged: Acknowledged = new Map()
  /** Requests that were answered with 503 or not at all; creates among them were repeated. */
  failed = 0
  /** Creates whose first answer was lost, and whose repetition said so. */
  replayed = 0
  /** The longest that an answer took, in milliseconds. */
  slowestMs = 0
  #silentMsMax = 0
  #acknowledgedAtMs = performance.now()
  #isEnding = false

  private constructor(connect: (target: number) => Promise<Connection>, clients: number, options: typeof usualOptions) {
    this.#connect = connect
    this.#options = options
    this.#running = Array.from({ length: clients }, (_, client) => this.#run(client))
  }

  /** @param servers looked at anew for each request, so that one may be put in the place of another. */
  static async start(servers: Servers, token: string, clients: number, options: Partial<typeof usualOptions> = {}) {
    const conformance = await Conformance.fetch(servers[0]?.url ?? '')
    const connect = (target: number): Promise<Connection> =>
      new Client(servers[target % servers.length]?.port ?? 0, token, conformance).open()
    return new Load(connect, clients, { ...usualOptions, ...options })
  }

  /** Resolves once so many more creates are acknowledged. */
  async untilMore(count: number): Promise<void> {
    const wanted = this.acknowledged.size + count
    while (this.acknowledged.size < wanted) await Promise.race([sleep(5), this.#failure()])
  }

  /** Resolves once so many more requests have failed. */
  async untilFailed(count: number): Promise<void> {
    const wanted = this.failed + count
    while (this.failed < wanted) await Promise.race([sleep(5), this.#failure()])
  }

  /** The longest time without an acknowledged create since this was asked last, in ms. */
  takeSilenceMs(): number {
    const longest = this.#silentMsMax
    this.#silentMsMax = 0
    this.#acknowledgedAtMs = performance.now()
    return longest
  }

  /** Lets every client finish the create that it is at. */
  async end(): Promise<this> {
    this.#isEnding = true
    await Promise.all(this.#running)
    return this
  }

  async #failure(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #run(client: number): Promise<void> {
    let target = client
    let connection: Connection | undefined
    for (const id of idsFrom(client)) {
      if (this.#isEnding) break
      await sleep(this.#options.pauseMs)
      const plant = { name: `plant ${id} 🌿`, tag: `client ${client}` }
      for (let isDone = false; !isDone; ) {
        try {
          connection ??= await this.#connect(target)
          isDone = await this.#create(connection, id, plant)
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error
        }
        if (isDone) continue
        this.failed += 1
        await connection?.[Symbol.asyncDispose]()
        connection = undefined
        target += 1
        await sleep(20)
      }
    }
    await connection?.[Symbol.asyncDispose]()
  }

  async #create(connection: Connection, id: bigint, plant: { name: string; tag: string }): Promise<boolean> {
    const startedMs = performance.now()
    const headers = { 'Idempotency-Key': `create-${id}` }
    const response = await connection.request({ body: plantJson(id, plant.name, plant.tag), headers })
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedMs)
    if (response.status === 503) {
      assert.equal(response.headers.get('retry-after'), '1')
      return false
    }
    // Every id is used once: any other answer than 200 would be a false one.
    assert.equal(response.status, 200, response.body)
    if (response.headers.has('idempotency-replayed')) this.replayed += 1
    const nowMs = performance.now()
    this.#silentMsMax = Math.max(this.#silentMsMax, nowMs - this.#acknowledgedAtMs)
    this.#acknowledgedAtMs = nowMs
    this.acknowledged.set(id, plant)
    if (this.#options.readsBack) await this.#read(connection, id, plant)
    return true
  }

  /** What was acknowledged is there at once. */
  async #read(connection: Connection, id: bigint, plant: { name: string; tag: string }): Promise<void> {
    const { status, body } = await connection.request({ method: 'GET', target: `/plants/${id}` })
    if (status === 503) this.failed += 1
    else assert.deepEqual([status, body], [200, plantJson(id, plant.name, plant.tag)])
  }
}
