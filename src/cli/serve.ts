// `plantstore serve`: assembles the server, runs it, and shuts it down.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { jwtSettingsOf, parseSettings, type SettingTexts, settings } from '../config.ts'
import { openContract } from '../contract/contract.ts'
import type { Observe } from '../domain/events.ts'
import { withoutControls } from '../domain/shown.ts'
import { createPeers } from '../http/wire/peers.ts'
import { limits } from '../limits.ts'
import { readKeyPair } from '../serve/key-pair.ts'
import { serveStore, startObserving, storeKeepMsMax } from '../serve/serve-store.ts'
import { engineOf } from '../store/open.ts'
import { stopOnSignal, type Terminal } from '../terminal.ts'
import { assertNotOfStore, commandOptions } from './stores.ts'

/** Runs a server until a signal stops it. Throws OperatorError if it cannot start. */
export async function serve(texts: SettingTexts, terminal: Terminal): Promise<void> {
  const config = parseSettings(texts)
  const { observe, metrics } = await startObserving(config, terminal)
  // Reports invalid settings before creating a store.
  jwtSettingsOf(config)
  createPeers(config.trustProxy)
  const keyPair = readKeyPair(config)
  const contract = await openContract(config.document)
  warnOfUnknown(terminal, observe)
  const onStop = (signal: string): void => observe({ kind: 'serverStopping', reason: signal })
  // A SIGHUP reloads the certificate, if there is one.
  const stopping = stopOnSignal(terminal, onStop, () => {})
  const engine = await engineOf(config.store)
  const { firstTokenFile } = config
  if (firstTokenFile !== undefined && firstTokenFile !== '-') await assertNotOfStore(firstTokenFile, config.store)
  const opening = engine.open(config.store, { ...commandOptions(terminal), exclusive: true, limits, observe })
  const store = await Promise.race([opening, once(stopping, 'abort').then(() => undefined)])
  if (store === undefined) {
    observe({ kind: 'serverStopped' })
    terminal.exit(0)
  }
  const place = engine.describe(config.store)
  const parts = { store, contract, place, config, keyPair, terminal, observe, metrics, limits, stopping }
  const [served] = await Promise.allSettled([serveStore(parts)])
  const closeMsMax = store.failed.aborted ? storeKeepMsMax : limits.storeCloseMsMax
  const isClosed = await Promise.race([store.close().then(() => true), sleep(closeMsMax, false)])
  // A server that did not start logs no stop: its only line is the reason for the failure.
  if (served.status === 'rejected') throw served.reason
  observe({ kind: 'serverStopped' })
  if (store.failed.aborted) terminal.exit(1)
  // No client waits any longer for a commit that hangs, for example on a faulty disk.
  if (!isClosed) terminal.exit(0)
}

/** Warns of variables that look like settings, such as misspelt ones, which would otherwise be ignored silently. */
function warnOfUnknown({ environment }: Terminal, observe: Observe): void {
  const known = [...Object.values(settings).map(({ environment: name }) => name), 'PLANTSTORE_URL', 'PLANTSTORE_TOKEN']
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('PLANTSTORE_') || known.includes(name)) continue
    const message = `${withoutControls(name)} is not a setting; run \`plantstore config\` to list them`
    observe({ kind: 'serverWarning', message })
  }
}
