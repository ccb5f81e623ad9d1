// Other files beside a store or a backup: restore, backup and check neither read them as their own nor leave any.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { describe } from 'node:test'
import { Client } from '../support/client.ts'
import { exhaustiveOnFolder, type Folder, onFolder } from '../support/folder.ts'
import { cleanEnvironment, launcher, runHere, runProgram } from '../support/program.ts'
import { serveHere } from '../support/service.ts'
import { leaveLog, makeStore, onPath, openTestStore, withDatabase } from '../support/store.ts'
import { noStrace, runInjected } from '../support/strace.ts'
import { until } from '../support/time.ts'

const suffixes = ['-wal', '-shm', '-journal']

describe('a restore where no store is', () => {
  exhaustiveOnFolder('keeps commands from making one meanwhile', { skip: noStrace }, async (folder) => {
    const [source, backup, target] = [folder.file('p.db'), folder.file('b.db'), folder.file('r.db')]
    await (await openTestStore(source)).close()
    assert.equal((await runProgram(['backup', backup, '--store', source])).status, 0)
    // Each sync takes long enough for a command to come in between.
    const slow = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_enter=400000']
    const restore = spawn(
      'strace',
      ['-f', '-qq', '-o', '/dev/null', ...slow, process.execPath, launcher, 'restore', backup, '--store', target],
      { env: cleanEnvironment(), stdio: 'ignore' },
    )
    const restored = once(restore, 'exit')
    await until('the restore has begun', () => readdirSync(folder.path).some((name) => name.endsWith('.partial')))
    const made = await runProgram(['token', 'create', '--name', 'n', '--store', target])
    assert.deepEqual(await restored, [0, null])
    const list = await runProgram(['token', 'list', '--json', '--store', target])
    assert.equal(list.status, 0, `${list.stderr}${made.stderr}`)
    // Either it was told to wait, or its token is there.
    assert.equal(JSON.parse(list.stdout).length, made.status === 0 ? 1 : 0, made.stderr)
  })

  onFolder('on a full disk leaves no store, but an empty file that was there', { skip: noStrace }, async (folder) => {
    const copy = await makeBackup(folder, 5)
    await writeFile(folder.file('empty.db'), '')
    const before = await readdir(folder.path)
    const full = ['-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=ENOSPC']
    for (const name of ['new.db', 'empty.db']) {
      const { status, stderr } = runInjected(full, ['restore', copy, '--store', folder.file(name)])
      assert.match(stderr, /^plantstore: \S+ is on a full disk; make room there [^\n]*; nothing was changed\n$/)
      assert.equal(status, 1)
    }
    const after = await readdir(folder.path)
    const left = after.filter((name) => !name.endsWith('.lock'))
    assert.deepEqual(left, before)
  })
})

describe('what an earlier store left beside', () => {
  for (const { title, remove } of [
    { title: 'missing', remove: (path: string) => rm(path) },
    { title: 'empty', remove: (path: string) => truncate(path, 0) },
  ]) {
    exhaustiveOnFolder(`of a killed server, ${title}, is replaced by exactly the backup's plants`, async (folder) => {
      const [path, copy] = [folder.file('plants.db'), await makeBackup(folder, 200)]
      await leaveLog(path, 20)
      await remove(path)
      assert.ok(existsSync(`${path}-wal`))
      await writeFile(`${path}-journal`, 'of an earlier one')
      const { status, stderr } = await runHere(['restore', copy, '--store', path])
      assert.equal(status, 0, stderr)
      for (const suffix of suffixes) assert.ok(!existsSync(path + suffix), suffix)
      assert.equal(await exportOf(path), plantLines(200))
      assert.equal((await runHere(['check', '--store', path])).status, 0)
    })
  }

  for (const suffix of suffixes) {
    exhaustiveOnFolder(`a backup is refused where a file ${suffix} lies, which stays`, async (folder) => {
      const [path, copy] = [folder.file('plants.db'), folder.file('b.db')]
      await makeStore(path, 3)
      await writeFile(copy + suffix, 'somebody’s')
      const before = await readdir(folder.path)
      const { status, stderr } = await runHere(['backup', copy, '--store', path])
      assert.equal(status, 1)
      assert.match(stderr, new RegExp(`^plantstore: ${copy}${suffix} exists .*; remove it, or name another file\\n$`))
      assert.equal(await readFile(copy + suffix, 'utf8'), 'somebody’s')
      assert.deepEqual(withoutLog(await readdir(folder.path)), before)
    })
  }

  onFolder('no backup is made of a store with the log of another, nor of an empty one', async (folder) => {
    const [path, other] = [await makeBackup(folder, 5), folder.file('other.db')]
    await leaveLog(other, 20)
    await copyFile(`${other}-wal`, `${path}-wal`)
    const before = await contentsOf(folder)
    const backup = () => runHere(['backup', folder.file('copy.db'), '--store', path])
    assert.match((await backup()).stderr, /b\.db is damaged: \S+b\.db-wal beside it belongs to another store/)
    assert.deepEqual(await contentsOf(folder), before)
    await truncate(path, 0)
    assert.match((await backup()).stderr, /b\.db is an empty file, not a store; \S+b\.db-wal beside it belongs to an/)
    assert.ok(existsSync(`${path}-wal`))
  })

  onFolder('a backup with the log of another store beside it is not restored, and check says why', async (folder) => {
    const [path, copy] = [folder.file('plants.db'), await makeBackup(folder, 5)]
    await leaveLog(path, 20)
    await copyFile(`${path}-wal`, `${copy}-wal`)
    const before = await contentsOf(folder)
    const { status, stderr } = await runHere(['restore', copy, '--store', folder.file('new.db')])
    assert.equal(status, 1)
    assert.match(stderr, /^plantstore: \S+b\.db is damaged: \S+b\.db-wal beside it belongs to another store.*\n$/)
    assert.equal((await runHere(['check', '--store', copy])).status, 1)
    assert.deepEqual(await contentsOf(folder), before)
  })
})

