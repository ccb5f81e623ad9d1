// The service in the test's own process, with limits that a test can afford to wait for.

import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { serveStore } from '../../src/cli/serve.ts'
import { defaultConfig, parseSettings, type ServeConfig, type SettingTexts } from '../../src/config.ts'
import { openContract } from '../../src/contract/contract.ts'
import { systemClock } from '../../src/domain/clock.ts'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { type Limits, limits } from '../../src/limits.ts'
import type { Terminal } from '../../src/terminal.ts'
import { Client } from './client.ts'
import { makeFolder } from './folder.ts'
import { ownTerminal } from './own-terminal.ts'
import { openTestStore } from './store.ts'

export interface Service extends AsyncDisposable {
  readonly client: Client
  readonly port: number
  /** The file of its store. */
  readonly path: string
  readonly events: readonly ServiceEvent[]
}

export async function startService(
  changed: Partial<Record<keyof Limits, number>>,
  settings: Partial<SettingTexts> = {},
): Promise<Service> {
  // A stop takes as long as the tests allow it; those of stops have the real one.
  const own = { ...limits, stopGraceMs: 0, ...changed } as Limits
  const folder = await makeFolder()
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
  const store = await openTestStore(folder.file('plants.db'), { exclusive: true, clock: systemClock, limits: own })
  const given: Partial<ServeConfig> = parseSettings(settings as SettingTexts)
  const config = { ...defaultConfig, port: 0, store: folder.file('plants.db'), ...given }
  const served = serveStore({
    store,
    contract: await openContract(config.document),
    place: config.store,
    config,
    terminal,
    observe: (event) => events.push(event),
    limits: own,
    stopping: stopping.signal,
  })
  await once(stderr, 'readable')
  const welcome = stderr.read() as string
  const url = /http:\/\/\S+/.exec(welcome)?.[0] ?? ''
  const token = /plt_\w+/.exec(welcome)?.[0] ?? ''
  const port = Number(new URL(url).port)
  return {
    client: await Client.connect({ url, port, token }),
    port,
    path: folder.file('plants.db'),
    events,
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await served
      await store.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}
