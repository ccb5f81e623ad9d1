// `plantstore import` and `export` of a million plants beside the SQLite shell's own .import and dump of the same rows,
// with the same tables, indexes and durability.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { plantsMany, writePlants } from './plants.ts'
import { cli, row } from './process.ts'

interface Run {
  readonly seconds: number
  /** Undefined where the system does not tell. */
  readonly peakMebibytes: number | undefined
}

const shellImport = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT, name_head TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX plants_by_name ON plants (name_head);
CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;
.mode csv
.import plants.csv plants
`
const shellExport = `.mode csv
.once out.csv
SELECT id, name, tag FROM plants ORDER BY id;
`

export async function benchImport(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'))
  try {
    await writePlants(
      join(folder, 'plants.ndjson'),
      (id, name, tag) => `{"id":${id},"name":"${name}","tag":"${tag}"}\n`,
    )
    await writePlants(join(folder, 'plants.csv'), (id, name, tag) => `${id},${name},${tag},${name.toLowerCase()}\n`)
    await writeFile(join(folder, 'import.sql'), shellImport)
    await writeFile(join(folder, 'export.sql'), shellExport)
    const store = ['--store', 'plants.db']
    const shell = hasShell() ? await runShell('shell.db', 'import.sql', folder) : undefined
    const own = await run([process.execPath, cli, 'import', 'plants.ndjson', ...store], folder)
    const shellOut = shell && (await runShell('shell.db', 'export.sql', folder))
    const ownOut = await run([process.execPath, cli, 'export', 'out.ndjson', ...store], folder)
    await run([process.execPath, cli, 'import', 'out.ndjson', '--store', 'again.db'], folder)
    await run([process.execPath, cli, 'export', 'again.ndjson', '--store', 'again.db'], folder)
    const isSame = (await readFile(join(folder, 'out.ndjson'))).equals(await readFile(join(folder, 'again.ndjson')))
    const { size } = await stat(join(folder, 'out.ndjson'))
    const [cpu] = cpus()
    const lines = [
      `${plantsMany} plants, ids in no order; Node.js ${process.version}, ${cpus().length} cores of ${cpu?.model}`,
      shell
        ? 'beside the SQLite shell with the same table, indexes, WAL and synchronous=FULL'
        : 'there is no sqlite3 here to compare with',
      '',
      row(['', 'seconds', 'plants/s', 'peak MiB']),
      ...(shell ? [row(['shell import', ...figures(shell)])] : []),
      row(['import', ...figures(own)]),
      ...(shellOut ? [row(['shell export', ...figures(shellOut)])] : []),
      row(['export', ...figures(ownOut)]),
      '',
      ...(shell && shellOut
        ? [`speed of the shell's: import ${ratio(shell, own)}, export ${ratio(shellOut, ownOut)}`]
        : []),
      `export | import | export: ${isSame ? 'byte-identical' : 'DIFFERENT'}, ${size} bytes`,
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
  } finally {
    await rm(folder, { recursive: true })
  }
}

function hasShell(): boolean {
  try {
    execFileSync('sqlite3', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function runShell(database: string, script: string, folder: string): Promise<Run> {
  return run(['sqlite3', database], folder, join(folder, script))
}

async function run([command = '', ...args]: readonly string[], cwd: string, input?: string): Promise<Run> {
  const startedAt = performance.now()
  const stdin = input === undefined ? 'ignore' : openSync(input, 'r')
  const child = spawn(command, args, { cwd, stdio: [stdin, 'ignore', 'pipe'] })
  let peakKibibytes: number | undefined
  const sample = setInterval(async () => {
    // Linux keeps the peak itself; elsewhere there is no such file.
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1])
    if (peak > 0) peakKibibytes = peak
  }, 50)
  const said = child.stderr?.setEncoding('utf8').toArray()
  const [status] = await once(child, 'close')
  clearInterval(sample)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${(await said)?.join('')}`)
  const seconds = (performance.now() - startedAt) / 1000
  return { seconds, peakMebibytes: peakKibibytes && peakKibibytes / 1024 }
}

function figures({ seconds, peakMebibytes }: Run): string[] {
  return [seconds.toFixed(1), (plantsMany / seconds).toFixed(0), peakMebibytes?.toFixed(0) ?? '?']
}

function ratio(reference: Run, own: Run): string {
  return (reference.seconds / own.seconds).toFixed(2)
}
