// Options and arguments: their parsers, and the errors for wrong ones.

import { Argument, Option } from 'commander'
import { IdRange } from '../../verify/ids.ts'
import { isThisMachine, parseDuration, type Setting } from '../config.ts'
import { SettingError } from '../domain/errors.ts'
import { limits } from '../limits.ts'
import type { Terminal } from '../terminal.ts'

/** The URL of a server with default settings. */
export const localUrl = 'http://127.0.0.1:3000'

/** Commander replaces undefined with an empty text. */
type Parse = (text: string) => NonNullable<unknown>

/** An option with a parser, which also parses the text of its default. */
export function option(flag: string, help: string, parse: Parse, defaultText?: string): Option {
  const made = new Option(flag, help)
  made.argParser((text) => parseArgument([made.long, made.envVar].filter(Boolean).join(' or '), text, parse))
  return defaultText === undefined ? made : made.default(parse(defaultText), defaultText)
}

export function argument<T>(name: string, help: string, parse: (text: string) => T): Argument {
  return new Argument(name, help).argParser((text) => parseArgument(name, text, parse))
}

/** Turns a RangeError of `parse` into a SettingError. Never repeats the text, which may be a secret. */
export function parseArgument<T>(name: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    throw error instanceof RangeError ? new SettingError(`${name}: ${error.message}`) : error
  }
}

/** Gives an option its environment variable. An empty variable counts as unset. */
export function orVariable(name: string, option: Option, terminal: Terminal): Option {
  return terminal.environment[name] === '' ? option : option.env(name)
}

/** The option of a setting. Its value is the text that the setting accepts. */
export function toOption({ name, flag, environment, defaultText, help, parse }: Setting, terminal: Terminal): Option {
  const isShown = name === 'log' && terminal.stdout.isTTY === true
  const check = (text: string): string => {
    parse(text)
    return text
  }
  return orVariable(environment, option(flag, help, check, isShown ? 'all' : defaultText), terminal)
}

export function parseName(text: string): string {
  if (/^[\P{Cc}]+$/u.test(text) && text.length <= limits.tokenNameCharactersMax) return text
  throw new RangeError(`must be 1 to ${limits.tokenNameCharactersMax} characters without control characters`)
}

/** Parses one or more names, comma-separated. Returns them in the order of `all`. */
export function someOf<Name extends string>(all: readonly Name[]): (text: string) => readonly Name[] {
  return (text) => {
    const names = text.split(',').map((name) => name.trim())
    if (names.every((name) => all.some((each) => each === name))) return all.filter((each) => names.includes(each))
    throw new RangeError(`must be one or more of ${all.join(', ')}, comma-separated`)
  }
}

/** An `https` URL, or an `http` URL of this machine: elsewhere, changes would be readable on the network. */
export function parseWebhookUrl(text: string): string {
  const url = URL.parse(text)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url))
  if (!isSafe || url.username + url.password !== '' || url.hash !== '') {
    throw new RangeError('must be an https URL without user and fragment; http only to localhost, 127.0.0.1 or [::1]')
  }
  if (url.href.length <= limits.webhookUrlCharactersMax) return url.href
  throw new RangeError(`must have at most ${limits.webhookUrlCharactersMax} characters`)
}

/** Milliseconds; Infinity for `never`. */
export function parseLifetime(text: string): number {
  return text === 'never' ? Number.POSITIVE_INFINITY : parseDuration(text, 'never')
}

export function parseUrl(text: string): string {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null
  if (url?.username === '' && url.password === '' && !/[?#]/.test(text)) return text
  throw new RangeError(`must be a URL such as ${localUrl}, without user, query or fragment`)
}

export const parseToken = matching(/^[\x20-\x7e]+$/, String, 'must consist of spaces and visible ASCII characters')
export const parseIdRange = matching(/^-?[0-9]{1,19}$/, (text) => new IdRange(BigInt(text)), 'must be an integer')
export const parseKeep = matching(/^[1-9][0-9]{0,5}$/, Number, 'must be a number of backups, 1 or more')

function matching<T>(pattern: RegExp, convert: (text: string) => T, what: string): (text: string) => T {
  return (text) => {
    if (pattern.test(text)) return convert(text)
    throw new RangeError(what)
  }
}

export function parseTimeout(text: string): number {
  const seconds = Number(text)
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(text) && seconds > 0 && seconds <= limits.verifyAnswerSecondsMax) return seconds
  throw new RangeError(`must be a number of seconds, at most ${limits.verifyAnswerSecondsMax}`)
}
