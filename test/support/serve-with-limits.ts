// A server in a separate process, with limits that the test chooses. Accepts the flags of `plantstore serve`, and
// --limits with the changed limits, as JSON.

import { parseArgs } from 'node:util'
import { defaultConfig, parseSettings, type ServeConfig, type SettingTexts, settings } from '../../src/config.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { type Limits, limits } from '../../src/limits.ts'
import { createLog } from '../../src/observe/log.ts'
import { readKeyPair } from '../../src/serve/key-pair.ts'
import { serveStore } from '../../src/serve/serve-store.ts'
import { openStore } from '../../src/store/open.ts'
import { ownTerminal } from './program.ts'

const rows = Object.values(settings)
const flagOf = ({ flag }: (typeof rows)[number]): string => flag.split(' ', 1)[0]?.slice(2) ?? ''
const { limits: ownLimits = '{}', ...values } = parseArgs({
  options: Object.fromEntries(['limits', ...rows.map(flagOf)].map((flag) => [flag, { type: 'string' as const }])),
}).values
const texts = rows.flatMap((each) => (values[flagOf(each)] === undefined ? [] : [[each.name, values[flagOf(each)]]]))
const given: Partial<ServeConfig> = parseSettings(Object.fromEntries(texts) as SettingTexts)
const config = { ...defaultConfig, firstTokenFile: process.env['PLANTSTORE_FIRST_TOKEN_FILE'], ...given }
const own: Limits = { ...limits, ...JSON.parse(ownLimits) }
const observe = createLog({
  level: config.log,
  stream: process.stdout,
  isTerminal: false,
  hasPriorities: false,
  limits: own,
  clock: systemClock,
})
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())

const store = await openStore(config.store, {
  exclusive: true,
  mayMake: true,
  clock: systemClock,
  limits: own,
  environment: {},
  observe,
})
await serveStore({
  store,
  contract: loadContract(),
  place: config.store,
  config,
  keyPair: readKeyPair(config),
  terminal: ownTerminal,
  observe,
  limits: own,
  stopping: stopping.signal,
})
await store.close()
