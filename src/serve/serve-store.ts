// Serves an open store: the server with its certificate, log, metrics, first token and systemd, until it is stopped.

import { setTimeout as sleep } from 'node:timers/promises'
import { isThisMachine, type ServeConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { messageOf, OperatorError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import type { Store } from '../domain/store.ts'
import { type Limits, limits } from '../limits.ts'
import { createLog } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { readVersion } from '../package.ts'
import { complain, isJournal, type Terminal } from '../terminal.ts'
import { type KeyPair, readKeyPair } from './key-pair.ts'
import { serveMetrics } from './metrics-server.ts'
import { makeFirstToken } from './new-token.ts'
import { type RunningServerOptions, startServer } from './running-server.ts'
import { keepAlive, notifySystemd } from './systemd.ts'
import { welcome } from './welcome.ts'

/** How long an exiting process waits for a failed store to save its log, if the log or the file lost its name. */
export const storeKeepMsMax = 10_000

export interface ServeOptions extends Omit<RunningServerOptions, 'descriptorsMax' | 'intercept'> {
  /** Location of the store, without secrets. */
  readonly place: string
  readonly terminal: Terminal
  readonly metrics?: Metrics | undefined
}

export async function serveStore(parts: ServeOptions): Promise<void> {
  const { store, place, config, keyPair, terminal, observe, metrics, limits, stopping } = parts
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
      : await serveMetrics(metricsListen, metrics, store, serving, limits)
  const isTerminal = terminal.stderr.isTTY === true
  const firstToken = await makeFirstToken(store, { path: config.firstTokenFile, isTerminal })
  const isExampleWelcome = config.document === undefined && (await store.getSummary()).plants === 0
  serving.beReady()
  observe({ kind: 'serverListening', url, store: place, version: readVersion() })
  notifySystemd('READY', terminal.environment, warn)
  using _alive = keepAlive(() => answersOf(store), terminal.environment, warn)
  stopping.addEventListener('abort', () => notifySystemd('STOPPING', terminal.environment, warn))
  terminal.stderr.write(
    welcome({ url, metricsUrl: metricsServer?.url, config, place, firstToken, isExampleWelcome }, terminal),
  )
  await serving.ended
  metricsServer?.close()
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
  first: KeyPair,
  { config, terminal, observe }: ServeOptions,
  warn: (message: string) => void,
  use: (pair: KeyPair) => void,
): void {
  const { tlsCert } = config
  const checkTime = ({ expiresAtMs }: KeyPair): void => {
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

/**
 * Distributes events: to the log, and to metrics if enabled. Important ones are also written to stderr if the log is off
 * or its reader is elsewhere.
 */
export async function startObserving(
  { log: level, metricsListen, jwtKeys }: ServeConfig,
  terminal: Terminal,
): Promise<{ readonly observe: Observe; readonly metrics?: Metrics }> {
  const { stdout, stderr } = terminal
  const log = createLog({
    level,
    stream: stdout,
    isTerminal: stdout.isTTY === true,
    hasPriorities: isJournal(stdout, terminal),
    limits,
    clock: systemClock,
  })
  const isSeen = level !== 'off' && (stdout.isTTY === true || stderr.isTTY !== true)
  const metrics =
    metricsListen === undefined
      ? undefined
      : (await import('../observe/metrics.ts')).createMetrics(readVersion(), jwtKeys !== undefined)
  const observe: Observe = (event) => {
    metrics?.observe(event)
    log(event)
    if (isSeen) return
    if (event.kind === 'storeWarning' || event.kind === 'serverWarning') complain('warning', event.message, terminal)
    if (event.kind === 'storeFailed') {
      const why = messageOf(event.cause)
      complain('error', `the store has failed; the server is stopping: ${why}`, terminal)
    }
  }
  return { observe, ...(metrics !== undefined && { metrics }) }
}
