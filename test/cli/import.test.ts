// The messages of an import about files that are partly or completely invalid.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { launcher, runHere, startProgram } from '../support/program.ts'
import { makeScene, onScene } from './scene.ts'

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')

describe('refused lines', () => {
  test('are shown ten times and then counted, all of them are kept, and the whole file is gone through', async () => {
    await using scene = await makeScene()
    const rejects = scene.file('rejects.ndjson')
    const lines = Array.from({ length: 5_000 }, (_, id) => `{"id":${id},"name":"plant ${id}"}\n`).join('')
    assert.equal((await scene.import('in.ndjson', lines)).status, 0)
    const more = `${lines}{"id":5000,"name":"new"}\n`
    const again = await scene.import('in.ndjson', more, '--rejects', rejects)
    const told = again.stderr.trimEnd().split('\n')
    assert.equal(told.length, 12, again.stderr)
    assert.equal(told[10], `4990 more lines were refused; ${rejects} has them all`)
    assert.equal(told[11], '1 created, 0 replaced, 0 unchanged, 5000 refused')
    assert.equal(await scene.read('rejects.ndjson'), lines)
    const { stderr } = await scene.import('in.ndjson', more)
    assert.match(stderr, /^4991 more lines were refused; use --rejects FILE to keep them all$/m)
  })

  test('of a spreadsheet in UTF-16 with semicolons are a file in UTF-8 that is imported once corrected', async () => {
    await using scene = await makeScene()
    const sheet = utf16('\r\nname;Höhe;id\r\nFärn;3;1\r\nÖlbaum;1;9,2E+18\r\n"two\r\nlines";2;1\r\n')
    const first = await scene.import('in.csv', sheet, '--rejects', scene.file('rejects.csv'))
    assert.match(first.stderr, /is read as UTF-16\n.* is read with semicolons\ncolumns ignored: Höhe\nline 4: /)
    const rejected = await scene.read('rejects.csv')
    assert.equal(rejected, 'name;Höhe;id\nÖlbaum;1;9,2E+18\n"two\r\nlines";2;1\n')
    const corrected = rejected.replace('9,2E+18', '2').replace(';2;1', ';2;3')
    assert.equal((await scene.import('rejects.csv', corrected)).status, 0)
    const plants = await scene.exported()
    assert.equal(plants, '{"id":1,"name":"Färn"}\n{"id":2,"name":"Ölbaum"}\n{"id":3,"name":"two\\r\\nlines"}\n')
  })

  onScene('that cannot be written end the import, which reports what was kept', async (scene) => {
    const lines = '{"id":1,"name":"a"}\n{"id":1,"name":"b"}\n'
    const toFull = (...args: readonly string[]) => scene.import('in.ndjson', lines, '--rejects', '/dev/full', ...args)
    const stopped = String.raw`plantstore: the import stopped early \(/dev/full cannot be written: .*\)`
    const tried = await toFull('--dry-run')
    assert.equal(tried.status, 1)
    assert.match(tried.stderr, new RegExp(`${stopped}; nothing was kept\n$`))
    const { status, stderr } = await toFull()
    assert.equal(status, 1)
    assert.match(stderr, new RegExp(`${stopped}; .* run it again with --on-conflict skip\n$`))
  })
})

for (const [when, sql, why] of [
  [
    'while it adds plants',
    "CREATE TRIGGER fail BEFORE INSERT ON plants BEGIN SELECT raise(ABORT, 'no room for it'); END",
    'no room for it',
  ],
  [
    'at its last commit',
    `CREATE TABLE a (id INTEGER PRIMARY KEY);
    CREATE TABLE b (id INTEGER REFERENCES a DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER fail AFTER INSERT ON plants BEGIN INSERT INTO b VALUES (1); END`,
    'FOREIGN KEY constraint failed',
  ],
] as const) {
  onScene(`an import that its store breaks off ${when} says why, and what was kept`, async (scene) => {
    await scene.import('first.ndjson', '{"id":1,"name":"a"}\n')
    using database = new DatabaseSync(scene.store)
    database.exec(sql)
    // A process of its own: the thread of a store that has failed ends with it.
    const { process: child, finished } = startProgram(['import', '-', '--store', scene.store])
    child.stdin.end('{"id":2,"name":"b"}\n')
    const { status, stderr } = await finished
    assert.equal(status, 1)
    const [, cause] =
      /^plantstore: the import stopped early \(.*; .*: (.*)\); everything up to line 0 /.exec(stderr) ?? []
    assert.equal(cause, why, stderr)
  })
}

