// `plantstore serve`: assembles the server, runs it, and shuts it down.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultConfig, isThisMachine, jwtSettingsOf, parseSettings, type SettingTexts, settings } from '../config.ts'
import { type Contract, openContract } from '../contract/contract.ts'
import { systemClock } from '../domain/clock.ts'
import { AppError, OperatorError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import { shellWord } from '../domain/shell.ts'
import { withoutControls } from '../domain/shown.ts'
import type { Store } from '../domain/store.ts'
import { createPeers } from '../http/wire/peers.ts'
import { type Limits, limits } from '../limits.ts'
import type { Metrics } from '../observe/metrics.ts'
import { type CheckedKeyPair, readKeyPair } from '../serve/key-pair.ts'
import { measure, serveMetrics } from '../serve/metrics-server.ts'
import { type FirstToken, makeFirstToken } from '../serve/new-token.ts'
import { startObserving } from '../serve/observing.ts'
import { type RunningServerOptions, startServer } from '../serve/running-server.ts'
import { keepAlive, notifySystemd } from '../serve/systemd.ts'
import { engineOf } from '../store/open.ts'
import { stopOnSignal, type Terminal } from '../terminal.ts'
import { readVersion } from '../version.ts'
import { assertNotOfStore, commandOptions } from './stores.ts'

/** How long an exiting process waits for a failed store to copy its log, if the log or the file lost its name. */
const storeKeepMsMax = 10_000

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
  // What never served does not stop: the reason of the failure is the only line.
  if (served.status === 'rejected') throw served.reason
  observe({ kind: 'serverStopped' })
  if (store.failed.aborted) terminal.exit(1)
  // A commit that hangs, such as on a faulty disk, has no client left waiting for it.
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

export interface ServeOptions extends Omit<RunningServerOptions, 'descriptorsMax' | 'intercept'> {
  /** Location of the store, without secrets. */
  readonly place: string
  readonly terminal: Terminal
  readonly metrics?: Metrics | undefined
}

/** Serves an open store until `stopping` aborts. */
export async function serveStore(parts: ServeOptions): Promise<void> {
  const { store, contract, place, config, keyPair, terminal, observe, metrics, limits, stopping } = parts
  const warn = (message: string): void => observe({ kind: 'serverWarning', message })
  store.failed.addEventListener('abort', () => {
    observe({ kind: 'storeFailed', cause: store.failed.reason })
    void endFailed(store, limits).then(() => terminal.exit(1))
  })
  const serving = await startServer({ ...parts, descriptorsMax: terminal.descriptorsMax })
  const { url } = serving
  if (keyPair !== undefined) {
    reloadOnHangup(keyPair, parts, warn, (pair) => serving.useKeyPair(pair))
  } else if (!url.startsWith('unix:') && !isThisMachine(new URL(url))) {
    warn(
      `${url} is plain HTTP: anyone on the network can read tokens and plants; use --tls-cert and --tls-key, or a proxy`,
    )
  }
  const { metricsListen } = config
  const metricsServer =
    metrics === undefined || metricsListen === undefined
      ? undefined
      : await serveMetrics(metricsListen, metrics, () => measure(store, serving), limits)
  const isTerminal = terminal.stderr.isTTY === true
  const firstToken = await makeFirstToken(store, { path: config.firstTokenFile, isTerminal })
  const example = firstToken.kind === 'shown' && (await hasNoPlant(store)) ? exampleOf(contract) : undefined
  serving.beReady()
  observe({ kind: 'serverListening', url, store: place, version: readVersion() })
  notifySystemd('READY', terminal.environment, warn)
  using _alive = keepAlive(() => answersOf(store), terminal.environment, warn)
  stopping.addEventListener('abort', () => notifySystemd('STOPPING', terminal.environment, warn))
  terminal.stderr.write(welcome({ url, metricsUrl: metricsServer?.url, config, place, firstToken, example }, terminal))
  await serving.ended
  metricsServer?.close()
}

const examples = ['{"id": 1, "name": "Monstera deliciosa", "tag": "aroid"}', '{"id": 1, "name": "Monstera deliciosa"}']

/** A document of one's own may require other properties, or forbid these. */
function exampleOf({ plantReader }: Contract): string | undefined {
  const read = plantReader('the example')
  return examples.find((example) => {
    try {
      return read({ ...JSON.parse(example), id: 1n })
    } catch (error) {
      if (error instanceof AppError) return false
      throw error
    }
  })
}

async function hasNoPlant(store: Store): Promise<boolean> {
  const { json } = await store.listPlants({ limit: 1 })
  return Buffer.from(json).toString() === '[]'
}

/** Gives in-flight requests time to receive their errors, and the store time to commit what it can. */
async function endFailed(store: Store, limits: Limits): Promise<void> {
  // The failure was already reported.
  const closed = store.close().catch(() => {})
  await Promise.all([sleep(limits.failedStoreExitMs), Promise.race([closed, sleep(storeKeepMsMax)])])
}

/** Resolves once a store has answered an empty read and an empty change. */
async function answersOf(store: Store): Promise<void> {
  await Promise.allSettled([Promise.resolve(0n).then((id) => store.getPlant(id)), store.noteTokenUses(new Map())])
}

/** Reloads the certificate and key at each SIGHUP; keeps the current pair if the new one is invalid. */
function reloadOnHangup(
  first: CheckedKeyPair,
  { config, terminal, observe }: ServeOptions,
  warn: (message: string) => void,
  use: (pair: CheckedKeyPair) => void,
): void {
  const { tlsCert } = config
  const checkTime = ({ expiresAtMs }: CheckedKeyPair): void => {
    if (expiresAtMs < systemClock.wallMs()) warn(`${tlsCert} expired at ${new Date(expiresAtMs).toISOString()}`)
  }
  checkTime(first)
  terminal.onHangup(() => {
    try {
      const pair = readKeyPair(config) ?? first
      use(pair)
      observe({ kind: 'certificateLoaded', expires: new Date(pair.expiresAtMs).toISOString() })
      checkTime(pair)
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      warn(`keeping the current certificate: ${error.message}`)
    }
  })
}

interface Start extends Pick<ServeOptions, 'config' | 'place'> {
  readonly url: string
  readonly metricsUrl: string | undefined
  readonly firstToken: FirstToken
  /** A plant that the document allows, as JSON; undefined if the store has plants, or none is known. */
  readonly example: string | undefined
}

function welcome(start: Start, { stdout, stderr, environment }: Terminal): string {
  const { url, metricsUrl, place, firstToken, config } = start
  const isTerminal = stderr.isTTY === true
  const isLogged = stdout.isTTY === true && isTerminal && config.log !== 'off'
  const lines = isLogged
    ? []
    : [`Plant Store ${readVersion()} listens on ${url}`, `Its plants are kept in ${place}`, '']
  if (!url.startsWith('unix:')) {
    // The token stands only in an address on a terminal. A browser never sends this part of an address.
    const token = firstToken.kind === 'shown' && isTerminal ? `#token=${firstToken.secret}` : ''
    lines.push(`The page: ${localOf(url)}/${token}`, `The reference: ${localOf(url)}/docs`, '')
  }
  if (metricsUrl !== undefined) lines.push(`Its metrics are at ${metricsUrl}`, '')
  // A log reader may be in another folder, without the server's environment.
  const isHere = isTerminal && config.store === (environment['PLANTSTORE_STORE'] || defaultConfig.store)
  const program = isTerminal || environment['npm_command'] !== undefined ? 'npx plantstore' : 'plantstore'
  const another = `${program} token create --name NAME${isHere ? '' : ` --store ${shellWord(place)}`}`
  return `${[...lines, ...aboutToken(start), `To create a token: ${another}`].join('\n')}\n`
}

function aboutToken({ url, firstToken, example, config: { tlsCert } }: Start): readonly string[] {
  switch (firstToken.kind) {
    case 'notNeeded':
      return []
    case 'notMade':
      return ['The store has no token yet, and without one every request for plants is refused.']
    case 'inFile':
      return [`The first token, which may read and write, is in ${firstToken.path}`]
  }
  const { secret } = firstToken
  const plants = url.startsWith('unix:')
    ? `--unix-socket ${shellWord(url.slice('unix:'.length))} http://localhost/plants`
    : `${tlsCert === undefined ? '' : `--cacert ${shellWord(tlsCert)} `}${localOf(url)}/plants`
  const list = `curl -i ${plants} -H 'Authorization: Bearer ${secret}'`
  const create = `${list} -H 'Content-Type: application/json' -d '${example}'`
  return [
    'The store had no token yet. This one may read and write; it is shown only this once:',
    `\n  ${secret}\n`,
    example !== undefined ? `Create a plant:\n\n  ${create}\n` : `List the plants:\n\n  ${list}\n`,
  ]
}

/** The local URL of a server that listens on all addresses. */
function localOf(url: string): string {
  return url.replace(/\/\/(0\.0\.0\.0|\[::\])/, '//127.0.0.1')
}
