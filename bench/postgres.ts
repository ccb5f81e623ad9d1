// createPlant on PostgreSQL, by one server and by two, beside pgbench doing the same durable INSERT, one row a
// transaction, on the same database in the same run.

import { spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCluster } from '../test/support/postgres.ts'
import { findGenerator, type Generator, type LoadResult } from './load.ts'
import { cli, cpuOf, median, row, runCli, type ServerProcess, startProcess, stopProcess } from './process.ts'

const connections = 64
const roundSeconds = 5
const rounds = 3
const idsPerRound = 1_000_000_000

interface Measured extends Omit<LoadResult, 'p999Ms'> {
  readonly cpuMicroseconds: number
}

/** The same columns and index entries as a plant has. */
const insert = `\\set id random(1, 9223372036854775806)
INSERT INTO pgbench_plants (id, name, tag, name_folded, commit_mark)
  VALUES (:id, 'Monstera deliciosa', 'aroid', 'monstera deliciosa', 1) ON CONFLICT (id) DO NOTHING;
`

export async function benchPostgres(): Promise<void> {
  await using cluster = await makeCluster()
  await cluster.start(['shared_buffers=256MB', 'max_connections=200', 'max_wal_size=4GB'])
  const token = runCli(['token', 'create', '--name', 'bench', '--store', cluster.url]).trim()
  await cluster.query('CREATE TABLE pgbench_plants (LIKE plants INCLUDING ALL)')
  const script = join(tmpdir(), `plantstore-pgbench-${cluster.port}.sql`)
  await writeFile(script, insert)
  const generator = findGenerator()
  const servers: ServerProcess[] = []
  const results = { pgbench: [] as number[], one: [] as Measured[], two: [] as Measured[] }
  try {
    for (let count = 0; count < 2; count += 1) {
      servers.push(await startProcess([cli, 'serve', '--port', '0', '--store', cluster.url, '--log', 'off']))
    }
    for (let round = 0; round <= rounds; round += 1) {
      const pgbench = await runPgbench(cluster.port, script)
      const one = await measure(servers.slice(0, 1), generator, token, 2 * round)
      const two = await measure(servers, generator, token, 2 * round + 1)
      // The first round is for warming up.
      if (round === 0) continue
      results.pgbench.push(pgbench)
      results.one.push(one)
      results.two.push(two)
    }
  } finally {
    for (const server of servers) await stopProcess(server)
    await rm(script)
  }
  report(results, generator, cluster.version)
}

/** Transactions a second. */
async function runPgbench(port: number, script: string): Promise<number> {
  const flags = ['-n', '-M', 'prepared', '-c', String(connections), '-j', '1', '-T', String(roundSeconds), '-f', script]
  const server = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', 'postgres']
  const child = spawn('pgbench', [...flags, ...server], { stdio: ['ignore', 'pipe', 'ignore'] })
  const output = (await child.stdout.toArray()).join('')
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(output)?.[1])
  if (!(perSecond > 0)) throw new Error(`pgbench gave no result:\n${output}`)
  return perSecond
}

/** Loads all servers at once, the connections shared out among them. */
async function measure(
  servers: readonly ServerProcess[],
  generator: Generator,
  token: string,
  round: number,
): Promise<Measured> {
  const cpu = async (): Promise<number> => (await Promise.all(servers.map(cpuOf))).reduce((a, b) => a + b)
  const before = await cpu()
  const results = await Promise.all(
    servers.map(({ url }, index) =>
      generator.run({
        url,
        token,
        firstId: (2 * round + index) * idsPerRound,
        connections: connections / servers.length,
        seconds: roundSeconds,
        kind: 'create',
      }),
    ),
  )
  const requests = results.reduce((sum, result) => sum + result.requests, 0)
  return {
    requests,
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: Math.max(...results.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    cpuMicroseconds: ((await cpu()) - before) / requests,
  }
}

function report(
  results: { pgbench: readonly number[]; one: readonly Measured[]; two: readonly Measured[] },
  generator: Generator,
  version: string,
): void {
  const [cpu] = cpus()
  const figures = (measured: readonly Measured[]): string[] => {
    const of = (figure: keyof Measured): number => median(measured.map((result) => result[figure]))
    return [
      of('perSecond').toFixed(0),
      of('p50Ms').toFixed(2),
      of('p99Ms').toFixed(2),
      of('cpuMicroseconds').toFixed(1),
    ]
  }
  const ratio = (measured: readonly Measured[]): string =>
    median(measured.map(({ perSecond }, round) => perSecond / (results.pgbench[round] ?? Number.NaN))).toFixed(2)
  const lines = [
    `createPlant on PostgreSQL ${version} beside pgbench with the same INSERT, one row a transaction, everything on one machine`,
    `${connections} connections by ${generator.name} and by pgbench, ${rounds} rounds of ${roundSeconds} s each in turn, medians; Node.js ${process.version}, ${cpus().length} cores of ${cpu?.model}`,
    '',
    row(['', 'creates/s', 'p50 ms', 'p99 ms', 'CPU us/request']),
    row(['pgbench', median(results.pgbench).toFixed(0)]),
    row(['one server', ...figures(results.one)]),
    row(['two servers', ...figures(results.two)]),
    '',
    `creates/s to pgbench's transactions/s: one server ${ratio(results.one)}, two servers ${ratio(results.two)}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
