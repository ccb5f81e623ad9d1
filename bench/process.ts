// Servers under measurement as processes of their own, and figures about them.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

export interface ServerFigures {
  /** CPU time of all threads so far. */
  readonly userMicroseconds: number
  readonly systemMicroseconds: number
  /** The most memory that was held so far. */
  readonly peakMebibytes: number
}

export async function figuresOf({ process: child }: ServerProcess): Promise<ServerFigures> {
  child.send('figures')
  const [figures] = await once(child, 'message')
  return figures
}

/** CPU time of all threads of a server so far, in microseconds. */
export async function cpuOf(server: ServerProcess): Promise<number> {
  const { userMicroseconds, systemMicroseconds } = await figuresOf(server)
  return userMicroseconds + systemMicroseconds
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

export interface BenchStore extends AsyncDisposable {
  readonly path: string
  readonly token: string
  /** The path of another file in its folder, which is gone when the bench is done. */
  file(name: string): string
}

/** Makes an empty store with a token. */
export async function makeStore(): Promise<BenchStore> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'))
  const path = join(folder, 'plants.db')
  return {
    path,
    token: runCli(['token', 'create', '--name', 'bench', '--store', path]).trim(),
    file: (name) => join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

/** The command that serves a store on a free port, without a log. */
export const serving = ({ path }: BenchStore): readonly string[] => [
  ...[cli, 'serve', '--port', '0', '--store', path, '--log', 'off'],
]

/** Runs a command of the program and gives what it prints. */
export function runCli(args: readonly string[]): string {
  return execFileSync(process.execPath, [cli, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

/** Starts servers, all of which end with the scope. */
export async function startAll<Commands extends readonly (readonly string[])[]>(
  commands: readonly [...Commands],
): Promise<AsyncDisposable & { readonly all: { [Index in keyof Commands]: ServerProcess } }> {
  const all: ServerProcess[] = []
  const stop = async (): Promise<void> => {
    for (const server of all) await stopProcess(server)
  }
  try {
    for (const command of commands) all.push(await startProcess(command))
  } catch (error) {
    await stop()
    throw error
  }
  return { all: all as { [Index in keyof Commands]: ServerProcess }, [Symbol.asyncDispose]: stop }
}
