// Everything that can be set, with its default, and every limit that a client or an operator can meet, with its unit in
// its name.

/** Limits that hold for every server. None can be switched off. */
export const limits = Object.freeze({
  /** Request line and header fields together; Node.js counts them. Past it: 431. */
  headerBytesMax: 16_384,
  /** Header field lines. Past it: 431. */
  headerFieldsMax: 100,
  /** A request's body. openapi.yaml names the same number at its 413. */
  bodyBytesMax: 65_536,
  /** A Content-Type. Past it: 415. */
  mediaTypeCharactersMax: 256,
  /** How many arrays and objects of a body may stand inside each other. */
  jsonDepthMax: 32,
  /** From the first byte to the end of the header fields. Past it: 408. */
  headersMsMax: 10_000,
  /** From the first byte to the end of the body. Past it: 408. */
  requestMsMax: 20_000,
  /** How often connections are held against the two limits above. */
  connectionCheckMs: 500,
  /** How long a connection may wait for its next request. */
  keepAliveMsMax: 65_000,
  /** Connections at once. Past it: 503, and closed. */
  connectionsMax: 10_000,
  /** How long the rest of a refused body is read and thrown away, so that the client gets to read the refusal. */
  lingerMsMax: 1_000,
  /** Changes that may wait for the writer. Past it: 503. */
  waitingJobsMax: 10_000,
  /** Changes in one transaction. */
  transactionJobsMax: 1_024,
  /** How long a change waits for another process that writes to the same file. Past it: 503. */
  storeBusyMsMax: 1_000,
  /** Plants of an import in one transaction. */
  importCommitPlants: 20_000,
  /** How long an import beside a server keeps a transaction open; the server's changes wait as long. */
  importCommitMs: 200,
  /** How long an import waits for more to come before it commits what it has. */
  importStallMs: 50,
  /** How long an import lets a server write between two transactions: longer than SQLite's longest nap of 100 ms. */
  importPauseMs: 120,
  /** Text of an export that is written at once. */
  exportWriteCharacters: 65_536,
  /** Plants that the search for a page by name looks at. A page that would take more is cut short. */
  pageScanPlantsMax: 10_000,
  /** How long opening a store waits for a command that has it for a moment. */
  storeLockMsMax: 2_000,
  /** Jobs between two checkpoints, which carry the changes from the write-ahead log into the database file. */
  checkpointJobs: 1_000,
  /** Connections to PostgreSQL that read, besides one that writes and one that looks whether the database is there. */
  databaseReaders: 4,
  /** How long a connection to PostgreSQL may take, unless `connect_timeout` says otherwise. */
  databaseConnectMsMax: 2_000,
  /** How long PostgreSQL may take for one read. Past it: 503. */
  databaseReadMsMax: 3_000,
  /** How long PostgreSQL may take for one transaction of changes, commit included. Past it: 503. */
  databaseCommitMsMax: 5_000,
  /** How long a change waits for a row that another transaction has locked. Past it: 503. */
  databaseLockMsMax: 2_000,
  /** Between two looks whether PostgreSQL is there. */
  databaseProbeMs: 250,
  /** How long it may take to answer one. Past it it is away: requests are refused until it is back. */
  databaseProbeMsMax: 1_500,
  /** Between two attempts to reach a PostgreSQL that is away. */
  databaseRetryMs: 100,
  /** How long requests wait for PostgreSQL after a connection was lost, before they are refused. */
  databaseGraceMs: 300,
  /** Reads that may wait for each connection that reads. Past it: 503. */
  databaseReadsMax: 1_000,
  /** How long an opening store waits for a server that brings the tables up to date, and an import for a locked row. */
  databaseOpenLockMsMax: 30_000,
  /** How long PostgreSQL may take for one step of an export, or of an import that is kept as a whole. */
  databaseBulkMsMax: 30_000,
  /** How often a transaction that met another one, or lost its connection, is tried. Past it: 503. */
  databaseAttemptsMax: 8,
  /** Between two rounds in which outlived Idempotency-Keys are taken out of PostgreSQL. */
  outlivedKeysSweepMs: 10_000,
  /** Keys taken out in one round. */
  outlivedKeysSwept: 10_000,
  /** How long an Idempotency-Key is remembered. openapi.yaml says the same. */
  idempotencyKeyMs: 24 * 60 * 60 * 1000,
  /** How long a token that was looked up is trusted before it is looked up again; a revocation takes hold within it. */
  tokenTrustMs: 500,
  /** Tokens that are remembered between requests. */
  trustedTokensMax: 10_000,
  /** The name of a token. */
  tokenNameCharactersMax: 100,
  tokenLifetimeDaysMax: 36_500,
  /** What a client is told to wait after a 503. */
  retryAfterSeconds: 1,
  /** How long a stopping server, not ready any more, still takes requests and asks their clients to close. */
  stopGraceMs: 500,
  /** How long it then waits for the requests in flight. */
  drainMsMax: 1_000,
  /** How long it then waits for a commit under way, before it ends all the same. */
  storeCloseMsMax: 300,
  /** Bytes of the log that may wait for whoever reads it; lines past them are counted and dropped. */
  logWaitingBytesMax: 1024 * 1024,
  /** A signal so soon after the first is the same one: npm passes on what the terminal has sent already. */
  sameSignalMs: 100,
  /** How long a server whose store has failed still answers, before its process ends. */
  failedStoreExitMs: 200,
})

