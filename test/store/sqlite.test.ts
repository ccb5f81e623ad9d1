// The SQLite engine: the suite of every engine, and what is its own.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { describe } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../../src/domain/clock.ts'
import { AppError, OperatorError } from '../../src/domain/errors.ts'
import { commandLimits, limits } from '../../src/limits.ts'
import type { Job } from '../../src/store/ledger.ts'
import { assertDurable, openWritable } from '../../src/store/sqlite/file/database.ts'
import { isLogWithFrames } from '../../src/store/sqlite/file/header.ts'
import { takeLock } from '../../src/store/sqlite/file/names.ts'
import { rollbackReason, TransactionRunner } from '../../src/store/sqlite/transaction.ts'
import { exhaustiveOnFolder, makeFolder, onFolder } from '../support/folder.ts'
import { toPlant } from '../support/plants.ts'
import { cleanEnvironment, launcher } from '../support/program.ts'
import { busyMsMax, onPath, onStore, openTestStore, readPlant, withDatabase } from '../support/store.ts'
import { noStrace } from '../support/strace.ts'
import { storeSuite, TestClock } from './suite.ts'

const options = { exclusive: true, clock: new TestClock(), limits } as const

storeSuite({
  name: 'SQLite',
  makePlace: async () => {
    const folder = await makeFolder()
    return {
      open: (clock, limits = {}) => openTestStore(folder.file('plants.db'), { ...options, clock, limits }),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    }
  },
})

/** A test of the connection for writes of a new store. */
function onDatabase(title: string, run: (database: DatabaseSync, runner: TransactionRunner) => void): void {
  onPath(title, async (path) => {
    using database = openWritable(path, busyMsMax)
    run(database, new TransactionRunner(database, { idempotencyKeyMs: 1_000, changeRowCharactersMax: 1_000 }))
  })
}

