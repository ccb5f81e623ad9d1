// A folder with a store, and commands on it in the test's own process.

import { readFile, writeFile } from 'node:fs/promises'
import { type Folder, makeFolder } from '../support/folder.ts'
import { toPlant } from '../support/plants.ts'
import { type Finished, importHere, runHere } from '../support/program.ts'
import { testOn } from '../support/ring.ts'
import { openTestStore } from '../support/store.ts'

export interface Scene extends Folder {
  /** The path of the store, which the first command or `create` makes. */
  readonly store: string
  /** Runs a command on the store. */
  run(...args: readonly string[]): Promise<Finished>
  /** Writes a file in the folder, and imports it. The message about a new store is left out. */
  import(name: string, content: string | Buffer, ...flags: readonly string[]): Promise<Finished>
  /** The plants of the store as NDJSON. */
  exported(): Promise<string>
  /** Adds plants to the store. */
  create(...plants: readonly Parameters<typeof toPlant>[0][]): Promise<void>
  read(name: string): Promise<string>
}

export const onScene = testOn(makeScene)

export async function makeScene(): Promise<Scene> {
  const folder = await makeFolder()
  const store = folder.file('plants.db')
  const run = (...args: readonly string[]): Promise<Finished> => runHere([...args, '--store', store])
  return {
    ...folder,
    store,
    run,
    import: async (name, content, ...flags) => {
      await writeFile(folder.file(name), content)
      return importHere(folder.file(name), store, ...flags)
    },
    exported: async () => (await run('export')).stdout,
    create: async (...plants) => {
      await using opened = await openTestStore(store)
      for (const plant of plants) await opened.createPlant(toPlant(plant))
    },
    read: (name) => readFile(folder.file(name), 'utf8'),
  }
}
