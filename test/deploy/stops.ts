// Stops and starts two servers in turn behind the proxy of deploy/, under load, and returns every failed request.

import assert from 'node:assert/strict'
import { Agent, type RequestOptions } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { isInstalled, startProxy } from '../http/framing/proxies.ts'
import { ask, freePort } from '../support/answering.ts'
import { noOpenssl } from '../support/certificate.ts'
import { makeFolder } from '../support/folder.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { until } from '../support/time.ts'
import { deployedProxy, type ProxyName } from './files.ts'

export interface StopsParts {
  /** URL of a place in a database. */
  readonly store: string
  readonly proxy: ProxyName
  readonly stops: number
  readonly signal?: 'SIGTERM' | 'SIGKILL'
}

const clients = 16
/** Between two requests of a client: all of them together are no load test. */
const pauseMs = 5
/** Requests that are answered between two stops. */
const requestsBetween = 200
/** As docs/operating.md has it: a proxy looks for a server that is back only now and then. */
const pauseBetweenMs = 2_000

/** Why there is no such proxy here; undefined when there is. */
export function missingFor(name: ProxyName): string | undefined {
  if (!isInstalled({ command: name.toLowerCase() })) return `there is no ${name} on this machine`
  return noOpenssl || undefined
}

export async function stopServers({ store, proxy, stops, signal = 'SIGTERM' }: StopsParts) {
  await using folder = await makeFolder()
  await using stack = new AsyncDisposableStack()
  // Connections of clients come from 127.0.0.1: none of them takes the port while a server is away.
  const hosts = ['127.0.0.2', '127.0.0.3']
  const addresses = await Promise.all(hosts.map(async (host) => ({ host, port: await freePort(host) })))
  const start = async (index: number): Promise<RunningServer> => {
    const { host, port } = addresses[index] ?? assert.fail()
    return stack.use(await startServer(store, { args: ['--host', host, '--port', String(port)] }))
  }
  const servers = [await start(0), await start(1)]
  const token = servers.map((server) => server.token).join('')
  const [one, two] = addresses.map(({ host, port }) => `${host}:${port}`) as [string, string]
  const { kind, ca } = await deployedProxy(proxy, { folder, servers: [one, two] })
  const { port } = stack.use(await startProxy(kind, 0))
  const load = new Load({ host: '127.0.0.1', port, ca }, token)
  try {
    await load.untilMore(requestsBetween)
    for (let stop = 0; stop < stops; stop += 1) {
      const index = stop % servers.length
      const status = await servers[index]?.stop(signal)
      assert.equal(status, signal === 'SIGTERM' ? 0 : null)
      const log = servers[index]?.output.stdout ?? ''
      for (const [, reason] of log.matchAll(/"event":"requestAborted".*?"reason":"(\w+)"/g))
        load.note(`aborted by the server: ${reason}`)
      servers[index] = await start(index)
      await until('the server is ready', async () => (await fetch(`${servers[index]?.url}/readyz`)).status === 200)
      await sleep(pauseBetweenMs)
      await load.untilMore(requestsBetween)
    }
  } finally {
    await load.end()
  }
  /** What was wrong, and how often. */
  const failures = Object.fromEntries(load.failures)
  return { requests: load.requests, failures, failed: [...load.failures.values()].reduce((sum, each) => sum + each, 0) }
}

/** Clients that create, read, list, replace and delete plants; every second one connects anew for each request. */
class Load {
  readonly #target: RequestOptions
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true })
  readonly #running: Promise<void>[]
  readonly failures = new Map<string, number>()
  requests = 0
  #isEnding = false

  constructor(target: RequestOptions, token: string) {
    this.#target = target
    this.#token = token
    this.#running = Array.from({ length: clients }, (_, client) => this.#run(client))
  }

  async untilMore(count: number): Promise<void> {
    const wanted = this.requests + count
    await until(`${count} more requests`, () => this.requests >= wanted)
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await Promise.all(this.#running)
    this.#agent.destroy()
  }

  note(failure: string): void {
    this.failures.set(failure, (this.failures.get(failure) ?? 0) + 1)
  }

  async #run(client: number): Promise<void> {
    for (let id = client + 1; !this.#isEnding; id += clients) {
      const plant = `{"id":${id},"name":"plant ${id}"}`
      const target = `/plants/${id}`
      await this.#ask(client, 'POST', '/plants', [200, `{"name":"plant ${id}"}`], plant)
      await this.#ask(client, 'GET', target, [200, plant])
      await this.#ask(client, 'GET', `/plants?limit=1&after=${id - 1}`, [200, `[${plant}]`])
      await this.#ask(client, 'PUT', target, [200, `{"name":"other"}`], '{"name":"other"}')
      await this.#ask(client, 'DELETE', target, [204, ''])
    }
  }

  async #ask(client: number, method: string, path: string, expected: [number, string], body?: string): Promise<void> {
    await sleep(pauseMs)
    const got = await this.#send(client % 2 === 0, method, path, body).catch((error: Error) => error.message)
    this.requests += 1
    if (typeof got !== 'string' && got[0] === expected[0] && got[1] === expected[1]) return
    this.note(`${method}: ${got}`.replaceAll(/(?<=:)\d+|(?<= )\d+\b/g, '#').slice(0, 80))
  }

  async #send(isKept: boolean, method: string, path: string, body?: string): Promise<[number | undefined, string]> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' }
    const agent = isKept ? this.#agent : false
    const answer = await ask({ ...this.#target, agent, method, path, headers }, body)
    return [answer.status, answer.body]
  }
}
