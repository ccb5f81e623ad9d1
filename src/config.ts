// Everything that can be set, with its default.

import { isDeepStrictEqual } from 'node:util'
import {
  type Address,
  type ListenAt,
  type LogLevel,
  logLevels,
  nonEmpty,
  orNone,
  parseClaims,
  parseHost,
  parseJwtKeys,
  parseListen,
  parseLogLevel,
  parseMetricsListen,
  parseNames,
  parseOrigins,
  parsePort,
  parsePublicUrl,
  parseRateLimit,
  parseStore,
  type RateLimit,
} from './config-texts.ts'

/** What a server is started with. */
export interface ServeConfig {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** A Unix socket, or one that another program has opened; undefined: at `host` and `port`. */
  readonly listen: ListenAt | undefined
  /** Files of a certificate, with those it depends on, and of its private key, in PEM; undefined for plain HTTP. */
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  /** Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. */
  readonly trustProxy: readonly string[]
  /** Path of the store's file, or URL of its database. */
  readonly store: string
  readonly log: LogLevel
  /** What each caller may ask for in a time; undefined for anything. */
  readonly rateLimit: RateLimit | undefined
  /** Where the metrics are served; undefined for nowhere. */
  readonly metricsListen: Address | undefined
  /** Origins whose pages may call. */
  readonly corsOrigin: '*' | readonly string[]
  /** Where clients reach the service, without a slash at its end; undefined when each of them says so itself. */
  readonly publicUrl: string | undefined
  /** Where the keys of JWTs are: the URL of a JSON Web Key Set, or the path of a file with one; undefined for no JWTs. */
  readonly jwtKeys: string | undefined
  /** The `iss` of these JWTs; undefined exactly when there are none. */
  readonly jwtIssuer: string | undefined
  /** The `aud` of these JWTs; undefined exactly when there are none. */
  readonly jwtAudience: string | undefined
  /** The claims of these JWTs that have scopes. */
  readonly jwtScopeClaims: readonly string[]
  /** Path of the file for a new store's first token; undefined for the terminal. */
  readonly firstTokenFile: string | undefined
}

/** A setting that a flag, an environment variable or a default can give, in this order. */
interface SettingOf<Name extends keyof ServeConfig> {
  readonly name: Name
  /** As the help shows it: `--port <number>`. */
  readonly flag: string
  readonly environment: string
  /** Undefined when the default depends on where the program runs; `help` says how then. */
  readonly defaultText: string | undefined
  readonly help: string
  /** Gives the value, or throws a RangeError that says what the text must be. */
  parse(text: string): ServeConfig[Name]
}

export type Setting = { [Name in keyof ServeConfig]: SettingOf<Name> }[keyof ServeConfig]

