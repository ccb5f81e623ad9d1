// The entry point: arguments and environment in, exit status out. No other file accesses `process`.

import { existsSync, readFileSync } from 'node:fs'
import { run } from './cli/program.ts'
import { limits } from './limits.ts'
import { endingSignals, type Terminal } from './terminal.ts'

const unreadOutputMsMax = 100

/** Aborted once the terminal is closed, or npm's shell has ended. */
const deserted = new AbortController()

const terminal: Terminal = {
  args: process.argv.slice(2),
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  /** The soft limit, which Node.js raises to the hard one. Only Linux shows it in a file. */
  get descriptorsMax() {
    const text = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : ''
    const soft = Number(/^Max open files +(\S+)/m.exec(text)?.[1])
    return Number.isFinite(soft) ? soft : Number.MAX_SAFE_INTEGER
  },
  onSignal: (listener) => {
    for (const signal of endingSignals) process.on(signal, () => listener(signal))
    deserted.signal.addEventListener('abort', () => listener('SIGHUP'))
    if (process.env['npm_lifecycle_event'] !== undefined) onOrphaned(() => deserted.abort())
  },
  onHangup: (listener) => {
    process.on('SIGHUP', () => {
      if (process.stderr.isTTY !== true) listener()
      // A write to a closed terminal fails.
      else process.stderr.write('', (error) => (error == null ? listener() : deserted.abort()))
    })
  },
  exit,
  endBy: (signal) => {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    exit(1)
  },
}

// Writes to the output may fail because its reader has gone or its disk is full. A server continues without its log. A
// command sees the error of its own write.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

const status = await run(terminal)
process.exitCode = status
// Unread output must not keep the process alive.
setTimeout(() => exit(status), unreadOutputMsMax).unref()

/** npm and npx run a program in a shell, which ends at SIGTERM without passing the signal on. */
function onOrphaned(listener: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    listener()
  }, limits.parentCheckMs).unref()
}

/** Waits for system calls of threads, for example on a disk that hangs. Signals end the process in the meantime. */
function exit(status: number): never {
  for (const signal of endingSignals) process.removeAllListeners(signal)
  process.exit(status)
}
