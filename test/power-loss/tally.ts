// Counts what states after a crash come to: judges two at once, and keeps the files of the first bad one.

import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Folder } from '../support/folder.ts'
import { writeFiles } from './disk.ts'
import type { Found } from './judge.ts'
import { makeWorkFolder, storeName } from './recorder.ts'

export type Files = ReadonlyMap<string, Buffer>

export interface Problem {
  readonly text: string
  /** Whether something that was acknowledged is missing. */
  readonly isLoss: boolean
}

/** Opens a state's files, which `judge` may do once. Gives why not, when they cannot be opened. */
export type Open = (open: (path: string) => Found | Promise<Found>) => Promise<Found | string>

const lanes = 2

export class Tally implements AsyncDisposable {
  states = 0
  /** States that had lost something, made something up, or could not be opened. */
  bad = 0
  /** Those of them in which something was missing that had been acknowledged. */
  lost = 0
  /** What was wrong with the first bad state. */
  first: string | undefined
  readonly #folder: Folder
  readonly #keepsFirst: boolean
  readonly #busy = new Set<Promise<void>>()

  /** @param keepsFirst whether the files of the first bad state are kept for whoever looks into it. */
  static async start(keepsFirst: boolean): Promise<Tally> {
    return new Tally(await makeWorkFolder(), keepsFirst)
  }

  private constructor(folder: Folder, keepsFirst: boolean) {
    this.#folder = folder
    this.#keepsFirst = keepsFirst
  }

  /** Resolves once there is room for another state. */
  async add(files: Files, where: string, judge: (open: Open) => Promise<Problem | undefined>): Promise<void> {
    this.states += 1
    const folder = this.#folder.file(`${this.states}`)
    const judged = this.#judge(files, where, () => judge((open) => openFiles(files, folder, open)))
    this.#busy.add(judged)
    judged.finally(() => this.#busy.delete(judged)).catch(() => {})
    if (this.#busy.size >= lanes) await Promise.race(this.#busy)
  }

  async #judge(files: Files, where: string, judge: () => Promise<Problem | undefined>): Promise<void> {
    const problem = await judge()
    if (problem === undefined) return
    this.bad += 1
    if (problem.isLoss) this.lost += 1
    if (this.bad > 1) return
    this.first = `${where}: ${problem.text}`
    if (!this.#keepsFirst) return
    const folder = await mkdtemp(join(tmpdir(), 'plantstore-lost-'))
    writeFiles(folder, files)
    this.first += `; its files are in ${folder}`
  }

  /** Resolves once every state is judged. */
  async done(): Promise<void> {
    await Promise.all(this.#busy)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#busy)
    await this.#folder[Symbol.asyncDispose]()
  }
}

async function openFiles(
  files: Files,
  folder: string,
  open: (path: string) => Found | Promise<Found>,
): Promise<Found | string> {
  writeFiles(folder, files)
  try {
    return await open(join(folder, storeName))
  } catch (cause) {
    return `not opened: ${cause instanceof Error ? cause.message : cause}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}
