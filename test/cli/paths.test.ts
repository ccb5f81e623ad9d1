// Unusable paths as arguments of commands: one clear line, never a stack trace or an endless wait.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { describe, test } from 'node:test'
import type { Store } from '../../src/domain/store.ts'
import { nameDurably } from '../../src/store/files.ts'
import { makeFolder } from '../support/folder.ts'
import { asUser } from '../support/other-user.ts'
import { cleanEnvironment, launcher, runHere, runProgram } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { openTestStore } from '../support/store.ts'

const isRoot = userInfo().uid === 0
/** The user nobody: what root may do that others may not is tried as this one. */
const nobody = 65_534
/** What would never end is ended, and fails. */
const inTime = { timeout: 20_000, killSignal: 'SIGKILL' } as const

type Prepared = Awaited<ReturnType<typeof prepare>>

/** A folder with a store and a file of plants. */
async function prepare() {
  const folder = await makeFolder()
  const [store, plants] = [folder.file('p.db'), folder.file('in.ndjson')]
  await writeFile(plants, '{"id":1,"name":"a"}\n')
  assert.equal((await runHere(['import', plants, '--store', store])).status, 0)
  return { ...folder, store, plants }
}

const destroys =
  / (?:belongs to a store, which this would destroy|exists already|is not a regular file|exists and would)/

type Path = (folder: Prepared) => string

/** What a path may be, with what is then said of it, whatever the command. */
const obstacles: readonly { readonly title: string; readonly path: Path; readonly says: RegExp }[] = [
  { title: 'below a file', path: ({ plants }) => `${plants}/x`, says: /not a folder|there is no (file|store)/ },
  { title: 'in no folder', path: (f) => f.file('no/x'), says: /does not exist|there is no (file|store)/ },
  { title: 'in /proc', path: () => '/proc/none/x.db', says: /does not exist|there is no (file|store)/ },
  { title: 'a folder', path: ({ path }) => path, says: /is a folder|exists already|is not a file/ },
  { title: 'a device', path: () => '/dev/zero', says: /is a device|exists already|is an empty file|is not a file/ },
  { title: 'a name too long', path: (f) => f.file('x'.repeat(300)), says: /has a name that is too long/ },
  { title: 'a link that leads to itself', path: (f) => f.file('loop'), says: /symbolic link|exists already/ },
]

/** Each command with a path in each place where it takes one. */
const commands: readonly { readonly title: string; readonly args: (path: string, folder: Prepared) => string[] }[] = [
  { title: 'import', args: (path, { store }) => ['import', path, '--store', store] },
  { title: 'import --rejects', args: (path, f) => ['import', f.plants, '--store', f.store, '--rejects', path] },
  { title: 'export', args: (path, { store }) => ['export', path, '--store', store] },
  { title: 'export --store', args: (path) => ['export', '--store', path] },
  { title: 'backup', args: (path, { store }) => ['backup', path, '--store', store] },
  { title: 'backup --store', args: (path, folder) => ['backup', folder.file('b.db'), '--store', path] },
  { title: 'restore', args: (path, folder) => ['restore', path, '--store', folder.file('r.db')] },
  { title: 'check', args: (path) => ['check', '--store', path] },
  { title: 'token list', args: (path) => ['token', 'list', '--store', path] },
]

/** A setting that can be no store is wrong; for what another path is, or that there is no store yet, that is too much. */
function statusFor(args: readonly string[], stderr: string): number {
  const store = args[args.indexOf('--store') + 1]
  const isStore = stderr.startsWith(`plantstore: ${store} `)
  return isStore && / is (a folder|a device|not a file)/.test(stderr) ? 2 : 1
}

