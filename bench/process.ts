// Runs the measured servers as processes, and reads their CPU time and memory.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
}

/** The maximum time for the start of a server. */
const startMsMax = 20_000

export const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

export const cli = here('../bin/plantstore.js')

/** Starts a program that prints its address on stderr. It reports its CPU time. */
export async function startProcess(args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--import', here('report-cpu.ts'), ...args], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  for (const untilMs = performance.now() + startMsMax; performance.now() < untilMs; await sleep(10)) {
    const url = /https?:\/\/[^\s/]+/.exec(output)?.[0]
    if (url !== undefined) return { url, process: child }
    if (child.exitCode !== null) break
  }
  child.kill('SIGKILL')
  throw new Error(`${args.join(' ')} did not start:\n${output}`)
}

export async function stopProcess({ process: child }: ServerProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

export interface ServerFigures {
  /** CPU time of all threads so far. */
  readonly userMicroseconds: number
  readonly systemMicroseconds: number
  /** Peak memory so far. */
  readonly peakMebibytes: number
}

export async function figuresOf({ process: child }: ServerProcess): Promise<ServerFigures> {
  child.send('figures')
  const [figures] = await once(child, 'message')
  return figures
}

export interface BenchStore extends AsyncDisposable {
  readonly path: string
  readonly token: string
  /** The path of another file in the folder of the store, which is removed with the store. */
  file(name: string): string
}

/** Creates an empty store with a token, in a new folder. */
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

/** Runs a command of the program and returns its output. */
export function runCli(args: readonly string[]): string {
  return execFileSync(process.execPath, [cli, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

export interface ProgramFigures {
  readonly seconds: number
  /** Peak memory, on systems that report it. */
  readonly peakMebibytes?: number
}

/** Runs a program until it exits, optionally with a file as input. Rejects when it fails. */
export async function runProgram(
  [command = '', ...args]: readonly string[],
  { cwd, input }: { readonly cwd?: string; readonly input?: string } = {},
): Promise<ProgramFigures> {
  const startedMs = performance.now()
  await using file = input === undefined ? undefined : await open(input)
  const child = spawn(command, args, { cwd, stdio: [file?.fd ?? 'ignore', 'ignore', 'pipe'] })
  let peakKibibytes: number | undefined
  const sample = setInterval(async () => {
    // Linux records the peak itself; other systems have no such file.
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1])
    if (peak > 0) peakKibibytes = peak
  }, 50)
  const said = child.stderr?.setEncoding('utf8').toArray()
  const [status] = await once(child, 'close')
  clearInterval(sample)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${(await said)?.join('')}`)
  const seconds = (performance.now() - startedMs) / 1000
  return { seconds, ...(peakKibibytes !== undefined && { peakMebibytes: peakKibibytes / 1024 }) }
}

/** Starts servers, which stop at the end of the scope. */
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
