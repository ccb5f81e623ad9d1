// Parses the output of strace: in order, the calls that change files of one folder, and the responses.

import assert from 'node:assert/strict'
import { closeSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** What took place. A file goes by its name in the folder, and the folder itself by `.`. */
export type DiskEvent =
  | { readonly kind: 'create' | 'unlink'; readonly name: string }
  | { readonly kind: 'rename' | 'link'; readonly name: string; readonly to: string }
  | { readonly kind: 'write'; readonly name: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly name: string; readonly size: number }
  /** Covers the events up to the one with the number `begunAt`, which is left out; or was to, and failed. */
  | { readonly kind: 'sync'; readonly name: string; readonly begunAt: number; readonly isDone: boolean }
  | { readonly kind: 'answer'; readonly requestId: string }
  /** The server said where the first token is. */
  | { readonly kind: 'tokenShown' }

const opens = ['open', 'openat', 'openat2', 'creat']
const writes = ['write', 'pwrite64', 'writev', 'pwritev']
const syncs = ['fsync', 'fdatasync']
const names = ['rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat']
const traced = [...opens, ...writes, ...syncs, ...names, 'ftruncate', 'sendto', 'sendmsg']

/** Put before a command, writes its calls to a file. Of each thread, the sync with the number `failingSync` fails. */
export function straceCommand(traceFile: string, failingSync?: number): string[] {
  const flags = ['-D', '-f', '--seccomp-bpf', '-q', '-y', '-xx', '-s', '8000000', '-o', traceFile]
  const inject = failingSync === undefined ? [] : ['-e', `inject=fsync,fdatasync:error=EIO:when=${failingSync}`]
  return ['strace', ...flags, '-e', `trace=${traced.join(',')}`, '-e', 'signal=SIGKILL', ...inject]
}

interface Call {
  readonly name: string
  /** From after the opening bracket to the end of the line. */
  readonly text: string
  /** Undefined when the process was killed in the middle of the call. */
  readonly result: number | undefined
  readonly begunAt: number
}

const descriptorPattern = /^(\d+)<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?/
const isAnswer = Buffer.from('HTTP/1.1 ')

export class TraceReader {
  readonly #folder: string
  readonly #events: DiskEvent[]
  readonly #sizes: Map<string, number>
  readonly #unfinished = new Map<string, { readonly text: string; readonly begunAt: number }>()
  /** Where a descriptor's next `write` goes. */
  readonly #offsets = new Map<number, number | 'end'>()

  /** Adds to events. `sizes` are those of the files in the folder before the program was started. */
  constructor(folder: string, events: DiskEvent[], sizes: Map<string, number>) {
    this.#folder = folder
    this.#events = events
    this.#sizes = sizes
  }

  async read(traceFile: string): Promise<void> {
    await using file = await open(traceFile)
    for await (const line of file.readLines({ encoding: 'latin1' })) this.#readLine(line)
    // The process was killed in the middle of these.
    for (const { text, begunAt } of this.#unfinished.values()) this.#readCall(text, begunAt)
  }

  #readLine(line: string): void {
    const [, pid = '', text = ''] = /^(\d+) +(.*)$/s.exec(line) ?? assert.fail(`strace wrote ${line.slice(0, 200)}`)
    // What a process was doing when it was killed may have no name any more.
    if (/^(\+\+\+|---|\?\?\?)/.test(text)) return
    const begunAt = this.#events.length
    if (text.endsWith('<unfinished ...>')) {
      this.#unfinished.set(pid, { text: text.slice(0, -'<unfinished ...>'.length).trimEnd(), begunAt })
      // What is given out may be there from now on.
      if (/^(write|writev|sendto|sendmsg)\(/.test(text)) this.#readAnswer(text)
      return
    }
    const resumed = /^<\.\.\. \S+ resumed>/.exec(text)
    if (resumed === null) {
      this.#readCall(text, begunAt)
      return
    }
    const begin = this.#unfinished.get(pid)
    this.#unfinished.delete(pid)
    if (begin !== undefined) this.#readCall(begin.text + text.slice(resumed[0].length), begin.begunAt, true)
  }

  #readCall(line: string, begunAt: number, isResumed = false): void {
    const [head = '', name = ''] = /^(\w+)\(/.exec(line) ?? assert.fail(`strace wrote ${line.slice(0, 200)}`)
    const result = /^ = (-?\d+)/.exec(line.slice(line.lastIndexOf(' = ')))?.[1]
    const call = {
      name,
      text: line.slice(head.length),
      result: result === undefined ? result : Number(result),
      begunAt,
    }
    if (call.result !== undefined && call.result < 0 && !syncs.includes(name)) return
    if (opens.includes(name)) this.#opened(call)
    else if (writes.includes(name) || name === 'sendto' || name === 'sendmsg') this.#wrote(call, line, isResumed)
    else if (syncs.includes(name)) this.#synced(call)
    else if (names.includes(name)) this.#named(call)
    else this.#truncated(call)
  }

  #opened({ name, text, result }: Call): void {
    const file = this.#nameOf(stringsOf(text)[0])
    if (file === undefined || file === '.' || result === undefined) return
    this.#offsets.set(result, /O_APPEND/.test(text) ? 'end' : 0)
    const mayMake = name === 'creat' || /O_CREAT/.test(text)
    if (mayMake && !this.#sizes.has(file)) {
      this.#sizes.set(file, 0)
      this.#events.push({ kind: 'create', name: file })
    }
    if ((name === 'creat' || /O_TRUNC/.test(text)) && this.#sizes.get(file) !== 0) this.#resize(file, 0)
  }

  #wrote({ name, text, result }: Call, line: string, isResumed: boolean): void {
    const [descriptor, file] = this.#fileOf(text)
    if (file === undefined) {
      if (!isResumed) this.#readAnswer(line)
      return
    }
    const wanted = Buffer.concat(stringsOf(text).map(decode))
    const bytes = wanted.subarray(0, result ?? wanted.length)
    const at = this.#offsets.get(descriptor)
    const size = this.#sizes.get(file) ?? assert.fail(`a write to ${file}, which nobody made`)
    const isPositioned = name === 'pwrite64' || name === 'pwritev'
    const offset = isPositioned ? offsetOf(text) : at === 'end' ? size : (at ?? assert.fail(`${file}: where?`))
    if (!isPositioned && at !== 'end') this.#offsets.set(descriptor, offset + bytes.length)
    if (result === undefined && !this.#isThere(file, offset, bytes)) return
    this.#sizes.set(file, Math.max(size, offset + bytes.length))
    this.#events.push({ kind: 'write', name: file, offset, bytes })
  }

  /** Whether a write was done in the middle of which the process was killed. */
  #isThere(file: string, offset: number, bytes: Buffer): boolean {
    const descriptor = openSync(join(this.#folder, file), 'r')
    const found = Buffer.alloc(bytes.length)
    const length = readSync(descriptor, found, 0, found.length, offset)
    closeSync(descriptor)
    return length === bytes.length && found.equals(bytes)
  }

  #synced({ text, result, begunAt }: Call): void {
    const [, name] = this.#fileOf(text)
    if (name === undefined || result === undefined) return
    this.#events.push({ kind: 'sync', name, begunAt, isDone: result === 0 })
  }

  #truncated({ text, result }: Call): void {
    const [, file] = this.#fileOf(text)
    if (file !== undefined && result === 0) this.#resize(file, Number(/, (\d+)\)/.exec(text)?.[1]))
  }

  #resize(name: string, size: number): void {
    this.#sizes.set(name, size)
    this.#events.push({ kind: 'truncate', name, size })
  }

  #named({ name: call, text, result }: Call): void {
    if (result !== 0) return
    const [from, to] = stringsOf(text).map((path) => this.#nameOf(path))
    if (from === undefined && to === undefined) return
    if (call.startsWith('unlink') && from !== undefined) {
      this.#sizes.delete(from)
      this.#events.push({ kind: 'unlink', name: from })
      return
    }
    assert.ok(from !== undefined && to !== undefined, `a file was moved out of the folder or into it: ${call}`)
    assert.ok(!/RENAME_(EXCHANGE|WHITEOUT)/.test(text), call)
    this.#sizes.set(to, this.#sizes.get(from) ?? assert.fail(`${from} is not there`))
    if (call.startsWith('rename')) this.#sizes.delete(from)
    this.#events.push({ kind: call.startsWith('rename') ? 'rename' : 'link', name: from, to })
  }

  #readAnswer(line: string): void {
    for (const bytes of stringsOf(line).map(decode)) {
      if (/^write\(2</.test(line) && bytes.includes('The first token')) this.#events.push({ kind: 'tokenShown' })
      if (!bytes.subarray(0, isAnswer.length).equals(isAnswer)) continue
      const requestId = /\r\nx-request-id: (.*?)\r\n/i.exec(bytes.toString('latin1'))?.[1]
      if (requestId !== undefined) this.#events.push({ kind: 'answer', requestId })
    }
  }

  /** The descriptor of a call and its file, when that is one of the folder and has a name. */
  #fileOf(text: string): [descriptor: number, file: string | undefined] {
    const [, descriptor, path, isDeleted] = descriptorPattern.exec(text) ?? []
    return [Number(descriptor), isDeleted === undefined ? this.#nameOf(path) : undefined]
  }

  /** The name in the folder of an encoded path; undefined when it leads elsewhere. */
  #nameOf(encoded: string | undefined): string | undefined {
    if (encoded === undefined) return undefined
    const path = resolve(decode(encoded).toString())
    if (path === this.#folder) return '.'
    return path.startsWith(`${this.#folder}/`) ? path.slice(this.#folder.length + 1) : undefined
  }
}

/** The texts in quotation marks of a call, encoded. */
function stringsOf(text: string): string[] {
  return [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g)].map(([, encoded = '', cut]) => {
    assert.equal(cut, undefined, 'strace cut a text short')
    return encoded
  })
}

function decode(encoded: string): Buffer {
  return Buffer.from(encoded.replaceAll('\\x', ''), 'hex')
}

/** The last argument of pwrite64 and pwritev. */
function offsetOf(text: string): number {
  return Number(/, (\d+)(?:\) += [^=]*)?$/.exec(text.slice(-200))?.[1])
}