onScene('an import from a folder as standard input is refused', async (scene) => {
  const command = `"${process.execPath}" "${launcher}" import - --store "${scene.store}" < "${scene.path}"`
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [1, 'plantstore: standard input is a folder\n'])
})

for (const [flags, said, kept] of [
  [[], /; everything up to line 1 was kept, perhaps more; /, '{"id":1,"name":"a"}\n'],
  [['--all-or-nothing'], /; nothing was kept$/m, ''],
] as const) {
  onScene(
    `an import that breaks off keeps what came before its input paused, unless it is all or nothing: ${flags}`,
    async (scene) => {
      async function* input(): AsyncGenerator<Buffer> {
        yield Buffer.from('{"id":1,"name":"a"}\n')
        await sleep(150)
        yield Buffer.from('nonsense\n')
      }
      const args = ['import', '-', '--store', scene.store, '--rejects', '/dev/full', ...flags]
      const { status, stderr } = await runHere(args, { input: input() })
      assert.equal(status, 1)
      assert.match(stderr, said)
      assert.equal(await scene.exported(), kept)
    },
  )
}

onScene('an import from a pipe that has gone silent ends at a signal', async (scene) => {
  const pipe = scene.file('pipe')
  execFileSync('mkfifo', [pipe])
  const { process: child, finished } = startProgram(['import', pipe, '--store', scene.store])
  await using writer = await open(pipe, 'w')
  await writer.write('{"id":1,"name":"a"}\nnonsense\n')
  await once(child.stderr, 'data')
  child.kill('SIGTERM')
  const { status, stderr } = await finished
  assert.equal(status, 1)
  assert.match(stderr, /^Stopped; everything up to line 2 was kept/m)
})

describe('a CSV record', () => {
  test('has an id of digits, perhaps with a minus; an id that a spreadsheet has rounded gets a hint', async () => {
    await using scene = await makeScene()
    const rounded = ['9.22337E+18', '"9,22337E+18"', '7.0']
    const wrong = ['99999999999999999999', '+7', '']
    const text = [...rounded, ...wrong].map((id) => `${id},a\n`).join('')
    const { stderr } = await scene.import('in.csv', `id,name\n${text}`)
    const why = [
      ...rounded.map(
        () => /^line \d: id: "\S+" is not an integer; if a spreadsheet rounded it, format the column as text: /,
      ),
      ...wrong.map(() => /^line \d: id: must be an integer /),
    ]
    const lines = stderr.trimEnd().split('\n')
    assert.equal(lines.pop(), '0 created, 0 replaced, 0 unchanged, 6 refused')
    assert.equal(lines.length, why.length)
    for (const [index, line] of lines.entries()) assert.match(line, why[index] ?? /^$/)
  })

  onScene('may have ids that a spreadsheet has filled up with zeros: they are imported, and counted', async (scene) => {
    const rounded = ['1234567890123450000', '-123456789012345000', '1000000000000000']
    const ids = [...rounded, '100000000000000', '1234567890123456']
    const { status, stderr } = await scene.import('in.csv', `id,name\n${ids.map((id) => `${id},a\n`).join('')}`)
    assert.equal(status, 0)
    assert.match(stderr, /^5 created, .*\n3 ids have zeros after 15 digits, as if rounded by a spreadsheet; /m)
  })

  onScene('may have blanks and zeros before its id', async (scene) => {
    const text = 'id,name\n 007 ,a\n-08,b\n000,c\n-0009223372036854775808,d\n'
    assert.equal((await scene.import('in.csv', text)).status, 0)
    const ids = [...(await scene.exported()).matchAll(/"id":(-?\d+)/g)].map(([, id]) => id)
    assert.deepEqual(ids, ['-9223372036854775808', '-8', '0', '7'])
  })

  onScene('may lack fields at its end, as Excel writes it, unless the file is cut short there', async (scene) => {
    const { stderr } = await scene.import('in.csv', 'id,name,tag\n1,a\n2,b,,,\n3,c,d,e\n4\n5,cut sho')
    const found = [...stderr.matchAll(/^line .*$/gm)].map(([line]) => line)
    assert.deepEqual(found, [
      'line 4: the record has 4 fields, the header 3: 3,c,d,e',
      'line 5: the record has 1 field, the header 3: 4',
      'line 6: the record has 2 fields, the header 3: 5,cut sho',
    ])
  })
})

