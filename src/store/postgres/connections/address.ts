// The address and connection parameters of a PostgreSQL database, from its URL or from libpq's PG* variables
// (postgresql.org/docs/current/libpq-connect.html). The URL takes precedence.

import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { ConnectionOptions } from 'node:tls'
import { messageOf, SettingError } from '../../../domain/errors.ts'
import type { Environment, StoreOptions } from '../../engine.ts'

export type Address = ReturnType<typeof parseAddress>

/** Supported parameters of libpq, and their variables. */
const variables = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  application_name: 'PGAPPNAME',
  options: 'PGOPTIONS',
} as const

type Parameter = keyof typeof variables
type Parameters = Partial<Record<Parameter, string>>

const urlPattern =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(\[[0-9a-f:.]+\]|[^:@,/?#[\]]*)(?::([0-9]*))?(?:\/([^?#]*))?(?:\?([^#]*))?$/i
const severalHostsPattern = /^postgres(?:ql)?:\/\/(?:[^@/?#]*@)?[^@/?#]*,/i

/**
 * Parses a connection URL, such as `postgres://garden@db1:5432/plants?sslmode=verify-full`.
 *
 * @throws SettingError that describes the problem without revealing the password.
 */
export function parseAddress(url: string, environment: Environment) {
  const given = readUrl(url)
  const of = (name: Parameter): string | undefined => given[name] || environment[variables[name]] || undefined
  const nameOf = (name: Parameter): string => (given[name] ? `${name} in the URL of the store` : variables[name])
  const host = of('host') ?? 'localhost'
  const port = of('port') ?? '5432'
  if (`${host}${port}`.includes(',')) throw severalHosts()
  const user = of('user') ?? nameOfUser()
  /** With the modes of libpq. */
  const tls = {
    mode: of('sslmode') ?? 'prefer',
    rootFile: of('sslrootcert'),
    certFile: of('sslcert'),
    keyFile: of('sslkey'),
  }
  // Fail early if a file is unreadable. Like libpq, each connection reads the files again: certificates can be renewed.
  readTlsAttempts(tls, nameOf('sslmode'))
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: readPort(port, nameOf('port')),
    user,
    database: of('dbname') ?? user,
    /** If undefined, the password file is consulted. */
    password: of('password'),
    tls,
    /** If undefined, the default limit applies. */
    connectMsMax: readTimeout(of('connect_timeout'), nameOf('connect_timeout')),
    applicationName: of('application_name') ?? 'plantstore',
    /** Settings of the session, such as `-c search_path=garden`. */
    options: of('options'),
  }
}

/** A URL without password and parameters. Any part of a malformed one may be the password, so all of it is hidden. */
export function describeUrl(url: string): string {
  const [all, user, , host, port, database] = urlPattern.exec(url) ?? []
  if (all === undefined || database?.includes('@')) return 'postgres://...'
  return `postgres://${user ? `${user}@` : ''}${host}${port ? `:${port}` : ''}${database ? `/${database}` : ''}`
}

/** The variables that supply parameters missing from the URL, with their values; a password is hidden. */
export function settingsOf(url: string, environment: Environment): readonly (readonly [name: string, value: string])[] {
  const given = readUrl(url)
  return Object.entries(variables).flatMap(([name, variable]) => {
    const value = environment[variable]
    if (given[name as Parameter] || !value) return []
    return [[variable, name === 'password' ? '(set, not shown)' : value] as const]
  })
}

function nameOfUser(): string {
  try {
    return userInfo().username
  } catch (cause) {
    throw new SettingError('this user has no name on this machine; name a user in the URL or in PGUSER', { cause })
  }
}

function readUrl(url: string): Parameters {
  const match = urlPattern.exec(url)
  if (match === null) throw severalHostsPattern.test(url) ? severalHosts() : malformedUrl()
  const [, user, password, host, port, dbname, query] = match
  const given: Parameters = {}
  for (const [name, value] of Object.entries({ user, password, dbname, host, port })) {
    if (value) given[name as Parameter] = decode(value)
  }
  for (const pair of (query ?? '').split('&').filter((text) => text !== '')) {
    // Unlike in a form, but like in libpq, a plus sign is literal.
    const [name = '', ...rest] = pair.split('=').map(decode)
    if (!Object.hasOwn(variables, name)) {
      throw new SettingError(
        `the URL of the store has an unknown parameter; the known ones are ${Object.keys(variables).join(', ')}`,
      )
    }
    given[name as Parameter] = rest.join('=')
  }
  return given
}

/** Does not quote the input, which may contain a password. */
function malformedUrl(): SettingError {
  return new SettingError(
    'the store must be a URL such as postgres://user@host:5432/database; in its parts, percent-encode other characters: @ is %40',
  )
}

function severalHosts(): SettingError {
  return new SettingError(
    'the store must have one host; put HAProxy in front of several hosts (docs/postgresql.md) and use its address',
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new SettingError('the URL of the store is not valid percent-encoded UTF-8; write % as %25')
  }
}

function readPort(text: string, name: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new SettingError(`${name} must be a number from 1 to 65535, got ${text}`)
}

/** Parses seconds; 0 selects the default limit. */
function readTimeout(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === '0') return undefined
  if (!/^[0-9]{1,6}$/.test(text)) throw new SettingError(`${name} must be a number of seconds, got ${text}`)
  return Number(text) * 1000
}

/** TLS options; false for a connection without TLS. */
export type TlsAttempt = ConnectionOptions | false

/**
 * The attempts to make, in order. `prefer` does not protect, `require` protects against eavesdropping, and only
 * `verify-full` also protects against impersonation.
 *
 * @param modeName the name of the setting that selects the mode.
 * @throws SettingError if the mode is unknown or a file cannot be read.
 */
export function readTlsAttempts(
  { mode, rootFile, certFile, keyFile }: Address['tls'],
  modeName = 'sslmode',
): readonly TlsAttempt[] {
  const ca = rootFile === undefined || rootFile === 'system' ? undefined : readFile(rootFile)
  const own = {
    ...(certFile !== undefined && { cert: readFile(certFile) }),
    ...(keyFile !== undefined && { key: readFile(keyFile) }),
  }
  const unverified = { ...own, rejectUnauthorized: false }
  const chainOnly = { ...own, ca, checkServerIdentity: () => undefined }
  if (mode === 'verify-ca' && ca === undefined) {
    throw new SettingError('sslmode=verify-ca needs sslrootcert, the certificate file of the authority')
  }
  const attempts = new Map<string, readonly TlsAttempt[]>([
    ['disable', [false]],
    ['allow', [false, unverified]],
    ['prefer', [unverified, false]],
    ['require', [ca === undefined ? unverified : chainOnly]],
    ['verify-ca', [chainOnly]],
    ['verify-full', [{ ...own, ca }]],
  ]).get(mode)
  if (attempts !== undefined) return attempts
  throw new SettingError(`${modeName} must be disable, allow, prefer, require, verify-ca or verify-full, got ${mode}`)
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new SettingError(`${path} cannot be read: ${messageOf(cause)}`, { cause })
  }
}

export interface DatabaseOptions extends StoreOptions {
  readonly address: Address
  /** The address for display, without its password. */
  readonly place: string
}

/** @throws OperatorError if the URL is malformed. */
export function locate(url: string, options: StoreOptions): DatabaseOptions {
  return { ...options, address: parseAddress(url, options.environment), place: describeUrl(url) }
}
