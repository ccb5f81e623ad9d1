// `plantstore import` and `export` of a million plants compared with the SQLite shell's .import and query output of the
// same rows, with the same tables, indexes and durability.

import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plantLine, plantsMany, writePlants } from './plants.ts'
import { cli, runProgram } from './process.ts'
import { type Comparison, contendersOf, type Round } from './results.ts'

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

export async function* benchImport(): AsyncGenerator<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'))
  try {
    await writePlants(join(folder, 'plants.ndjson'), plantLine)
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
    const same = `export | import | export: ${isSame ? 'byte-identical' : 'DIFFERENT'}, ${size} bytes`
    const setup = shell
      ? 'beside the SQLite shell with the same table, indexes, WAL and synchronous=FULL, once each'
      : 'once; there is no sqlite3 here to compare with'
    const title = `of ${plantsMany} plants, ids in no order`
    yield { title: `import ${title}`, setup, contenders: contendersOf(besideShell(shell, own)) }
    yield { title: `export ${title}`, setup, contenders: contendersOf(besideShell(shellOut, ownOut)), note: same }
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

function runShell(database: string, script: string, folder: string): Promise<Round> {
  return run(['sqlite3', database], folder, join(folder, script))
}

async function run(command: readonly string[], cwd: string, input?: string): Promise<Round> {
  const figures = await runProgram(command, { cwd, ...(input !== undefined && { input }) })
  return { ...figures, plantsPerSecond: plantsMany / figures.seconds }
}

function besideShell(shell: Round | undefined, own: Round): ReadonlyMap<string, readonly Round[]> {
  return new Map([...(shell ? [['SQLite shell', [shell]] as const] : []), ['plantstore', [own]]])
}
