// Everything that can be set, with its default.

import {
  type LogLevel,
  logLevels,
  nonEmpty,
  parseClaims,
  parseHost,
  parseJwtKeys,
  parseListen,
  parseLogLevel,
  parseMetricsListen,
  parseOrigins,
  parsePort,
  parsePublicUrl,
  parseRateLimit,
  parseStore,
} from './config-texts.ts'

/** What a server is started with. */
export interface ServeConfig {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** `unix:` and a path, `fd:` and a descriptor, or `none`: at `host` and `port`. */
  readonly listen: string
  /** Files of a certificate, with those it depends on, and of its private key, in PEM; `none` for plain HTTP. */
  readonly tlsCert: string
  readonly tlsKey: string
  /** Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed: a comma-separated list, or `none`. */
  readonly trustProxy: string
  /** Path of the store's file, or URL of its database. */
  readonly store: string
  readonly log: LogLevel
  /** Units that each caller may ask for in a time, such as `1000/1s`, or `none`. */
  readonly rateLimit: string
  /** Address and port at which the metrics are served, or `none`. */
  readonly metricsListen: string
  /** Origins whose pages may call: `*`, `none`, or a comma-separated list. */
  readonly corsOrigin: string
  /** Where clients reach the service, without a slash at its end; `none` when each of them says so itself. */
  readonly publicUrl: string
  /** Where the keys of JWTs are: the URL of a JSON Web Key Set, or the path of a file with one; `none` for no JWTs. */
  readonly jwtKeys: string
  /** The `iss` of these JWTs; `none` exactly when there are none. */
  readonly jwtIssuer: string
  /** The `aud` of these JWTs; `none` exactly when there are none. */
  readonly jwtAudience: string
  /** The claims of these JWTs that have scopes, comma-separated. */
  readonly jwtScopeClaims: string
  /** Path of the file for a new store's first token; `none` for the terminal. */
  readonly firstTokenFile: string
}

/** A setting that a flag, an environment variable or a default can give, in this order. */
export interface Setting {
  readonly name: keyof ServeConfig
  /** As the help shows it: `--port <number>`. */
  readonly flag: string
  readonly environment: string
  /** Undefined when the default depends on where the program runs; `help` says how then. */
  readonly defaultText: string | undefined
  readonly help: string
  /** Gives the value, or throws a RangeError that says what the text must be. */
  parse(text: string): string | number
}

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
    parse: parseListen,
  },
  {
    name: 'tlsCert',
    flag: '--tls-cert <file>',
    environment: 'PLANTSTORE_TLS_CERT',
    defaultText: 'none',
    help: 'certificate chain (PEM) to serve HTTPS with; read again on SIGHUP; none for plain HTTP',
    parse: nonEmpty,
  },
  {
    name: 'tlsKey',
    flag: '--tls-key <file>',
    environment: 'PLANTSTORE_TLS_KEY',
    defaultText: 'none',
    help: 'private key (PEM) of the certificate',
    parse: nonEmpty,
  },
  {
    name: 'trustProxy',
    flag: '--trust-proxy <addresses>',
    environment: 'PLANTSTORE_TRUST_PROXY',
    defaultText: 'none',
    help: 'proxies whose X-Forwarded-For and X-Forwarded-Proto are believed: addresses, ranges, loopback, unix; comma-separated',
    parse: nonEmpty,
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
    parse: parseRateLimit,
  },
  {
    name: 'metricsListen',
    flag: '--metrics-listen <address>',
    environment: 'PLANTSTORE_METRICS_LISTEN',
    defaultText: 'none',
    help: 'address and port, such as 127.0.0.1:9464, at which Prometheus finds /metrics; none for nowhere',
    parse: parseMetricsListen,
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
    parse: parsePublicUrl,
  },
  {
    name: 'jwtKeys',
    flag: '--jwt-keys <place>',
    environment: 'PLANTSTORE_JWT_KEYS',
    defaultText: 'none',
    help: 'accept JWTs signed by these keys: URL of a JWKS, or a file with one; needs the issuer and audience, too',
    parse: parseJwtKeys,
  },
  {
    name: 'jwtIssuer',
    flag: '--jwt-issuer <text>',
    environment: 'PLANTSTORE_JWT_ISSUER',
    defaultText: 'none',
    help: 'the iss that JWTs must have, to the letter',
    parse: nonEmpty,
  },
  {
    name: 'jwtAudience',
    flag: '--jwt-audience <text>',
    environment: 'PLANTSTORE_JWT_AUDIENCE',
    defaultText: 'none',
    help: 'the aud that JWTs must have, or have among others, to the letter',
    parse: nonEmpty,
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
    parse: nonEmpty,
  },
]

/** The origins of a `corsOrigin`. */
export function originsOf(corsOrigin: string): '*' | readonly string[] {
  if (corsOrigin === '*') return '*'
  return corsOrigin === 'none' ? [] : corsOrigin.split(',')
}

/** The URL of a `publicUrl`, or undefined when there is none. */
export function publicUrlOf(publicUrl: string): string | undefined {
  return publicUrl === 'none' ? undefined : publicUrl
}

/** What a server is started with when nothing is said. */
export const defaultConfig = Object.freeze(
  Object.fromEntries(settings.map(({ name, parse, defaultText = 'errors' }) => [name, parse(defaultText)])),
) as unknown as ServeConfig

/**
 * What JWTs are held to; undefined when none are accepted.
 *
 * @throws RangeError that says what to add when something is missing.
 */
export function jwtSettingsOf({ jwtKeys, jwtIssuer, jwtAudience, jwtScopeClaims }: ServeConfig) {
  const names = ['jwtKeys', 'jwtIssuer', 'jwtAudience'] as const
  const values = { jwtKeys, jwtIssuer, jwtAudience }
  const missing = names.filter((name) => values[name] === 'none').map((name) => setting(name).flag.split(' ')[0])
  if (missing.length === names.length && jwtScopeClaims === defaultConfig.jwtScopeClaims) return undefined
  const scopeClaims = jwtScopeClaims.split(',')
  if (missing.length === 0) return { keys: jwtKeys, issuer: jwtIssuer, audience: jwtAudience, scopeClaims }
  throw new RangeError(`--jwt-keys, --jwt-issuer and --jwt-audience belong together: add ${missing.join(' and ')}`)
}

/** The path of a `firstTokenFile`, or undefined when there is none. */
export function firstTokenPathOf(firstTokenFile: string): string | undefined {
  return firstTokenFile === 'none' ? undefined : firstTokenFile
}

/** The setting with a name. */
export function setting(name: keyof ServeConfig): Setting {
  const found = settings.find((candidate) => candidate.name === name)
  if (found === undefined) throw new TypeError(`there is no setting ${name}`)
  return found
}