describe('the source of a restore', () => {
  onPath('is left as it is, with nothing made beside it', async (path, folder) => {
    await makeStore(path, 3)
    const before = await contentsOf(folder)
    assert.match((await runHere(['restore', path, '--store', path, '--force'])).stderr, /is the store itself/)
    await mkdir(folder.file('to'))
    assert.equal((await runHere(['restore', path, '--store', folder.file('to/new.db')])).status, 0)
    assert.equal(await exportOf(folder.file('to/new.db')), plantLines(3))
    await rm(folder.file('to'), { recursive: true })
    assert.deepEqual(await contentsOf(folder), before)
  })

  onFolder('is read with the log that a dead server left, also where its index is gone', async (folder) => {
    const path = folder.file('from/plants.db')
    await mkdir(folder.file('from'))
    await leaveLog(path, 20)
    await rm(`${path}-shm`)
    const before = await readdir(folder.file('from'))
    assert.equal((await runHere(['restore', path, '--store', folder.file('new.db')])).status, 0)
    assert.equal(await exportOf(folder.file('new.db')), plantLines(20))
    assert.deepEqual(await readdir(folder.file('from')), before)
  })

  onPath('may be the store of a running server', async (path, folder) => {
    await using server = await serveHere(path)
    const client = await Client.connect(server)
    await client.create(1n, 'plant 1')
    assert.equal((await runHere(['restore', path, '--store', folder.file('new.db')])).status, 0)
    assert.equal((await client.create(2n, 'plant 2')).status, 200)
    assert.equal(await exportOf(folder.file('new.db')), plantLines(1, 1))
  })
})

describe('plantstore check', () => {
  type Prepare = (folder: Folder, path: string) => Promise<unknown>
  const says = (title: string, prepare: Prepare, line: RegExp, failed = 1): void => {
    onPath(`${title}: one line, and nothing is changed or made`, async (path, folder) => {
      await prepare(folder, path)
      const before = await contentsOf(folder)
      const { status, stdout, stderr } = await runHere(['check', '--store', path])
      assert.equal(status, /^no damage/.test(stdout) ? 0 : failed)
      assert.match(`${stderr}${stdout.replace(/^\S+ is damaged\n/, '')}`, line)
      assert.deepEqual(await contentsOf(folder), before)
    })
  }
  says('a store', (_, path) => makeStore(path, 3), /^no damage was found in \S+; it has 3 plants\n$/)
  says('a backup', (folder, path) => makeBackup(folder, 3, path), /^no damage was found in \S+; it has 3 plants\n$/)
  says(
    'a store whose server was killed, without the index of its log',
    (_, path) => leaveLog(path, 20).then(() => rm(`${path}-shm`)),
    /^no damage was found in \S+; it has 20 plants\n$/,
  )
  says('no store', () => Promise.resolve(), /^plantstore: there is no store at \S+; name one with --store\n$/)
  says(
    'no store, but a log of one',
    (_, path) => leaveLog(path, 20).then(() => rm(path)),
    /^plantstore: there is no store at \S+, only \S+-wal, which is useless without its store; restore a backup\n$/,
  )
  says('an empty file', (_, path) => writeFile(path, ''), /^plantstore: \S+ is an empty file, not a store\n$/)
  says(
    'an empty file with a log',
    (_, path) => leaveLog(path, 20).then(() => truncate(path, 0)),
    /^plantstore: \S+ is an empty file, not a store; \S+-wal beside it belongs to an earlier one\n$/,
  )
  says(
    'a store cut short',
    (_, path) => makeStore(path, 300).then(() => truncate(path, 8_192)),
    /^it was cut short to 8192 of \d+ bytes\n$/,
  )
  says(
    'a store without one of its indexes',
    (_, path) => makeStore(path, 3).then(() => withDatabase(path, 'DROP INDEX plants_by_tag')),
    /^its index plants_by_tag is missing\n$/,
  )
  says(
    'a store in the middle of a change',
    (_, path) => makeStore(path, 3).then(() => writeFile(`${path}-journal`, Buffer.from('d9d505f920a163d7', 'hex'))),
    /^plantstore: \S+-journal shows that a change to \S+ was interrupted; .*\n$/,
  )
  says('a folder', (_, path) => mkdir(path), /is not a file; name one/, 2)
})

async function makeBackup(folder: Folder, count: number, copy = folder.file('b.db')): Promise<string> {
  await mkdir(folder.file('original'))
  await makeStore(folder.file('original/plants.db'), count)
  const { status, stderr } = await runHere(['backup', copy, '--store', folder.file('original/plants.db')])
  assert.equal(status, 0, stderr)
  return copy
}

function plantLines(count: number, first = 0): string {
  const ids = Array.from({ length: count }, (_, index) => first + index)
  return ids.map((id) => `{"id":${id},"name":"plant ${id}"}\n`).join('')
}

async function exportOf(path: string): Promise<string> {
  const { status, stdout, stderr } = await runHere(['export', '--store', path])
  assert.equal(status, 0, stderr)
  return stdout
}

/** Every file below a folder with its bytes. */
async function contentsOf(folder: Folder): Promise<Map<string, string>> {
  const entries = await readdir(folder.path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`)
  return new Map(await Promise.all(files.sort().map(async (file) => [file, await readFile(file, 'latin1')] as const)))
}

/** Who reads a store that nobody has open makes its log and the index of it. */
function withoutLog(names: readonly string[]): string[] {
  return names.filter((name) => !/plants\.db-(wal|shm)$/.test(name))
}
