// A server as a process of its own with limits that a test chooses. Takes --port, --store and --log as `plantstore
// serve` does, and --limits with those that differ, as JSON.

import { parseArgs } from 'node:util'
import { systemClock } from '../../src/cli/clock.ts'
import { serveStore } from '../../src/cli/serve.ts'
import { type Limits, limits } from '../../src/limits.ts'
import { createLog } from '../../src/observe/log.ts'
import { openStore } from '../../src/store/open.ts'
import { ownTerminal } from './own-terminal.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    store: { type: 'string', default: '' },
    log: { type: 'string', default: 'errors' },
    limits: { type: 'string', default: '{}' },
  },
})
const own: Limits = { ...limits, ...JSON.parse(values.limits) }
const level = values.log === 'all' || values.log === 'off' ? values.log : 'errors'
const observe = createLog({ level, stream: process.stdout, isTerminal: false, waitingBytesMax: own.logWaitingBytesMax })
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())

const store = await openStore(values.store, {
  exclusive: true,
  mayMake: true,
  clock: systemClock,
  limits: own,
  environment: {},
  observe,
})
await serveStore({
  store,
  place: values.store,
  config: { host: '127.0.0.1', port: 0, store: values.store, log: level, corsOrigin: '*', publicUrl: 'none' },
  terminal: ownTerminal,
  observe,
  limits: own,
  stopping: stopping.signal,
})
await store.close()
