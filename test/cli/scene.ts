// A folder with a store, and commands on it in the test's own process.

import { readFile, writeFile } from 'node:fs/promises'
import type { Properties } from '../../src/contract/plant.ts'
import { makeFolder } from '../support/folder.ts'
import { toPlant } from '../support/plants.ts'
import { type Finished, importHere, runHere } from '../support/program.ts'
import { exhaustive, testOn } from '../support/ring.ts'
import { openTestStore } from '../support/store.ts'

export const onScene = testOn(makeScene)
export const exhaustiveOnScene = testOn(makeScene, exhaustive.test)

export async function makeScene() {
  const folder = await makeFolder()
  const store = folder.file('plants.db')
  const run = (...args: readonly string[]): Promise<Finished> => runHere([...args, '--store', store])
  return {
    ...folder,
    /** The path of the store, which the first command or `create` makes. */
    store,
    run,
    /** Writes a file in the folder, and imports it. The message about a new store is left out. */
    import: async (name: string, content: string | Buffer, ...flags: readonly string[]): Promise<Finished> => {
      await writeFile(folder.file(name), content)
      return importHere(folder.file(name), store, ...flags)
    },
    /** The plants of the store as NDJSON. */
    exported: async (): Promise<string> => (await run('export')).stdout,
    create: async (...plants: readonly Properties[]): Promise<void> => {
      await using opened = await openTestStore(store)
      for (const plant of plants) await opened.createPlant(toPlant(plant))
    },
    read: (name: string): Promise<string> => readFile(folder.file(name), 'utf8'),
  }
}
