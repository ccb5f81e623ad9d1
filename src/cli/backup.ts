// `plantstore backup`, `restore` and `check`: a store as a file, put back, and judged.

import { limits } from '../config.ts'
import { backupStore, checkStore, describePlace, restoreStore } from '../store/open.ts'
import { assertThere, commandOptions } from './stores.ts'
import { print, type Terminal } from './terminal.ts'

export async function backup(store: string, file: string, terminal: Terminal): Promise<void> {
  assertThere(store)
  const { plants, tokens, sha256 } = await backupStore(store, file, limits)
  terminal.stderr.write(`${plants} plants and ${tokens} tokens are in ${file}, which was read back whole\n`)
  await print(terminal.stdout, `${sha256}  ${file}\n`)
}

export async function restore(
  file: string,
  store: string,
  { force }: { readonly force: boolean },
  terminal: Terminal,
): Promise<void> {
  const { plants, tokens } = await restoreStore(file, store, force, limits)
  terminal.stderr.write(`${plants} plants and ${tokens} tokens of ${file} are now in ${describePlace(store)}\n`)
}

/** Gives the exit status: 0 when the store is whole. */
export async function check(store: string, terminal: Terminal): Promise<number> {
  const { problems, plants } = await checkStore(store, commandOptions(terminal))
  for (const problem of problems) terminal.stderr.write(`${problem}\n`)
  await print(
    terminal.stdout,
    problems.length === 0
      ? `${describePlace(store)} is whole, with ${plants} plants\n`
      : `${describePlace(store)} is damaged\n`,
  )
  return problems.length === 0 ? 0 : 1
}
