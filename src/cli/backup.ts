// `plantstore backup` and `restore`.

import { systemClock } from '../domain/clock.ts'
import { OperatorError, SettingError } from '../domain/errors.ts'
import { amount } from '../domain/shown.ts'
import { limits } from '../limits.ts'
import type { BackupTarget } from '../store/engine.ts'
import { engineOf } from '../store/open.ts'
import { complain, print, say, stopOnSignal, type Terminal } from '../terminal.ts'

interface BackupCommandOptions {
  readonly store: string
  readonly file?: string | undefined
  readonly folder?: string | undefined
  readonly keep?: number | undefined
}

/** Prints the SHA-256 of the backup. If older backups could not be removed, throws OperatorError afterwards. */
export async function backup({ store, ...asked }: BackupCommandOptions, terminal: Terminal): Promise<void> {
  const target = targetOf(asked)
  const engine = await engineOf(store)
  if (!engine.mayBeThere(store)) {
    throw new OperatorError(`there is no store at ${engine.describe(store)}; name one with --store`)
  }
  const stopping = stopOnSignal(terminal)
  const options = { limits, clock: systemClock, stopping }
  const { plants, tokens, sha256, file, removed, doubts, problems } = await engine.backup(store, target, options)
  say(`Backed up ${amount(plants, 'plant')} and ${amount(tokens, 'token')} to ${file}, and checked it`, terminal)
  for (const each of removed) say(`Removed ${each}`, terminal)
  for (const doubt of doubts) complain('warning', doubt, terminal)
  await print(terminal.stdout, `${sha256}  ${file}\n`)
  if (problems.length > 0) {
    throw new OperatorError(`the backup is complete, but older ones are left: ${problems.join('; ')}`)
  }
}

function targetOf({ file, folder, keep }: Omit<BackupCommandOptions, 'store'>): BackupTarget {
  if (file !== undefined && folder !== undefined) throw new SettingError('name a file or a --folder, not both')
  if (folder !== undefined) return keep === undefined ? { folder } : { folder, keep }
  if (keep !== undefined) throw new SettingError('--keep needs --folder: it applies to backups named after the time')
  if (file === undefined) throw new SettingError('name the file of the backup, or a --folder')
  return { file }
}

export async function restore(
  { file, store, force }: { readonly file: string; readonly store: string; readonly force: boolean },
  terminal: Terminal,
): Promise<void> {
  const engine = await engineOf(store)
  const { plants, tokens } = await engine.restore(file, store, force, limits)
  const what = `${amount(plants, 'plant')} and ${amount(tokens, 'token')}`
  say(`Restored ${what} from ${file} to ${engine.describe(store)}`, terminal)
}
