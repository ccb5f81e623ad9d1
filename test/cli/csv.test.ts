// The readers of files on their own: encodings, records, fields and lines, with files cut into pieces at any byte.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CsvPlants, CsvReader, type CsvRecord } from '../../src/files/csv.ts'
import { readPlants } from '../../src/files/formats.ts'
import { Random } from '../power-loss/random.ts'

const recordCharactersMax = 100

function read(text: string, pieceCharacters: number, separator = ','): CsvRecord[] {
  const reader = new CsvReader(separator, recordCharactersMax)
  const records: CsvRecord[] = []
  for (let at = 0; at < text.length; at += pieceCharacters)
    records.push(...reader.read(text.slice(at, at + pieceCharacters), false))
  return [...records, ...reader.read('', true)]
}

const fieldsOf = (text: string, separator?: string) =>
  read(text, text.length || 1, separator).map(({ fields }) => fields)

describe('CSV', () => {
  for (const [text, expected] of [
    ['', '[]'],
    ['a', '[["a"]]'],
    ['a,b\r\nc,d\r\n', '[["a","b"],["c","d"]]'],
    ['a,b\n\nc,\n', '[["a","b"],[""],["c",""]]'],
    ['"a,b","c\r\nd"\r\n"e ""f""",\r\n', '[["a,b","c\\r\\nd"],["e \\"f\\"",""]]'],
    ['"",""""\n"a"', '[["","\\""],["a"]]'],
    ['5" pot,6"\n', '[["5\\" pot","6\\""]]'],
    ['é🌿,"ü"\n', '[["é🌿","ü"]]'],
  ] as const) {
    test(`${JSON.stringify(text)} has the fields ${expected}`, () =>
      assert.equal(JSON.stringify(fieldsOf(text)), expected))
  }

  test('semicolons and tabs', () => {
    assert.deepEqual(fieldsOf('a;"b;c"\n', ';'), [['a', 'b;c']])
    assert.deepEqual(fieldsOf('a\t"b\tc"\t\n', '\t'), [['a', 'b\tc', '']])
  })

  test('a record with broken quotes is rejected alone, and the next one has its own line', () => {
    const text = '1, "pot"\n2,"Hope" rose\n3,"a\nb"x\n4,fine\n5,"open\n6,fine\n'
    const records = read(text, text.length)
    const found = records.map(({ line, raw, wrong }) => [line, raw, wrong?.split(';')[0]])
    assert.deepEqual(found, [
      [1, '1, "pot"', 'a quote follows blanks at the beginning of a field'],
      [2, '2,"Hope" rose', 'a quote is closed before the end of its field'],
      [3, '3,"a\nb"x', 'a quote is closed before the end of its field'],
      [5, '4,fine', undefined],
      [6, '5,"open', 'a quote is never closed'],
      [7, '6,fine', undefined],
    ])
  })

  test('a record that is too long is rejected alone, and its beginning is shown', () => {
    for (const long of [`1,${'x'.repeat(150)}`, `1,"${'x'.repeat(150)}"`]) {
      const records = read(`a,b\n${long}\n2,fine\n`, 1_000)
      const found = records.map(({ line, raw, isCut }) => [line, raw.length, isCut])
      assert.deepEqual(found, [
        [1, 3, undefined],
        [2, recordCharactersMax, true],
        [3, 6, undefined],
      ])
    }
    const within = `1,"${'x'.repeat(recordCharactersMax - 4)}"`
    assert.deepEqual(read(`${within}\r\n`, 1_000)[0]?.fields, ['1', 'x'.repeat(recordCharactersMax - 4)])
  })

  test('a record that is too long is refused before its line ends, and the rest of the line is not kept', () => {
    const reader = new CsvReader(',', recordCharactersMax)
    const piece = 'x'.repeat(recordCharactersMax + 2)
    const cut = reader.read(piece, false).map(({ isCut }) => isCut)
    assert.deepEqual(cut, [true])
    for (const more of [piece, 'x\n2,fi']) assert.deepEqual(reader.read(more, false), [])
    assert.deepEqual(reader.read('ne', true), read('\n2,fine', 9).slice(1))
  })

  test('a file is given up for many quotes that are never closed', () => {
    const lines = (count: number): string => 'x","\n'.repeat(count)
    assert.equal(read(lines(1_000), 1_000).length, 1_000)
    const error = { message: 'has more than 1000 quotes that are never closed; double each quote' }
    assert.throws(() => read(lines(1_001), 1_000), error)
  })

  test('records are the same however the text is cut into pieces', () => {
    const parts = ['a', ',', ',', '"', '""', '\n', '\r\n', '\r', 'é', 'x'.repeat(60), ' ']
    for (let seed = 1; seed <= 100; seed += 1) {
      const random = new Random(seed)
      const text = Array.from({ length: 40 }, () => random.pick(parts)).join('')
      const whole = read(text, text.length * 2)
      for (const characters of [1, 2, 3, 7, 64]) {
        assert.deepEqual(read(text, characters), whole, `seed ${seed}, pieces of ${characters}`)
      }
    }
  })
})

