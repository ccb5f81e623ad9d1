// Tells systemd how the server is, where it was started by a unit with `Type=notify` (sd_notify(3)).

import { execFile } from 'node:child_process'
import type { Terminal } from './terminal.ts'

/**
 * Node.js cannot send what systemd listens for, a datagram on a Unix socket, but the program of systemd can.
 *
 * @param warn told when systemd could not be told.
 */
export function notifySystemd(
  state: 'ready' | 'stopping',
  { environment }: Terminal,
  warn: (message: string) => void,
): void {
  if (environment['NOTIFY_SOCKET'] === undefined) return
  const tellWhy = (error: Error | null): void => {
    if (error !== null) warn(`systemd could not be told that the server is ${state}: ${error.message.trim()}`)
  }
  try {
    // Versions before 253 have no option for it.
    execFile('systemd-notify', [`${state.toUpperCase()}=1`], { env: environment }, tellWhy)
  } catch (error) {
    // Where there is no memory for another process, it throws.
    tellWhy(error as Error)
  }
}
