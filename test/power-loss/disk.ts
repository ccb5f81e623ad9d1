// A folder on a disk under a recorded program. After a power cut, its files are as in file.ts, and its names as on a
// journaling file system: changes of names reach the disk in order, all of them once the folder is synced.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cut, drawBetween, SimulatedFile } from './file.ts'
import type { Random } from './random.ts'
import type { DiskEvent } from './trace.ts'

type Names = Map<string, SimulatedFile>

interface NameChange {
  readonly at: number
  apply(names: Names): void
}

/** SQLite's shared memory: mapped, never synced, made anew by whoever opens the store first. */
const isVolatile = (name: string): boolean => name.endsWith('-shm')
const garbageBytesMax = 40_000

export class SimulatedDisk {
  readonly #names: Names
  readonly #durableNames: Names
  #changes: NameChange[] = []
  #position = 0

  /** @param files what the folder has durably at the beginning. */
  constructor(files: ReadonlyMap<string, Buffer> = new Map()) {
    this.#names = new Map([...files].map(([name, content]) => [name, new SimulatedFile(content)]))
    this.#durableNames = new Map(this.#names)
  }

  /** Events so far. */
  get position(): number {
    return this.#position
  }

  apply(event: DiskEvent): void {
    const at = this.#position
    this.#position += 1
    if (event.kind === 'write') this.#fileOf(event.name).write(event.offset, event.bytes, at)
    else if (event.kind === 'truncate') this.#fileOf(event.name).truncate(event.size, at)
    else if (event.kind === 'sync') this.#sync(event)
    else this.#changeNames(at, event)
  }

  #changeNames(at: number, event: DiskEvent): void {
    if (event.kind === 'create') {
      const file = new SimulatedFile()
      this.#rename(at, (names) => names.set(event.name, file))
    } else if (event.kind === 'unlink') {
      this.#rename(at, (names) => names.delete(event.name))
    } else if (event.kind === 'rename' || event.kind === 'link') {
      const file = this.#fileOf(event.name)
      this.#rename(at, (names) => {
        names.set(event.to, file)
        if (event.kind === 'rename') names.delete(event.name)
      })
    }
  }

  #rename(at: number, apply: (names: Names) => void): void {
    apply(this.#names)
    this.#changes.push({ at, apply })
  }

  #sync({ name, begunAt, isDone }: DiskEvent & { kind: 'sync' }): void {
    if (name !== '.') this.#fileOf(name).sync(begunAt, isDone)
    else if (isDone) this.#syncNames(begunAt)
  }

  #syncNames(begunAt: number): void {
    for (const { apply } of this.#changes.filter(({ at }) => at < begunAt)) apply(this.#durableNames)
    this.#changes = this.#changes.filter(({ at }) => at >= begunAt)
  }

  #fileOf(name: string): SimulatedFile {
    return this.#names.get(name) ?? assert.fail(`${name} is not there`)
  }

  /** The files as the programs of the machine read them, and as SIGKILL leaves them. */
  get files(): Map<string, Buffer> {
    return new Map([...this.#names].map(([name, file]) => [name, file.content]))
  }

  /** The files as a power cut may leave them. */
  afterCut(cut: Cut, random: Random): Map<string, Buffer> {
    const names = new Map(this.#durableNames)
    const there = drawBetween(0, this.#changes.length, cut, random)
    for (const { apply } of this.#changes.slice(0, there)) apply(names)
    const files = new Map<string, Buffer>()
    for (const [name, file] of names) {
      if (!isVolatile(name)) files.set(name, file.afterCut(cut, random))
      else if (random.chance(0.2)) files.set(name, garbage(random))
    }
    return files
  }
}

/** Draws how a power cut goes. */
export function drawCut(random: Random): Cut {
  return {
    how: random.pick(['everything', 'nothing', 'writes', 'writes', 'sectors', 'sectors', 'inOrder', 'inOrder']),
    chance: random.pick([0.1, 0.5, 0.9]),
    failedChance: random.pick([0, 0, 0, 0.5]),
  }
}

/** Makes a folder that has exactly these files. */
export function writeFiles(folder: string, files: ReadonlyMap<string, Buffer>): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of files) writeFileSync(join(folder, name), content)
}

function garbage(random: Random): Buffer {
  return Buffer.from(Array.from({ length: random.below(garbageBytesMax) }, () => random.below(256)))
}