describe('the header', () => {
  const plantsOf = (pieces: readonly string[]) => {
    const columns = [{ name: 'name', isRequired: true, kind: 'text' }] as const
    const noted = { onHeader: () => {}, onMaybeRounded: () => {} }
    const plants = new CsvPlants({ columns, needed: ['name'], recordCharactersMax, ...noted })
    return [...pieces.flatMap((piece) => plants.read(piece, false)), ...plants.read('', true)]
  }
  const blanks = Array.from({ length: 1_000 }, () => ', ,\n\n')

  test('is found after blank lines with another separator', () => {
    const json = '{"name":"Fern"}'
    assert.deepEqual(plantsOf([',,,\n;;\n\t\n', 'x;name\n1;Fern\n']), [{ line: 5, raw: '1;Fern', json }])
    assert.deepEqual(plantsOf([';;;\nx,name\n1,Fern\n']), [{ line: 3, raw: '1,Fern', json }])
  })

  for (const [header, message] of [
    ['name,tag\rFern,indoor\r', 'has lines that end with CR only; save it as "CSV UTF-8"'],
    [
      `name,${'x'.repeat(101)}\n`,
      /^has a wrong header: the record is longer than the 100 characters allowed: name,x*$/,
    ],
  ] as const) {
    test(`says what is wrong with ${JSON.stringify(header.slice(0, 30))}`, () => {
      assert.throws(() => plantsOf([header]), { message })
    })
  }

  test('is looked for once in each piece of a file', (t) => {
    const read = t.mock.method(CsvReader.prototype, 'read')
    assert.throws(() => plantsOf(blanks), /has no header/)
    const given = read.mock.calls.map(({ arguments: [piece] }) => piece.length).reduce((sum, length) => sum + length, 0)
    assert.equal(given <= 3 * blanks.join('').length, true)
  })

  test('names a column with one separator', () => {
    assert.throws(() => plantsOf(['x,;\t\n']), /has no column id or no column name; .* but it is: x,;\t$/)
  })
})

describe('a byte order mark', () => {
  const line = '{"id":1,"name":"é🌿"}'
  for (const [isWide, bytes] of [
    [false, Buffer.from(line)],
    [false, Buffer.from(`\ufeff${line}`)],
    [true, Buffer.from(`\ufeff${line}`, 'utf16le')],
    [true, Buffer.from(`\ufeff${line}`, 'utf16le').swap16()],
  ] as const) {
    test(`${bytes.toString('hex', 0, 2)} is found however the bytes are cut into pieces`, async () => {
      for (const pieceBytes of [1, 2, 3, bytes.length]) {
        async function* pieces(): AsyncGenerator<Buffer> {
          for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
        }
        let told = 0
        const batches = readPlants(pieces(), 'ndjson', {
          columns: [],
          recordCharactersMax,
          onUtf16: () => {
            told += 1
          },
          onHeader: () => {},
          onMaybeRounded: () => {},
        })
        const records = (await Array.fromAsync(batches)).flat()
        assert.deepEqual(records, [{ line: 1, raw: line, json: line }])
        assert.equal(told, isWide ? 1 : 0)
      }
    })
  }
})