export type Limits = typeof limits

const logLevels = ['all', 'errors', 'off'] as const

export type LogLevel = (typeof logLevels)[number]

/** What a server is started with. */
export interface ServeConfig {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Path of the store's file, or URL of its database. */
  readonly store: string
  readonly log: LogLevel
  /** Origins whose pages may call: `*`, `none`, or a comma-separated list. */
  readonly corsOrigin: string
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
    help: 'address to listen on; 0.0.0.0 or :: for every network',
    parse: nonEmpty,
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
    name: 'store',
    flag: '--store <place>',
    environment: 'PLANTSTORE_STORE',
    defaultText: './data/plants.db',
    help: 'file that the plants and tokens are kept in, or a database: postgres://user@host/database',
    parse: parseStore,
  },
  {
    name: 'log',
    flag: '--log <what>',
    environment: 'PLANTSTORE_LOG',
    defaultText: undefined,
    help: `${logLevels.join(', ')}; unless set, all on a terminal and errors elsewhere`,
    parse: parseLogLevel,
  },
  {
    name: 'corsOrigin',
    flag: '--cors-origin <origins>',
    environment: 'PLANTSTORE_CORS_ORIGIN',
    defaultText: '*',
    help: 'origins whose pages may call, comma-separated; * for all, none for none',
    parse: parseOrigins,
  },
]

/** The origins of a `corsOrigin`. */
export function originsOf(corsOrigin: string): '*' | readonly string[] {
  if (corsOrigin === '*') return '*'
  return corsOrigin === 'none' ? [] : corsOrigin.split(',')
}

/** The setting with a name. */
export function setting(name: keyof ServeConfig): Setting {
  const found = settings.find((candidate) => candidate.name === name)
  if (found === undefined) throw new TypeError(`there is no setting ${name}`)
  return found
}

function nonEmpty(text: string): string {
  if (text === '') throw new RangeError('must not be empty')
  return text
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^[0-9]{1,5}$/.test(text) || port > 65_535) throw new RangeError('must be a number from 0 to 65535')
  return port
}

function parseStore(text: string): string {
  const isUrl = /^postgres(ql)?:\/\//i.test(text)
  const looksLikeOne = /^\s*[a-z][a-z0-9+.-]*:\/\/|^\s*postgres(ql)?:|\b(password|host|dbname|user)\s*=/i.test(text)
  if (looksLikeOne && !isUrl) {
    throw new RangeError('must be the path of a file or a URL that begins with postgres://')
  }
  return nonEmpty(text)
}

function parseLogLevel(text: string): LogLevel {
  const level = logLevels.find((candidate) => candidate === text)
  if (level === undefined) throw new RangeError(`must be one of ${logLevels.join(', ')}`)
  return level
}

function parseOrigins(text: string): string {
  const isOrigin = (origin: string): boolean => URL.canParse(origin) && new URL(origin).origin === origin
  if (text !== '*' && text !== 'none' && !text.split(',').every(isOrigin)) {
    throw new RangeError('must be *, none, or origins such as https://plants.example:8080, comma-separated')
  }
  return text
}
