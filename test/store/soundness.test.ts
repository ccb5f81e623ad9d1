// Whether damage of a store is seen: at a glance, and by looking through its pages.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { copyFile, open, rm, stat, truncate } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { findPlainDamage, findSchemaDamage } from '../../src/store/sqlite/file/damage.ts'
import { openReadable, openWritable } from '../../src/store/sqlite/file/database.ts'
import type { Verdict } from '../../src/store/sqlite/file/quick-check.ts'
import { beginSoundnessCheck } from '../../src/store/sqlite/file/soundness.ts'
import { type Folder, makeFolder } from '../support/folder.ts'
import { writable } from '../support/store.ts'

const verdictMsMax = 20_000
const pageBytes = 4_096
const module = new URL('../../src/store/sqlite/file/soundness.ts', import.meta.url)

describe('looking through the pages of a store', () => {
  test('a store that is whole is sound, with what is only in its log', async () => {
    await using folder = await makeFolder()
    const [path, dead] = [folder.file('plants.db'), folder.file('dead.db')]
    makeStore(path, 500)
    assert.deepEqual(await judge(path), { kind: 'sound' })
    leaveLog(path, dead)
    assert.equal(findPlainDamage(dead), undefined)
    assert.deepEqual(await judge(dead), { kind: 'sound' })
  })

  for (const at of [1, 3, 5]) {
    test(`byte ${at} of every page flipped: damaged`, async () => {
      await using folder = await makeFolder()
      const path = folder.file('plants.db')
      makeStore(path, 2_000)
      const pages = (await stat(path)).size / pageBytes
      for (let page = 1; page < pages; page += 1) await flip(path, page * pageBytes + at)
      await expectDamage(path)
    })
  }

  test('one page of a table, or of an index, that is zeros: damaged', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    makeStore(path, 2_000)
    for (const tree of ['plants', 'plants_by_name']) {
      const copy = folder.file(`${tree}.db`)
      await copyFile(path, copy)
      const file = await open(copy, 'r+')
      await file.write(Buffer.alloc(pageBytes), 0, pageBytes, (lastPageOf(path, tree) - 1) * pageBytes)
      await file.close()
      assert.equal(findPlainDamage(copy), undefined)
      await expectDamage(copy)
    }
  })

  test('a store with the log of another one: damaged', async () => {
    await using folder = await makeFolder()
    const [path, other] = [folder.file('plants.db'), folder.file('other.db')]
    makeStore(path, 2_000)
    makeStore(other, 1_000)
    const writer = openWritable(other, writable)
    writer.exec("UPDATE plants SET name_head = 'moved' WHERE id % 100 = 0")
    await copyFile(`${other}-wal`, `${path}-wal`)
    writer.close()
    await expectDamage(path)
  })

  test('a file that is gone, or locked for too long, is no verdict', async () => {
    await using folder = await makeFolder()
    assert.deepEqual(await judge(folder.file('none.db')), { kind: 'unknown' })
    await using locked = await makeLocked(folder)
    const check = beginSoundnessCheck(locked.path)
    const startedAt = performance.now()
    assert.deepEqual(await check.firstVerdict(50), { kind: 'unknown' })
    assert.ok(performance.now() - startedAt < 1_000)
    check.stop()
    assert.deepEqual(await check.finished, { kind: 'unknown' })
    assert.ok(performance.now() - startedAt < 2_000, 'it was not stopped at once')
  })

  test('a verdict that is not waited for keeps no process alive, and comes later', async () => {
    await using folder = await makeFolder()
    const locked = await makeLocked(folder)
    const startedAt = performance.now()
    const script = `(await import(${JSON.stringify(module)})).beginSoundnessCheck(${JSON.stringify(locked.path)})`
    assert.equal(spawnSync(process.execPath, ['--input-type=module', '-e', script]).status, 0)
    assert.ok(performance.now() - startedAt < 3_000, 'it waited for the check')
    const check = beginSoundnessCheck(locked.path)
    assert.deepEqual(await check.firstVerdict(1), { kind: 'unknown' })
    await locked[Symbol.asyncDispose]()
    assert.deepEqual(await check.firstVerdict(verdictMsMax), { kind: 'sound' })
  })
})

