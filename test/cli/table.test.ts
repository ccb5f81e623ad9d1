// The output of commands for people: tables, and untrusted text.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatTable } from '../../src/cli/output.ts'
import { withoutControls } from '../../src/domain/shown.ts'

describe('a table', () => {
  test('has its columns below each other, also with more rows than a call has arguments', () => {
    const plain = [
      ['ID', 'TAG', 'NAME'],
      ['12', 'a b', 'c'],
    ]
    assert.equal(formatTable(plain), 'ID  TAG  NAME\n12  a b  c\n')
    const many = Array.from({ length: 200_000 }, (_, id) => [String(id), 'n'])
    assert.equal(formatTable(many).split('\n').length, 200_001)
  })
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
