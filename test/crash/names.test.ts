// A command that names a file is killed at any moment: the name refers to the complete old or the complete new file.

import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { describe } from 'node:test'
import { limits } from '../../src/limits.ts'
import { restoreSqlite } from '../../src/store/sqlite/backup.ts'
import { walk } from '../store/suite.ts'
import { type Folder, onFolder } from '../support/folder.ts'
import { toPlant } from '../support/plants.ts'
import { runHere, runProgram } from '../support/program.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { leaveLog, openTestStore } from '../support/store.ts'
import { countCalls, killAt, nameCalls, noStrace, syncCalls, traceProgram } from '../support/strace.ts'

const oldIds = [1n, 2n, 3n]
const newIds = [11n, 12n]

/** What restore finds where a server died. `isOld`: whether a store is still what it was. */
const scenarios: readonly {
  readonly title: string
  readonly prepare: (path: string) => Promise<unknown>
  readonly isOld: (path: string, original: string) => Promise<boolean>
}[] = [
  {
    title: 'a store that is whole',
    prepare: () => Promise.resolve(),
    isOld: async (path) => (await idsIn(path)).join() === oldIds.join(),
  },
  {
    title: 'a store that is damaged',
    prepare: (path) => writeFile(path, Buffer.alloc(100_000, 'damaged ')),
    isOld: async (path, original) => (await readFile(path)).equals(await readFile(original)),
  },
  {
    title: 'a store that is gone but for its log',
    prepare: (path) => rm(path),
    isOld: async (path) => (await readFile(path).catch(() => '')).length === 0,
  },
]

exhaustive.describe('restore, killed at any call that changes a name or syncs', { skip: noStrace }, () => {
  for (const { title, prepare, isOld } of scenarios) {
    onFolder(`${title} is kept whole or replaced whole`, async (folder, context) => {
      const [path, original] = [folder.file('store/plants.db'), folder.file('old/plants.db')]
      const backup = await makeOldAndBackup(folder)
      await prepare(original)
      const kept = { old: 0, new: 0 }
      const putBack = async (): Promise<void> => {
        await rm(folder.file('store'), { recursive: true, force: true })
        await cp(folder.file('old'), folder.file('store'), { recursive: true })
      }
      await putBack()
      const args = ['restore', backup, '--store', path, '--force']
      for (const { call, times } of await countCalls([...nameCalls, ...syncCalls], args, folder)) {
        for (let nth = 1; nth <= times; nth += 1) {
          await putBack()
          await killAt(call, nth, args)
          const where = `killed at ${call} ${nth}`
          if ((await readFile(path).catch(() => '')).includes('new plant')) {
            kept.new += 1
            assert.deepEqual(await idsIn(path), newIds, where)
          } else {
            kept.old += 1
            assert.ok(await isOld(path, original), where)
          }
          await restoreSqlite(backup, path, true, limits.storeBusyMsMax)
          assert.deepEqual(await idsIn(path), newIds, `${where} and restored again`)
        }
      }
      context.diagnostic(`killed ${kept.old} times before the new store had the name, ${kept.new} times after`)
      assert.ok(kept.old > 3 && kept.new > 0)
    })
  }
})

onFolder('a store that is damaged is kept under another name, with its log', async (folder) => {
  const path = folder.file('old/plants.db')
  const backup = await makeOldAndBackup(folder)
  await writeFile(path, 'damaged '.repeat(10_000))
  const log = await readFile(`${path}-wal`)
  assert.equal((await runProgram(['restore', backup, '--store', path, '--force'])).status, 0)
  const asides = (await readdir(folder.file('old'))).filter((name) => name.includes('.damaged-')).sort()
  assert.equal(asides.length, 2)
  assert.equal(await readFile(folder.file(`old/${asides[0]}`), 'utf8'), 'damaged '.repeat(10_000))
  assert.deepEqual(await readFile(folder.file(`old/${asides[1]}`)), log)
  assert.deepEqual(await idsIn(path), newIds)
})

