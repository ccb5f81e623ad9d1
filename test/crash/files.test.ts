// The files of a store under a running server: deleted, replaced, on a full disk; and a log that may not be on disk.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { openWritable } from '../../src/store/sqlite/file/database.ts'
import { Client } from '../support/client.ts'
import { exhaustiveOnFolder, onFolder } from '../support/folder.ts'
import { toPlant } from '../support/plants.ts'
import { makeSmallDisk } from '../support/postgres.ts'
import { runHere, runProgram, startServer } from '../support/program.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { exhaustiveOnOwnServer, onOwnServer, serveHere, startOwnServer } from '../support/service.ts'
import { busyMsMax, leaveLog, makeStore, onPath, openTestStore } from '../support/store.ts'
import { noStrace, runInjected } from '../support/strace.ts'
import { findLost, writeUntilGone } from './burst.ts'

describe('the files of a store under a running server', () => {
  /** `left`: where everything acknowledged is found afterwards, if anywhere. */
  const faults: readonly (readonly [title: string, spoil: (path: string) => Promise<unknown>, left?: string])[] = [
    ['deleted', (path) => rm(path)],
    ['deleted, its log alone', (path) => rm(`${path}-wal`), 'plants.db'],
    ['deleted, the index of its log alone', (path) => rm(`${path}-shm`), 'plants.db'],
    ['replaced by mv', (path) => copyFile(path, `${path}.other`).then(() => rename(`${path}.other`, path))],
    ['moved away', (path) => rename(path, `${path}.away`), 'plants.db.away'],
  ]
  for (const [title, spoil, left] of inRing(faults.slice(1, 2), faults)) {
    onOwnServer(`${title}, in the middle of a burst: no more yes, and the server ends with status 1`, async (own) => {
      const { server, folder, store: path } = own
      let spoiled: Promise<unknown> | undefined
      let acknowledgedWhenSpoiled = Number.POSITIVE_INFINITY
      let acknowledgedLast = 0
      const acknowledged = await writeUntilGone(server, server.token, 1, (count) => {
        acknowledgedLast = count
        if (count !== 200) return
        spoiled = spoil(path).then(() => {
          acknowledgedWhenSpoiled = acknowledgedLast
        })
      })
      await spoiled
      assert.equal(await server.exited, 1)
      assert.match(server.output.stdout, /"event":"storeFailed".*was deleted or replaced while the program was running/)
      // What was answered while the file went is all that can be lost: one batch of each writer.
      assert.ok(acknowledgedLast - acknowledgedWhenSpoiled <= 32, `${acknowledgedLast - acknowledgedWhenSpoiled} more`)
      if (left !== undefined) assert.deepEqual(await findLost(folder.file(left), acknowledged), [])
    })
  }

  exhaustiveOnOwnServer('its log deleted while a command reads an older moment is there again', async (own) => {
    const { server, client, store: path } = own
    await using connection = await client.open()
    const create = (id: number) => connection.request({ body: `{"id":${id},"name":"n"}` })
    await create(1)
    using reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('BEGIN; SELECT count(*) FROM plants')
    for (let id = 2; id <= 50; id += 1) assert.equal((await create(id)).status, 200)
    await rm(`${path}-wal`)
    assert.equal(await server.exited, 1)
    await using next = await startServer(path)
    next.process.kill('SIGKILL')
    await next.exited
    reader.close()
    assert.deepEqual(await findLost(path, new Map([[50n, { name: 'n' }]])), [])
  })

  exhaustive.test('without the index of its log, or the log: commands beside it refuse, and make neither', async () => {
    // It neither looks at its files nor writes by itself.
    await using own = await startOwnServer({ limits: { storeWatchMs: 1e9, changesSweepMs: 1e9, tokenUsesMs: 1e9 } })
    const { server, client, folder, store: path } = own
    await writeFile(folder.file('in.ndjson'), '{"id":9,"name":"n"}')
    await using connection = await client.open()
    assert.equal((await connection.request({ body: '{"id":1,"name":"n"}' })).status, 200)
    await rename(`${path}-shm`, folder.file('shm'))
    const refused = async (missing: string): Promise<void> => {
      const commands = [
        ['import', folder.file('in.ndjson')],
        ['token', 'create', '--name', 'n'],
        ['token', 'list'],
        ['export'],
        ['check'],
        ['backup', folder.file('b.db')],
      ]
      const all = commands.map((args) => runHere([...args, '--store', path]))
      for (const { status, stderr } of await Promise.all(all)) {
        assert.equal(stderr.replace(/ is missing .*/, ''), `plantstore: ${missing}\n`)
        assert.equal(status, 1)
      }
      assert.ok(!existsSync(missing), `${missing} was made`)
    }
    await refused(`${path}-shm`)
    await rename(folder.file('shm'), `${path}-shm`)
    await rm(`${path}-wal`)
    await refused(`${path}-wal`)
    assert.equal((await connection.request({ body: '{"id":2,"name":"n"}' })).status, 503)
    assert.equal(await server.exited, 1)
    assert.deepEqual(await findLost(path, new Map([[1n, { name: 'n' }]])), [])
  })

  test('deleted under a server that only reads, without a log: it ends, and still says why', async () => {
    await using own = await startOwnServer({ args: ['--log', 'off'] })
    const { server, store: path } = own
    await rm(path)
    assert.equal(await server.exited, 1)
    assert.match(server.output.stderr, /^plantstore: the store has failed; .* was deleted or replaced/m)
  })
})

