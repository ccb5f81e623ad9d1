// Tables on terminals of any width, and elsewhere.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { formatTable } from '../../src/cli/table.ts'
import { withoutControls } from '../../src/domain/shown.ts'
import { makeFolder } from '../support/folder.ts'
import { cleanEnvironment, launcher, runProgram } from '../support/program.ts'

const onTerminal = (columns: number) => Object.assign(new Writable(), { isTTY: true, columns })

const rows = [
  ['ID', 'TAG', 'NAME'],
  ['9223372036854775807', 't'.repeat(256), 'n'.repeat(1_024)],
  ['1', 'lily', 'Sansevieria trifasciata'],
]

describe('a table', () => {
  for (const columns of [40, 80, 132]) {
    test(`fits a terminal of ${columns} columns, cut with dots, its first column whole`, () => {
      const [header = '', first = '', second = ''] = formatTable(rows, onTerminal(columns)).split('\n')
      assert.match(header, /^ID +TAG +NAME$/)
      assert.match(first, /^9223372036854775807 {2}t+\.\.\. {2}n+\.\.\.$/)
      assert.match(second, /^1 +lily +Sans/)
      for (const line of [header, first, second]) assert.ok(line.length <= columns, line)
    })
  }

  test('that fits is not cut, and its columns stand below each other', () => {
    const plain = [
      ['ID', 'TAG', 'NAME'],
      ['12', 'a b', 'c'],
    ]
    assert.equal(formatTable(plain, onTerminal(80)), 'ID  TAG  NAME\n12  a b  c\n')
  })

  test('is whole where no terminal is, and with more rows than a call has arguments', () => {
    const whole = formatTable(rows, Object.assign(onTerminal(40), { isTTY: false }))
    assert.ok(whole.includes('t'.repeat(256)) && whole.includes('n'.repeat(1_024)))
    const many = Array.from({ length: 200_000 }, (_, id) => [String(id), 'n'])
    assert.equal(formatTable(many, new Writable()).split('\n').length, 200_001)
  })

  test('that cannot fit is not cut to nothing', () => {
    const [, first] = formatTable(rows, onTerminal(10)).split('\n')
    assert.match(first ?? '', /^9223372036854775807 {2}ttttt\.\.\. {2}nnnnn\.\.\.$/)
  })
})

const hasScript = spawnSync('script', ['--version']).status === 0
test('token list fits the terminal that it is on', { skip: !hasScript && 'there is no script(1)' }, async () => {
  await using folder = await makeFolder()
  const store = folder.file('p.db')
  await runProgram(['token', 'create', '--name', 'n'.repeat(100), '--store', store])
  const command = `stty cols 80; '${process.execPath}' '${launcher}' token list --store '${store}'`
  const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8', env: cleanEnvironment() })
  const lines = stdout.trimEnd().split(/\r?\n/)
  assert.equal(lines.length, 2, stdout)
  for (const line of lines) assert.ok(line.length <= 80, line)
  assert.match(lines[1] ?? '', /^tok_\w{12} {2}valid .*\.\.\.$/)
  assert.ok((await runProgram(['token', 'list', '--store', store])).stdout.includes('n'.repeat(100)))
})

describe('the text of somebody else', () => {
  test('cannot make a terminal obey, add lines or turn what follows around', () => {
    const nasty = 'a\u001b[2Jb\u0007c\rd\u009be\u2028f\u202egnp.exe\u202c\u2066h\u2069'
    assert.equal(withoutControls(nasty), 'a�[2Jb�c�d�e�f�gnp.exe��h�')
  })

  test('stays as it is in any language', () => {
    for (const text of ['Φοίνιξ', 'שרך\u200f', 'نخلة\u200c', '🌿\u200d🌱', 'é'])
      assert.equal(withoutControls(text), text)
  })
})
