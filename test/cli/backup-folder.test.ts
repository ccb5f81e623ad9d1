// `plantstore backup --folder --keep`: names backups by time, removes only the oldest ones, and can be stopped.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename, symlink, unlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe } from 'node:test'
import { systemClock } from '../../src/domain/clock.ts'
import { limits } from '../../src/limits.ts'
import { nameOfBackup, prune } from '../../src/store/sqlite/backup.ts'
import { sqliteEngine } from '../../src/store/sqlite/engine.ts'
import { makeFolder } from '../support/folder.ts'
import { runHere, runProgram, startProgram, startServer } from '../support/program.ts'
import { exhaustive, testOn } from '../support/ring.ts'
import { makeStore, openTestStore, withDatabase } from '../support/store.ts'
import { countCalls, killAt, nameCalls, noStrace, runInjected, runStopped, syncCalls } from '../support/strace.ts'
import { until } from '../support/time.ts'

const namePattern = /^plants-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/

/** A store of one plant, and a folder for its backups. */
async function makeScene() {
  const folder = await makeFolder()
  const [store, to] = [folder.file('plants.db'), folder.file('to')]
  await mkdir(to)
  await makeStore(store, 1)
  const back = (...flags: string[]) => runHere(['backup', '--folder', to, '--store', store, ...flags])
  return { folder, store, to, back, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

const onScene = testOn(makeScene)
const exhaustiveOnScene = testOn(makeScene, exhaustive.test)

/** The name of a backup that was made so many minutes ago. */
const nameOf = (minutesAgo: number): string =>
  `plants-${new Date(Date.now() - minutesAgo * 60_000).toISOString().replaceAll(/[:.]/g, '-')}.db`

/** Has backups of the store in the folder, one for each age. */
async function makeBackups(store: string, to: string, minutesAgo: readonly number[]): Promise<readonly string[]> {
  const names = minutesAgo.map(nameOf)
  const [first = '', ...others] = names
  assert.equal((await runHere(['backup', join(to, first), '--store', store])).status, 0)
  for (const name of others) await copyFile(join(to, first), join(to, name))
  return names
}

const isWhole = async (path: string): Promise<boolean> => (await runHere(['check', '--store', path])).status === 0

describe('plantstore backup --folder', () => {
  onScene('names backups that began in the same millisecond apart', async ({ store, to }) => {
    const clock = { ...systemClock, wallMs: () => Date.UTC(2026, 10, 23) }
    const stopping = new AbortController().signal
    const back = () => sqliteEngine.backup(store, { folder: to, keep: 9 }, { limits, clock, stopping })
    const { file: first } = await back()
    const { file: second } = await back()
    // The third begins to copy, and then loses the name that was free when it began.
    const running = back()
    await until('it copies', () => readdirSync(to).length > 2)
    const third = join(to, nameOfBackup(store, clock.wallMs() + 2))
    await writeFile(third, 'of another', { flag: 'wx' })
    const { file: fourth } = await running
    const there = (await readdir(to)).sort()
    const wanted = [first, second, third, fourth].map((file) => basename(file))
    assert.deepEqual(there, wanted)
    for (const file of [first, second, fourth]) assert.ok(await isWhole(file))
  })

  onScene('--keep keeps the newest, removes the oldest first, and says which', async ({ store, to, back }) => {
    const names = await makeBackups(store, to, [50, 40, 30, 20, 10])
    const { status, stdout, stderr } = await back('--keep', '3')
    assert.equal(status, 0, stderr)
    const [, file = ''] = /^[0-9a-f]{64} {2}(\S+)\n$/.exec(stdout) ?? []
    const latest = basename(file)
    assert.match(latest, namePattern)
    assert.ok(await isWhole(file))
    assert.deepEqual((await readdir(to)).sort(), [...names.slice(3), latest])
    const removed = [...stderr.matchAll(/^Removed (\S+)$/gm)].map(([, path]) => path)
    const oldest = names.slice(0, 3).map((name) => join(to, name))
    assert.deepEqual(removed, oldest)
    assert.equal((await back('--keep', '1')).status, 0)
    assert.equal((await readdir(to)).length, 1)
  })

  exhaustiveOnScene('goes on with its series beside a server, and after a restore', async ({ store, to, back }) => {
    const [name = ''] = await makeBackups(store, to, [10])
    assert.equal((await runHere(['restore', join(to, name), '--store', store, '--force'])).status, 0)
    await using server = await startServer(store)
    assert.equal(await fetch(`${server.url}/livez`).then(({ status }) => status), 200)
    assert.match((await back('--keep', '1')).stderr, new RegExp(`^Removed ${join(to, name)}$`, 'm'))
  })

  exhaustiveOnScene('removes only what certainly is a backup of this store', async ({ folder, store, to, back }) => {
    const names = new Map(Array.from({ length: 61 }, (_, minutes) => [minutes, nameOf(minutes)]))
    const at = (minutes: number): string => join(to, names.get(minutes) ?? '')
    const other = folder.file('other/plants.db')
    await mkdir(folder.file('other'))
    await (await openTestStore(other)).close()
    const make = async (place: string, path: string): Promise<void> =>
      assert.equal((await runHere(['backup', path, '--store', place])).status, 0)
    await writeFile(at(60), 'not a database')
    await writeFile(at(59), '')
    new DatabaseSync(at(58)).exec('CREATE TABLE songs (title TEXT); PRAGMA user_version = 2')
    await mkdir(at(57))
    await make(store, folder.file('real.db'))
    await symlink(folder.file('real.db'), at(56))
    await symlink(folder.file('nowhere'), at(55))
    await make(other, at(54))
    // Somebody has a server on a backup, or had.
    await make(store, at(53))
    await (await openTestStore(at(53))).close()
    await make(store, at(52))
    await writeFile(`${at(52)}-wal`, '')
    await make(store, at(51))
    const cut = (await readFile(at(51))).subarray(0, 5_000)
    await writeFile(at(51), cut)
    // Names of others.
    const old = [`old-${nameOf(50)}`, `${nameOf(50)}.gz`, `${nameOf(49)}.partial`]
    for (const name of ['plants.db', 'plants-2026.db', ...old]) {
      await make(store, join(to, name))
    }
    await make(store, join(to, 'plants-2026-13-45T99-00-00-000Z.db'))
    await make(store, join(to, `Plants${nameOf(48).slice('plants'.length)}`))
    const before = (await readdir(to)).sort()
    const [own = ''] = await makeBackups(store, to, [5])
    const { status, stdout, stderr } = await back('--keep', '1')
    assert.equal(status, 0, stderr)
    const latest = stdout.trim().slice(-nameOf(0).length)
    assert.deepEqual((await readdir(to)).sort(), [...before, latest].sort())
    assert.equal(stderr.match(/^Removed /gm)?.length, 1)
    assert.ok(stderr.includes(own))
    assert.match(stderr, /^plantstore: warning: \S+ was left alone: it is not a regular file$/m)
    assert.match(stderr, /^plantstore: warning: \S+ was left alone: it is not a backup$/m)
    assert.match(stderr, /^plantstore: warning: \S+ was left alone: it may be in use, as \S+-wal exists/m)
  })

  exhaustiveOnScene('removes nothing when a backup is of a later time than now', async ({ store, to, back }) => {
    await makeBackups(store, to, [30, 20, -600])
    const { status, stdout, stderr } = await back('--keep', '1')
    assert.equal(status, 1)
    assert.match(stderr, /the backup is complete, but .*nothing was removed: \S+ is dated in the future; is the clock/)
    assert.match(stdout, /^[0-9a-f]{64} /)
    assert.equal((await readdir(to)).length, 4)
  })

  exhaustiveOnScene('at once by two keeps what each has made, or the newer one', async ({ store, to }) => {
    const args = ['backup', '--folder', to, '--keep', '1', '--store', store]
    const both = await Promise.all([runProgram(args), runProgram(args)])
    for (const { status, stderr } of both) assert.equal(status, 0, stderr)
    const left = (await readdir(to)).sort()
    assert.ok(left.length === 1 || left.length === 2, left.join())
    for (const name of left) assert.ok(await isWhole(join(to, name)))
    const newest = both.map(({ stdout }) => stdout.trim().slice(-(left[0] ?? '').length)).sort()
    assert.equal(left.at(-1), newest.at(-1))
  })

  onScene('removes none that is newer than its own', async ({ store, to }) => {
    const [oldest = '', own = '', newer = ''] = await makeBackups(store, to, [30, 20, 10])
    const { storeBusyMsMax: busyMsMax } = limits
    const report = prune({ store, folder: to, latest: own, keep: 1, nowMs: Date.now(), busyMsMax })
    assert.deepEqual(report, { removed: [join(to, oldest)], doubts: [], problems: [] })
    assert.deepEqual((await readdir(to)).sort(), [own, newer])
    // A concurrent command has removed it.
    await unlink(join(to, own))
    const nothing = { removed: [], doubts: [], problems: [] }
    assert.deepEqual(prune({ store, folder: to, latest: own, keep: 1, nowMs: Date.now(), busyMsMax }), nothing)
    const gone = prune({ store, folder: `${to}x`, latest: own, keep: 1, nowMs: Date.now(), busyMsMax })
    assert.match(String(gone.problems), /x does not exist$/)
  })

  exhaustiveOnScene('that cannot remove one says so, and removes others', { skip: noStrace }, async ({ store, to }) => {
    const [first = '', second = ''] = await makeBackups(store, to, [30, 20])
    const inject = ['-P', join(to, first), '-e', 'inject=unlink,unlinkat:error=EACCES']
    const args = ['backup', '--folder', to, '--keep', '1', '--store', store]
    const { status, stderr, stdout } = runInjected(inject, args)
    assert.equal(status, 1, stderr)
    assert.match(stderr, new RegExp(`older ones are left: \\S+${first} could not be removed: EACCES`))
    assert.match(stdout, /^[0-9a-f]{64} /)
    const left = await readdir(to)
    assert.ok(left.includes(first) && !left.includes(second) && left.length === 2, left.join())
  })

  onScene('never makes the folder: a disk that is not mounted is noticed', async ({ folder, store }) => {
    const { status, stderr } = await runHere(['backup', '--folder', folder.file('disk/plants'), '--store', store])
    assert.equal(status, 1, stderr)
    assert.match(stderr, /folder \S*disk\/plants does not exist/)
    assert.ok(!existsSync(folder.file('disk')))
  })

  exhaustiveOnScene('killed at any call, loses no backup', { skip: noStrace }, async (scene, context) => {
    const { folder, store, to } = scene
    const kept = folder.file('kept')
    await mkdir(kept)
    const names = await makeBackups(store, kept, [30, 20])
    const putBack = async (): Promise<void> => {
      spawnSync('rm', ['-rf', to])
      await mkdir(to)
      for (const name of names) await copyFile(join(kept, name), join(to, name))
    }
    const args = ['backup', '--folder', to, '--keep', '2', '--store', store]
    await putBack()
    const found = { before: 0, between: 0, after: 0 }
    for (const { call, times } of await countCalls([...nameCalls, ...syncCalls], args, folder)) {
      for (let nth = 1; nth <= times; nth += 1) {
        await putBack()
        // Of the process that copies the end is one of the command with status 1.
        await killAt(call, nth, args).catch((error: Error) => assert.match(error.message, /it ended with [01]$/))
        const left = (await readdir(to)).filter((name) => namePattern.test(name))
        assert.ok(left.length >= 2, `${call} ${nth}: ${left.join()}`)
        for (const name of left) assert.ok(await isWhole(join(to, name)), `${call} ${nth}: ${name}`)
        if (!left.includes(names[0] ?? '')) assert.ok(left.some((name) => !names.includes(name)))
        found[left.length === 3 ? 'between' : left.includes(names[0] ?? '') ? 'before' : 'after'] += 1
      }
    }
    context.diagnostic(JSON.stringify(found))
    assert.ok(found.before > 0 && found.between > 0 && found.after > 0, JSON.stringify(found))
  })
})

describe('a backup that fails', () => {
  onScene('for damage of the store says so in one line, and removes no other', async ({ store, to, back }) => {
    const before = await makeBackups(store, to, [20, 10])
    withDatabase(store, 'DROP INDEX plants_by_tag')
    const { status, stderr } = await back('--keep', '1')
    assert.match(stderr, /^plantstore: \S+ is damaged: its index plants_by_tag is missing[^\n]*\n$/)
    assert.equal(status, 1)
    assert.deepEqual((await readdir(to)).sort(), before)
  })

  for (const [title, suffix, inject, says] of [
    ['the store cannot be read', '', 'pread64:error=EIO:when=8+', 'STORE cannot be opened: '],
    ['the disk of the store is full', '-shm', 'ftruncate,pwrite64:error=ENOSPC', 'STORE '],
    ['the store is on a read-only file system', '-shm', 'openat:error=EROFS', 'STORE cannot be written; '],
    ['the disk of the backup is full', undefined, 'pwrite64:error=ENOSPC:when=100+', 'BACKUP is on a full disk; '],
    ['the disk of the backup fails', undefined, 'pwrite64:error=EIO:when=100+', 'BACKUP cannot be opened: disk I/O '],
    ['no process can be started', undefined, 'clone,fork,vfork:error=EAGAIN', 'the copy process could not be '],
  ] as const) {
    exhaustiveOnScene(`as ${title} says so of the right file, leaves nothing`, { skip: noStrace }, async (scene) => {
      await makeLarge(scene.store, 20_000)
      const paths = suffix === undefined ? [] : ['-P', scene.store + suffix]
      const rules = [...paths, '-e', `trace=${inject.split(':')[0]}`, '-e', `inject=${inject}`]
      const args = ['backup', join(scene.to, 'b.db'), '--store', scene.store]
      const { status, stderr } = runInjected(rules, args)
      assert.match(stderr, /^plantstore: [^\n]*\n$/)
      const said = says.replace('STORE', scene.store).replace('BACKUP', join(scene.to, 'b.db'))
      assert.ok(stderr.startsWith(`plantstore: ${said}`), stderr)
      assert.equal(status, 1)
      assert.deepEqual(await readdir(scene.to), [])
    })
  }

  onScene('as the store is replaced meanwhile says so, and leaves nothing', { skip: noStrace }, async (scene) => {
    const { folder, store, to } = scene
    // The first file that the copying process syncs is the copy, once everything is read.
    const args = ['backup', join(to, 'b.db'), '--store', store]
    const { status, stderr } = await runStopped('fsync', args, folder, async () => {
      await copyFile(store, `${store}.other`)
      await rename(`${store}.other`, store)
    })
    assert.equal(stderr, `plantstore: ${store} was deleted or replaced while the program was running\n`)
    assert.equal(status, 1)
    assert.deepEqual(await readdir(to), [])
  })

  exhaustiveOnScene('as a restore holds the store says so of the store, and leaves nothing', async ({ store, to }) => {
    using held = new DatabaseSync(store)
    held.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
    // A process that closes a file gives up all its locks on it.
    const { status, stderr } = await runProgram(['backup', join(to, 'b.db'), '--store', store])
    assert.match(stderr, /^plantstore: \S+ is being written to by another command or server; try again [^\n]*\n$/)
    assert.equal(status, 1)
    assert.deepEqual(await readdir(to), [])
  })

  exhaustiveOnScene('as its process is killed leaves nothing', { skip: noStrace }, async ({ store, to }) => {
    await makeLarge(store, 800_000)
    const { process: child, finished } = startProgram(['backup', join(to, 'b.db'), '--store', store])
    await until('it copies', async () => (await readdir(to)).length > 0)
    const copier = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    process.kill(Number(copier), 'SIGKILL')
    const { status, stderr } = await finished
    assert.match(stderr, /^plantstore: the copy process was killed, .*; no backup was made\n$/)
    assert.equal(status, 1)
    assert.deepEqual(await readdir(to), [])
  })
})

describe('a backup that is stopped', () => {
  // A terminal sends the other two to all processes of its group.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    exhaustiveOnScene(`by ${signal} leaves nothing, and ends with 1`, async ({ store, to }) => {
      const isGroup = signal !== 'SIGTERM'
      await makeLarge(store, 800_000)
      const args = ['backup', join(to, 'b.db'), '--store', store]
      const { process: child, finished } = startProgram(args, { detached: isGroup })
      await until('it copies', async () => (await readdir(to)).length > 0)
      const startedMs = performance.now()
      if (isGroup) process.kill(-(child.pid as number), signal)
      else child.kill(signal)
      const { status, stderr, stdout } = await finished
      assert.ok(performance.now() - startedMs < 5_000)
      assert.deepEqual([status, stdout, stderr], [1, '', 'plantstore: stopped; no backup was made\n'])
      assert.deepEqual(await readdir(to), [])
    })
  }
})

/** A store of so many plants. */
async function makeLarge(path: string, plants: number): Promise<void> {
  const sql = `BEGIN;
    DELETE FROM plants; DELETE FROM names; DELETE FROM plant_counts;
    WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${plants})
      INSERT INTO plants SELECT id, json_object('id', id, 'name', 'plant ' || id) FROM ids;
    INSERT INTO names SELECT plant ->> '$.name', id FROM plants;
    INSERT INTO plant_counts VALUES ('', ${plants});
    COMMIT`
  withDatabase(path, sql)
}
