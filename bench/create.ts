// createPlant beside a bare Fastify echo of the same body, in turn and in one run, so that the ratios hold on any
// machine.

import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { findGenerator, type Generator, type LoadResult } from './load.ts'
import { cli, cpuOf, here, median, row, type ServerProcess, startProcess, stopProcess } from './process.ts'

const connections = 64
const roundSeconds = 5
const rounds = 5
const warmUpSeconds = 3
const idsPerRound = 1_000_000_000

interface Measured extends LoadResult {
  readonly cpuMicroseconds: number
}

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
    const echo = await startProcess([here('echo.ts')])
    running.push(echo)
    const service = await startProcess([cli, 'serve', '--port', '0', '--store', store, '--log', 'off'])
    running.push(service)
    report(await measureInTurn({ echo, service }, generator, token), generator)
  } finally {
    for (const server of running) await stopProcess(server)
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
      const load = {
        url: servers[name].url,
        token,
        firstId: round * idsPerRound,
        connections,
        seconds,
        kind: 'create',
      } as const
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
