// Whether damage of a store is seen: at a glance, and by looking through its pages.

import assert from 'node:assert/strict'
import { copyFile, open, rm, stat, truncate } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { describe } from 'node:test'
import { Worker } from 'node:worker_threads'
import { runApart } from '../../src/store/sqlite/file/apart.ts'
import { openReadable, openWritable } from '../../src/store/sqlite/file/database.ts'
import { findPageDamage } from '../../src/store/sqlite/file/examine.ts'
import { findPlainDamage } from '../../src/store/sqlite/file/header.ts'
import { onFolder } from '../support/folder.ts'
import { inRing } from '../support/ring.ts'
import { busyMsMax, leaveLog, makeStore, onPath, withDatabase } from '../support/store.ts'
import { until } from '../support/time.ts'

const pageBytes = 4_096

describe('looking through the pages of a store', () => {
  onFolder('a store that is whole is sound, with what is only in its log', async (folder) => {
    const [path, dead] = [folder.file('plants.db'), folder.file('dead.db')]
    await makeStore(path, 500)
    assert.equal(lookThrough(path), '')
    await leaveLog(dead, 3)
    assert.equal(findPlainDamage(dead), undefined)
    assert.equal(lookThrough(dead), '')
  })

  onPath('a store is sound while another process copies its log into it, and deletes the log', async (path) => {
    await makeStore(path, 1)
    const code = `const { DatabaseSync } = require('node:sqlite')
      for (;;) {
        const database = new DatabaseSync(require('node:worker_threads').workerData)
        database.exec('CREATE TABLE IF NOT EXISTS more (bytes)')
        database.exec('INSERT INTO more VALUES (randomblob(20000))')
        database.close()
      }`
    await using _other = new Worker(code, { eval: true, workerData: path })
    const { size } = await stat(path)
    await until('it has begun', async () => (await stat(path)).size > size)
    // With the size read first, some of 10,000 looks found a file that was cut short.
    for (let looks = 0; looks < inRing(5_000, 20_000); looks += 1) assert.equal(findPlainDamage(path), undefined)
  })

  onFolder('one page of zeros of a table or an index is damage, and a process says the same', async (folder) => {
    const path = folder.file('plants.db')
    await makeStore(path, 2_000)
    for (const tree of ['plants', 'names']) {
      const copy = folder.file(`${tree}.db`)
      await copyFile(path, copy)
      await using file = await open(copy, 'r+')
      await file.write(Buffer.alloc(pageBytes), 0, pageBytes, (lastPageOf(path, tree) - 1) * pageBytes)
      assert.equal(findPlainDamage(copy), undefined)
      const damage = lookThrough(copy)
      assert.match(damage, /^[^\n]+$/)
      assert.equal(await runApart({ kind: 'checkPages', path: copy }, new AbortController().signal), damage)
    }
  })

  onFolder('a process that waits for the file ends when it is to stop', async (folder) => {
    const path = folder.file('locked.db')
    await makeStore(path, 3)
    withDatabase(path, 'PRAGMA journal_mode = DELETE')
    using holder = new DatabaseSync(path)
    holder.exec('BEGIN EXCLUSIVE')
    const startedAt = performance.now()
    await assert.rejects(runApart({ kind: 'checkPages', path }, AbortSignal.timeout(50)), /stopped/)
    assert.ok(performance.now() - startedAt < 2_000)
  })
})

describe('what shows at a glance', () => {
  onPath('a store cut anywhere is damaged, an empty or missing one is not', async (path) => {
    await makeStore(path, 500)
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

  onFolder('a file that lacks what its log has is whole: a checkpoint was interrupted', async (folder) => {
    const [path, dead] = [folder.file('plants.db'), folder.file('dead.db')]
    {
      using writer = openWritable(path, busyMsMax)
      writer.exec(`WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 2000)
        INSERT INTO plants SELECT id, json_object('id', id, 'name', 'plant ' || id) FROM ids`)
      await copyFile(`${path}-wal`, `${dead}-wal`)
      writer.exec('PRAGMA wal_checkpoint(PASSIVE)')
      await copyFile(path, dead)
    }
    await truncate(dead, pageBytes)
    assert.equal(findPlainDamage(dead), undefined)
    assert.equal(lookThrough(dead), '')
    await rm(`${dead}-wal`)
    assert.match(findPlainDamage(dead) ?? '', /it was cut short to \d+ of \d+ bytes$/)
  })
})

function lookThrough(path: string): string {
  return findPageDamage(() => new DatabaseSync(path, { readOnly: true }))
}

function lastPageOf(path: string, tree: string): number {
  using database = openReadable(path, 1_000)
  const row = database.prepare("SELECT max(pageno) AS page FROM dbstat WHERE name = ? AND pagetype = 'leaf'").get(tree)
  return Number(row?.['page'])
}
