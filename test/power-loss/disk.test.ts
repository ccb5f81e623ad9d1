// The simulated disk itself: if it kept too much or too little, the torture would prove nothing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drawCut, SimulatedDisk } from './disk.ts'
import type { Cut } from './file.ts'
import { Random } from './random.ts'
import type { DiskEvent } from './trace.ts'

const everything: Cut = { how: 'everything', chance: 1, failedChance: 0 }
const nothing: Cut = { how: 'nothing', chance: 0, failedChance: 0 }
const tries = 300

describe('a simulated disk', () => {
  test('has what was synced, whatever the cut', () => {
    const disk = diskAfter([create('a'), write('a', 0, 'x'.repeat(10_000)), sync('a', 2), sync('.', 3)])
    for (const files of cutsOf(disk)) assert.equal(files.get('a')?.toString(), 'x'.repeat(10_000))
  })

  test('may have any part of what was not synced, sector by sector', () => {
    const before = 'o'.repeat(4_096)
    const disk = diskAfter([write('a', 0, 'n'.repeat(4_096))], { a: before })
    const contents = [...cutsOf(disk)].map((files) => files.get('a')?.toString() ?? '')
    assert.ok(contents.includes(before))
    assert.ok(contents.includes('n'.repeat(4_096)))
    for (const content of contents) {
      for (let start = 0; start < content.length; start += 512) {
        assert.match(content.slice(start, start + 512), /^(o{512}|n{512})$/)
      }
    }
    assert.ok(new Set(contents).size > 20, 'torn in many ways')
  })

  test('has of a sync only what was written before it began', () => {
    const disk = diskAfter([write('a', 0, 'n'), write('a', 1, 'n'), sync('a', 1)], { a: 'oo' })
    assert.equal(disk.afterCut(nothing, new Random(1)).get('a')?.toString(), 'no')
    assert.equal(disk.afterCut(everything, new Random(1)).get('a')?.toString(), 'nn')
  })
})

describe('a sync that fails', () => {
  const failed = [write('a', 0, 'n'.repeat(512)), sync('a', 1, false)]

  test('leaves its pages unwritten, although they are read and another sync succeeds', () => {
    const disk = diskAfter([...failed, sync('a', 2)], { a: 'o'.repeat(512) })
    assert.equal(disk.files.get('a')?.toString(), 'n'.repeat(512))
    assert.equal(disk.afterCut(everything, new Random(1)).get('a')?.toString(), 'o'.repeat(512))
    const contents = new Set([...cutsOf(disk)].map((files) => files.get('a')?.toString()))
    assert.deepEqual(contents, new Set(['o'.repeat(512), 'n'.repeat(512)]))
  })
})

describe('the names of a simulated disk', () => {
  test('get there in order, and all of them once the folder is synced', () => {
    const renames = [create('b'), rename('a', 'c'), rename('b', 'a')]
    const left = (disk: SimulatedDisk): Set<string> =>
      new Set([...cutsOf(disk)].map((files) => [...files.keys()].sort().join()))
    assert.deepEqual(left(diskAfter(renames, { a: 'o' })), new Set(['a', 'a,b', 'b,c', 'a,c']))
    assert.deepEqual(left(diskAfter([...renames, sync('.', 3)], { a: 'o' })), new Set(['a,c']))
    assert.deepEqual(left(diskAfter([...renames, sync('.', 2)], { a: 'o' })), new Set(['b,c', 'a,c']))
  })
})

function diskAfter(events: readonly DiskEvent[], files: Readonly<Record<string, string>> = {}): SimulatedDisk {
  const disk = new SimulatedDisk(new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])))
  for (const event of events) disk.apply(event)
  return disk
}

function* cutsOf(disk: SimulatedDisk): Generator<Map<string, Buffer>> {
  const random = new Random(1)
  for (let count = 0; count < tries; count += 1) yield disk.afterCut(drawCut(random), random)
}

function create(name: string): DiskEvent {
  return { kind: 'create', name }
}

function rename(name: string, to: string): DiskEvent {
  return { kind: 'rename', name, to }
}

function write(name: string, offset: number, text: string): DiskEvent {
  return { kind: 'write', name, offset, bytes: Buffer.from(text) }
}

function sync(name: string, begunAt: number, isDone = true): DiskEvent {
  return { kind: 'sync', name, begunAt, isDone }
}
