// Parses options and arguments, and explains invalid ones.

import { join } from 'node:path'
import { CommanderError, InvalidArgumentError, Option } from 'commander'
import { type Setting, setting } from '../config.ts'
import { allScopes, type Scope } from '../domain/caller.ts'
import { limits } from '../limits.ts'
import type { BackupTarget } from '../store/engine.ts'
import type { Terminal } from '../terminal.ts'
import { IdRange } from '../verify/ids.ts'

const lifetimeUnitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** The URL of a server with default settings. */
export const localUrl = 'http://127.0.0.1:3000'

/** Precedence: flag, environment, default. The option's value is the text that `parse` accepts. */
export function toOption({ name, flag, environment, defaultText, help, parse }: Setting, terminal: Terminal): Option {
  const option = new Option(flag, help).argParser((text) => {
    try {
      parse(text)
      return text
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      // Text that may contain a password is never repeated.
      if (name === 'store' || text.includes('@'))
        throw new CommanderError(2, 'plantstore.misuse', `${flag.split(' ')[0]}: ${error.message}`)
      throw new InvalidArgumentError(`It ${error.message}.`)
    }
  })
  const byTerminal = terminal.stdout.isTTY === true ? 'all' : 'errors'
  const usual = name === 'store' ? defaultStore(terminal) : (defaultText ?? byTerminal)
  return orVariable(environment, option, terminal).default(usual)
}

/** The store in the current folder; within the program's own checkout, the checkout's store. */
export function defaultStore({ checkout }: Terminal): string {
  const { defaultText = '' } = setting('store')
  return checkout === undefined || checkout === '' ? defaultText : join(checkout, defaultText)
}

/** Gives an option its environment variable. An empty variable counts as unset. */
export function orVariable(name: string, option: Option, terminal: Terminal): Option {
  return terminal.environment[name] === '' ? option : option.env(name)
}

export function parseTokenName(text: string): string {
  if (!/^[\P{Cc}]+$/u.test(text) || text.length > limits.tokenNameCharactersMax) {
    throw new InvalidArgumentError(
      `It must be 1 to ${limits.tokenNameCharactersMax} characters without control characters.`,
    )
  }
  return text
}

/** A shell expands an unset variable to an empty argument. */
export function parseFolder(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

export function parseScopes(text: string): readonly Scope[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !allScopes.some((scope) => scope === name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`It must be one or more of ${allScopes.join(', ')}, comma-separated.`)
  return allScopes.filter((scope) => names.includes(scope))
}

export function parseLifetime(text: string): number | 'never' {
  if (text === 'never') return text
  const lifetimeMs = readTime(text)
  if (lifetimeMs > 0) return lifetimeMs
  throw new InvalidArgumentError('It must be a time such as 90d, 12h, 30m or 60s, at most 36500d, or never.')
}

/** Milliseconds; 0 for none. */
export function parseOverlap(text: string): number {
  const overlapMs = readTime(text)
  if (overlapMs >= 0) return overlapMs
  throw new InvalidArgumentError('It must be a time such as 24h, 30m or 0s, at most 36500d.')
}

/** Milliseconds; NaN if the text is not a duration or exceeds the maximum. */
function readTime(text: string): number {
  const [, amount, unit] = /^(0|[1-9][0-9]{0,9})([smhd])$/.exec(text) ?? []
  const ms = Number(amount) * (lifetimeUnitsMs[unit as keyof typeof lifetimeUnitsMs] ?? Number.NaN)
  return ms <= limits.tokenLifetimeDaysMax * lifetimeUnitsMs.d ? ms : Number.NaN
}

export function parseUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:3000.')
  return text
}

/** Never repeats the value, which may be a token. */
export function parseFieldValue(text: string): string {
  if (/^[\x20-\x7e]+$/.test(text)) return text
  throw new CommanderError(
    2,
    'plantstore.misuse',
    'a token, key or list of ETags must consist of spaces and visible ASCII characters',
  )
}

/** Returns the given URL, else that of PLANTSTORE_URL, else that of a local server. */
export function chooseUrl(given: string | undefined, { environment }: Terminal): string {
  if (given !== undefined) return given
  const text = environment['PLANTSTORE_URL']
  if (text === undefined || text === '') return localUrl
  try {
    return parseBaseUrl(text)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new CommanderError(2, 'plantstore.misuse', `PLANTSTORE_URL: ${error.message}`)
  }
}

/** Parses a base URL. */
export function parseBaseUrl(text: string): string {
  const url = URL.parse(parseUrl(text))
  if (url === null || url.username !== '' || url.password !== '' || /[?#]/.test(text))
    throw new InvalidArgumentError('It must be a URL without user, query or fragment.')
  return text
}

export function parseIdRange(text: string): IdRange {
  try {
    if (!/^-?[0-9]{1,19}$/.test(text)) throw new RangeError('must be an integer')
    return new IdRange(BigInt(text))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new InvalidArgumentError(`It ${error.message}.`)
  }
}

export function parseKeep(text: string): number {
  const backups = Number(text)
  if (/^[1-9][0-9]{0,5}$/.test(text)) return backups
  throw new InvalidArgumentError('It must be a number of backups, 1 or more.')
}

/** The target of a backup: a file, or a folder. */
export function chooseBackupTarget(
  file: string | undefined,
  { folder, keep }: { readonly folder?: string; readonly keep?: number },
): BackupTarget {
  const misuse = (message: string): CommanderError => new CommanderError(2, 'plantstore.misuse', message)
  if (file !== undefined && folder !== undefined) throw misuse('name a file or a --folder, not both')
  if (folder !== undefined) return keep === undefined ? { folder } : { folder, keep }
  if (keep !== undefined) throw misuse('--keep needs --folder: it applies to backups named after the time')
  if (file === undefined) throw misuse('name the file of the backup, or a --folder')
  return { file }
}

export function parseTimeout(text: string): number {
  const seconds = Number(text)
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(text) && seconds > 0 && seconds <= limits.verifyAnswerSecondsMax) return seconds
  throw new InvalidArgumentError(`It must be a number of seconds, at most ${limits.verifyAnswerSecondsMax}.`)
}