describe('an SQLite store', () => {
  onDatabase('commits are synced: FULL is read back after a write', (database) => {
    assert.equal(pragma(database, 'journal_mode'), 'wal')
    assert.equal(pragma(database, 'synchronous'), 2)
    assert.equal(pragma(database, 'fullfsync'), 1)
    assert.equal(pragma(database, 'checkpoint_fullfsync'), 1)
  })

  for (const [wrong, message] of [
    ['synchronous = OFF', /^OperatorError: the store would not be durable: .* synchronous is/],
    ['synchronous = NORMAL', /synchronous is/],
    ['journal_mode = DELETE', /journal_mode is delete/],
  ] as const) {
    onDatabase(`a connection with ${wrong} after its first write is refused`, (database) => {
      database.exec(`PRAGMA ${wrong}`)
      assert.throws(() => assertDurable(database), message)
    })
  }

  onStore('a reader that meets a hole in the log of changes is told', async (store, path) => {
    const { next } = await store.listChanges({ after: 'now', kind: undefined, limit: 10 })
    for (const id of [1n, 2n, 3n]) await store.createPlant(toPlant({ id, name: 'n' }))
    using database = new DatabaseSync(path)
    database.exec('DELETE FROM changes WHERE first = 3')
    await assert.rejects(store.listChanges({ after: next, kind: undefined, limit: 10 }), { code: 'positionGone' })
  })

  onPath('the file, its log and its lock are for their owner alone', async (path) => {
    await using _store = await openTestStore(path, options)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal((await stat(`${path}-wal`)).mode & 0o777, 0o600)
    assert.equal((await stat(`${path}.lock`)).mode & 0o777, 0o600)
  })

  onPath('the lock is on the file, by whatever name it is opened', async (path, folder) => {
    await using _store = await openTestStore(path, options)
    await symlink(path, folder.file('alias.db'))
    const impatient = { ...options, limits: { storeLockMsMax: 10 } }
    await assert.rejects(openTestStore(folder.file('alias.db'), impatient), /in use by another plantstore server/)
  })

  onFolder('a file that another process writes to for too long refuses all that waits at once', async (folder) => {
    const path = folder.file('plants.db')
    const small = { storeBusyMsMax: 50, transactionJobsMax: 1 }
    await using store = await openTestStore(path, { ...options, limits: small })
    using other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const refused = await Promise.allSettled([1n, 2n, 3n].map((id) => store.createPlant(toPlant({ id, name: 'n' }))))
    for (const result of refused) {
      assert.ok(result.status === 'rejected')
      assert.equal(result.reason.code, 'overloaded')
    }
    other.exec('ROLLBACK')
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
  })

  onDatabase('a full disk refuses with nothing done, and the store goes on with new room', (database, runner) => {
    const pages = Number(pragma(database, 'page_count'))
    database.exec(`PRAGMA max_page_count = ${pages}`)
    const group = Array.from({ length: 20 }, (_, index) => createJob(BigInt(index), 'n'.repeat(1_000)))
    const isFull = (error: unknown): boolean => rollbackReason(error) === 'storeFull'
    assert.throws(() => runner.run(group, 0), isFull)
    assert.equal(database.prepare('SELECT count(*) AS plants FROM plants').get()?.['plants'], 0)
    database.exec(`PRAGMA max_page_count = ${pages + 100}`)
    assert.ok(runner.run(group, 0).every((outcome) => outcome === 'created'))
  })

  onPath('a command waits for a restore, whose file is another one than it would open now', async (path) => {
    await (await openTestStore(path, options)).close()
    const restore = takeLock(path, 0, 'restore')
    const command = { ...options, exclusive: false, clock: systemClock }
    const impatient = { ...command, limits: { storeLockMsMax: 10 } }
    await assert.rejects(openTestStore(path, impatient), /is being restored; try again/)
    await assert.rejects(openTestStore(path, { ...impatient, exclusive: true }), /in use by another/)
    const opening = openTestStore(path, command)
    restore?.[Symbol.dispose]()
    await using _store = await opening
  })

  onPath('a command waits for another one that opens the store, also on a slow disk', async (path) => {
    await (await openTestStore(path, options)).close()
    // The other one has the lock, and has not made the log yet.
    const lock = takeLock(path, 0, 'server')
    const clock = new TestClock()
    const opening = openTestStore(path, { exclusive: false, clock, limits: commandLimits })
    await setImmediate()
    clock.monotonic += 5_000
    await Promise.race([opening, sleep(5 * limits.storeLockCheckMs)])
    lock?.[Symbol.dispose]()
    await using _store = await opening
  })

  onFolder('a log that another program deletes meanwhile is none', async (folder) => {
    const log = folder.file('plants.db-wal')
    const makeAndDelete = `
      const { rmSync, writeFileSync } = require('node:fs')
      const { workerData, parentPort } = require('node:worker_threads')
      const frames = Buffer.alloc(100)
      frames.writeUInt32BE(0x377f0682)
      parentPort.postMessage('ready')
      for (;;) {
        writeFileSync(workerData, frames)
        rmSync(workerData)
      }`
    await using other = new Worker(makeAndDelete, { eval: true, workerData: log })
    await once(other, 'message')
    const seen = new Set<boolean>()
    for (let count = 0; count < 3_000 || seen.size < 2; count += 1) seen.add(isLogWithFrames(log))
    assert.deepEqual([...seen].toSorted(), [false, true])
  })

  /** A store whose tables or version another program has changed. */
  const changed =
    (sql: string) =>
    (path: string): void => {
      openWritable(path, busyMsMax).close()
      withDatabase(path, sql)
    }
  const otherTables = `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
    CREATE TABLE tokens (id TEXT PRIMARY KEY) STRICT; INSERT INTO plants VALUES (1, 'fig', NULL);
    PRAGMA application_id = 0x504c4e54; PRAGMA user_version = 1; PRAGMA journal_mode = WAL`
  const songs = 'CREATE TABLE songs (title TEXT)'
  for (const [title, prepare, message] of [
    ['a file of 100 bytes', (path) => writeFile(path, 'x'.repeat(100)), /it is not an SQLite database/],
    ['a store whose version is gone', changed('PRAGMA user_version = 0'), /is damaged: its tables have no version/],
    ['a folder', (path) => mkdir(path), /is a folder/],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), /is a device or a pipe; name a file/],
    [
      'a file with a second name',
      (path) => writeFile(path, '').then(() => link(path, `${path}.hard`)),
      /has other names/,
    ],
    ['a database of another program', (path) => withDatabase(path, songs), /SQLite database of another program/],
    [
      'a database of another program that counts versions, too',
      (path) => withDatabase(path, `${songs}; PRAGMA user_version = 1`),
      /SQLite database of another program/,
    ],
    [
      'a store whose tables are others',
      (path) => withDatabase(path, otherTables),
      /is damaged: its index plants_by_tag is missing; restore a backup/,
    ],
  ] as readonly (readonly [string, (path: string) => unknown, RegExp])[]) {
    onPath(`${title} is refused with one line and left as it is`, async (path) => {
      await prepare(path)
      const read = async () => ((await stat(path)).isFile() ? readFile(path) : undefined)
      const before = await read()
      await assert.rejects(openTestStore(path, options), (error) => {
        assert.ok(error instanceof OperatorError, String(error))
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /\n/)
        return true
      })
      assert.deepEqual(await read(), before)
      await assert.rejects(stat(`${path}.lock`), 'a lock was made beside it')
      await assert.rejects(stat(`${path}-wal`), 'a log was made beside it')
    })
  }

  onPath('a text in its lock is told as that, by the name of the lock', async (path) => {
    await (await openTestStore(path)).close()
    await writeFile(`${path}.lock`, 'locked by me\n'.repeat(100))
    for (const exclusive of [true, false]) {
      await assert.rejects(openTestStore(path, { exclusive }), (error: Error) => {
        const expected = `${path}.lock must be empty, but is not; move it away: the store itself is not affected`
        assert.equal(error.message, expected)
        return true
      })
    }
  })

  exhaustiveOnFolder('a file system without locks is told as that', { skip: noStrace }, async (folder) => {
    const [path, output] = [folder.file('plants.db'), folder.file('output')]
    await (await openTestStore(path)).close()
    // Node.js makes twenty of these calls at its start, which are none of locks; and more of pipes.
    const inject = ['-f', '-qq', '-o', '/dev/null', '-e', 'trace=fcntl', '-e', 'inject=fcntl:error=ENOLCK:when=21+']
    for (const args of ['serve --port 0', 'token list']) {
      const command = [process.execPath, launcher, ...args.split(' '), '--store', path]
      const script = 'exec > "$1" 2>&1 < /dev/null; shift; exec strace "$@"'
      const shell = ['-c', script, 'sh', output, ...inject, ...command]
      spawnSync('sh', shell, { env: cleanEnvironment(), timeout: 30_000 })
      // What follows is of Node.js itself, whose own calls at its end fail, too.
      assert.match(await readFile(output, 'utf8'), /^plantstore: \S+plants\.db cannot be locked: its file system/)
    }
    const names = await readdir(folder.path)
    assert.ok(!names.some((name) => name.endsWith('.partial')), names.join())
  })

  onFolder('a first start that a power cut ended in its first page is taken up by the next', async (folder) => {
    const path = folder.file('plants.db')
    await writeFile(path, Buffer.alloc(4_096))
    // The header of a journal: its magic, no records, and a database of no pages before the change.
    const journal = Buffer.alloc(512)
    journal.write('d9d505f920a163d7', 'hex')
    journal.writeUInt32BE(512, 20)
    journal.writeUInt32BE(4_096, 24)
    await writeFile(`${path}-journal`, journal)
    await using store = await openTestStore(path)
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'n' })), 'created')
  })

  onFolder('a place that may not be written to, or is below a file, is refused', async (folder) => {
    await writeFile(folder.file('file'), '')
    await assert.rejects(openTestStore(folder.file('file/plants.db'), options), /is not a folder; name another file/)
    await chmod(folder.path, 0o500)
    // No mode keeps root out, but nobody makes a file in this file system.
    const path = process.getuid?.() === 0 ? '/sys/plants.db' : folder.file('plants.db')
    await assert.rejects(openTestStore(path, options), /cannot be written; give this user the right/)
    await chmod(folder.path, 0o700)
  })

  onFolder('an import beside a server pauses after a commit for longer than SQLite sleeps', async (folder) => {
    const path = folder.file('plants.db')
    await using _server = await openTestStore(path, options)
    const clock = new TestClock()
    await using command = await openTestStore(path, { exclusive: false, clock })
    const bulk = await command.beginImport({ isWhole: false })
    await bulk.add([toPlant({ id: 1n, name: 'n' })], 'fail')
    assert.equal(bulk.isCommitted, false)
    clock.monotonic += 200
    const startedMs = performance.now()
    await bulk.add([toPlant({ id: 2n, name: 'n' })], 'fail')
    assert.equal(bulk.isCommitted, true)
    assert.ok(performance.now() - startedMs > 100)
    await bulk.end()
  })

  onStore('searches are asked about at their turns, and those whose clients have left make room', async (store) => {
    const search = (assertWanted?: () => void) =>
      store.listPlants({ after: undefined, tag: undefined, namePrefix: 'n', limit: 1 }, assertWanted)
    const asked: number[] = []
    const searches = [0, 1, 2].map((index) => search(() => asked.push(index)))
    assert.deepEqual(asked, [0, 1])
    await Promise.all(searches)
    assert.deepEqual(asked, [0, 1, 2])
    for (let left = 0; left < 3; left += 1) {
      const leave = (): never => {
        throw new AppError('overloaded', 'the client has left')
      }
      await assert.rejects(async () => await search(leave), /has left/)
      // The place is free in the next turn of the event loop.
      await setImmediate()
    }
    assert.equal(Buffer.from((await search()).json).toString(), '[]')
  })

  onPath('what is confirmed is seen at once, whatever was read in the same turn', async (path) => {
    const program = fileURLToPath(new URL('confirmed-reads.ts', import.meta.url))
    const printed = execFileSync(process.execPath, [program, path], { encoding: 'utf8' })
    assert.equal(printed, '0 reads of 20 plants saw nothing\n')
  })

  onPath('reads of one turn see one moment, those of the next what others have written meanwhile', async (path) => {
    await using store = await openTestStore(path)
    await using other = await openTestStore(path, { exclusive: false })
    await store.createPlant(toPlant({ id: 1n, name: 'Ficus lyrata' }))
    const [first, second] = await Promise.all([store.getPlant(1n), store.getPlant(1n)])
    assert.deepEqual([first, second], [toPlant({ id: 1n, name: 'Ficus lyrata' }), first])
    await other.replacePlant(toPlant({ id: 1n, name: 'Ficus elastica' }), {})
    await setImmediate()
    assert.deepEqual(await readPlant(store, 1n), { name: 'Ficus elastica' })
  })

  onDatabase('the tables are STRICT', (database) => {
    const own = "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'"
    const tables = database.prepare(own).all()
    assert.ok(tables.length >= 3)
    for (const table of tables) assert.equal(table['strict'], 1, String(table['name']))
  })

  for (const isImport of [false, true]) {
    const what = isImport ? 'commits of an import' : 'commits'
    onPath(`many ${what} are carried into the database file, and the log stays small`, async (path) => {
      await using store = await openTestStore(path, {
        ...options,
        limits: { checkpointJobs: 100, importCommitPlants: 50 },
      })
      const bulk = isImport ? await store.beginImport({ isWhole: false }) : undefined
      for (let id = 0n; id < 3_000n; ) {
        const plants = Array.from({ length: 50 }, () => toPlant({ id: id++, name: 'n'.repeat(500) }))
        await (bulk?.add(plants, 'fail') ?? Promise.all(plants.map((plant) => store.createPlant(plant))))
      }
      assert.ok((await stat(path)).size > 1_000_000)
      assert.ok((await stat(`${path}-wal`)).size < 1_000_000)
      await bulk?.end()
    })
  }
})

