// Temporary folders that are removed at the end of their scope, and tests that have one.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exhaustive, testOn } from './ring.ts'

export interface Folder extends AsyncDisposable {
  readonly path: string
  /** The path of a file in it. */
  file(name: string): string
}

export async function makeFolder(parent = tmpdir()): Promise<Folder> {
  const path = await mkdtemp(join(parent, 'plantstore-test-'))
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}

export const onFolder = testOn(() => makeFolder())
export const exhaustiveOnFolder = testOn(() => makeFolder(), exhaustive.test)
