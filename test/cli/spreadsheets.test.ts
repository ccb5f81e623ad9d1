// Files of spreadsheets (made as test/cli/spreadsheets/README.md says): imported correctly, or rejected with advice.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inRing } from '../support/ring.ts'
import { makeScene } from './scene.ts'

const folderOfFiles = fileURLToPath(new URL('spreadsheets', import.meta.url))

const fern = '{"id":-7,"name":"Färn; grün","tag":"fern"}\n'
const lines = '{"id":3,"name":"two\\nlines"}\n'
const palm = '{"id":1000000000000001,"name":"Φοίνιξ 🌴","tag":"palm"}\n'
const monstera = '{"id":9223372036854775807,"name":"Monstera deliciosa","tag":"aroid"}\n'
const all = fern + lines + palm + monstera

const ignored = 'columns ignored: Height, Notes'
const isRead = (...how: readonly string[]): RegExp =>
  new RegExp(`^${how.map((words) => `\\S+ is read ${words}\n`).join('')}${ignored}\n4 created, .*, 0 refused\n$`)
const isPlain = new RegExp(`^${ignored}\n4 created, .*, 0 refused\n$`)
const isRounded = (first: string, last: number): RegExp =>
  new RegExp(
    `${ignored}\nline 2: id: "${first}" is not an integer; if a spreadsheet rounded it, format the column as text: .*\n(line ${last}: id: .*\n)?\\d created`,
  )
const isNotUtf8 = /^plantstore: \S+ is not valid UTF-8; save it as UTF-8, a sheet as "CSV UTF-8"\n$/

const expected: Readonly<Record<string, { readonly told: RegExp; readonly kept: string }>> = {
  'libreoffice.csv': { told: isPlain, kept: all },
  'libreoffice-semicolons-quoted.csv': { told: isRead('with semicolons'), kept: all },
  'libreoffice-utf16.csv': { told: isRead('as UTF-16', 'with tabs'), kept: all },
  'libreoffice-rounded.csv': { told: isRounded('9.22337203685478E\\+018', 7), kept: fern + lines + palm },
  'gnumeric.csv': { told: isPlain, kept: all },
  'excel-us-utf8.csv': { told: isPlain, kept: all },
  'excel-de-utf8.csv': { told: isRead('with semicolons'), kept: all },
  'excel-de-windows-1252.csv': { told: isNotUtf8, kept: '' },
  'excel-unicode-text.tsv': { told: isRead('as UTF-16', 'with tabs'), kept: all },
  'excel-de-rounded.csv': { told: isRounded('9,22337E\\+18', 7), kept: fern + lines },
  'excel-missing-separators.csv': { told: isPlain, kept: all },
  'numbers.csv': { told: isPlain, kept: all },
  'numbers-with-table-name.csv': { told: /has no column id or no column name; its first line must name/, kept: '' },
  'google-sheets.csv': { told: isPlain, kept: all },
  'google-sheets.tsv': { told: isRead('with tabs'), kept: all.replace('two\\nlines', 'two lines') },
}

describe('a file of a spreadsheet', () => {
  test('is expected to be imported in a certain way, each of them', async () => {
    const files = (await readdir(folderOfFiles)).filter((name) => /\.[ct]sv$/.test(name))
    assert.deepEqual(files.sort(), Object.keys(expected).sort())
  })

  const files = Object.entries(expected)
  // Each separator, encoding and fault.
  const some = files.filter(([name]) => /quoted|rounded|1252|unicode|numbers/.test(name))
  for (const [name, { told, kept }] of inRing(some, files)) {
    test(name, async () => {
      await using scene = await makeScene()
      const { status, stderr } = await scene.import(name, await readFile(`${folderOfFiles}/${name}`))
      assert.match(stderr, told)
      assert.equal(status, /, 0 refused\n$/.test(stderr) ? 0 : 1)
      assert.equal(await scene.exported(), kept)
    })
  }
})
