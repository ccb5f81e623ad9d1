// All settings, their defaults, and the parsers of their texts.

import { isDeepStrictEqual } from 'node:util'
import { SettingError } from './domain/errors.ts'

const logLevels = ['all', 'changes', 'errors', 'off'] as const

const secondsOfUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
/** A hundred years. */
const durationSecondsMax = 36_500 * 86_400

/** A flag takes precedence over an environment variable, which takes precedence over the default. */
interface SettingRow {
  /** The flag as the help shows it: `--port <number>`. */
  readonly flag: string
  /** Absent if the setting has no value by default. Its text is then `none`. */
  readonly defaultText?: string
  readonly help: string
  /** Returns the value, or throws a RangeError that describes the valid texts. */
  parse(text: string): unknown
}

const rows = {
  host: {
    flag: '--host <address>',
    defaultText: '127.0.0.1',
    help: 'address to listen on; 0.0.0.0 or :: for all interfaces',
    parse: parseHost,
  },
  port: {
    flag: '--port <number>',
    defaultText: '3000',
    help: 'port to listen on; 0 picks a free one',
    parse: parsePort,
  },
  listen: {
    flag: '--listen <where>',
    help: 'unix:PATH for a Unix socket, fd:3 for one that systemd has opened; none for --host and --port',
    parse: parseListen,
  },
  tlsCert: {
    flag: '--tls-cert <file>',
    help: 'certificate chain (PEM) for HTTPS; reloaded on SIGHUP; none for plain HTTP',
    parse: nonEmpty,
  },
  tlsKey: {
    flag: '--tls-key <file>',
    help: 'private key (PEM) of the certificate',
    parse: nonEmpty,
  },
  trustProxy: {
    flag: '--trust-proxy <addresses>',
    defaultText: 'none',
    help: 'proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted: addresses, ranges, loopback, unix; comma-separated',
    parse: parseNames,
  },
  store: {
    flag: '--store <place>',
    defaultText: './data/plants.db',
    help: 'file that holds the plants and tokens, or a database: postgres://user@host/database',
    parse: parseStore,
  },
  document: {
    flag: '--document <file>',
    help: 'your own copy of the OpenAPI document, whose POST /plants defines a plant; none for the bundled one',
    parse: nonEmpty,
  },
  /** In milliseconds. */
  changesKept: {
    flag: '--changes-kept <time>',
    defaultText: '24h',
    help: 'how long changes stay in GET /changes, such as 24h or 7d; 0 for as short as possible, 10 minutes',
    parse: parseDuration,
  },
  log: {
    flag: '--log <what>',
    defaultText: 'errors',
    help: `${logLevels.join(', ')}; by default all on a terminal, errors elsewhere`,
    parse: oneOf(logLevels),
  },
  rateLimit: {
    flag: '--rate-limit <units/time>',
    help: 'rate limit of each token, or of each address without one, such as 1000/1s or 50000/1m; none for no limit',
    parse: parseRateLimit,
  },
  metricsListen: {
    flag: '--metrics-listen <address>',
    help: 'address and port of /metrics for Prometheus, such as 127.0.0.1:9464; none to disable it',
    parse: parseMetricsListen,
  },
  corsOrigin: {
    flag: '--cors-origin <origins>',
    defaultText: '*',
    help: 'origins whose pages may call the service, comma-separated; * for all, none for none',
    parse: parseOrigins,
  },
  parser: {
    flag: '--parser <which>',
    defaultText: 'fast',
    help: 'fast: reads plain requests without the parser of Node.js, in half the time; node: uses it for every request',
    parse: oneOf(['fast', 'node']),
  },
  /** Without a slash at its end. */
  publicUrl: {
    flag: '--public-url <url>',
    help: 'URL at which clients reach the service, such as https://plants.example/store; none to derive it from each request',
    parse: parsePublicUrl,
  },
  jwtKeys: {
    flag: '--jwt-keys <place>',
    help: 'accept JWTs signed by these keys: URL of a JWKS, or a file with one; requires the issuer and the audience',
    parse: parseJwtKeys,
  },
  jwtIssuer: {
    flag: '--jwt-issuer <text>',
    help: 'the exact iss that JWTs must have',
    parse: nonEmpty,
  },
  jwtAudience: {
    flag: '--jwt-audience <text>',
    help: 'the exact aud that JWTs must have, alone or in a list',
    parse: nonEmpty,
  },
  jwtScopeClaims: {
    flag: '--jwt-scope-claims <names>',
    defaultText: 'scope,scp',
    help: 'claims of JWTs that contain scopes, as a text or a list; comma-separated, such as scp,roles',
    parse: parseNames,
  },
  firstTokenFile: {
    flag: '--first-token-file <file>',
    help: 'file to create for the first token of a new store; - to print it, none to print it on a terminal only',
    parse: nonEmpty,
  },
} satisfies Record<string, SettingRow>

