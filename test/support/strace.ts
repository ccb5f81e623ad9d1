// Runs the program under strace: records its operations on files in order, or kills it at one of these calls.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Folder } from './folder.ts'
import { cleanEnvironment, launcher } from './program.ts'
import { until } from './time.ts'

/** Why tests that need strace are left out, or false. */
export const noStrace =
  spawnSync('strace', ['-D', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', 'true']).status !== 0 &&
  'strace is not to be had here'

/** Calls that change what a name stands for, or say that it is on disk. */
export const nameCalls = ['rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat'] as const
export const syncCalls = ['fsync', 'fdatasync'] as const
const writeCalls = ['write', 'writev', 'pwrite64', 'pwritev', 'ftruncate', 'copy_file_range', 'sendfile', 'ioctl']

/** What a command does to the files of a folder `.`, in order, as `fsync b.db`; many writes on end are one. */
export async function traceProgram(args: readonly string[], folder: Folder): Promise<string[]> {
  const trace = folder.file('trace')
  const all = await readTrace([...nameCalls, ...syncCalls, ...writeCalls], args, folder)
  const lines = all.flatMap((line) => {
    const [, call = '', rest = ''] = /^\d+ +(\w+)\((.*)/.exec(line) ?? []
    const paths = [...rest.matchAll(/^\w+<([^>]+)>|"([^"]+)"/g)].map(([, open, named]) => open ?? named ?? '')
    const here = paths.filter((path) => path.startsWith(folder.path) && path !== trace)
    if (here.length === 0) return []
    const kind = /^(rename|link|unlink)/.exec(call)?.[1] ?? (/sync$/.test(call) ? 'fsync' : 'write')
    return [[kind, ...here.map((path) => path.slice(folder.path.length + 1) || '.')].join(' ')]
  })
  return lines.filter((line, index) => line !== lines[index - 1])
}

/** How often a command makes each of some calls. */
export async function countCalls(calls: readonly string[], args: readonly string[], folder: Folder) {
  const lines = await readTrace(calls, args, folder)
  return calls.map((call) => ({ call, times: lines.filter((line) => line.includes(` ${call}(`)).length }))
}

/** The lines that strace writes of some calls of a command. */
async function readTrace(calls: readonly string[], args: readonly string[], folder: Folder): Promise<string[]> {
  const trace = folder.file('trace')
  const status = await runUnder(['-y', '-o', trace, '-e', `trace=${calls.join(',')}`], args)
  if (status !== 0) throw new Error(`the command ended with ${status}`)
  return (await readFile(trace, 'utf8')).split('\n')
}

/** Kills a command at its nth call of a kind, on a path if one is given; a server is killed after a time anyway. */
export async function killAt(
  call: string,
  nth: number,
  args: readonly string[],
  { killAfterMs, only }: { readonly killAfterMs?: number; readonly only?: string } = {},
): Promise<void> {
  const inject = `inject=${call}:signal=SIGKILL:when=${nth}`
  const paths = only === undefined ? [] : ['-P', only]
  const flags = ['-o', '/dev/null', ...paths, '-e', `trace=${call}`, '-e', inject]
  const status = await runUnder(flags, args, killAfterMs)
  if (status !== null) throw new Error(`the command was not killed at ${call} ${nth}: it ended with ${status}`)
}

/** The arguments of strace, and the environment, for a command. */
function underStrace(flags: readonly string[], args: readonly string[]) {
  const { NODE_COMPILE_CACHE: _, ...env } = cleanEnvironment()
  return [['-f', '-qq', ...flags, process.execPath, launcher, ...args], env] as const
}

/** Runs a command of which strace lets calls fail or wait. */
export function runInjected(inject: readonly string[], args: readonly string[], trace = '/dev/null') {
  const [under, env] = underStrace(['-o', trace, ...inject], args)
  return spawnSync('strace', under, { env, encoding: 'utf8' })
}

/** Runs a command of which each process stops at its first call of a kind, until `meanwhile` is done. */
export async function runStopped(
  call: string,
  args: readonly string[],
  folder: Folder,
  meanwhile: () => Promise<void>,
) {
  const trace = folder.file('trace')
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGSTOP:when=1`]
  const [under, env] = underStrace(['-o', trace, ...inject], args)
  const child = spawn('strace', under, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const [exited, stderr] = [once(child, 'exit'), text(child.stderr)]
  const findStopped = (): readonly string[] => {
    const lines = existsSync(trace) ? readFileSync(trace, 'utf8') : ''
    return [...lines.matchAll(/^(\d+) +--- stopped by SIGSTOP ---$/gm)].map(([, pid = '']) => pid)
  }
  await until('a process has stopped', () => findStopped().length > 0)
  await meanwhile()
  const resuming = setInterval(() => {
    for (const pid of findStopped()) spawnSync('kill', ['-CONT', pid])
  }, 20)
  const [status] = await exited
  clearInterval(resuming)
  return { status, stderr: await stderr }
}

async function runUnder(
  flags: readonly string[],
  args: readonly string[],
  killAfterMs?: number,
): Promise<number | null> {
  const [under, env] = underStrace(flags, args)
  const child = spawn('strace', under, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  // A command that prints a token refuses to print it to nowhere.
  child.stdout.resume()
  const timer = killAfterMs && setTimeout(() => child.pid && killTraced(child.pid), killAfterMs)
  const [status] = await once(child, 'exit')
  clearTimeout(timer || undefined)
  return status
}

/** A tracer that is killed lets go of what it traces, which would go on: that is killed first, and the tracer ends. */
function killTraced(tracer: number): void {
  const children = readFileSync(`/proc/${tracer}/task/${tracer}/children`, 'utf8').split(' ').filter(Boolean)
  for (const child of children) process.kill(Number(child), 'SIGKILL')
}
