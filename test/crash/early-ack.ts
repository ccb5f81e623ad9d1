// The control of kill.ts: a server whose store acknowledges before the commit. Accepts the flags of `plantstore serve`.

import { parseArgs } from 'node:util'
import { defaultConfig } from '../../src/config.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { Store } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import { serveStore } from '../../src/serve/serve-store.ts'
import { ownTerminal } from '../support/program.ts'
import { openTestStore } from '../support/store.ts'

const { values } = parseArgs({ options: { port: { type: 'string' }, store: { type: 'string', default: '' } } })
const store = await openTestStore(values.store)

const firstTokenFile = process.env['PLANTSTORE_FIRST_TOKEN_FILE']

await serveStore({
  store: acknowledgeEarly(store),
  contract: loadContract(),
  place: values.store,
  config: { ...defaultConfig, port: 0, store: values.store, firstTokenFile },
  terminal: ownTerminal,
  observe: () => {},
  limits,
  stopping: new AbortController().signal,
})

function acknowledgeEarly(honest: Store): Store {
  return new Proxy(honest, {
    get: (target, name) => {
      if (name === 'createPlant') {
        return (...call: Parameters<Store['createPlant']>) => {
          target.createPlant(...call).catch(() => {})
          return Promise.resolve('created')
        }
      }
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