describe('a disk that is full', () => {
  for (const isKilled of [false, true]) {
    const title = isKilled ? 'and nothing of it is found by a start right after' : 'and the server goes on'
    exhaustiveOnFolder(`as the index of the log grows: refused, ${title}`, { skip: noStrace }, async (folder) => {
      const path = folder.file('plants.db')
      await makeStore(path, 1)
      // The index grows after some 4,000 pages in the log, each time by eight writes, as when it is made.
      const full = ['-P', `${path}-shm`, '-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=ENOSPC:when=9..10']
      await using server = await startServer(path, {
        under: ['strace', '-D', '-f', '-qq', '-o', '/dev/null', ...full],
        environment: { NODE_OPTIONS: `--import ${new URL('no-checkpoints.ts', import.meta.url)}` },
      })
      const client = await Client.connect(server)
      await using connection = await client.open()
      const codes: number[] = []
      const kept: bigint[] = []
      for (let id = 1n; codes.length === 0; id += 1n) {
        const body = `{"id":${id},"name":"${id} ${'🌿'.repeat(1_000)}","tag":"${id}"}`
        const response = await connection.request({ body })
        if (response.status === 200) kept.push(id)
        else codes.push(JSON.parse(response.body).error)
        assert.ok(id < 2_000n, 'the index did not grow')
      }
      assert.deepEqual(codes, [50304])
      if (!isKilled) assert.equal((await connection.request({ body: '{"id":-1,"name":"after"}' })).status, 200)
      server.process.kill('SIGKILL')
      await server.exited
      await using store = await openTestStore(path)
      for (const id of kept) assert.ok((await store.getPlant(id)) !== undefined, `${id} is lost`)
      const { length } = (await Array.fromAsync(store.exportPlants())).flat()
      assert.equal(length, kept.length + (isKilled ? 1 : 2), 'what was refused is there')
    })
  }

  onFolder('a lock needs no space: an import beside no server goes on', { skip: noStrace }, async (folder) => {
    const path = folder.file('plants.db')
    await (await openTestStore(path)).close()
    await writeFile(folder.file('plants.ndjson'), '{"id":1,"name":"n"}\n')
    const names = ['.lock', '.lock-journal'].flatMap((suffix) => ['-P', path + suffix])
    const full = [...names, '-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=ENOSPC']
    const { status, stderr } = runInjected(full, ['import', folder.file('plants.ndjson'), '--store', path])
    assert.deepEqual([status, stderr], [0, '1 created, 0 replaced, 0 unchanged, 0 refused\n'])
  })

  test('at the start: one line says what to do, and nothing is changed', async (context) => {
    await using disk = await makeSmallDisk(2)
    if (disk === undefined) return context.skip('a small disk can only be mounted by root')
    const path = `${disk.path}/plants.db`
    {
      await using store = await openTestStore(path)
      await store.createPlant(toPlant({ id: 1n, name: 'n' }))
    }
    const before = await readFile(path)
    await writeFile(`${disk.path}/filler`, Buffer.alloc(4 * 1024 * 1024)).catch(() => {})
    const { status, stderr } = await runProgram(['serve', '--port', '0', '--store', path])
    assert.deepEqual([status, stderr.split('\n').length], [1, 2], stderr)
    assert.match(stderr, /is on a full disk; make room there and start again/)
    assert.deepEqual(await readFile(path), before)
    await rm(`${disk.path}/filler`)
    await using _server = await serveHere(path)
  })

  test('beside a server: commands that only read succeed, and others are refused', async (context) => {
    await using disk = await makeSmallDisk(2)
    if (disk === undefined) return context.skip('a small disk can only be mounted by root')
    const path = `${disk.path}/plants.db`
    await using _server = await serveHere(path)
    await writeFile(`${disk.path}/filler`, Buffer.alloc(4 * 1024 * 1024)).catch(() => {})
    for (const command of [['export'], ['token', 'list'], ['webhook', 'list']]) {
      const { status, stderr } = await runHere([...command, '--store', path])
      assert.deepEqual([status, stderr], [0, ''], command.join(' '))
    }
    const { status, stderr } = await runHere(['token', 'create', '--name', 'n', '--store', path])
    assert.equal(status, 1)
    assert.match(stderr, /^plantstore: the disk of the store is full; nothing was done/m)
  })
})