describe('a path that a command takes', () => {
  for (const { title, args } of commands) {
    test(`${title}: whatever stands in its way is one line and status 1, or 2 for a --store that can be none`, async () => {
      await using folder = await prepare()
      await symlink('loop', folder.file('loop'))
      const before = await readdir(folder.path)
      for (const obstacle of obstacles) {
        const path = obstacle.path(folder)
        // A device is a place for rejects as good as any.
        if (title === 'import --rejects' && path.startsWith('/dev/')) continue
        const { status, stderr } = await runHere(args(path, folder))
        assert.equal(status, statusFor(args(path, folder), stderr), `${obstacle.title}: ${stderr}`)
        assert.match(stderr, /^plantstore: [^\n]*\n$/, obstacle.title)
        assert.match(stderr, obstacle.says, obstacle.title)
      }
      const after = (await readdir(folder.path)).filter((name) => !/^p\.db-/.test(name))
      const expected = before.filter((name) => !/^p\.db-/.test(name))
      assert.deepEqual(after, expected)
    })
  }

  test('a store in a folder that is missing, as a mistyped one is, is refused, and no folder is made', async () => {
    await using folder = await prepare()
    for (const args of [
      ['serve', '--port', '0'],
      ['token', 'create', '--name', 'n'],
      ['import', folder.plants],
      ['restore', folder.store],
    ]) {
      for (const missing of [folder.file('no/such'), '/proc/none/x']) {
        const { status, stderr } = await runHere([...args, '--store', `${missing}/y.db`])
        assert.equal(stderr, `plantstore: the folder ${missing} does not exist; create it first\n`)
        assert.equal(status, 1)
      }
    }
    assert.ok(!existsSync(folder.file('no')))
  })

  test('a file of the store is never written by a command, be it there or not, nor through a link', async () => {
    await using folder = await prepare()
    const { store, plants } = folder
    await symlink('p.db', folder.file('alias'))
    await copyFile(store, folder.file('other.db'))
    const before = await readFile(store)
    const targets = ['', '-wal', '-shm', '-journal', '.lock', '.backed-up'].map((suffix) => store + suffix)
    for (const target of [...targets, folder.file('alias'), folder.file('other.db'), folder.file('other.db-wal')]) {
      for (const args of [
        ['export', target, '--store', store],
        ['backup', target, '--store', store],
        ['import', plants, '--on-conflict', 'skip', '--rejects', target, '--store', store],
        ['verify', 'http://127.0.0.1:9', '--token', 'none', '--junit', target],
        ['serve', '--port', '0', '--first-token-file', target, '--store', store],
      ]) {
        const { status, stderr } = await runHere(args)
        assert.match(stderr, /^plantstore: [^\n]*\n$/, args.join(' '))
        assert.match(stderr, destroys)
        assert.equal(status, 1)
      }
    }
    assert.deepEqual(await readFile(store), before)
    const left = (await readdir(folder.path)).filter((name) => /-(wal|shm|journal)$/.test(name))
    assert.deepEqual(left, [])
    // Nor that of a store which the command is to make.
    const fresh = folder.file('fresh.db')
    assert.equal((await runHere(['import', plants, '--store', fresh, '--rejects', fresh])).status, 1)
    assert.ok(!existsSync(fresh))
  })

  exhaustive.test('a file that appears while another is written is not replaced', async () => {
    await using folder = await prepare()
    const file = folder.file('b.db')
    const both = await Promise.all([1, 2].map(() => runProgram(['backup', file, '--store', folder.store])))
    assert.deepEqual(both.map(({ status }) => status).sort(), [0, 1])
    assert.match(both.map(({ stderr }) => stderr).join(''), /^plantstore: \S+b\.db exists already; name another file$/m)
    await writeFile(folder.file('partial'), 'new')
    assert.equal(nameDurably(folder.file('partial'), file), false)
    assert.equal((await runHere(['check', '--store', file])).status, 0)
  })

  exhaustive.test('a name as long as the system allows can be written', async () => {
    await using folder = await prepare()
    for (const name of ['x'.repeat(255), `${'🌿'.repeat(63)}abc`]) {
      const file = folder.file(name)
      for (const command of ['export', 'backup']) {
        const { status, stderr } = await runHere([command, file, '--store', folder.store])
        assert.equal(status, 0, stderr)
        await rm(file)
      }
    }
  })

  test('an export says when it has replaced a file, and where the changes since begin', async (context) => {
    await using folder = await prepare()
    const args = ['export', folder.file('out.csv'), '--store', folder.store]
    const since = String.raw`\nIts changes since: plantstore watch --after \d+-\w+\n$`
    const exported = String.raw`^Exported 1 plant to \S+out\.csv`
    assert.match((await runHere(args)).stderr, new RegExp(exported + since))
    await using store = await openTestStore(folder.store, { exclusive: false })
    const { exportPlants } = store
    context.mock.method(Object.getPrototypeOf(store), 'exportPlants', async function* (this: Store) {
      for await (const batch of exportPlants.call(this)) {
        await store.createPlant({ id: 2n, json: '{"id":2,"name":"later"}' })
        yield batch
      }
    })
    const { stderr } = await runHere(args)
    assert.match(stderr, new RegExp(`${exported}, replacing the file that was there${since}`))
    const after = / (\S+)\n$/.exec(stderr)?.[1]
    assert.equal((await store.listChanges({ after, kind: undefined, limit: 9 })).changes.length, 1)
    assert.match((await runHere(['export', '--help'])).stdout, /replacing an existing one/)
  })
})