describe('what shows at a glance', () => {
  test('a store cut anywhere is damaged, an empty or missing one is not', async () => {
    await using folder = await makeFolder()
    const path = folder.file('plants.db')
    makeStore(path, 500)
    const { size } = await stat(path)
    for (const length of [size - 1, size - pageBytes, pageBytes, pageBytes - 1, 100, 99, 50]) {
      await truncate(path, length)
      assert.match(findPlainDamage(path) ?? '', new RegExp(`^it was cut short to ${length} `))
    }
    await truncate(path, 0)
    assert.equal(findPlainDamage(path), undefined)
    await rm(path)
    assert.equal(findPlainDamage(path), undefined)
  })

  test('a file that lacks what its log has is whole: a checkpoint was interrupted', async () => {
    await using folder = await makeFolder()
    const [path, dead] = [folder.file('plants.db'), folder.file('dead.db')]
    const writer = openWritable(path, writable)
    insert(writer, 500)
    await copyFile(`${path}-wal`, `${dead}-wal`)
    writer.exec('PRAGMA wal_checkpoint(PASSIVE)')
    await copyFile(path, dead)
    writer.close()
    await truncate(dead, pageBytes)
    assert.equal(findPlainDamage(dead), undefined)
    assert.deepEqual(await judge(dead), { kind: 'sound' })
    await rm(`${dead}-wal`)
    assert.match(findPlainDamage(dead) ?? '', /it was cut short to \d+ of \d+ bytes$/)
  })

  test('a log beside a store that has none is that of another', async () => {
    await using folder = await makeFolder()
    const [path, other] = [folder.file('plants.db'), folder.file('other.db')]
    makeStore(path, 3)
    withDatabase(path, 'PRAGMA journal_mode = DELETE')
    leaveLog(other, folder.file('dead.db'))
    await copyFile(folder.file('dead.db-wal'), `${path}-wal`)
    assert.match(findPlainDamage(path) ?? '', /plants\.db-wal beside it belongs to another store; move it away$/)
    await truncate(`${path}-wal`, 0)
    assert.equal(findPlainDamage(path), undefined)
  })

  for (const [what, sql] of [
    ['index plants_by_tag', 'DROP INDEX plants_by_tag'],
    ['index plants_by_name', 'DROP INDEX plants_by_name'],
    ['table tokens', 'DROP TABLE tokens'],
  ] as const) {
    test(`a store without its ${what} is told from one that has all`, async () => {
      await using folder = await makeFolder()
      const path = folder.file('plants.db')
      makeStore(path, 3)
      const damage = (): string | undefined => {
        using database = openReadable(path, 1_000)
        return findSchemaDamage(database, path)
      }
      assert.equal(damage(), undefined)
      withDatabase(path, sql)
      assert.equal(damage(), `its ${what} is missing`)
    })
  }
})

function judge(path: string): Promise<Verdict> {
  return beginSoundnessCheck(path).firstVerdict(verdictMsMax)
}

async function expectDamage(path: string): Promise<void> {
  const verdict = await judge(path)
  assert.equal(verdict.kind, 'damaged')
  if (verdict.kind === 'damaged') assert.match(verdict.problem, /^[^\n]+$/)
}

function insert(database: DatabaseSync, count: number): void {
  const statement = database.prepare('INSERT INTO plants (id, name, tag, name_head) VALUES (?, ?, NULL, ?)')
  database.exec('BEGIN')
  for (let id = 0; id < count; id += 1) {
    const name = `plant ${(id * 7_919) % 10_007}`
    statement.run(id, name, name)
  }
  database.exec('COMMIT')
}

function makeStore(path: string, count: number): void {
  const database = openWritable(path, writable)
  insert(database, count)
  database.close()
}

/** Has `dead` be what a server that died leaves of a store. */
function leaveLog(path: string, dead: string): void {
  const database = openWritable(path, writable)
  database.exec("INSERT INTO plants VALUES (-1, NULL, 'in the log', 'in the log')")
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, dead + suffix)
  database.close()
}

/** A store that nobody else can read until it is disposed of. */
async function makeLocked(folder: Folder): Promise<AsyncDisposable & { readonly path: string }> {
  const path = folder.file('locked.db')
  makeStore(path, 3)
  withDatabase(path, 'PRAGMA journal_mode = DELETE')
  const database = new DatabaseSync(path)
  database.exec('BEGIN EXCLUSIVE')
  return { path, [Symbol.asyncDispose]: async () => database.close() }
}

function lastPageOf(path: string, tree: string): number {
  using database = openReadable(path, 1_000)
  const row = database.prepare("SELECT max(pageno) AS page FROM dbstat WHERE name = ? AND pagetype = 'leaf'").get(tree)
  return Number(row?.['page'])
}

async function flip(path: string, offset: number): Promise<void> {
  const file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, offset)
  await file.write(Buffer.of((byte[0] ?? 0) ^ 0xff), 0, 1, offset)
  await file.close()
}

function withDatabase(path: string, sql: string): void {
  using database = new DatabaseSync(path)
  database.exec(sql)
}