describe('a file that is something else', async () => {
  const scene = await makeScene()
  after(() => scene[Symbol.asyncDispose]())

  const tells = (title: string, name: string, bytes: string | Buffer, message: RegExp, ...flags: string[]): void => {
    test(`${title}: one clear line`, async () => {
      const { status, stderr } = await scene.import(name, bytes, ...flags)
      assert.equal(status, 1)
      assert.match(stderr, message)
      assert.equal(stderr.split('\n').length, 2, stderr)
      assert.doesNotMatch(stderr.trimEnd(), /\p{Cc}/u)
    })
  }
  const many = (line: (index: number) => string): string =>
    Array.from({ length: 4_000 }, (_, index) => line(index)).join('')
  const plants = many((id) => `{"id":${id},"name":"n"}\n`)
  const noNdjson = /^plantstore: \S+ does not begin with a line such as .*, add --format csv\n$/
  const noHeader = /has no column id or no column name; its first line must name the columns: .*\n$/
  const noText = /is not valid UTF-8; save it as UTF-8, a sheet as "CSV UTF-8"\n$/
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100_000, '\x00\n')])
  tells('a PNG', 'photo.ndjson', png, noText)
  tells('a JSON array', 'a.json', `[\n${plants.replaceAll('\n', ',\n')}{}\n]\n`, noNdjson)
  tells('CSV for NDJSON', 'a.txt', `id;name\n${many((id) => `${id};n\n`)}`, noNdjson)
  tells('NDJSON for CSV, whatever its ending says', 'b.ndjson', plants, noHeader, '--format', 'csv')
  tells('a workbook', 'a.xlsx', Buffer.from('PK\x03\x04\n\n\n\n'), noNdjson)
  tells('a compressed file', 'a.ndjson', gzipSync(plants), noText)
  tells('a text cut within a letter', 'a.csv', Buffer.from('id,name\n1,Café').subarray(0, -1), noText)
  tells('UTF-16 without a mark', 'a.csv', utf16('id,name\n1,a\n').subarray(2), noHeader)
  tells('broken UTF-16', 'a.csv', Buffer.concat([utf16('id,name\n'), Buffer.of(0, 0xd8, 65, 0)]), /is not valid UTF-16/)
  tells('a column twice', 'a.csv', 'id,name,id\n', /has more than one column id; its first line is: id,name,id\n$/)

  test('of none of them, anything is imported', async () => assert.equal(await scene.exported(), ''))
})

onScene('a file with tabs is read as such, and input line by line is reported line by line', async (scene) => {
  const { status, stderr } = await scene.import('in.tsv', 'ID\tName\r\n1\ta, b\r\n\t\r\n')
  assert.deepEqual([status, stderr.split('\n')[0]], [0, `${scene.file('in.tsv')} is read with tabs`])
  const typed = startProgram(['import', '-', '--store', scene.store])
  typed.process.stdin.write('{"id":2,"name":"c"}\nnonsense\n')
  const [told] = await once(typed.process.stderr, 'data')
  assert.match(told, /^line 2: not valid JSON/)
  typed.process.stdin.end()
  assert.equal((await typed.finished).status, 1)
})
