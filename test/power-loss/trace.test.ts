// What is read out of the lines that strace writes.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { makeFolder } from '../support/folder.ts'
import { type DiskEvent, TraceReader } from './trace.ts'

describe('a trace', () => {
  test('has what a program did to the files of the folder, and to no others', async () => {
    const events = await read((file) => [
      `7 openat(AT_FDCWD<${hex('/')}>, "${file('a')}", O_RDWR|O_CREAT, 0600) = 5<${file('a')}>`,
      `7 pwrite64(5<${file('a')}>, "${hex('abc')}", 3, 4096) = 3`,
      `7 pwrite64(6<${hex('/elsewhere')}>, "${hex('abc')}", 3, 0) = 3`,
      `7 writev(5<${file('a')}>, [{iov_base="${hex('ab')}", iov_len=2}, {iov_base="${hex('c')}", iov_len=1}], 2) = 3`,
      `7 pwrite64(5<${file('a')}>, "${hex('abc')}", 3, 0) = -1 ENOSPC (No space left on device)`,
      `7 ftruncate(5<${file('a')}>, 2) = 0`,
      `7 rename("${file('a')}", "${file('b')}") = 0`,
      `7 pwrite64(5<${file('b')}>(deleted), "${hex('abc')}", 3, 0) = 3`,
      `7 unlink("${file('b')}") = 0`,
      `7 fsync(8<${file('.')}>) = 0`,
      '7 +++ exited with 0 +++',
    ])
    assert.deepEqual(events, [
      { kind: 'create', name: 'a' },
      { kind: 'write', name: 'a', offset: 4_096, bytes: Buffer.from('abc') },
      { kind: 'write', name: 'a', offset: 0, bytes: Buffer.from('abc') },
      { kind: 'truncate', name: 'a', size: 2 },
      { kind: 'rename', name: 'a', to: 'b' },
      { kind: 'unlink', name: 'b' },
      { kind: 'sync', name: '.', begunAt: 6, isDone: true },
    ])
  })

  test('counts a sync from where it began, an answer from there too, and a write from its end', async () => {
    const answer = hex('HTTP/1.1 200 OK\r\nx-request-id: one\r\n\r\n')
    const events = await read((file) => [
      `7 openat(AT_FDCWD<${hex('/')}>, "${file('a')}", O_RDWR|O_CREAT, 0600) = 5<${file('a')}>`,
      `7 fsync(5<${file('a')}> <unfinished ...>`,
      `8 pwrite64(5<${file('a')}>, "${hex('n')}", 1, 0 <unfinished ...>`,
      `9 write(9<${hex('socket:[1]')}>, "${answer}", 40 <unfinished ...>`,
      '8 <... pwrite64 resumed>) = 1',
      '9 <... write resumed>) = 40',
      '7 <... fsync resumed>) = 0',
      `7 fdatasync(5<${file('a')}>) = -1 EIO (Input/output error) (INJECTED)`,
    ])
    assert.deepEqual(events.slice(1), [
      { kind: 'answer', requestId: 'one' },
      { kind: 'write', name: 'a', offset: 0, bytes: Buffer.from('n') },
      { kind: 'sync', name: 'a', begunAt: 1, isDone: true },
      { kind: 'sync', name: 'a', begunAt: 4, isDone: false },
    ])
  })

  test('has a write in the middle of which the program was killed when the file has it', async () => {
    const lines = (file: (name: string) => string): string[] => [
      `7 openat(AT_FDCWD<${hex('/')}>, "${file('a')}", O_RDWR|O_CREAT, 0600) = 5<${file('a')}>`,
      `7 pwrite64(5<${file('a')}>, "${hex('abc')}", 3, 0 <unfinished ...>`,
      '8 ???( <unfinished ...>',
      '9 <... ??? resumed>) = ?',
      '7 <... ??? resumed>) = ?',
    ]
    assert.equal((await read(lines, 'abc')).length, 2)
    assert.equal((await read(lines, 'ab')).length, 1)
  })

  test('is refused when it has a call that nothing is known of', async () => {
    for (const line of [
      (file: string) => `7 fallocate(5<${file}>, 0, 0, 10) = 0`,
      (file: string) => `7 copy_file_range(6<${hex('/x')}>, NULL, 5<${file}>, NULL, 10, 0) = 10`,
      (file: string) => `7 mmap(NULL, 10, PROT_READ|PROT_WRITE, MAP_SHARED, 5<${file}>, 0) = 0x7f`,
    ]) {
      await assert.rejects(
        read((file) => [line(file('a'))]),
        /does not know/,
      )
    }
  })
})

/** @param content of the file `a`, as the program left it. */
async function read(lines: (file: (name: string) => string) => string[], content = ''): Promise<DiskEvent[]> {
  await using folder = await makeFolder()
  await writeFile(folder.file('a'), content)
  const text = lines((name) => hex(name === '.' ? folder.path : folder.file(name)))
  const events: DiskEvent[] = []
  await writeFile(folder.file('trace'), `${text.join('\n')}\n`)
  await new TraceReader(folder.path, events, new Map()).read(folder.file('trace'))
  return events
}

function hex(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
}
