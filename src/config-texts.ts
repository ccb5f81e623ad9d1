// Parsers of settings. Each returns the value, or throws a RangeError that describes the valid texts.

export const logLevels = ['all', 'changes', 'errors', 'off'] as const

export type LogLevel = (typeof logLevels)[number]

const rateLimitPattern = /^([1-9][0-9]{0,8})\/([1-9][0-9]{0,3})([smh])$/
const secondsOfUnit = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
/** A hundred years. */
const durationMsMax = 36_500 * secondsOfUnit.d * 1_000

/** `units` per `seconds`; `units` is also the largest burst. */
export interface RateLimit {
  readonly units: number
  readonly seconds: number
}

/** A Unix socket, or an inherited socket. */
export type ListenAt = { readonly path: string } | { readonly descriptor: number }

export interface Address {
  readonly host: string
  readonly port: number
}

/** Extends a parser: `none` becomes undefined. */
export function orNone<Value>(parse: (text: string) => Value): (text: string) => Value | undefined {
  return (text) => (text === 'none' ? undefined : parse(text))
}

export function nonEmpty(text: string): string {
  if (text === '') throw new RangeError('must not be empty')
  return text
}

/** A host name or an IP address. The brackets of an IPv6 address are optional. */
export function parseHost(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, '$1')
  // A URL cannot contain a zone index, as in fe80::1%eth0.
  const host = bare.includes(':') ? `[${bare.replace(/%[\w.-]+$/, '')}]` : bare
  if (/[\s/?#@\\]/.test(text) || URL.parse(`http://${host}`) === null) {
    throw new RangeError('must be an address such as 127.0.0.1 or ::1, or the name of a host')
  }
  return text
}

export function parsePort(text: string): number {
  const port = Number(text)
  if (!/^[0-9]{1,5}$/.test(text) || port > 65_535) throw new RangeError('must be a number from 0 to 65535')
  return port
}

export function parseListen(text: string): ListenAt {
  const [, kind, where = ''] = /^(unix:|fd:)(.+)$/s.exec(text) ?? []
  if (kind === 'unix:') return { path: where }
  if (kind === 'fd:' && /^[1-9][0-9]{0,5}$/.test(where)) return { descriptor: Number(where) }
  throw new RangeError('must be unix:PATH, fd:NUMBER, or none to listen on --host and --port')
}

/** A duration such as 24h or 0s in milliseconds; undefined if the text is none, or longer than a hundred years. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit] = /^(0|[1-9][0-9]{0,9})([smhd])$/.exec(text) ?? []
  const ms = Number(amount) * (secondsOfUnit[unit as keyof typeof secondsOfUnit] ?? Number.NaN) * 1_000
  return ms <= durationMsMax ? ms : undefined
}

/** A duration in milliseconds; 0 for none. */
export function parseDuration(text: string): number {
  const ms = text === '0' ? 0 : readDuration(text)
  if (ms === undefined) throw new RangeError('must be a time such as 90m, 24h or 7d, at most 36500d, or 0')
  return ms
}

export function parseRateLimit(text: string): RateLimit {
  const [, units, amount, unit] = rateLimitPattern.exec(text) ?? []
  if (units === undefined) {
    throw new RangeError('must be a number of units and a time in s, m or h, such as 1000/1s, or none')
  }
  return { units: Number(units), seconds: Number(amount) * secondsOfUnit[unit as keyof typeof secondsOfUnit] }
}

/** A comma-separated list; `none` for an empty one. */
export function parseNames(text: string): readonly string[] {
  return text === 'none' ? [] : listOf(nonEmpty(text))
}

function listOf(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}

export function parseMetricsListen(text: string): Address {
  const [, host = '', port = ''] = /^(.*):([0-9]{1,5})$/.exec(text) ?? []
  try {
    return { host: parseHost(host), port: parsePort(port) }
  } catch (cause) {
    throw new RangeError('must be an address and a port, such as 127.0.0.1:9464 or [::1]:9464, or none', { cause })
  }
}

export function parseStore(text: string): string {
  const isUrl = /^postgres(ql)?:\/\//i.test(text)
  // Docker's --env-file keeps quotes. A quoted URL would otherwise name a new file that contains the password.
  const looksLikeOne = /:\/\/|^\s*postgres(ql)?:|\b(password|host|dbname|user)\s*=/i.test(text)
  if (looksLikeOne && !isUrl) {
    throw new RangeError('must be the path of a file or a URL that begins with postgres://, without quotes around it')
  }
  return nonEmpty(text)
}

export function parseLogLevel(text: string): LogLevel {
  const level = logLevels.find((candidate) => candidate === text)
  if (level === undefined) throw new RangeError(`must be one of ${logLevels.join(', ')}`)
  return level
}

export function parseOrigins(text: string): '*' | readonly string[] {
  if (text === '*') return text
  if (text === 'none') return []
  const origins = listOf(text)
  // Wildcards such as https://*.example are not supported: origins are compared literally.
  const isOrigin = (origin: string): boolean => URL.parse(origin)?.origin === origin && !origin.includes('*')
  if (!origins.every(isOrigin)) {
    throw new RangeError('must be *, none, or whole origins such as https://plants.example:8080, comma-separated')
  }
  return origins
}

export function parsePublicUrl(text: string): string {
  const url = URL.parse(text)
  // In a Location, a path that begins with two slashes would name a host.
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp || url.username + url.password !== '' || /[?#]/.test(text) || url.pathname.includes('//')) {
    throw new RangeError('must be none, or a URL such as https://plants.example/store without user, query or fragment')
  }
  return url.href.replace(/\/$/, '')
}

export function parseClaims(text: string): readonly string[] {
  const names = listOf(text)
  if (names.includes('')) throw new RangeError('must be names of claims, comma-separated, such as scp,roles')
  return names
}

export function parseJwtKeys(text: string): string {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
  if (!isUrl) return nonEmpty(text)
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username + url.password !== '') {
    throw new RangeError('must be none, a URL such as https://login.example/keys without user, or the path of a file')
  }
  return url.href
}