describe('the log at the start', () => {
  onPath('is carried into the file before anything is acknowledged', async (path, folder) => {
    await leaveLog(path, 20)
    assert.ok((await stat(`${path}-wal`)).size > 0)
    using _database = openWritable(path, busyMsMax)
    // Only what the check of the durability has written since.
    assert.ok((await stat(`${path}-wal`)).size < 10_000)
    await copyFile(path, folder.file('without-log.db'))
    using alone = new DatabaseSync(folder.file('without-log.db'), { readOnly: true })
    assert.equal(alone.prepare('SELECT count(*) AS plants FROM plants').get()?.['plants'], 20)
  })

  exhaustiveOnFolder('is written anew where somebody still reads an older one', { skip: noStrace }, async (folder) => {
    const path = folder.file('plants.db')
    await leaveLog(path, 20)
    // Keeps the log from being emptied.
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('BEGIN; SELECT count(*) FROM plants')
    const calls = folder.file('calls')
    const trace = ['-e', 'trace=pwrite64,fsync,fdatasync,openat', '-y', '-s', '0']
    await using server = await startServer(path, { under: ['strace', '-D', '-f', '-qq', '-o', calls, ...trace] })
    const lines = (await readFile(calls, 'utf8')).split('\n').filter((line) => line.includes('plants.db-wal'))
    const opened = lines.findLastIndex((line) => line.includes('O_RDWR') && !line.includes('O_CREAT'))
    const written = lines.findIndex((line, at) => at > opened && /pwrite64\(.*, 0\) = [1-9]/.test(line))
    const synced = lines.findIndex((line, at) => at > written && line.includes('fsync('))
    assert.ok(opened !== -1 && written !== -1 && synced !== -1, lines.join('\n'))
    reader.close()
    assert.equal(await server.stop(), 0)
    assert.deepEqual(await findLost(path, new Map([[19n, { name: 'plant 19' }]])), [])
  })
})
