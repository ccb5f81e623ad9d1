// What a command sees of the process when a test's file runs it without the program around it.

import type { Terminal } from '../../src/terminal.ts'

export const ownTerminal: Terminal = {
  args: [],
  environment: {},
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  descriptorsMax: Number.MAX_SAFE_INTEGER,
  onSignal: () => {},
  onHangup: () => {},
  exit: (status) => process.exit(status),
  endBy: () => process.exit(1),
}
