// What an import says of a file that is not quite, or not at all, what it should be.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { makeFolder } from '../support/folder.ts'
import { importHere, runHere, startProgram } from '../support/program.ts'

const exportOf = async (store: string): Promise<string> => (await runHere(['export', '--store', store])).stdout

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')

describe('refused lines', () => {
  test('are shown ten times and then counted, all of them are kept, and the whole file is gone through', async () => {
    await using folder = await makeFolder()
    const [file, store, rejects] = [folder.file('in.ndjson'), folder.file('p.db'), folder.file('rejects.ndjson')]
    const lines = Array.from({ length: 5_000 }, (_, id) => `{"id":${id},"name":"plant ${id}"}\n`)
    await writeFile(file, lines.join(''))
    assert.equal((await importHere(file, store)).status, 0)
    await writeFile(file, `${lines.join('')}{"id":5000,"name":"new"}\n`)
    const again = await importHere(file, store, '--rejects', rejects)
    const told = again.stderr.trimEnd().split('\n')
    assert.equal(told.length, 12, again.stderr)
    assert.equal(told[10], `4990 more lines were refused; ${rejects} has them all`)
    assert.equal(told[11], '1 created, 0 replaced, 0 unchanged, 5000 refused')
    assert.equal(await readFile(rejects, 'utf8'), lines.join(''))
    assert.match(
      (await importHere(file, store)).stderr,
      /^4991 more lines were refused; use --rejects FILE to keep them all$/m,
    )
  })

  test('of a spreadsheet in UTF-16 with semicolons are a file in UTF-8 that is imported once corrected', async () => {
    await using folder = await makeFolder()
    const [file, store, rejects] = [folder.file('in.csv'), folder.file('p.db'), folder.file('rejects.csv')]
    await writeFile(file, utf16('sep=|\r\nname|Höhe|id\r\nFärn|3|1\r\nÖlbaum|1|9,2E+18\r\n"two\r\nlines"|2|1\r\n'))
    const first = await importHere(file, store, '--rejects', rejects)
    assert.match(first.stderr, /^\S+in\.csv is read as UTF-16 with the separator \|\ncolumns ignored: Höhe\nline 4: /)
    const rejected = await readFile(rejects, 'utf8')
    assert.equal(rejected, 'sep=|\r\nname|Höhe|id\nÖlbaum|1|9,2E+18\n"two\r\nlines"|2|1\n')
    await writeFile(rejects, rejected.replace('9,2E+18', '2').replace('|2|1', '|2|3'))
    assert.equal((await importHere(rejects, store)).status, 0)
    assert.equal(
      await exportOf(store),
      '{"id":1,"name":"Färn"}\n{"id":2,"name":"Ölbaum"}\n{"id":3,"name":"two\\r\\nlines"}\n',
    )
  })

  test('that cannot be written end the import, and it says what was kept', async () => {
    await using folder = await makeFolder()
    await writeFile(folder.file('in.ndjson'), '{"id":1,"name":"a"}\n{"id":1,"name":"b"}\n')
    const { status, stderr } = await importHere(folder.file('in.ndjson'), folder.file('p.db'), '--rejects', '/dev/full')
    assert.equal(status, 1)
    assert.match(
      stderr,
      /plantstore: the import stopped early \(\/dev\/full cannot be written: .*\); .* run it again with --on-conflict skip\n$/,
    )
  })
})

describe('a CSV record', () => {
  for (const [title, text, expected] of [
    ['an id without a fraction or an exponent, as a spreadsheet has rounded it', '9.22337E+18', 'rounded'],
    ['nor with the comma of Europe', '"9,22337E+18"', 'rounded'],
    ['nor with a point', '7.0', 'rounded'],
    ['digits, be they more than an int64 has', '99999999999999999999', 'integer'],
    ['digits, and no sign but a minus', '+7', 'integer'],
    ['something', '', 'integer'],
  ] as const) {
    test(`has for an id ${title}`, async () => {
      await using folder = await makeFolder()
      await writeFile(folder.file('in.csv'), `id,name\n${text},a\n`)
      const { status, stderr } = await importHere(folder.file('in.csv'), folder.file('p.db'))
      assert.equal(status, 1)
      const why = {
        rounded: /^line 2: id: "\S+" is not an integer; if a spreadsheet rounded it, format the column as text: /,
        integer: /^line 2: id: must be an integer /,
      }
      assert.match(stderr, why[expected])
    })
  }

  test('may have ids that a spreadsheet has filled up with zeros: they are imported, and counted', async () => {
    await using folder = await makeFolder()
    const rounded = ['1234567890123450000', '-123456789012345000', '1000000000000000']
    const ids = [...rounded, '100000000000000', '1234567890123456']
    await writeFile(folder.file('in.csv'), `id,name\n${ids.map((id) => `${id},a\n`).join('')}`)
    const { status, stderr } = await importHere(folder.file('in.csv'), folder.file('p.db'))
    assert.equal(status, 0)
    assert.match(
      stderr,
      /^5 created, .*\n3 ids have zeros after 15 digits, as if rounded by a spreadsheet; compare the source\n$/m,
    )
  })

  test('may have blanks and zeros before its id', async () => {
    await using folder = await makeFolder()
    await writeFile(folder.file('in.csv'), 'id,name\n 007 ,a\n-08,b\n000,c\n-0009223372036854775808,d\n')
    assert.equal((await importHere(folder.file('in.csv'), folder.file('p.db'))).status, 0)
    const ids = [...(await exportOf(folder.file('p.db'))).matchAll(/"id":(-?\d+)/g)].map(([, id]) => id)
    assert.deepEqual(ids, ['-9223372036854775808', '-8', '0', '7'])
  })

  test('may lack fields at its end, as Excel writes it, unless the file is cut short there', async () => {
    await using folder = await makeFolder()
    await writeFile(folder.file('in.csv'), 'id,name,tag\n1,a\n2,b,,,\n3,c,d,e\n4\n5,cut sho')
    const { stderr } = await importHere(folder.file('in.csv'), folder.file('p.db'))
    assert.deepEqual(
      [...stderr.matchAll(/^line .*$/gm)].map(([line]) => line),
      [
        'line 4: the record has 4 fields, the header 3: 3,c,d,e',
        'line 5: the record has 1 field, the header 3: 4',
        'line 6: the record has 2 fields, the header 3: 5,cut sho',
      ],
    )
  })
})

