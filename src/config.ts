// All settings and their defaults.

import { isDeepStrictEqual } from 'node:util'
import {
  type Address,
  type ListenAt,
  type LogLevel,
  logLevels,
  nonEmpty,
  orNone,
  parseClaims,
  parseDuration,
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

/** The configuration of a server. */
export interface ServeConfig {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** A Unix socket or an inherited socket; undefined to listen on `host` and `port`. */
  readonly listen: ListenAt | undefined
  /** PEM files of the certificate chain and its private key; undefined for plain HTTP. */
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  /** Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  readonly trustProxy: readonly string[]
  /** Path of the store's file, or URL of its database. */
  readonly store: string
  /** An OpenAPI document that says what a plant is; undefined for the bundled one. */
  readonly document: string | undefined
  /** How long the log of changes keeps a change, in milliseconds. */
  readonly changesKept: number
  readonly log: LogLevel
  /** The rate limit of each caller; undefined for unlimited. */
  readonly rateLimit: RateLimit | undefined
  /** Where metrics are served; undefined to disable them. */
  readonly metricsListen: Address | undefined
  /** Origins whose pages may call the service. */
  readonly corsOrigin: '*' | readonly string[]
  /** The URL of the service for clients, without a trailing slash; undefined to derive it from each request. */
  readonly publicUrl: string | undefined
  /** URL or path of the JSON Web Key Set that verifies JWTs; undefined to accept no JWTs. */
  readonly jwtKeys: string | undefined
  /** The required `iss` of JWTs; undefined exactly if `jwtKeys` is. */
  readonly jwtIssuer: string | undefined
  /** The required `aud` of JWTs; undefined exactly if `jwtKeys` is. */
  readonly jwtAudience: string | undefined
  /** The claims of JWTs that contain scopes. */
  readonly jwtScopeClaims: readonly string[]
  /** File for the first token of a new store; `-` to print it, undefined to print it on a terminal only. */
  readonly firstTokenFile: string | undefined
}

/** A setting. A flag takes precedence over an environment variable, which takes precedence over the default. */
interface SettingOf<Name extends keyof ServeConfig> {
  readonly name: Name
  /** As shown in the help: `--port <number>`. */
  readonly flag: string
  readonly environment: string
  /** Undefined if the default depends on the environment; `help` then describes it. */
  readonly defaultText: string | undefined
  readonly help: string
  /** Returns the value, or throws a RangeError that describes the valid texts. */
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
    help: 'proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted: addresses, ranges, loopback, unix; comma-separated',
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
    name: 'document',
    flag: '--document <file>',
    environment: 'PLANTSTORE_DOCUMENT',
    defaultText: 'none',
    help: 'your own copy of the OpenAPI document, whose POST /plants says what a plant is; none for the bundled one',
    parse: orNone(nonEmpty),
  },
  {
    name: 'changesKept',
    flag: '--changes-kept <time>',
    environment: 'PLANTSTORE_CHANGES_KEPT',
    defaultText: '24h',
    help: 'how long GET /changes has a change, such as 24h or 7d; 0 for as short as possible',
    parse: parseDuration,
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
    help: 'rate limit of each token, or of each address without one, such as 1000/1s or 50000/1m; none for no limit',
    parse: orNone(parseRateLimit),
  },
  {
    name: 'metricsListen',
    flag: '--metrics-listen <address>',
    environment: 'PLANTSTORE_METRICS_LISTEN',
    defaultText: 'none',
    help: 'address and port of /metrics for Prometheus, such as 127.0.0.1:9464; none to disable it',
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
    help: 'URL at which clients reach the service, such as https://plants.example/store; none to derive it from each request',
    parse: orNone(parsePublicUrl),
  },
  {
    name: 'jwtKeys',
    flag: '--jwt-keys <place>',
    environment: 'PLANTSTORE_JWT_KEYS',
    defaultText: 'none',
    help: 'accept JWTs signed by these keys: URL of a JWKS, or a file with one; requires the issuer and the audience',
    parse: orNone(parseJwtKeys),
  },
  {
    name: 'jwtIssuer',
    flag: '--jwt-issuer <text>',
    environment: 'PLANTSTORE_JWT_ISSUER',
    defaultText: 'none',
    help: 'the exact iss that JWTs must have',
    parse: orNone(nonEmpty),
  },
  {
    name: 'jwtAudience',
    flag: '--jwt-audience <text>',
    environment: 'PLANTSTORE_JWT_AUDIENCE',
    defaultText: 'none',
    help: 'the exact aud that JWTs must have, alone or in a list',
    parse: orNone(nonEmpty),
  },
  {
    name: 'jwtScopeClaims',
    flag: '--jwt-scope-claims <names>',
    environment: 'PLANTSTORE_JWT_SCOPE_CLAIMS',
    defaultText: 'scope,scp',
    help: 'claims of JWTs that contain scopes, as a text or a list; comma-separated, such as scp,roles',
    parse: parseClaims,
  },
  {
    name: 'firstTokenFile',
    flag: '--first-token-file <file>',
    environment: 'PLANTSTORE_FIRST_TOKEN_FILE',
    defaultText: 'none',
    help: 'file to create for the first token of a new store; - to print it, none to print it on a terminal only',
    parse: orNone(nonEmpty),
  },
]

/** The unparsed text of each setting. */
export type SettingTexts = { readonly [Name in keyof ServeConfig]: string }

/** Throws a RangeError that describes the valid texts. */
export function parseSettings<Name extends keyof ServeConfig>(
  texts: Pick<SettingTexts, Name>,
): Pick<ServeConfig, Name> {
  const entries = Object.entries<string>(texts) as [keyof ServeConfig, string][]
  return Object.fromEntries(entries.map(([name, text]) => [name, setting(name).parse(text)])) as Pick<ServeConfig, Name>
}

/** The configuration without any settings. */
export const defaultConfig: ServeConfig = Object.freeze(
  parseSettings(
    Object.fromEntries(settings.map(({ name, defaultText = 'errors' }) => [name, defaultText])) as SettingTexts,
  ),
)

/**
 * The settings that verify JWTs; undefined if JWTs are not accepted.
 *
 * @throws RangeError that names the missing settings.
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

export function setting(name: keyof ServeConfig): Setting {
  const found = settings.find((candidate) => candidate.name === name)
  if (found === undefined) throw new TypeError(`there is no setting ${name}`)
  return found
}
