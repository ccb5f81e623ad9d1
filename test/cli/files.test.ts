// Plants as files: import, export, backup, restore, check.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe } from 'node:test'
import { limits } from '../../src/limits.ts'
import { findLost, writeUntilGone } from '../crash/burst.ts'
import { walk } from '../store/suite.ts'
import { exhaustiveOnFolder, onFolder } from '../support/folder.ts'
import {
  type Finished,
  houseplants,
  importHere,
  launcher,
  runHere,
  runProgram,
  startProgram,
  startServer,
} from '../support/program.ts'
import { exhaustiveOnOwnServer, onOwnServer } from '../support/service.ts'
import { damageTable, exhaustiveOnPath, openTestStore, readPlant, withDatabase } from '../support/store.ts'
import { until } from '../support/time.ts'
import { exhaustiveOnScene, makeScene, onScene } from './scene.ts'

/** Plants that a careless file format would change. */
const awkward = [
  { id: 2n ** 63n - 1n, name: 'of the end' },
  { id: -(2n ** 63n), name: 'of the beginning', tag: 'a,b' },
  { id: 1n, name: 'two\nlines\r\nand three' },
  { id: 2n, name: '"quoted", and more', tag: '"' },
  { id: 3n, name: '🌿 نخلة עץ', tag: '🌳' },
  { id: 4n, name: 'e\u0301 is not é' },
  { id: 5n, name: '  spaces  ', tag: '\ttab' },
  { id: 6n, name: '' },
  { id: 7n, name: '\ufeffmark \u2028 \u0001 \\ \u007f' },
  { id: 8n, name: '=1+1', tag: '#' },
  { id: 9n, name: 'a\rb', tag: 'c\rd' },
]

