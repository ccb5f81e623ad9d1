// A server as a process of its own with limits that a test chooses. Takes --port, --store, --log, --tls-cert, --tls-key
// and --jwt-... as `plantstore serve` does, and --limits with those that differ, as JSON.

import { parseArgs } from 'node:util'
import { serveStore } from '../../src/cli/serve.ts'
import { defaultConfig, parseSettings } from '../../src/config.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { type Limits, limits } from '../../src/limits.ts'
import { createLog } from '../../src/observe/log.ts'
import { readKeyPair } from '../../src/serve/key-pair.ts'
import { openStore } from '../../src/store/open.ts'
import { ownTerminal } from './own-terminal.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    store: { type: 'string', default: '' },
    log: { type: 'string', default: 'errors' },
    limits: { type: 'string', default: '{}' },
    'tls-cert': { type: 'string', default: 'none' },
    'tls-key': { type: 'string', default: 'none' },
    'jwt-keys': { type: 'string', default: 'none' },
    'jwt-issuer': { type: 'string', default: 'none' },
    'jwt-audience': { type: 'string', default: 'none' },
  },
})
const own: Limits = { ...limits, ...JSON.parse(values.limits) }
const level = values.log === 'all' || values.log === 'off' ? values.log : 'errors'
const observe = createLog({
  level,
  stream: process.stdout,
  isTerminal: false,
  hasPriorities: false,
  limits: own,
  clock: systemClock,
})
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
const config = {
  ...defaultConfig,
  port: 0,
  store: values.store,
  firstTokenFile: process.env['PLANTSTORE_FIRST_TOKEN_FILE'],
  ...parseSettings({
    tlsCert: values['tls-cert'],
    tlsKey: values['tls-key'],
    jwtKeys: values['jwt-keys'],
    jwtIssuer: values['jwt-issuer'],
    jwtAudience: values['jwt-audience'],
  }),
}
await serveStore({
  store,
  place: values.store,
  config,
  keyPair: readKeyPair(config),
  terminal: ownTerminal,
  observe,
  limits: own,
  stopping: stopping.signal,
})
await store.close()