describe('a file that is something else', () => {
  const tells = (title: string, name: string, bytes: string | Buffer, message: RegExp, ...flags: string[]): void => {
    test(`${title}: one clear line, and nothing is imported`, async () => {
      await using folder = await makeFolder()
      await writeFile(folder.file(name), bytes)
      const { status, stderr } = await importHere(folder.file(name), folder.file('p.db'), ...flags)
      assert.equal(status, 1)
      assert.match(stderr, message)
      assert.equal(stderr.split('\n').length, 2, stderr)
      assert.doesNotMatch(stderr.trimEnd(), /\p{Cc}/u)
      assert.equal(await exportOf(folder.file('p.db')), '')
    })
  }
  const many = (line: (index: number) => string): string =>
    Array.from({ length: 4_000 }, (_, index) => line(index)).join('')
  const plants = many((id) => `{"id":${id},"name":"n"}\n`)
  const noNdjson = /^plantstore: \S+ does not begin with a line such as .*, add --format csv\n$/
  const noHeader = /has no column id or no column name; its first line must name the columns: .*\n$/
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100_000, '\x00\n')])
  tells('a PNG', 'photo.ndjson', png, noNdjson)
  tells('a PNG for CSV', 'photo.csv', png, /photo\.csv is not UTF-8; save it as "CSV UTF-8"/)
  tells('a JSON array', 'a.json', `[\n${plants.replaceAll('\n', ',\n')}{}\n]\n`, noNdjson)
  tells('CSV for NDJSON', 'a.txt', `id;name\n${many((id) => `${id};n\n`)}`, noNdjson)
  tells('NDJSON for CSV', 'a.dat', plants, noHeader, '--format', 'csv')
  tells('a workbook', 'a.xlsx', Buffer.from('PK\x03\x04\n\n\n\n'), noNdjson)
  tells('a workbook for CSV', 'a.csv', Buffer.from('PK\x03\x04\n\n\n\n'), noHeader)
  tells('a compressed file', 'a.ndjson', gzipSync(plants), noNdjson)
  tells('UTF-16 without a mark', 'a.csv', utf16('id,name\n1,a\n').subarray(2), noHeader)
  tells('broken UTF-16', 'a.csv', Buffer.concat([utf16('id,name\n'), Buffer.of(0, 0xd8, 65, 0)]), /is not valid UTF-16/)
  tells(
    'Windows-1252 in the header',
    'a.csv',
    Buffer.from('id,name,H\xf6he\n1,a,2\n', 'latin1'),
    /is not UTF-8; save it/,
  )

  test('NDJSON in UTF-16 with a mark is no other file: it is read', async () => {
    await using folder = await makeFolder()
    const big = Buffer.from(utf16('{"id":1,"name":"Føn 🌿"}\r\n')).swap16()
    await writeFile(folder.file('in.ndjson'), big)
    const { status, stderr } = await importHere(folder.file('in.ndjson'), folder.file('p.db'))
    assert.match(stderr, /^\S+in\.ndjson is read as UTF-16\n1 created/)
    assert.equal(status, 0)
    assert.equal(await exportOf(folder.file('p.db')), '{"id":1,"name":"Føn 🌿"}\n')
  })
})

describe('the ending of a file and its format', () => {
  test('export a.tsv is misuse: one line and status 2', async () => {
    const { status, stderr } = await runHere(['export', 'a.tsv'])
    assert.deepEqual([status, stderr.split('\n').length], [2, 2])
    assert.match(stderr, /a\.tsv ends in \.tsv, but exports have commas, not tabs; name it \.csv/)
  })

  test('--format has precedence over the ending', async () => {
    await using folder = await makeFolder()
    await writeFile(folder.file('a.ndjson'), 'id,name\n1,a\n')
    const { stderr } = await importHere(folder.file('a.ndjson'), folder.file('p.db'), '--format', 'csv')
    assert.match(stderr, /^1 created/)
  })

  test('a file with tabs is read as such, and what is typed line by line is told line by line', async () => {
    await using folder = await makeFolder()
    await writeFile(folder.file('in.tsv'), 'ID\tName\r\n1\ta, b\r\n\t\r\n')
    const { status, stderr } = await importHere(folder.file('in.tsv'), folder.file('p.db'))
    assert.deepEqual([status, stderr.split('\n')[0]], [0, `${folder.file('in.tsv')} is read with tabs`])
    const typed = startProgram(['import', '-', '--store', folder.file('p.db')])
    typed.process.stdin.write('{"id":2,"name":"c"}\nnonsense\n')
    const [told] = await once(typed.process.stderr, 'data')
    assert.match(told, /^line 2: not valid JSON/)
    typed.process.stdin.end()
    assert.equal((await typed.finished).status, 1)
  })
})
