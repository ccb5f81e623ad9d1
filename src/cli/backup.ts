// `plantstore backup`, `restore` and `check`.

import { systemClock } from '../domain/clock.ts'
import { OperatorError } from '../domain/errors.ts'
import { amount } from '../domain/shown.ts'
import { limits } from '../limits.ts'
import type { BackupTarget } from '../store/engine.ts'
import { engineOf } from '../store/open.ts'
import { complain, print, type Terminal } from '../terminal.ts'
import { stopOnSignal } from './stopping.ts'
import { assertThere } from './stores.ts'

/** Prints the SHA-256 of the backup even if older backups could not be removed, then throws OperatorError. */
export async function backup(store: string, target: BackupTarget, terminal: Terminal): Promise<void> {
  await assertThere(store)
  const hangup = new AbortController()
  terminal.onHangup(() => hangup.abort())
  const stopping = AbortSignal.any([stopOnSignal(terminal, () => {}), hangup.signal])
  const engine = await engineOf(store)
  const done = await engine.backup(store, target, { limits, clock: systemClock, stopping })
  const { plants, tokens, sha256, file, removed, doubts, problems } = done
  terminal.stderr.write(
    `Backed up ${amount(plants, 'plant')} and ${amount(tokens, 'token')} to ${file}, and checked it\n`,
  )
  for (const each of removed) terminal.stderr.write(`Removed ${each}\n`)
  for (const doubt of doubts) complain('warning', doubt, terminal)
  await print(terminal.stdout, `${sha256}  ${file}\n`)
  if (problems.length > 0) {
    throw new OperatorError(`the backup is complete, but older ones are left: ${problems.join('; ')}`)
  }
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
