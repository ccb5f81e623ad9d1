// Reports the server's state to systemd if started by a unit with `Type=notify` (sd_notify(3)), and its liveness with
// `WatchdogSec=` (sd_watchdog_enabled(3)).

import { execFile } from 'node:child_process'
import type { Terminal } from '../terminal.ts'

type Environment = Terminal['environment']

/**
 * Sends a state by running systemd's own program, because Node.js cannot send a datagram to a Unix socket.
 *
 * @param onFailure receives the reason if systemd cannot be notified.
 */
export function notifySystemd(
  state: 'READY' | 'STOPPING' | 'WATCHDOG',
  environment: Environment,
  onFailure: (message: string) => void,
): void {
  if (environment['NOTIFY_SOCKET'] === undefined) return
  const tellWhy = (error: Error | null): void => {
    if (error !== null) onFailure(`systemd could not be notified of ${state}: ${error.message.trim()}`)
  }
  try {
    // systemd-notify before version 253 lacks options for these states.
    execFile('systemd-notify', [`${state}=1`], { env: environment }, tellWhy)
  } catch (error) {
    // execFile throws if there is no memory for another process.
    tellWhy(error as Error)
  }
}

/**
 * Notifies systemd's watchdog three times per interval, each time after the event loop has turned and the store has
 * answered. systemd kills and restarts a silent server.
 *
 * @param ask resolves once the store answers, even with an error, such as while its database is away: a restart would
 * not help then.
 * @param warn receives the first failure.
 */
export function keepAlive(
  ask: () => Promise<unknown>,
  environment: Environment,
  warn: (message: string) => void,
): Disposable {
  const watchdogUs = Number(environment['WATCHDOG_USEC'])
  if (!(watchdogUs > 0)) return { [Symbol.dispose]: () => {} }
  let isAsking = false
  let hasFailed = false
  const onFailure = (message: string): void => {
    if (!hasFailed) warn(message)
    hasFailed = true
  }
  const timer = setInterval(() => {
    if (isAsking) return
    isAsking = true
    void ask().then(() => {
      isAsking = false
      notifySystemd('WATCHDOG', environment, onFailure)
    })
  }, watchdogUs / 3_000)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
