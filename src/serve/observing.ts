// Distributes the server's events: to the log, and to metrics and traces if enabled.

import type { ServeConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { codeOf, messageOf } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import { withoutControls } from '../domain/shown.ts'
import { limits } from '../limits.ts'
import { createLog } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Traces } from '../observe/traces.ts'
import { complain, isJournal, type Terminal } from '../terminal.ts'
import { readVersion } from '../version.ts'

export interface Observing {
  readonly observe: Observe
  readonly metrics: Metrics | undefined
  /** Sends pending traces within the time limit. */
  close(): Promise<void>
}

/** Starts observers from a configuration and OpenTelemetry's variables. */
export async function startObserving(config: ServeConfig, terminal: Terminal): Promise<Observing> {
  const log = startLog(config, terminal)
  const metrics =
    config.metricsListen === undefined
      ? undefined
      : (await import('../observe/metrics.ts')).createMetrics(readVersion(), config.jwtKeys !== undefined)
  const traces = await startTraces(log, terminal)
  const close = async (): Promise<void> => traces?.close()
  if (metrics === undefined && traces === undefined) return { observe: log, metrics, close }
  return {
    observe: (event) => {
      const told = event.kind === 'requestFinished' && traces !== undefined ? traces.trace(event) : event
      metrics?.observe(told)
      log(told)
    },
    metrics,
    close,
  }
}

/** The log; also writes important events to stderr if the log is off or its reader is elsewhere. */
function startLog({ log: level }: ServeConfig, terminal: Terminal): Observe {
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
  if (isSeen) return log
  return (event) => {
    log(event)
    if (event.kind === 'storeWarning' || event.kind === 'serverWarning') complain('warning', event.message, terminal)
    if (event.kind === 'storeFailed') {
      const why = messageOf(event.cause)
      complain('error', `the store has failed; the server is stopping: ${why}`, terminal)
    }
  }
}

/** Undefined if traces are off or cannot be created. */
async function startTraces(log: Observe, { environment }: Terminal): Promise<Traces | undefined> {
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  const wanted = endpoints.filter((name) => (environment[name] ?? '') !== '')
  if (wanted.length === 0 || environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return undefined
  const warn = (message: string): void => log({ kind: 'serverWarning', message: withoutControls(message) })
  // With an invalid URL, the exporter would send to a default address.
  const wrong = wanted.find((name) => !/^https?:$/.test(URL.parse(environment[name] ?? '')?.protocol ?? ''))
  if (wrong !== undefined) {
    warn(`${wrong} must be a URL such as http://127.0.0.1:4318; no traces are sent`)
    return undefined
  }
  try {
    const { createTraces } = await import('../observe/traces.ts')
    return createTraces(readVersion(), environment, warn)
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    warn(
      `${wanted[0]} is set, but no traces are sent: install @opentelemetry/api, @opentelemetry/sdk-trace, ` +
        '@opentelemetry/resources and @opentelemetry/exporter-trace-otlp-http beside plantstore',
    )
    return undefined
  }
}