type ValueOf<Row extends SettingRow> =
  | ReturnType<Row['parse']>
  | (Row extends { defaultText: string } ? never : undefined)

export type ServeConfig = { readonly [Name in keyof typeof rows]: ValueOf<(typeof rows)[Name]> }

export type SettingTexts = { readonly [Name in keyof ServeConfig]: string }

export interface Setting extends Required<SettingRow> {
  readonly name: keyof ServeConfig
  /** The environment variable: `PLANTSTORE_TLS_CERT` for `tlsCert`. */
  readonly environment: string
}

export const settings = Object.fromEntries(
  Object.entries<SettingRow>(rows).map(([name, row]) => [
    name,
    {
      ...row,
      name,
      defaultText: row.defaultText ?? 'none',
      parse: (text: string) => (text === 'none' && row.defaultText === undefined ? undefined : row.parse(text)),
      environment: `PLANTSTORE_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
    },
  ]),
) as Readonly<Record<keyof ServeConfig, Setting>>

/** Throws a RangeError that describes the valid texts. */
export function parseSettings<Name extends keyof ServeConfig>(
  texts: Pick<SettingTexts, Name>,
): Pick<ServeConfig, Name> {
  const entries = Object.entries<string>(texts) as [Name, string][]
  const parsed = entries.map(([name, text]) => [name, settings[name].parse(text)])
  return Object.fromEntries(parsed) as Pick<ServeConfig, Name>
}

export const defaultConfig: ServeConfig = Object.freeze(
  parseSettings(
    Object.fromEntries(Object.values(settings).map(({ name, defaultText }) => [name, defaultText])) as SettingTexts,
  ),
)

/** The settings that verify JWTs; undefined if JWTs are not accepted. Throws SettingError if some are missing. */
export function jwtSettingsOf({ jwtKeys, jwtIssuer, jwtAudience, jwtScopeClaims: scopeClaims }: ServeConfig) {
  if (jwtKeys !== undefined && jwtIssuer !== undefined && jwtAudience !== undefined) {
    return { keys: jwtKeys, issuer: jwtIssuer, audience: jwtAudience, scopeClaims }
  }
  const flags = { '--jwt-keys': jwtKeys, '--jwt-issuer': jwtIssuer, '--jwt-audience': jwtAudience }
  const missing = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [flag] : []))
  if (missing.length === 3 && isDeepStrictEqual(scopeClaims, defaultConfig.jwtScopeClaims)) return undefined
  throw new SettingError(`--jwt-keys, --jwt-issuer and --jwt-audience belong together: add ${missing.join(' and ')}`)
}

function oneOf<const Name extends string>(names: readonly Name[]): (text: string) => Name {
  return (text) => {
    const name = names.find((each) => each === text)
    if (name !== undefined) return name
    throw new RangeError(`must be one of ${names.join(', ')}`)
  }
}

export function nonEmpty(text: string): string {
  if (text === '') throw new RangeError('must not be empty')
  return text
}

/** A host name or an IP address. The brackets of an IPv6 address are optional. */
function parseHost(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, '$1')
  // A URL cannot contain a zone index such as that of fe80::1%eth0.
  const host = bare.includes(':') ? `[${bare.replace(/%[\w.-]+$/, '')}]` : bare
  if (/[\s/?#@\\]/.test(text) || URL.parse(`http://${host}`) === null) {
    throw new RangeError('must be an address such as 127.0.0.1 or ::1, or the name of a host')
  }
  return text
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^[0-9]{1,5}$/.test(text) || port > 65_535) throw new RangeError('must be a number from 0 to 65535')
  return port
}

function parseListen(text: string): { readonly path: string } | { readonly descriptor: number } {
  const [, kind, where = ''] = /^(unix:|fd:)(.+)$/s.exec(text) ?? []
  if (kind === 'unix:') return { path: where }
  if (kind === 'fd:' && /^[1-9][0-9]{0,5}$/.test(where)) return { descriptor: Number(where) }
  throw new RangeError('must be unix:PATH, fd:NUMBER, or none to listen on --host and --port')
}

/** Milliseconds. @param other what may stand in place of a time. */
export function parseDuration(text: string, other: '0' | 'never' = '0'): number {
  const [, amount, unit = ''] = /^(0|[1-9][0-9]{0,9})([smhd])$/.exec(text === '0' ? '0s' : text) ?? []
  const seconds = Number(amount) * (secondsOfUnit[unit] ?? Number.NaN)
  if (seconds <= durationSecondsMax && (seconds > 0 || other === '0')) return seconds * 1_000
  throw new RangeError(`must be a time such as 90d, 12h, 30m or 60s, at most 36500d, or ${other}`)
}

/** `units` is also the largest burst. */
function parseRateLimit(text: string): { readonly units: number; readonly seconds: number } {
  const [, units, amount, unit = ''] = /^([1-9][0-9]{0,8})\/([1-9][0-9]{0,3})([smh])$/.exec(text) ?? []
  const seconds = secondsOfUnit[unit]
  if (seconds !== undefined) return { units: Number(units), seconds: Number(amount) * seconds }
  throw new RangeError('must be up to 999999999 units and a time of up to 9999 s, m or h, such as 1000/1s, or none')
}

/** A comma-separated list; `none` for an empty one. */
export function parseNames(text: string): readonly string[] {
  const names = text === 'none' ? [] : splitList(text)
  if (names.includes('')) throw new RangeError('must be none, or a list whose items are separated by commas')
  return names
}

function splitList(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}

function parseMetricsListen(text: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^(.*):([0-9]{1,5})$/.exec(text) ?? []
  try {
    return { host: parseHost(host), port: parsePort(port) }
  } catch (cause) {
    throw new RangeError('must be an address and a port, such as 127.0.0.1:9464 or [::1]:9464, or none', { cause })
  }
}

function parseStore(text: string): string {
  const isUrl = /^postgres(ql)?:\/\//i.test(text)
  // Docker's --env-file keeps quotes. A quoted URL would otherwise name a new file that contains the password.
  const looksLikeOne = /:\/\/|^\s*postgres(ql)?:|\b(password|host|dbname|user)\s*=/i.test(text)
  if (looksLikeOne && !isUrl) {
    throw new RangeError('must be the path of a file or a URL that begins with postgres://, without quotes around it')
  }
  return nonEmpty(text)
}

function parseOrigins(text: string): '*' | readonly string[] {
  if (text === '*') return text
  const origins = text === 'none' ? [] : splitList(text)
  // Wildcards such as https://*.example are not supported: origins are compared literally.
  const isOrigin = (origin: string): boolean => URL.parse(origin)?.origin === origin && !origin.includes('*')
  if (!origins.every(isOrigin)) {
    throw new RangeError('must be *, none, or whole origins such as https://plants.example:8080, comma-separated')
  }
  return origins
}

function parsePublicUrl(text: string): string {
  const url = URL.parse(text)
  // In a Location, a path that begins with two slashes would name a host.
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp || url.username + url.password !== '' || /[?#]/.test(text) || url.pathname.includes('//')) {
    throw new RangeError('must be none, or a URL such as https://plants.example/store without user, query or fragment')
  }
  return url.href.replace(/\/$/, '')
}

function parseJwtKeys(text: string): string {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
  if (!isUrl) return nonEmpty(text)
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username + url.password !== '') {
    throw new RangeError('must be none, a URL such as https://login.example/keys without user, or the path of a file')
  }
  return url.href
}

/** Whether a URL names this machine, without asking a name server. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