describe('what a power cut must not lose is synced first', { skip: noStrace }, () => {
  onFolder('backup: the file before its name, and the folder after it', async (folder) => {
    await makeOldAndBackup(folder)
    await mkdir(folder.file('to'))
    const args = ['backup', folder.file('to/b.db'), '--store', folder.file('old/plants.db')]
    const calls = await traceProgram(args, folder)
    const partial = /to\/b\.db\.[-\w]+\.partial/.exec(calls.join('\n'))?.[0] ?? ''
    assertOrder(calls, partial, 'to/b.db', 'to', 'link')
  })

  for (const format of inRing(['ndjson'], ['ndjson', 'csv'])) {
    onFolder(`export of ${format}: the file before its name, and the folder after it`, async (folder) => {
      await makeOldAndBackup(folder)
      await mkdir(folder.file('to'))
      const file = folder.file(`to/out.${format}`)
      const calls = await traceProgram(['export', file, '--store', folder.file('old/plants.db')], folder)
      const partial = /to\/out\.\w+\.[-\w]+\.partial/.exec(calls.join('\n'))?.[0] ?? ''
      assertOrder(calls, partial, `to/out.${format}`, 'to', 'link')
    })
  }

  for (const { title, prepare } of inRing(scenarios.slice(0, 1), scenarios)) {
    onFolder(`restore over ${title}: what lies beside it is gone, and what is kept of it is there`, async (folder) => {
      const backup = await makeOldAndBackup(folder)
      await prepare(folder.file('old/plants.db'))
      const calls = await traceProgram(['restore', backup, '--store', folder.file('old/plants.db'), '--force'], folder)
      const partial = /old\/plants\.db\.[-\w]+\.partial/.exec(calls.join('\n'))?.[0] ?? ''
      assertOrder(calls, partial, 'old/plants.db', 'old')
      const removed = calls.lastIndexOf('unlink old/plants.db-wal')
      assert.notEqual(removed, -1, calls.join('\n'))
      assert.ok(calls.indexOf('fsync old', removed) < calls.findIndex((call) => call.startsWith('rename ')))
      const asides = new Set(calls.flatMap((call) => /^write (\S+\.damaged-\S+)/.exec(call)?.[1] ?? []))
      assert.equal(asides.size, title.includes('damaged') ? 2 : 0, calls.join('\n'))
      for (const aside of asides) {
        const synced = calls.indexOf(`fsync ${aside}`)
        assert.ok(synced > calls.lastIndexOf(`write ${aside}`))
        const between = calls.slice(synced, calls.indexOf('unlink old/plants.db-wal'))
        assert.ok(between.includes('fsync old'), calls.join('\n'))
      }
    })
  }
})

/** The last write of a file, its sync, a sync of the folder, its new name, and a sync of the folder again. */
function assertOrder(calls: readonly string[], from: string, to: string, folder: string, call = 'rename'): void {
  const named = call === 'link' ? [`link ${from} ${to}`, `unlink ${from}`] : [`rename ${from} ${to}`]
  const steps = [`write ${from}`, `fsync ${from}`, `fsync ${folder}`, ...named, `fsync ${folder}`]
  const relevant = calls.filter((call) => steps.includes(call)).filter((call, at, all) => call !== all[at - 1])
  assert.deepEqual(relevant.slice(relevant.lastIndexOf(`write ${from}`)), steps, calls.join('\n'))
}

/** A store in `old/`, as a server that was killed leaves it, and a backup of another one. Gives the backup. */
async function makeOldAndBackup(folder: Folder): Promise<string> {
  {
    await using store = await openTestStore(folder.file('new.db'))
    for (const id of newIds) await store.createPlant(toPlant({ id, name: `new plant ${id}` }))
  }
  assert.equal((await runHere(['backup', folder.file('b.db'), '--store', folder.file('new.db')])).status, 0)
  await mkdir(folder.file('old'))
  await leaveLog(folder.file('old/plants.db'), oldIds.length, Number(oldIds[0]))
  return folder.file('b.db')
}

async function idsIn(path: string): Promise<bigint[]> {
  await using store = await openTestStore(path)
  return walk(store, { limit: 100 })
}
