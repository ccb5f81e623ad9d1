// Parses options and arguments, and explains invalid ones.

import { CommanderError, InvalidArgumentError, Option } from 'commander'
import { nonEmpty, parseDuration, type Setting } from '../config.ts'
import { allScopes } from '../domain/caller.ts'
import { changeKinds } from '../domain/change.ts'
import { limits } from '../limits.ts'
import type { BackupTarget } from '../store/engine.ts'
import type { Terminal } from '../terminal.ts'
import { IdRange } from '../verify/ids.ts'

/** The URL of a server with default settings. */
export const localUrl = 'http://127.0.0.1:3000'

/** Precedence: flag, environment, default. The option's value is the text that `parse` accepts. */
export function toOption({ name, flag, environment, defaultText, help, parse }: Setting, terminal: Terminal): Option {
  // Text that may contain a password is never repeated.
  const isSecret = (text: string): boolean => name === 'store' || text.includes('@')
  const check = (text: string): string => {
    if (isSecret(text)) orMisuse(() => parse(text), `${flag.split(' ')[0]}: `)
    else parse(text)
    return text
  }
  const byTerminal = terminal.stdout.isTTY === true ? 'all' : 'errors'
  const option = new Option(flag, help).argParser(argument(check))
  return orVariable(environment, option, terminal).default(defaultText ?? byTerminal)
}

/** Gives an option its environment variable. An empty variable counts as unset. */
export function orVariable(name: string, option: Option, terminal: Terminal): Option {
  return terminal.environment[name] === '' ? option : option.env(name)
}

/** Turns a RangeError of `parse` into commander's message about an argument. */
function argument<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text)
    } catch (error) {
      throw error instanceof RangeError ? new InvalidArgumentError(`It ${error.message}.`) : error
    }
  }
}

/** Turns a RangeError of `read` into misuse, without repeating the text. */
export function orMisuse<T>(read: () => T, before = ''): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof RangeError ? misuse(before + error.message) : error
  }
}

function misuse(message: string): CommanderError {
  return new CommanderError(2, 'plantstore.misuse', message)
}

export const parseTokenName = argument((text) => {
  if (/^[\P{Cc}]+$/u.test(text) && text.length <= limits.tokenNameCharactersMax) return text
  throw new RangeError(`must be 1 to ${limits.tokenNameCharactersMax} characters without control characters`)
})

/** A shell expands an unset variable to an empty argument. */
export const parseFolder = argument(nonEmpty)

/** One or more of these names, in their order. */
function someOf<Name extends string>(all: readonly Name[]): (text: string) => readonly Name[] {
  return argument((text) => {
    const names = text.split(',').map((name) => name.trim())
    if (names.every((name) => all.some((each) => each === name))) return all.filter((each) => names.includes(each))
    throw new RangeError(`must be one or more of ${all.join(', ')}, comma-separated`)
  })
}

export const parseScopes = someOf(allScopes)

export const parseKinds = someOf(changeKinds)

/** An `https` URL, or an `http` URL of this machine: changes would be readable on the network. */
export function parseWebhookUrl(text: string): string {
  return orMisuse(() => readWebhookUrl(text), '<url>: ')
}

function readWebhookUrl(text: string): string {
  const url = URL.parse(text)
  const isLocal = url !== null && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)
  if (!isSafe || url.username + url.password !== '' || url.hash !== '') {
    throw new RangeError('must be an https URL without user and fragment; http only to localhost, 127.0.0.1 or [::1]')
  }
  if (url.href.length <= limits.webhookUrlCharactersMax) return url.href
  throw new RangeError(`must have at most ${limits.webhookUrlCharactersMax} characters`)
}

export const parseLifetime = argument((text): number | 'never' => {
  if (text === 'never') return text
  const lifetimeMs = parseDuration(text)
  if (lifetimeMs > 0) return lifetimeMs
  throw new RangeError('must be a time such as 90d, 12h, 30m or 60s, or never')
})

/** Milliseconds; 0 for none. */
export const parseOverlap = argument(parseDuration)

export const parseUrl = argument(readUrl)

function readUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text
  throw new RangeError('must be a URL such as http://127.0.0.1:3000')
}

/** Never repeats the value, which may be a token. */
export function fieldValue(flag: string): (text: string) => string {
  return (text) => {
    if (/^[\x20-\x7e]+$/.test(text)) return text
    throw misuse(`${flag}: must consist of spaces and visible ASCII characters`)
  }
}

/** Returns the given URL, else that of PLANTSTORE_URL, else that of a local server. */
export function chooseUrl(given: string | undefined, { environment }: Terminal): string {
  return given ?? orMisuse(() => readBaseUrl(environment['PLANTSTORE_URL'] || localUrl), 'PLANTSTORE_URL: ')
}

/** Parses the base URL that is the argument of a command. */
export function parseBaseUrl(text: string): string {
  return orMisuse(() => readBaseUrl(text), '<url>: ')
}

function readBaseUrl(text: string): string {
  const url = URL.parse(readUrl(text))
  if (url?.username === '' && url.password === '' && !/[?#]/.test(text)) return text
  throw new RangeError('must be a URL without user, query or fragment')
}

export const parseIdRange = argument((text) => {
  if (!/^-?[0-9]{1,19}$/.test(text)) throw new RangeError('must be an integer')
  return new IdRange(BigInt(text))
})

export const parseKeep = argument((text) => {
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text)
  throw new RangeError('must be a number of backups, 1 or more')
})

/** The target of a backup: a file, or a folder. */
export function chooseBackupTarget(
  file: string | undefined,
  { folder, keep }: { readonly folder?: string; readonly keep?: number },
): BackupTarget {
  if (file !== undefined && folder !== undefined) throw misuse('name a file or a --folder, not both')
  if (folder !== undefined) return keep === undefined ? { folder } : { folder, keep }
  if (keep !== undefined) throw misuse('--keep needs --folder: it applies to backups named after the time')
  if (file === undefined) throw misuse('name the file of the backup, or a --folder')
  return { file }
}

export const parseTimeout = argument((text) => {
  const seconds = Number(text)
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(text) && seconds > 0 && seconds <= limits.verifyAnswerSecondsMax) return seconds
  throw new RangeError(`must be a number of seconds, at most ${limits.verifyAnswerSecondsMax}`)
})