describe('a transaction of jobs', () => {
  const noText = { ...createJob(2n, ''), json: Symbol('no text') } as unknown as Job

  onDatabase('a job that fails fails alone, whatever it did before', (database, runner) => {
    const outcomes = runner.run([createJob(1n, 'one'), noText, createJob(3n, 'three')], 0)
    assert.equal(outcomes[0], 'created')
    assert.ok(typeof outcomes[1] === 'object')
    assert.equal(outcomes[2], 'created')
    const ids = Array.from(database.prepare('SELECT id FROM plants ORDER BY id').iterate(), ({ id }) => id)
    assert.deepEqual(ids, [1, 3])
  })

  onDatabase('when a part of a batch is on disk, only the rest is refused', (database, runner) => {
    // The second half finds no room.
    const large = 'n'.repeat(5_000)
    const jobs = [createJob(1n, 'one'), noText, ...[3n, 4n].map((id) => createJob(id, large))]
    database.exec(`PRAGMA max_page_count = ${Number(pragma(database, 'page_count'))}`)
    const [first, second, ...rest] = runner.run(jobs, 0)
    assert.equal(first, 'created')
    for (const outcome of [second, ...rest]) assert.ok(typeof outcome === 'object' && 'failed' in outcome)
    assert.equal(database.prepare('SELECT count(*) AS plants FROM plants').get()?.['plants'], 1)
  })

  onDatabase('expired keys are deleted little by little', (database, runner) => {
    const keyed = (id: number, atMs: number): Job => ({
      kind: 'createPlant',
      ...toPlant({ id: BigInt(id), name: 'n' }),
      idempotencyKey: { callerId: 't', key: `${id}`, fingerprint: Buffer.alloc(32), atMs },
    })
    const early = Array.from({ length: 100 }, (_, index) => keyed(index, index))
    const late = Array.from({ length: 60 }, (_, index) => keyed(1_000 + index, 10_000))
    for (const jobs of [early, late]) runner.run(jobs, 0)
    assert.equal(database.prepare('SELECT count(*) AS keys FROM idempotency_keys').get()?.['keys'], 60)
  })
})

function createJob(id: bigint, name: string): Job {
  return { kind: 'createPlant', ...toPlant({ id, name }), idempotencyKey: undefined }
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}
