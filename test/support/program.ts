// Runs the program as its users do: in a separate process.

import { type ChildProcess, type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { run } from '../../src/cli/program.ts'
import type { Limits } from '../../src/limits.ts'
import type { Output, Terminal } from '../../src/terminal.ts'

export const launcher = fileURLToPath(new URL('../../bin/plantstore.js', import.meta.url))
/** Plants with many tags and in many scripts, as NDJSON. */
export const houseplants = fileURLToPath(new URL('plants-of-the-world.ndjson', import.meta.url))
const ownLimits = fileURLToPath(new URL('own-limits.ts', import.meta.url))

/** The environment of the test run without anything that would configure the program. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(PLANTSTORE_|npm_|NODE_(?!COMPILE_CACHE)|FORCE_COLOR|NO_COLOR)/.test(name),
  )
  return Object.fromEntries(entries)
}

export interface Finished {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

interface ProgramOptions extends SpawnOptions {
  /** Another launcher than that of the checkout. */
  readonly launcher?: string
}

/** The process as commands in the test's own process see it. */
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

/** Runs a command of the program to its end, with nothing on its standard input. */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<Finished> {
  const { process: child, finished } = startProgram(args, options)
  child.stdin.end()
  return finished
}

interface HereOptions {
  readonly isTTY?: boolean
  readonly environment?: NodeJS.ProcessEnv
  /** What the command reads from its standard input. */
  readonly input?: Iterable<Buffer> | AsyncIterable<Buffer>
}

/** Runs a command in the test's own process, which takes a tenth of the time; `isTTY` makes stdout a terminal. */
export async function runHere(
  args: readonly string[],
  { isTTY = false, environment = {}, input = [] }: HereOptions = {},
): Promise<Finished> {
  const written = { stdout: '', stderr: '' }
  const output = (name: keyof typeof written): Output => {
    const stream = new Writable({
      write: (bytes: Buffer, _encoding, done) => {
        written[name] += bytes.toString()
        done()
      },
    })
    return stream
  }
  const exit = (status: number): never => {
    throw new Error(`the command ended its process with ${status}`)
  }
  const terminal: Terminal = {
    ...ownTerminal,
    args,
    environment,
    stdin: Readable.from(input),
    stdout: Object.assign(output('stdout'), { isTTY }),
    stderr: output('stderr'),
    exit,
  }
  return { status: await run(terminal), ...written }
}

/** Imports a file by `runHere`, and gives what is said of it, without the message that the store is new. */
export async function importHere(file: string, store: string, ...flags: string[]): Promise<Finished> {
  const finished = await runHere(['import', file, '--store', store, ...flags])
  return { ...finished, stderr: finished.stderr.replace(/^A new store was created at .*\n/m, '') }
}

export interface RunningProgram {
  readonly process: ChildProcessWithoutNullStreams
  readonly finished: Promise<Finished>
}

/** Starts a command of the program, which reads what the test writes to its standard input. */
export function startProgram(args: readonly string[], options: ProgramOptions = {}): RunningProgram {
  const program = options.launcher ?? launcher
  const child = spawn(process.execPath, [program, ...args], { env: cleanEnvironment(), ...options, stdio: 'pipe' })
  killAtExit(child)
  // A program that has ended takes no more input; what became of it is for the test to say.
  child.stdin.on('error', () => {})
  const reading = Promise.all([readAll(child.stdout), readAll(child.stderr), exitOf(child)])
  return { process: child, finished: reading.then(([stdout, stderr, status]) => ({ status, stdout, stderr })) }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>

export interface ServerOptions {
  readonly args?: readonly string[]
  readonly environment?: NodeJS.ProcessEnv
  /** Another launcher than that of the checkout. */
  readonly launcher?: string
  /** Limits of its own. */
  readonly limits?: Partial<Record<keyof Limits, number>>
  /** A command that is put before node, as strace with its flags. */
  readonly under?: readonly string[]
  /** Flags of node itself. */
  readonly before?: readonly string[]
}

/** Starts a server on a free port and waits until it is ready. */
export async function startServer(store: string, options: ServerOptions = {}) {
  const preloads = options.limits === undefined ? [] : ['--import', ownLimits]
  const [command = '', ...args] = [
    ...[...(options.under ?? []), process.execPath, ...preloads, ...(options.before ?? [])],
    ...[options.launcher ?? launcher, 'serve', '--port', '0', '--store', store, ...(options.args ?? [])],
  ]
  const limits = options.limits && { TEST_LIMITS: JSON.stringify(options.limits) }
  // What is compiled of a program in a temporary folder is kept there, not among what the checkout keeps.
  const ownCache = options.launcher === undefined ? {} : { NODE_COMPILE_CACHE: undefined }
  const tokenFile = join(tmpdir(), `plantstore-test-token-${randomUUID()}`)
  const child = spawn(command, args, {
    env: {
      ...cleanEnvironment(),
      ...ownCache,
      ...limits,
      PLANTSTORE_FIRST_TOKEN_FILE: tokenFile,
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  killAtExit(child)
  const output = { stdout: '', stderr: '' }
  const exited = exitOf(child).finally(() => rmSync(tokenFile, { force: true }))
  const { promise: ready, resolve } = Promise.withResolvers<string>()
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    output.stderr += text
    const url = /listens on ((?:https?:\/\/|unix:)\S+)\n[\s\S]*\n\n?$/.exec(output.stderr)?.[1]
    if (url !== undefined) resolve(url)
  })
  const url = await Promise.race([ready, exited.then((status) => Promise.reject(notStarted(status, output)))])
  const token = existsSync(tokenFile) ? readFileSync(tokenFile, 'utf8').trimEnd() : ''
  rmSync(tokenFile, { force: true })
  return {
    url,
    port: Number(new URL(url).port),
    /** The token that the server made at its first start, else the empty text. */
    token,
    process: child,
    /** What it has written so far. */
    output,
    /** The status that the process ends with; null when a signal ended it. */
    exited,
    /** Resolves once its stdout has a text. */
    sees: async (text: string): Promise<void> => {
      while (!output.stdout.includes(text)) await once(child.stdout as NodeJS.ReadableStream, 'data')
    },
    /** Sends a signal and gives the status that the process ends with; null when a signal ended it. */
    stop: (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
      child.kill(signal)
      return exited
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function notStarted(status: number | null, output: { stdout: string; stderr: string }): Error {
  return new Error(`the server ended with ${status} before it was ready:\n${output.stderr}${output.stdout}`)
}

/** A test run that ends early must leave nothing behind that it started. */
export function killAtExit(child: ChildProcess): void {
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))
}

/** Gives what a process has written so far. */
export function outputOf({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>): () => string {
  let output = ''
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return () => output
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [status] = await once(child, 'close')
  return status
}

async function readAll(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = ''
  stream?.setEncoding('utf8')
  for await (const part of stream ?? []) text += part
  return text
}
