// The process: arguments and environment in, exit status out. No other file touches `process`.

import { run } from './cli/program.ts'
import type { Terminal } from './cli/terminal.ts'

const terminal: Terminal = {
  args: process.argv.slice(2),
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal: (listener) => {
    process.on('SIGTERM', listener)
    process.on('SIGINT', listener)
  },
  exit: (status) => process.exit(status),
}

// Whoever reads the output may go away, as `head` does; that must not end a server.
process.stdout.on('error', ignoreClosedPipe)
process.stderr.on('error', ignoreClosedPipe)

process.exitCode = await run(terminal)

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
