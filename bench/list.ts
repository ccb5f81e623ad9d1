// A page of 1,000 plants of a store of a million beside a bare Fastify route that sends the same bytes.

import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { findGenerator } from './load.ts'
import { plantsMany, writePlants } from './plants.ts'
import { cli, cpuOf, here, median, row, type ServerProcess, startProcess, stopProcess } from './process.ts'

const connections = 16
const rounds = 5
const roundSeconds = 3

interface Measured {
  readonly perSecond: number
  readonly p99Ms: number
  readonly cpuMicroseconds: number
}

export async function benchList(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'))
  const store = join(folder, 'plants.db')
  const quiet: ExecFileSyncOptionsWithStringEncoding = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
  const running: ServerProcess[] = []
  try {
    await writePlants(join(folder, 'p.ndjson'), (id, name, tag) => `{"id":${id},"name":"${name}","tag":"${tag}"}\n`)
    execFileSync(process.execPath, [cli, 'import', join(folder, 'p.ndjson'), '--store', store], quiet)
    const token = execFileSync(
      process.execPath,
      [cli, 'token', 'create', '--name', 'b', '--store', store],
      quiet,
    ).trim()
    const service = await startProcess([cli, 'serve', '--port', '0', '--store', store, '--log', 'off'])
    running.push(service)
    const page = await fetch(`${service.url}/plants?limit=1000`, { headers: { authorization: `Bearer ${token}` } })
    const bytes = await page.text()
    await writeFile(join(folder, 'page.json'), bytes)
    const plain = await startProcess([here('send.ts'), join(folder, 'page.json')])
    running.push(plain)
    const generator = findGenerator()
    const results = { plain: [] as Measured[], service: [] as Measured[] }
    for (let round = 0; round <= rounds; round += 1) {
      for (const [name, server] of Object.entries({ plain, service }) as [keyof typeof results, ServerProcess][]) {
        const before = await cpuOf(server)
        const load = { url: server.url, token, firstId: 0, connections, seconds: roundSeconds, kind: 'list' } as const
        const result = await generator.run(load)
        const cpuMicroseconds = ((await cpuOf(server)) - before) / result.requests
        // The first round warms up.
        if (round > 0) results[name].push({ ...result, cpuMicroseconds })
      }
    }
    report(results, Buffer.byteLength(bytes), generator.name)
  } finally {
    for (const server of running) await stopProcess(server)
    await rm(folder, { recursive: true })
  }
}

function report(results: { plain: Measured[]; service: Measured[] }, pageBytes: number, generator: string): void {
  const of = (name: keyof typeof results, figure: keyof Measured): number =>
    median(results[name].map((result) => result[figure]))
  const line = (title: string, name: keyof typeof results): string =>
    row([
      title,
      of(name, 'perSecond').toFixed(0),
      ((of(name, 'perSecond') * pageBytes) / 1e6).toFixed(0),
      of(name, 'p99Ms').toFixed(1),
      of(name, 'cpuMicroseconds').toFixed(0),
    ])
  const [cpu] = cpus()
  const lines = [
    `Pages of 1,000 plants (${pageBytes} bytes) of a store of ${plantsMany}, beside a bare Fastify route that sends the same bytes`,
    `${connections} connections by ${generator}, ${rounds} rounds of ${roundSeconds} s in turn, medians; Node.js ${process.version}, ${cpus().length} cores of ${cpu?.model}`,
    '',
    row(['', 'pages/s', 'MB/s', 'p99 ms', 'CPU us/page']),
    line('plain', 'plain'),
    line('listPlants', 'service'),
    '',
    `listPlants / plain: pages/s ${(of('service', 'perSecond') / of('plain', 'perSecond')).toFixed(2)}, CPU a page ${(of('service', 'cpuMicroseconds') / of('plain', 'cpuMicroseconds')).toFixed(2)}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
