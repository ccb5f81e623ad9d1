// createPlant on PostgreSQL with one, two and three servers, compared with pgbench running the same durable INSERT, one
// row per transaction, on the same database in the same run.

import { spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCluster } from '../test/support/postgres.ts'
import { type Effort, type Measure, measureInTurn, nextRun } from './in-turn.ts'
import { findGenerator, type Generator } from './load.ts'
import { cli, figuresOf, runCli, type ServerProcess, startAll } from './process.ts'
import { createPlant } from './requests.ts'
import type { Comparison, Round } from './results.ts'

/** Divisible by each number of servers. */
const connections = 60
/** Has the same columns and index entries as a plant. */
const insert = `\\set id random(1, 9223372036854775806)
INSERT INTO pgbench_plants (id, name, tag, name_folded, commit_mark)
  VALUES (:id, 'Monstera deliciosa', 'aroid', 'monstera deliciosa', 1) ON CONFLICT (id) DO NOTHING;
`

export async function* benchPostgres(effort: Effort): AsyncGenerator<Comparison> {
  await using cluster = await makeCluster()
  await cluster.start(['shared_buffers=256MB', 'max_connections=200', 'max_wal_size=4GB'])
  const token = runCli(['token', 'create', '--name', 'bench', '--store', cluster.url]).trim()
  await cluster.query('CREATE TABLE pgbench_plants (LIKE plants INCLUDING ALL)')
  const script = join(tmpdir(), `plantstore-pgbench-${cluster.port}.sql`)
  await writeFile(script, insert)
  const generator = findGenerator()
  const serve = [cli, 'serve', '--port', '0', '--store', cluster.url, '--log', 'off']
  try {
    await using servers = await startAll([serve, serve, serve])
    yield await measureInTurn(
      {
        title: `createPlant on PostgreSQL ${cluster.version} beside pgbench with the same INSERT, a row a transaction`,
        setup: `everything on one machine, ${connections} connections by ${generator.name} and by pgbench`,
        connections,
        measures: {
          pgbench: (seconds) => runPgbench(cluster.port, script, seconds),
          'one server': creating(servers.all.slice(0, 1), generator, token),
          'two servers': creating(servers.all.slice(0, 2), generator, token),
          'three servers': creating(servers.all, generator, token),
        },
      },
      effort,
    )
  } finally {
    await rm(script)
  }
}

/** Requests per second are transactions here. */
async function runPgbench(port: number, script: string, seconds: number): Promise<Round> {
  const flags = ['-n', '-M', 'prepared', '-c', String(connections), '-j', '1', '-T', String(seconds), '-f', script]
  const server = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', 'postgres']
  const child = spawn('pgbench', [...flags, ...server], { stdio: ['ignore', 'pipe', 'ignore'] })
  const output = (await child.stdout.toArray()).join('')
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(output)?.[1])
  if (!(perSecond > 0)) throw new Error(`pgbench gave no result:\n${output}`)
  return { perSecond }
}

/** Loads all servers at once, with the connections divided among them. */
function creating(servers: readonly ServerProcess[], generator: Generator, token: string): Measure {
  const cpu = async (): Promise<number> => {
    const all = await Promise.all(servers.map(figuresOf))
    return all.reduce((sum, { userMicroseconds, systemMicroseconds }) => sum + userMicroseconds + systemMicroseconds, 0)
  }
  const load = { request: createPlant(token), connections: connections / servers.length }
  return async (seconds) => {
    const before = await cpu()
    const results = await Promise.all(
      servers.map(({ url }) => generator.run({ ...load, url, seconds, run: nextRun() })),
    )
    const requests = results.reduce((sum, result) => sum + result.requests, 0)
    return {
      perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
      p50Ms: Math.max(...results.map(({ p50Ms }) => p50Ms)),
      p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
      cpuMicroseconds: ((await cpu()) - before) / requests,
      generatorPercent: results.reduce((sum, { generatorPercent }) => sum + generatorPercent, 0),
    }
  }
}