describe('plantstore import and export', () => {
  for (const format of ['ndjson', 'csv']) {
    onScene(`an export of ${format} imported elsewhere exports the same bytes`, async (scene) => {
      await using other = await makeScene()
      await scene.create(...awkward)
      await importHere(houseplants, scene.store)
      const first = scene.file(`first.${format}`)
      assert.equal((await scene.run('export', first)).status, 0)
      const bytes = await readFile(first)
      const imported = await other.import(`first.${format}`, bytes)
      assert.equal(imported.status, 0, imported.stderr)
      // Spreadsheets take a bare CR for the end of a line, although `import` does not.
      if (format === 'csv') assert.ok(bytes.includes('\n9,"a\rb","c\rd"\r\n'))
      assert.equal((await other.run('export', '--format', format)).stdout, bytes.toString('utf8'))
      await using store = await openTestStore(other.store)
      for (const { id, ...plant } of awkward) assert.deepEqual(await readPlant(store, id), plant)
    })
  }

  onScene('invalid lines are reported with number, reason and text, and the others are imported', async (scene) => {
    // Longer than several pieces of the file.
    const long = `{"id":9,"name":"${'x'.repeat(3 * limits.importReadBytes)}"}`
    const text = `\ufeff{"id":1,"name":"one"}\r\n\n{"id":2.5,"name":"two"}\nnonsense\n${long}\n{"id":1,"name":"again"}\n{"id":6,"name":"six"}`
    const { status, stderr, stdout } = await scene.import('in', text, '--rejects', scene.file('rejects.ndjson'))
    assert.equal(status, 1)
    assert.equal(stdout, '')
    const lines = stderr.trimEnd().split('\n')
    assert.match(lines[0] ?? '', /^line 3: id: must be an integer .*, got 2\.5: \{"id":2\.5,"name":"two"\}$/)
    assert.match(lines[1] ?? '', /^line 4: not valid JSON: .*: nonsense$/)
    assert.match(lines[2] ?? '', /^line 5: the line is longer than the 65536 characters allowed .*: \{"id":9/)
    assert.match(lines[3] ?? '', /^line 6: id: 1 is already taken: \{"id":1,"name":"again"\}$/)
    assert.equal(lines[4], '2 created, 0 replaced, 0 unchanged, 4 refused')
    const rejected = (await scene.read('rejects.ndjson')).split('\n')
    assert.equal(rejected[0], '{"id":2.5,"name":"two"}')
    assert.equal(rejected[2], '{"id":1,"name":"again"}')
    assert.equal((await scene.import('rejects.ndjson', '{"id":3,"name":"corrected"}\n')).status, 0)
  })

  onScene('a conflict is refused, passed over or replaced, as asked', async (scene) => {
    const text = '{"id":1,"name":"new"}\n{"id":2,"name":"other"}\n'
    await scene.create({ id: 1n, name: 'old' })
    const skipped = await scene.import('in', text, '--on-conflict', 'skip', '--dry-run')
    assert.match(skipped.stderr, /^1 could be created, 0 replaced, 1 unchanged, 0 refused \(a dry run/m)
    assert.equal((await scene.import('in', text, '--all-or-nothing')).status, 1)
    assert.equal(await scene.exported(), '{"id":1,"name":"old"}\n')
    const replaced = await scene.import('in', text, '--on-conflict', 'replace')
    assert.equal(replaced.status, 0)
    assert.match(replaced.stderr, /^1 created, 1 replaced, 0 unchanged, 0 refused$/m)
    assert.equal(await scene.exported(), text)
  })

  onScene('a dry run makes no store', async (scene) => {
    const flags = ['--dry-run', '--on-conflict', 'replace']
    const { stderr } = await scene.import('in', '{"id":1,"name":"a"}\n{"id":1,"name":"b"}\n', ...flags)
    assert.match(stderr, /^1 could be created, 1 replaced, 0 unchanged, 0 refused \(a dry run/m)
    assert.equal(existsSync(scene.store), false)
  })

  onScene('text that is not UTF-8 ends the import, which keeps and reports what it has read', async (scene) => {
    const lines = Array.from({ length: 5_000 }, (_, id) => `{"id":${id},"name":"plant"}\n`).join('')
    const bytes = Buffer.concat([Buffer.from(lines), Buffer.from('{"id":5000,"name":"Caf\xe9"}\n', 'latin1')])
    assert.match((await scene.import('in.ndjson', bytes, '--all-or-nothing')).stderr, / 0 refused \(nothing was kept\)/)
    assert.equal(await scene.exported(), '')
    const { status, stderr } = await scene.import('in.ndjson', bytes)
    assert.equal(status, 1)
    const [, last] =
      /in\.ndjson is not valid UTF-8; .*; nothing after line (\d+) was read\n\1 created/.exec(stderr) ?? []
    assert.ok(Number(last) > 1_000, stderr)
    assert.equal((await scene.exported()).split('\n').length - 1, Number(last))
  })

  onScene('rejects are a new file, with the header of CSV, which only its owner can read', async (scene) => {
    const [file, rejects] = [scene.file('in.csv'), scene.file('rejects.csv')]
    const { status } = await scene.import('in.csv', 'name,id\nCafé,x\nBégonia,2\n', '--rejects', rejects)
    assert.equal(status, 1)
    assert.equal(await readFile(rejects, 'utf8'), 'name,id\nCafé,x\n')
    assert.equal(await scene.exported(), '{"id":2,"name":"Bégonia"}\n')
    for (const taken of [file, rejects]) {
      const { status, stderr } = await importHere(file, scene.store, '--rejects', taken)
      assert.equal(status, 1)
      assert.match(stderr, /^plantstore: \S+ exists already; name another file for the rejects\n$/)
    }
    assert.equal((await stat(rejects)).mode & 0o777, 0o600)
    assert.equal((await readFile(file)).length, 27)
  })

  exhaustiveOnOwnServer('a dry run and a stalled import keep no server waiting', async ({ client, store }) => {
    const args = ['import', '-', '--store', store]
    const plantOne = { method: 'GET', target: '/plants/1' }
    const stalled = startProgram(args)
    stalled.process.stdin.write('{"id":1,"name":"imported"}\n')
    await until('the plant is there', async () => (await client.request(plantOne)).status === 200)
    assert.equal((await client.create(2n, 'meanwhile')).status, 200)
    stalled.process.kill('SIGINT')
    assert.equal((await stalled.finished).status, 1)
    const dry = startProgram([...args, '--dry-run'])
    for (let id = 0; id < 30_000; id += 1) dry.process.stdin.write(`{"id":${id},"name":"n"}\n`)
    for (let id = 100_000n; id < 100_050n; id += 1n) assert.equal((await client.create(id, 'meanwhile')).status, 200)
    dry.process.stdin.end()
    const { stderr } = await dry.finished
    assert.match(stderr, /^29998 could be created, 0 replaced, 0 unchanged, 2 refused \(a dry run/m)
  })

  exhaustiveOnFolder('an export whose reader goes away or whose disk is full has no stack trace', async (folder) => {
    const store = folder.file('p.db')
    const lines = Array.from({ length: 50_000 }, (_, id) => `{"id":${id},"name":"plant ${id}"}`)
    await writeFile(folder.file('in.ndjson'), lines.join('\n'))
    await importHere(folder.file('in.ndjson'), store)
    const shell = (redirect: string) => {
      const args = ['-c', `"$0" "$@" ${redirect}`, process.execPath, launcher, 'export', '--store', store]
      return spawnSync('sh', args, { encoding: 'utf8' })
    }
    assert.deepEqual([shell('| head -1').stdout, shell('| head -1').stderr], [`${lines[0]}\n`, ''])
    assert.match(shell('> /dev/full').stderr, /^plantstore: the output could not be written: ENOSPC.*\n$/)
  })

  onFolder('Ctrl-C keeps committed plants and prints how to continue, with replace if used', async (folder) => {
    const args = ['import', '-', '--store', folder.file('p.db'), '--on-conflict', 'replace']
    const { process: child, finished } = startProgram(args)
    let fed = 0
    const feed = (): boolean => child.stdin.write(`{"id":${fed++},"name":"n"}\n`)
    while (fed < 25_000) feed()
    const wal = folder.file('p.db-wal')
    await until('something is written', async () => existsSync(wal) && (await stat(wal)).size > 100_000)
    child.kill('SIGINT')
    // The signal is seen when the next piece comes.
    const feeding = setInterval(feed, 5)
    const { status, stderr } = await finished
    clearInterval(feeding)
    assert.equal(status, 1)
    const [, line, advice] = /^Stopped; everything up to line (\d+) was kept\. (.*)$/m.exec(stderr) ?? []
    assert.equal(advice, 'To continue, run it again with --on-conflict replace.')
    await using store = await openTestStore(folder.file('p.db'))
    assert.equal((await walk(store, { limit: 10_000 })).length, Number(line))
  })

  onScene('an export to a terminal has escapes for what a terminal would obey', async (scene) => {
    const line = '{"id":1,"name":"a\\u001b[2J\u009b2J\u007f\\r\\nb","tag":"\u202egpj.exe"}\n'
    await scene.import('in', line + line.replace('1', '2'))
    const csv = '1,"a\u001b[2J\u009b2J\u007f\r\nb",\u202egpj.exe\r\n'
    for (const [format, raw, escaped] of [
      ['ndjson', line, line.replace('\u009b', '\\u009b').replace('\u007f', '\\u007f').replace('\u202e', '\\u202e')],
      ['csv', csv, '1,a\\u001b[2J\\u009b2J\\u007f\\u000d\\u000ab,\\u202egpj.exe\r\n'],
    ] as const) {
      const header = format === 'csv' ? 'id,name,tag\r\n' : ''
      const both = (text: string): string => header + text + text.replace('1', '2')
      const args = ['export', '-', '--format', format, '--store', scene.store]
      assert.deepEqual(await runHere(args), { status: 0, stdout: both(raw), stderr: '' })
      assert.deepEqual(await runHere(args, { isTTY: true }), { status: 0, stdout: both(escaped), stderr: '' })
      if (format === 'ndjson') assert.deepEqual(JSON.parse(escaped), JSON.parse(raw))
    }
  })

  exhaustiveOnFolder('an export of a damaged store leaves nothing, and blames the store', async (folder) => {
    const store = folder.file('p.db')
    await importHere(houseplants, store)
    await damageTable(store, 'plants')
    for (const file of [folder.file('out.ndjson'), '-']) {
      const { status, stderr } = await runProgram(['export', file, '--store', store])
      assert.equal(stderr, 'plantstore: the store has failed: database disk image is malformed\n')
      assert.equal(status, 1)
    }
    const out = readdirSync(folder.path).filter((name) => name.startsWith('out'))
    assert.deepEqual(out, [])
  })

  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    exhaustiveOnFolder(`an export that is stopped by ${signal} leaves the file that was there`, async (folder) => {
      const [store, file] = [folder.file('p.db'), folder.file('out.ndjson')]
      await writeFile(file, 'the one before')
      const plants = Array.from({ length: 100_000 }, (_, id) => `{"id":${id},"name":"${'n'.repeat(200)}"}\n`)
      await writeFile(folder.file('in.ndjson'), plants.join(''))
      await importHere(folder.file('in.ndjson'), store)
      const isPartial = (name: string): boolean => name.endsWith('.partial')
      // One that is done before the signal comes is no test.
      let stopped: Finished
      do {
        const { process: child, finished } = startProgram(['export', file, '--store', store])
        const hasBegun = () => child.exitCode !== null || readdirSync(folder.path).some(isPartial)
        await until('the export begins', hasBegun)
        child.kill(signal)
        stopped = await finished
      } while (stopped.status === 0)
      assert.equal(stopped.status, 1)
      assert.match(stopped.stderr, /^plantstore: stopped; nothing was written\n$/m)
      assert.deepEqual(readdirSync(folder.path).filter(isPartial), [])
      const left = await readFile(file, 'utf8')
      assert.ok(left === 'the one before' || left === plants.join(''))
    })
  }
})

describe('plantstore backup, restore and check', () => {
  onOwnServer('a backup taken under 16 writers has everything acknowledged before, gap-free', async (own) => {
    const { server, client, folder, store: path } = own
    const before = new Map<bigint, { name: string; tag?: string }>()
    const started = Promise.withResolvers<void>()
    const writing = writeUntilGone(server, server.token, 1, (count) => count === 500 && started.resolve())
    await started.promise
    for (let id = 0n; id < 20n; id += 1n) {
      await client.create(id, `before ${id}`)
      before.set(id, { name: `before ${id}` })
    }
    const { status, stdout, stderr } = await runHere(['backup', folder.file('b.db'), '--store', path])
    assert.equal(status, 0, stderr)
    await server.stop('SIGKILL')
    const acknowledged = await writing
    const digest = hash('sha256', await readFile(folder.file('b.db')))
    assert.equal(stdout, `${digest}  ${folder.file('b.db')}\n`)
    assert.equal((await stat(folder.file('b.db'))).mode & 0o777, 0o600)

    assert.equal((await runHere(['restore', folder.file('b.db'), '--store', folder.file('r.db')])).status, 0)
    assert.deepEqual(await findLost(folder.file('r.db'), before), [])
    await assertPrefixes(folder.file('r.db'), acknowledged)
    assert.equal((await runHere(['check', '--store', folder.file('r.db')])).status, 0)
  })

  exhaustiveOnScene('a store that is there is replaced only with --force, and never one in use', async (scene) => {
    const copy = scene.file('b.db')
    await importHere(houseplants, scene.store)
    await scene.run('backup', copy)
    const original = await scene.exported()
    assert.match((await scene.run('backup', copy)).stderr, /exists already; name another file/)
    await scene.create({ id: 123_456n, name: 'later' })
    assert.match((await scene.run('restore', copy)).stderr, /exists already; add --force to replace it/)
    for (const [open, says] of [
      [() => startServer(scene.store), /is in use by a plantstore server; stop it first/],
      [() => openTestStore(scene.store, { exclusive: false }), /is in use by another plantstore command; wait for it/],
    ] as const) {
      await using _open = await open()
      const { status, stderr } = await scene.run('restore', copy, '--force')
      assert.equal(status, 1)
      assert.match(stderr, says)
    }
    assert.notEqual(await scene.exported(), original)
    assert.equal((await scene.run('restore', copy, '--force')).status, 0)
    assert.equal(await scene.exported(), original)
    assert.ok(!readdirSync(dirname(scene.store)).some((name) => name.endsWith('.partial')))
  })

  exhaustiveOnScene('a damaged backup is refused before anything is touched; check finds it', async (scene) => {
    const copy = scene.file('b.db')
    await importHere(houseplants, scene.store)
    await scene.run('backup', copy)
    await damageTable(copy, 'plants')
    const before = await readFile(scene.store)
    const { status, stderr } = await scene.run('restore', copy, '--force')
    assert.equal(status, 1)
    assert.match(stderr, /^plantstore: \S+b\.db (is damaged|cannot be opened): .*\n$/)
    assert.deepEqual(await readFile(scene.store), before)
    assert.equal((await runHere(['check', '--store', copy])).status, 1)
  })

  exhaustiveOnPath('check finds a wrong number of plants with a tag', async (path) => {
    await importHere(houseplants, path)
    withDatabase(path, "UPDATE plant_counts SET plants = plants + 1 WHERE of = '#aroid'")
    const { status, stderr } = await runHere(['check', '--store', path])
    assert.deepEqual([status, stderr], [1, 'its counts of plants do not match its plants\n'])
  })
})

/** Each writer's plants are numbered in the order they were sent: a snapshot has no later one without the earlier. */
async function assertPrefixes(path: string, acknowledged: ReadonlyMap<bigint, unknown>): Promise<void> {
  await using store = await openTestStore(path)
  const there = new Set(await walk(store, { limit: 10_000 }))
  const gaps = new Map<bigint, bigint>()
  for (const id of [...acknowledged.keys()].sort((a, b) => (a < b ? -1 : 1))) {
    const writer = (id + 2n ** 62n) >> 32n
    if (!there.has(id)) gaps.set(writer, gaps.get(writer) ?? id)
    else assert.equal(gaps.get(writer), undefined, `plant ${id} is there, an earlier one is not`)
  }
}
