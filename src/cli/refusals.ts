// The records that an import refuses. Reports the first few, and writes all of them to a file, in input order.

import { closeSync, openSync, writeFileSync } from 'node:fs'
import { messageOf, OperatorError } from '../domain/errors.ts'
import { withoutControls } from '../domain/shown.ts'
import type { PlantRecord } from '../files/records.ts'
import { limits } from '../limits.ts'
import { explainFileFailure, statThere } from '../store/paths.ts'
import type { Output } from '../terminal.ts'

/** Rejected records that are shown; the others are counted. */
const shownMax = 10

export class Refusals implements Disposable {
  readonly #stderr: Output
  readonly #path: string | undefined
  readonly #descriptor: number | undefined
  #count = 0

  /** @param path the file for refused records; only its owner can read it. */
  constructor(stderr: Output, path: string | undefined) {
    this.#stderr = stderr
    this.#path = path
    if (path !== undefined) this.#descriptor = openForWriting(path)
  }

  get count(): number {
    return this.#count
  }

  begin(header: Buffer): void {
    this.#write(header)
  }

  refuse(record: PlantRecord, why: string): void {
    this.#count += 1
    if (this.#count <= shownMax) this.#show(record, why)
    if (record.isCut !== true) this.#write(record.raw)
  }

  /** Reports the number of refusals not shown. */
  end(): void {
    const hidden = this.#count - shownMax
    if (hidden <= 0) return
    const where = this.#path === undefined ? 'use --rejects FILE to keep them all' : `${this.#path} has them all`
    this.#stderr.write(`${hidden} more ${hidden === 1 ? 'line was' : 'lines were'} refused; ${where}\n`)
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }

  #show(record: PlantRecord, why: string): void {
    const shown = withoutControls(record.raw.toString('utf8').slice(0, limits.recordCharactersShown))
    const lost = record.isCut && this.#descriptor !== undefined ? ' (too long to be written to the rejects)' : ''
    this.#stderr.write(`line ${record.line}: ${why}${lost}: ${shown}\n`)
  }

  #write(raw: Buffer): void {
    if (this.#descriptor === undefined) return
    try {
      writeFileSync(this.#descriptor, Buffer.concat([raw, Buffer.from('\n')]))
    } catch (cause) {
      throw new OperatorError(`${this.#path} cannot be written: ${messageOf(cause)}`)
    }
  }
}

/** Creates a new file: an existing one may be the input, or rejects that were corrected. Opens a device or a pipe. */
function openForWriting(path: string): number {
  try {
    const existing = statThere(path)
    if (existing?.isFile() !== true) return openSync(path, existing === undefined ? 'wx' : 'w', 0o600)
  } catch (cause) {
    throw explainFileFailure(cause, path, 'written')
  }
  throw new OperatorError(`${path} exists already; name another file for the rejects`)
}
