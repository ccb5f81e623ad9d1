// createPlant beside a bare Fastify echo of the same body, in turn and in one run, so that the ratios hold on any machine.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findGenerator, type Generator, type LoadResult } from './load.ts'

const connections = 64
const roundSeconds = 5
const rounds = 5
const warmUpSeconds = 3
const idsPerRound = 1_000_000_000

interface Measured extends LoadResult {
  readonly cpuMicroseconds: number
}

interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const cli = here('../bin/plantstore.js')

export async function benchCreate(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'))
  const store = join(folder, 'plants.db')
  const token = execFileSync(process.execPath, [cli, 'token', 'create', '--name', 'bench', '--store', store], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
  const generator = findGenerator()
  const running: ServerProcess[] = []
  try {
    const echo = await start([here('echo.ts')])
    running.push(echo)
    const service = await start([cli, 'serve', '--port', '0', '--store', store, '--log', 'off'])
    running.push(service)
    report(await measureInTurn({ echo, service }, generator, token), generator)
  } finally {
    for (const server of running) {
      server.process.kill('SIGTERM')
      await once(server.process, 'exit')
    }
    await rm(folder, { recursive: true })
  }
}

async function measureInTurn(
  servers: { readonly echo: ServerProcess; readonly service: ServerProcess },
  generator: Generator,
  token: string,
): Promise<{ echo: Measured[]; service: Measured[] }> {
  const results = { echo: [] as Measured[], service: [] as Measured[] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of ['echo', 'service'] as const) {
      const seconds = round === 0 ? warmUpSeconds : roundSeconds
      const load = { url: servers[name].url, token, firstId: round * idsPerRound, connections, seconds }
      const before = await cpuOf(servers[name])
      const result = await generator.run(load)
      const cpuMicroseconds = ((await cpuOf(servers[name])) - before) / result.requests
      if (round > 0) results[name].push({ ...result, cpuMicroseconds })
    }
  }
  return results
}

function report(results: { echo: Measured[]; service: Measured[] }, generator: Generator): void {
  const [cpu] = cpus()
  const lines = [
    `createPlant (authenticated, validated, on disk before the answer) beside a bare Fastify echo of the same body`,
    `${connections} connections by ${generator.name}, ${rounds} rounds of ${roundSeconds} s each in turn, medians; Node.js ${process.version}, ${cpus().length} cores of ${cpu?.model}`,
    '',
    row(['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU us/request']),
    row(['echo', ...figures(results.echo)]),
    row(['createPlant', ...figures(results.service)]),
    '',
    `createPlant / echo: requests/s ${ratio(results, 'perSecond')}, CPU a request ${ratio(results, 'cpuMicroseconds')} (all threads of the server)`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

function figures(results: readonly Measured[]): string[] {
  const of = (figure: keyof Measured): number => median(results.map((result) => result[figure]))
  return [of('perSecond').toFixed(0), of('p50Ms').toFixed(2), of('p99Ms').toFixed(2), of('cpuMicroseconds').toFixed(1)]
}

/** The median of the ratios round by round, so that a machine that changes its speed changes both sides of each. */
function ratio(results: { echo: Measured[]; service: Measured[] }, figure: keyof Measured): string {
  const ratios = results.service.map((result, round) => result[figure] / (results.echo[round]?.[figure] ?? Number.NaN))
  return median(ratios).toFixed(2)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function row(cells: readonly string[]): string {
  return cells.map((cell, column) => (column === 0 ? cell.padEnd(12) : cell.padStart(15))).join('')
}

async function start(command: readonly string[]): Promise<ServerProcess> {
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

async function cpuOf({ process: child }: ServerProcess): Promise<number> {
  child.send('cpu')
  const [{ cpuMicroseconds }] = await once(child, 'message')
  return cpuMicroseconds
}
