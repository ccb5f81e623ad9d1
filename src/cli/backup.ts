// `plantstore backup`, `restore` and `check`: a store as a file, put back, and checked.

import { limits } from '../limits.ts'
import { engineOf } from '../store/open.ts'
import { amount } from './amount.ts'
import { assertThere, commandOptions } from './stores.ts'
import { print, type Terminal } from './terminal.ts'

export async function backup(store: string, file: string, terminal: Terminal): Promise<void> {
  await assertThere(store)
  const { plants, tokens, sha256 } = await (await engineOf(store)).backup(store, file, limits)
  terminal.stderr.write(
    `Backed up ${amount(plants, 'plant')} and ${amount(tokens, 'token')} to ${file}, and checked it\n`,
  )
  await print(terminal.stdout, `${sha256}  ${file}\n`)
}

export async function restore(
  file: string,
  store: string,
  { force }: { readonly force: boolean },
  terminal: Terminal,
): Promise<void> {
  const engine = await engineOf(store)
  const { plants, tokens } = await engine.restore(file, store, force, limits)
  terminal.stderr.write(
    `Restored ${amount(plants, 'plant')} and ${amount(tokens, 'token')} from ${file} to ${engine.describe(store)}\n`,
  )
}

/** Gives the exit status: 0 when the store has no damage. */
export async function check(store: string, terminal: Terminal): Promise<number> {
  const engine = await engineOf(store)
  const { problems, plants } = await engine.check(store, commandOptions(terminal))
  const place = engine.describe(store)
  for (const problem of problems) terminal.stderr.write(`${problem}\n`)
  await print(
    terminal.stdout,
    problems.length === 0
      ? `no damage was found in ${place}; it has ${amount(plants, 'plant')}\n`
      : `${place} is damaged\n`,
  )
  return problems.length === 0 ? 0 : 1
}