export const settings: readonly Setting[] = [
  {
    name: 'host',
    flag: '--host <address>',
    environment: 'PLANTSTORE_HOST',
    defaultText: '127.0.0.1',
    help: 'address to listen on; 0.0.0.0 or :: for all interfaces',
    parse: parseHost,
  },
  {
    name: 'port',
    flag: '--port <number>',
    environment: 'PLANTSTORE_PORT',
    defaultText: '3000',
    help: 'port to listen on; 0 picks a free one',
    parse: parsePort,
  },
  {
    name: 'listen',
    flag: '--listen <where>',
    environment: 'PLANTSTORE_LISTEN',
    defaultText: 'none',
    help: 'unix:PATH for a Unix socket, fd:3 for one that systemd has opened; none for --host and --port',
    parse: orNone(parseListen),
  },
  {
    name: 'tlsCert',
    flag: '--tls-cert <file>',
    environment: 'PLANTSTORE_TLS_CERT',
    defaultText: 'none',
    help: 'certificate chain (PEM) to serve HTTPS with; read again on SIGHUP; none for plain HTTP',
    parse: orNone(nonEmpty),
  },
  {
    name: 'tlsKey',
    flag: '--tls-key <file>',
    environment: 'PLANTSTORE_TLS_KEY',
    defaultText: 'none',
    help: 'private key (PEM) of the certificate',
    parse: orNone(nonEmpty),
  },
  {
    name: 'trustProxy',
    flag: '--trust-proxy <addresses>',
    environment: 'PLANTSTORE_TRUST_PROXY',
    defaultText: 'none',
    help: 'proxies whose X-Forwarded-For and X-Forwarded-Proto are believed: addresses, ranges, loopback, unix; comma-separated',
    parse: parseNames,
  },
  {
    name: 'store',
    flag: '--store <place>',
    environment: 'PLANTSTORE_STORE',
    defaultText: './data/plants.db',
    help: 'file that holds the plants and tokens, or a database: postgres://user@host/database',
    parse: parseStore,
  },
  {
    name: 'log',
    flag: '--log <what>',
    environment: 'PLANTSTORE_LOG',
    defaultText: undefined,
    help: `${logLevels.join(', ')}; by default all on a terminal, errors elsewhere`,
    parse: parseLogLevel,
  },
  {
    name: 'rateLimit',
    flag: '--rate-limit <units/time>',
    environment: 'PLANTSTORE_RATE_LIMIT',
    defaultText: 'none',
    help: 'what each token, or address without one, may ask for, such as 1000/1s or 50000/1m; none for anything',
    parse: orNone(parseRateLimit),
  },
  {
    name: 'metricsListen',
    flag: '--metrics-listen <address>',
    environment: 'PLANTSTORE_METRICS_LISTEN',
    defaultText: 'none',
    help: 'address and port, such as 127.0.0.1:9464, at which Prometheus finds /metrics; none for nowhere',
    parse: orNone(parseMetricsListen),
  },
  {
    name: 'corsOrigin',
    flag: '--cors-origin <origins>',
    environment: 'PLANTSTORE_CORS_ORIGIN',
    defaultText: '*',
    help: 'origins whose pages may call the service, comma-separated; * for all, none for none',
    parse: parseOrigins,
  },
  {
    name: 'publicUrl',
    flag: '--public-url <url>',
    environment: 'PLANTSTORE_PUBLIC_URL',
    defaultText: 'none',
    help: 'URL at which clients reach the service, such as https://plants.example/store; none for the address of each request',
    parse: orNone(parsePublicUrl),
  },
  {
    name: 'jwtKeys',
    flag: '--jwt-keys <place>',
    environment: 'PLANTSTORE_JWT_KEYS',
    defaultText: 'none',
    help: 'accept JWTs signed by these keys: URL of a JWKS, or a file with one; needs the issuer and audience, too',
    parse: orNone(parseJwtKeys),
  },
  {
    name: 'jwtIssuer',
    flag: '--jwt-issuer <text>',
    environment: 'PLANTSTORE_JWT_ISSUER',
    defaultText: 'none',
    help: 'the iss that JWTs must have, to the letter',
    parse: orNone(nonEmpty),
  },
  {
    name: 'jwtAudience',
    flag: '--jwt-audience <text>',
    environment: 'PLANTSTORE_JWT_AUDIENCE',
    defaultText: 'none',
    help: 'the aud that JWTs must have, or have among others, to the letter',
    parse: orNone(nonEmpty),
  },
  {
    name: 'jwtScopeClaims',
    flag: '--jwt-scope-claims <names>',
    environment: 'PLANTSTORE_JWT_SCOPE_CLAIMS',
    defaultText: 'scope,scp',
    help: 'the claims of JWTs that have scopes, as a text or a list, comma-separated, such as scp,roles',
    parse: parseClaims,
  },
  {
    name: 'firstTokenFile',
    flag: '--first-token-file <file>',
    environment: 'PLANTSTORE_FIRST_TOKEN_FILE',
    defaultText: 'none',
    help: 'new file for the first token of a store that has none; none to print it, on a terminal only',
    parse: orNone(nonEmpty),
  },
]

/** The text of each setting. */
export type SettingTexts = { readonly [Name in keyof ServeConfig]: string }

/** Throws a RangeError that says what a text must be. */
export function parseSettings<Name extends keyof ServeConfig>(
  texts: Pick<SettingTexts, Name>,
): Pick<ServeConfig, Name> {
  const entries = Object.entries<string>(texts) as [keyof ServeConfig, string][]
  return Object.fromEntries(entries.map(([name, text]) => [name, setting(name).parse(text)])) as Pick<ServeConfig, Name>
}

/** What a server is started with when nothing is said. */
export const defaultConfig: ServeConfig = Object.freeze(
  parseSettings(
    Object.fromEntries(settings.map(({ name, defaultText = 'errors' }) => [name, defaultText])) as SettingTexts,
  ),
)

/**
 * What JWTs are held to; undefined when none are accepted.
 *
 * @throws RangeError that says what to add when something is missing.
 */
export function jwtSettingsOf({ jwtKeys, jwtIssuer, jwtAudience, jwtScopeClaims: scopeClaims }: ServeConfig) {
  if (jwtKeys !== undefined && jwtIssuer !== undefined && jwtAudience !== undefined) {
    return { keys: jwtKeys, issuer: jwtIssuer, audience: jwtAudience, scopeClaims }
  }
  const values = { jwtKeys, jwtIssuer, jwtAudience }
  const names = ['jwtKeys', 'jwtIssuer', 'jwtAudience'] as const
  const missing = names.filter((name) => values[name] === undefined)
  if (missing.length === names.length && isDeepStrictEqual(scopeClaims, defaultConfig.jwtScopeClaims)) return undefined
  const flags = missing.map((name) => setting(name).flag.split(' ')[0])
  throw new RangeError(`--jwt-keys, --jwt-issuer and --jwt-audience belong together: add ${flags.join(' and ')}`)
}

/** The setting with a name. */
export function setting(name: keyof ServeConfig): Setting {
  const found = settings.find((candidate) => candidate.name === name)
  if (found === undefined) throw new TypeError(`there is no setting ${name}`)
  return found
}
