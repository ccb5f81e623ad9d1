// The readers of files by themselves: encodings, records, fields and lines, however the bytes of a file come.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CsvForm, CsvReader, type CsvRecord } from '../../src/files/csv-fields.ts'
import { openText } from '../../src/files/encoding.ts'

const commas: CsvForm = { separator: 0x2c, lineEnd: 0x0a }
const recordBytesMax = 100

function read(text: string, pieceBytes: number, form = commas): CsvRecord[] {
  const bytes = Buffer.from(text)
  const reader = new CsvReader(form, 1, recordBytesMax)
  const records: CsvRecord[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    records.push(...reader.read(bytes.subarray(at, at + pieceBytes)))
  return [...records, ...reader.end()]
}

const shown = (records: readonly CsvRecord[]) =>
  records.map(({ line, raw, fields, wrong, isEnded }) => ({
    line,
    raw: Buffer.from(raw).toString(),
    fields,
    wrong,
    isEnded,
  }))

const fieldsOf = (text: string, form?: CsvForm) => read(text, text.length || 1, form).map(({ fields }) => fields)

describe('CSV', () => {
  for (const [text, expected] of [
    ['', []],
    ['a', [['a']]],
    [
      'a,b\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['a,b\n\nc,\n', [['a', 'b'], [''], ['c', '']]],
    [
      '"a,b","c\r\nd"\r\n"e ""f""",\r\n',
      [
        ['a,b', 'c\r\nd'],
        ['e "f"', ''],
      ],
    ],
    ['"",""""\n"a"', [['', '"'], ['a']]],
    ['5" pot,6"\n', [['5" pot', '6"']]],
    ['é🌿,"ü"\n', [['é🌿', 'ü']]],
  ] as const) {
    test(`${JSON.stringify(text)} has the fields it shows`, () => assert.deepEqual(fieldsOf(text), expected))
  }

  test('semicolons, tabs and CR line endings', () => {
    assert.deepEqual(fieldsOf('a;"b;c"\n', { separator: 0x3b, lineEnd: 0x0a }), [['a', 'b;c']])
    assert.deepEqual(fieldsOf('a\tb\r"c\rd"\t\r', { separator: 0x09, lineEnd: 0x0d }), [
      ['a', 'b'],
      ['c\rd', ''],
    ])
  })

  test('a record with broken quotes is refused by itself, and the next one has its own line', () => {
    const text = '1, "pot"\n2,"Hope" rose\n3,"a\nb"x\n4,fine\n5,"open\n6,fine\n'
    const records = read(text, text.length)
    assert.deepEqual(
      records.map(({ line, raw, wrong }) => [line, Buffer.from(raw).toString(), wrong?.split(';')[0]]),
      [
        [1, '1, "pot"', 'a quote follows blanks at the beginning of a field'],
        [2, '2,"Hope" rose', 'a quote is closed before the end of its field'],
        [3, '3,"a\nb"x', 'a quote is closed before the end of its field'],
        [5, '4,fine', undefined],
        [6, '5,"open', 'a quote is never closed'],
        [7, '6,fine', undefined],
      ],
    )
  })

  test('a record that is too long is refused by itself, with its beginning', () => {
    for (const long of [`1,${'x'.repeat(150)}`, `1,"${'x'.repeat(150)}"`]) {
      const records = read(`a,b\n${long}\n2,fine\n`, 1_000)
      assert.deepEqual(
        records.map(({ line, raw, isCut }) => [line, raw.length, isCut]),
        [
          [1, 3, undefined],
          [2, recordBytesMax, true],
          [3, 6, undefined],
        ],
      )
    }
    const within = `1,"${'x'.repeat(recordBytesMax - 4)}"`
    assert.deepEqual(shown(read(`${within}\r\n`, 1_000))[0]?.fields, ['1', 'x'.repeat(recordBytesMax - 4)])
  })

  test('a record that is too long is refused before its line ends, and the rest of the line is not kept', () => {
    const reader = new CsvReader(commas, 1, recordBytesMax)
    const piece = Buffer.from('x'.repeat(recordBytesMax + 2))
    assert.deepEqual(
      reader.read(piece).map(({ isCut }) => isCut),
      [true],
    )
    for (const more of [piece, Buffer.from('x\n2,fi')]) assert.deepEqual(reader.read(more), [])
    assert.deepEqual(shown(reader.end(Buffer.from('ne'))), shown(read('\n2,fine', 9).slice(1)))
  })

  test('records are the same however the bytes are cut into pieces', () => {
    const parts = ['a', ',', ',', '"', '""', '\n', '\r\n', '\r', 'é', 'x'.repeat(60), ' ']
    for (let seed = 1; seed <= 400; seed += 1) {
      // A linear congruential generator: the seed reproduces the text.
      let state = seed
      const next = (below: number): number => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
        return Math.floor((state / 2_147_483_648) * below)
      }
      const text = Array.from({ length: 40 }, () => parts[next(parts.length)]).join('')
      const whole = shown(read(text, text.length * 2))
      for (const pieceBytes of [1, 2, 3, 7, 64]) {
        assert.deepEqual(shown(read(text, pieceBytes)), whole, `seed ${seed}, pieces of ${pieceBytes}`)
      }
    }
  })
})

describe('a byte order mark', () => {
  const text = 'id,name\n1,é🌿\n'
  for (const [encoding, bytes] of [
    ['UTF-8', Buffer.from(`\ufeff${text}`)],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ] as const) {
    test(`${bytes.toString('hex', 0, 2)} is found however the bytes are cut into pieces`, async () => {
      for (const pieceBytes of [1, 2, 3, bytes.length]) {
        async function* pieces(): AsyncGenerator<Buffer> {
          for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
        }
        const file = await openText(pieces())
        assert.equal(file.encoding, encoding)
        assert.equal(Buffer.concat(await Array.fromAsync(file.pieces)).toString(), text)
      }
    })
  }
})
