// Records what programs do to the files of a folder, one run after the other.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Folder, makeFolder } from '../support/folder.ts'
import { cleanEnvironment, launcher, startServer } from '../support/program.ts'
import { until } from '../support/time.ts'
import { SimulatedDisk, writeFiles } from './disk.ts'
import type { Change } from './ledger.ts'
import { changeUntilGone } from './load.ts'
import { type DiskEvent, straceCommand, TraceReader } from './trace.ts'

/** Why nothing can be recorded here; undefined when it can. */
export function whyNoRecording(): string | undefined {
  const { status } = spawnSync('strace', ['-D', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', 'true'])
  return status === 0 ? undefined : 'strace is not to be had here'
}

/** A folder that costs no disk, where there is such a place. It is gone with the process, too, however that ends. */
export async function makeWorkFolder(): Promise<Folder> {
  const folder = await makeFolder(existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
  const remove = (): void => rmSync(folder.path, { recursive: true, force: true })
  process.once('exit', remove)
  return {
    ...folder,
    [Symbol.asyncDispose]: async () => {
      process.off('exit', remove)
      remove()
    },
  }
}

/** The store's file in a recorded folder. */
export const storeName = 'plants.db'

export interface Recording {
  /** What was in the folder, durably, before the first event. */
  readonly initial: ReadonlyMap<string, Buffer>
  readonly events: readonly DiskEvent[]
  /** What the clients of servers did. */
  readonly clients: readonly (readonly Change[])[]
  /** The position at which each run began. */
  readonly starts: readonly number[]
}

export interface ServerRun {
  /** So many changes are acknowledged before the server is killed. */
  readonly changes: number
  /** The number of the sync that fails, once; the server has to end by itself then. */
  readonly failingSync?: number
  readonly environment?: NodeJS.ProcessEnv
}

/** Runs one server after the other on a new store, under load. */
export async function recordServers(runs: readonly ServerRun[], seed: number): Promise<Recording> {
  await using recorder = await Recorder.start(new Map())
  let token = ''
  for (const [round, { changes, failingSync, environment }] of runs.entries()) {
    const under = recorder.begin(failingSync)
    await using server = await startServer(join(recorder.folder, storeName), { under, environment: { ...environment } })
    token ||= server.token
    const own = await changeUntilGone(server, token, round, seed + 1_000 * round, (count) => {
      if (count === changes) server.process.kill('SIGKILL')
    })
    const status = await server.exited
    assert.equal(status, failingSync === undefined ? null : 1, server.output.stderr)
    recorder.clients.push(...own)
    await recorder.end(server.process)
  }
  return recorder.recording
}

/**
 * Runs a command of the program.
 *
 * @param files what is in the folder before.
 * @param argsOf the arguments, given the folder.
 */
export async function recordCommand(
  files: ReadonlyMap<string, Buffer>,
  argsOf: (folder: string) => readonly string[],
): Promise<Recording & { readonly status: number | null }> {
  await using recorder = await Recorder.start(files)
  const args = [process.execPath, launcher, ...argsOf(recorder.folder)]
  const [command = '', ...rest] = [...recorder.begin(), ...args]
  const child = spawn(command, rest, { env: cleanEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr.resume()
  const [status] = await once(child, 'close')
  await recorder.end(child)
  return { ...recorder.recording, status }
}

class Recorder implements AsyncDisposable {
  readonly clients: (readonly Change[])[] = []
  readonly #work: Folder
  readonly #initial: ReadonlyMap<string, Buffer>
  readonly #events: DiskEvent[] = []
  readonly #starts: number[] = []
  readonly #sizes: Map<string, number>
  readonly #disk: SimulatedDisk

  static async start(files: ReadonlyMap<string, Buffer>): Promise<Recorder> {
    const recorder = new Recorder(await makeWorkFolder(), files)
    writeFiles(recorder.folder, files)
    return recorder
  }

  private constructor(work: Folder, files: ReadonlyMap<string, Buffer>) {
    this.#work = work
    this.#initial = files
    this.#sizes = new Map([...files].map(([name, { length }]) => [name, length]))
    this.#disk = new SimulatedDisk(files)
  }

  get folder(): string {
    return this.#work.file('store')
  }

  get #trace(): string {
    return this.#work.file('trace')
  }

  get recording(): Recording {
    return { initial: this.#initial, events: this.#events, clients: this.clients, starts: this.#starts }
  }

  /** What to put before the command of the next run. */
  begin(failingSync?: number): string[] {
    this.#starts.push(this.#events.length)
    return straceCommand(this.#trace, failingSync)
  }

  /** Reads what a program did that has ended, once strace, a process that nobody waits for, has written all of it. */
  async end({ pid }: ChildProcess): Promise<void> {
    const end = new RegExp(`^${pid} +\\+\\+\\+ .*\\+\\+\\+$`, 'm')
    await until('the trace is written', async () => end.test(await readEnd(this.#trace)))
    await new TraceReader(this.folder, this.#events, this.#sizes).read(this.#trace)
    await rm(this.#trace)
    for (const event of this.#events.slice(this.#disk.position)) this.#disk.apply(event)
    this.#assertComplete()
  }

  /** The recording comes to the very files that are there: nothing was overlooked. */
  #assertComplete(): void {
    const isOurs = (name: string): boolean => !name.endsWith('-shm')
    const files = this.#disk.files
    assert.deepEqual([...files.keys()].filter(isOurs).sort(), readdirSync(this.folder).filter(isOurs).sort())
    for (const [name, content] of files) {
      if (isOurs(name)) assert.ok(content.equals(readFileSync(join(this.folder, name))), `${name} is another one`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work[Symbol.asyncDispose]()
  }
}

/** The last lines of a file. */
async function readEnd(path: string): Promise<string> {
  await using file = await open(path)
  const { size } = await file.stat()
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4_096), position: Math.max(size - 4_096, 0) })
  return buffer.toString('latin1', 0, bytesRead)
}
