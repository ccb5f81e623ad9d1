// Distributes the server's events: to the log, and to metrics if enabled.

import type { ServeConfig } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import { limits } from '../limits.ts'
import { createLog } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { complain, isJournal, type Terminal } from '../terminal.ts'
import { readVersion } from '../version.ts'

/** Starts observers from a configuration. */
export async function startObserving(
  config: ServeConfig,
  terminal: Terminal,
): Promise<{ readonly observe: Observe; readonly metrics?: Metrics }> {
  const log = startLog(config, terminal)
  if (config.metricsListen === undefined) return { observe: log }
  const { createMetrics } = await import('../observe/metrics.ts')
  const metrics = createMetrics(readVersion(), config.jwtKeys !== undefined)
  const observe: Observe = (event) => {
    metrics.observe(event)
    log(event)
  }
  return { observe, metrics }
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
