// Servers under measurement as processes of their own, and figures about them.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
}

export const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

export const cli = here('../bin/plantstore.js')

/** Starts a server that prints its URL on stderr, and that can be asked for its CPU time and its delays. */
export async function startProcess(command: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--import', here('report-cpu.ts'), ...command], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let output = ''
  child.stderr?.setEncoding('utf8')
  for await (const text of child.stderr ?? []) {
    output += text
    const url = /http:\/\/[^\s/]+/.exec(output)?.[0]
    if (url !== undefined) return { url, process: child }
  }
  throw new Error(`${command.join(' ')} did not start:\n${output}`)
}

export async function stopProcess({ process: child }: ServerProcess): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** CPU time of all threads of a server so far, in microseconds. */
export async function cpuOf({ process: child }: ServerProcess): Promise<number> {
  child.send('cpu')
  const [{ cpuMicroseconds }] = await once(child, 'message')
  return cpuMicroseconds
}

/** The longest time that the event loop of a server was held since the last call, in milliseconds. */
export async function loopDelayOf({ process: child }: ServerProcess): Promise<number> {
  child.send('loopDelay')
  const [{ loopDelayMs }] = await once(child, 'message')
  return loopDelayMs
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

export function row(cells: readonly string[]): string {
  return cells.map((cell, column) => (column === 0 ? cell.padEnd(16) : cell.padStart(15))).join('')
}
