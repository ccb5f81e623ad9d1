// Servers with a client: in the test's own process, with limits short enough for a test, or in a process of their own.

import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { after } from 'node:test'
import { defaultConfig, parseSettings, type ServeConfig, type SettingTexts } from '../../src/config.ts'
import { openContract } from '../../src/contract/contract.ts'
import type { ServiceEvent } from '../../src/domain/events.ts'
import type { Limits } from '../../src/limits.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { serveStore } from '../../src/serve/serve-store.ts'
import type { Terminal } from '../../src/terminal.ts'
import { Client } from './client.ts'
import type { Engine, Place } from './engines.ts'
import { makeFolder } from './folder.ts'
import { ownTerminal, type ServerOptions, startServer } from './program.ts'
import { exhaustive, testOn } from './ring.ts'
import { openTestStore, testLimits } from './store.ts'

/** A server on a store of the test. */
export type Served = Awaited<ReturnType<typeof serveHere>>

/** Such a server, and a client of it with the first token. */
export type Service = Awaited<ReturnType<typeof startService>>

type ChangedLimits = Partial<Record<keyof Limits, number>>

/** Starts a server on a store of its own, which is gone with it. It is a client of itself. */
export async function startService(changed: ChangedLimits, settings: Partial<SettingTexts> = {}) {
  const folder = await makeFolder()
  const path = folder.file('plants.db')
  const served = await serveHere(path, changed, settings)
  return Object.assign(await Client.connect(served), {
    url: served.url,
    port: served.port,
    /** The file of its store. */
    path,
    events: served.events,
    [Symbol.asyncDispose]: async () => {
      await served.stop()
      await folder[Symbol.asyncDispose]()
    },
  })
}

/** Tests with a server of the usual limits. */
export const onService = testOn(() => startService({}))

/** Starts a server for all tests of a suite. */
export async function startSuite(changed: ChangedLimits = {}, settings: Partial<SettingTexts> = {}): Promise<Service> {
  const service = await startService(changed, settings)
  after(() => service[Symbol.asyncDispose]())
  return service
}

/** The same on an engine; the server can be stopped before. */
export async function serveSuite(
  engine: Engine,
  changed: ChangedLimits = {},
): Promise<{ place: Place; server: Served; client: Client }> {
  const place = await engine.makePlace()
  const server = await serveHere(place.store, changed)
  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })
  return { place, server, client: await Client.connect(server) }
}

export async function serveHere(place: string, changed: ChangedLimits = {}, settings: Partial<SettingTexts> = {}) {
  // A stop takes as long as the tests allow it; those of stops have the real one.
  const own = { ...testLimits, stopGraceMs: 0, ...changed } as Limits
  const events: ServiceEvent[] = []
  const stopping = new AbortController()
  // A terminal, which is shown the first token.
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true })
  const terminal: Terminal = {
    ...ownTerminal,
    stdout: new PassThrough(),
    stderr,
    exit: (status) => {
      throw new Error(`the service ended with ${status}`)
    },
  }
  const metrics = createMetrics('0.0.0', false)
  const store = await openTestStore(place, { limits: own, observe: metrics.observe })
  const given: Partial<ServeConfig> = parseSettings(settings as SettingTexts)
  const config = { ...defaultConfig, port: 0, store: place, ...given }
  const ended = serveStore({
    store,
    contract: await openContract(given.document),
    place,
    config,
    metrics,
    terminal,
    observe: (event) => {
      events.push(event)
      metrics.observe(event)
    },
    limits: own,
    stopping: stopping.signal,
  }).finally(() => store.close())
  await Promise.race([once(stderr, 'readable'), ended])
  const welcome = stderr.read() as string
  const url = /http:\/\/\S+/.exec(welcome)?.[0] ?? ''
  /** Stops it as a signal does. */
  const stop = (): Promise<void> => {
    stopping.abort()
    return ended
  }
  return {
    url,
    port: Number(new URL(url).port),
    /** The token that the server made at its first start, else the empty text. */
    token: /plt_\w+/.exec(welcome)?.[0] ?? '',
    /** The message of its start. */
    welcome,
    events,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Starts a server process on a store of its own, which is gone with it; and tests that have one. */
export async function startOwnServer(options: ServerOptions = {}) {
  const folder = await makeFolder()
  const store = folder.file('plants.db')
  const server = await startServer(store, options)
  return {
    server,
    client: await Client.connect(server),
    folder,
    store,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** The status of a list that is asked for with a token. */
export async function listStatus(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/plants?limit=1`, { headers: { Authorization: `Bearer ${token}` } })).status
}

export const onOwnServer = testOn(() => startOwnServer())
export const exhaustiveOnOwnServer = testOn(() => startOwnServer(), exhaustive.test)
