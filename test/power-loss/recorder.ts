// Records the changes that servers under load make to the files of a folder, one server after the other.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { copyFile, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Folder, makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { until } from '../support/time.ts'
import { SimulatedDisk } from './disk.ts'
import type { Change } from './ledger.ts'
import { changeUntilGone } from './load.ts'
import { type DiskEvent, straceCommand, TraceReader } from './trace.ts'

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
  readonly events: readonly DiskEvent[]
  /** What the clients of the servers did. */
  readonly clients: readonly (readonly Change[])[]
  /** The position at which the last server began. */
  readonly lastStart: number
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
  await using work = await makeWorkFolder()
  const [folder, trace] = [work.file('store'), work.file('trace')]
  mkdirSync(folder)
  const events: DiskEvent[] = []
  const clients: (readonly Change[])[] = []
  const sizes = new Map<string, number>()
  const disk = new SimulatedDisk()
  let [token, lastStart] = ['', 0]
  for (const [round, { changes, failingSync, environment }] of runs.entries()) {
    lastStart = events.length
    const under = straceCommand(trace, failingSync)
    await using server = await startServer(join(folder, storeName), { under, environment: { ...environment } })
    token ||= server.token
    const own = await changeUntilGone(server, token, round, seed + 1_000 * round, (count) => {
      if (count === changes) server.process.kill('SIGKILL')
    })
    assert.equal(await server.exited, failingSync === undefined ? null : 1, server.output.stderr)
    clients.push(...own)
    // strace is a process that nobody waits for.
    const end = new RegExp(`^${server.process.pid} +\\+\\+\\+ .*\\+\\+\\+$`, 'm')
    await until('the trace is written', async () => end.test(await readEnd(trace)))
    await new TraceReader(folder, events, sizes).read(trace)
    const answers = new Set(events.flatMap((event) => (event.kind === 'answer' ? event.requestId : [])))
    const unseen = own.flat().find(({ requestId }) => requestId !== undefined && !answers.has(requestId))
    if (unseen !== undefined) {
      const kept = join(tmpdir(), `plantstore-trace-${server.process.pid}`)
      await copyFile(trace, kept)
      assert.fail(`the answer ${unseen.requestId} is not in ${kept}`)
    }
    await rm(trace)
    for (const event of events.slice(lastStart)) disk.apply(event)
    assertComplete(disk, folder)
  }
  return { events, clients, lastStart }
}

/** The recording comes to the very files that are there: nothing was overlooked. */
function assertComplete({ files }: SimulatedDisk, folder: string): void {
  const isOurs = (name: string): boolean => !name.endsWith('-shm')
  assert.deepEqual([...files.keys()].filter(isOurs).sort(), readdirSync(folder).filter(isOurs).sort())
  for (const [name, content] of files) {
    if (isOurs(name)) assert.ok(content.equals(readFileSync(join(folder, name))), `${name} is another one`)
  }
}

/** The last lines of a file. */
async function readEnd(path: string): Promise<string> {
  await using file = await open(path)
  const { size } = await file.stat()
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(4_096), position: Math.max(size - 4_096, 0) })
  return buffer.toString('latin1', 0, bytesRead)
}