describe('a current folder that was deleted', () => {
  const inDeleted = (folder: Prepared, args: readonly string[]) => {
    const script = 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"'
    const command = ['-c', script, 'sh', folder.file('gone'), process.execPath, launcher, ...args]
    return spawnSync('sh', command, { encoding: 'utf8', ...inTime })
  }
  exhaustive.test('is named in one line, but keeps no backup or check of absolute paths from its work', async () => {
    await using folder = await prepare()
    const { store } = folder
    const why = 'cannot be used here: the current folder was deleted; change to another folder'
    for (const command of ['config', 'token list', 'serve --port 0', 'check', 'export', 'backup b.db']) {
      const { status, stderr } = inDeleted(folder, command.split(' '))
      assert.deepEqual([status, stderr], [1, `plantstore: ./data/plants.db ${why}\n`], command)
    }
    for (const args of [['check'], ['backup', folder.file('b.db')]]) {
      const { status, stderr } = inDeleted(folder, [...args, '--store', store])
      assert.equal(status, 0, stderr)
    }
    for (const args of [['token', 'list'], ['export'], ['import', folder.plants], ['serve', '--port', '0']]) {
      const { status, stderr } = inDeleted(folder, [...args, '--store', store])
      assert.deepEqual([status, stderr], [1, `plantstore: ${store} ${why}\n`])
    }
  })
})

exhaustive.describe('a user without permission', { skip: !isRoot && 'only root can be another user' }, () => {
  // Below the folder: `locked` and what is in `shut` are of root, what is in `open` is anybody's.
  for (const [args, message] of [
    ['import @locked --store @open/p.db', /locked cannot be read; give/],
    ['import @shut/x --store @open/p.db', /shut\/x cannot be read; give/],
    ['import @in.ndjson --store @open/p.db --rejects @r', /r cannot be written; give/],
    ['restore @locked --store @open/p.db', /locked cannot be read; give/],
    ['restore @p.db --store @shut/p.db', /shut\/p\.db cannot be written; give/],
    ['backup @open/b.db --store @locked', /locked cannot be read; give/],
    ['backup @open/b.db --store @shut/x', /shut\/x cannot be read; give/],
    // Its log cannot be made.
    ['backup @open/b.db --store @p.db', /p\.db cannot be written; give/],
    ['backup @b.db --store @open/s.db', /b\.db cannot be written; give/],
    ['export @out.csv --store @open/s.db', /out\.csv cannot be written; give/],
    ['export --store @shut/x', /shut\/x cannot be read; give/],
    ['check --store @locked', /locked cannot be read; give/],
    ['verify http://127.0.0.1:9 --token t --junit @report.xml', /report\.xml cannot be written; give/],
    ['serve --port 0 --store @shut/p.db', /p\.db cannot be (read|written); give/],
  ] as const) {
    test(`is told so: ${args}`, async () => {
      await using folder = await prepare()
      await chmod(folder.path, 0o755)
      for (const name of ['p.db', 'p.db.lock', 'in.ndjson']) await chmod(folder.file(name), 0o666)
      await mkdir(folder.file('open'), { mode: 0o777 })
      await chmod(folder.file('open'), 0o777)
      await mkdir(folder.file('shut'), { mode: 0o700 })
      await copyFile(folder.store, folder.file('open/s.db'))
      await chmod(folder.file('open/s.db'), 0o666)
      await writeFile(folder.file('locked'), 'SQLite format 3\0', { mode: 0o600 })
      const own = args.split(' ').map((arg) => (arg.startsWith('@') ? folder.file(arg.slice(1)) : arg))
      const [program = '', ...command] = asUser(nobody, [process.execPath, launcher, ...own])
      const { status, stderr } = spawnSync(program, command, { ...inTime, env: cleanEnvironment(), encoding: 'utf8' })
      assert.match(stderr, /^(A new store was created at .*\n)?plantstore: [^\n]*\n$/)
      assert.match(stderr, message)
      assert.equal(status, 1)
    })
  }
})
