// Tells systemd how the server is, where it was started by a unit with `Type=notify` (sd_notify(3)), and with
// `WatchdogSec=` again and again that it works (sd_watchdog_enabled(3)).

import { execFile } from 'node:child_process'
import type { Terminal } from '../terminal.ts'

type Environment = Terminal['environment']

const assignments = { ready: 'READY=1', stopping: 'STOPPING=1', alive: 'WATCHDOG=1' } as const

/**
 * Node.js cannot send what systemd listens for, a datagram on a Unix socket, but the program of systemd can.
 *
 * @param onFailure told why systemd could not be told.
 */
export function notifySystemd(
  state: keyof typeof assignments,
  environment: Environment,
  onFailure: (message: string) => void,
): void {
  if (environment['NOTIFY_SOCKET'] === undefined) return
  const tellWhy = (error: Error | null): void => {
    if (error !== null) onFailure(`systemd could not be told that the server is ${state}: ${error.message.trim()}`)
  }
  try {
    // Versions before 253 have no options for it.
    execFile('systemd-notify', [assignments[state]], { env: environment }, tellWhy)
  } catch (error) {
    // Where there is no memory for another process, it throws.
    tellWhy(error as Error)
  }
}

/**
 * Tells systemd that the server is alive, three times in the time that its unit gives it: each time after the event loop
 * has turned and the store has answered. A server that tells nothing is killed and started again.
 *
 * @param ask resolves once the store has answered, also that it cannot do anything, as while its database is away:
 * another start would not help then.
 * @param warn told of the first failure.
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
      notifySystemd('alive', environment, onFailure)
    })
  }, watchdogUs / 3_000)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
