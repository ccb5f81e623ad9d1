// Every limit that clients or operators can encounter. Names contain the unit. "Above" states what exceeding it does.

/** Limits of every server. None can be disabled. */
export const limits = Object.freeze({
  // Requests and their connections: src/http/wire/.
  /** Request line and header fields together, including line ends. Above: 431. */
  headerBytesMax: 16_384,
  /** Header field lines. Above: 431. */
  headerFieldsMax: 100,
  /** Header bytes of a plain request. */
  plainHeaderBytesMax: 4_096,
  /** Request body. openapi.yaml states the same number at its 413. */
  bodyBytesMax: 65_536,
  jsonDepthMax: 32,
  /** From the first byte to the end of the header fields. Above: 408. */
  headersMsMax: 10_000,
  /** From the first byte to the end of the body. Above: 408. */
  requestMsMax: 20_000,
  /** From the end of the body to a response. Above: the connection is closed. */
  answeringMsMax: 60_000,
  /** Idle time of a keep-alive connection. */
  keepAliveMsMax: 65_000,
  /** Interval at which connections are checked against these limits, and unread bytes are counted. */
  connectionCheckMs: 500,
  /** Bytes of incomplete requests, over all connections. Above: the slowest are rejected with 503. */
  arrivingBytesMax: 32 * 1024 * 1024,
  /** Concurrent connections; fewer if the limit on open files is lower. Above: 503, and closed. */
  connectionsMax: 10_000,
  /** How long a client may read nothing. It is disconnected after this time, or up to twice as long. */
  unreadMsMax: 20_000,
  /**
   * Unread output over all connections. Above: lists of plants and new streams of changes get 503, streams get nothing
   * more, and the slowest readers are disconnected.
   */
  unreadBytesMax: 48 * 1024 * 1024,
  /** A client that reads nothing for this long may be disconnected once unread output reaches 3/4 of that limit. */
  slowReaderMs: 2_000,
  /** How long a closing connection discards further input, so that the client can read the last response. */
  lingerMsMax: 1_000,

  // Tokens, JWTs and rates: src/http/ and src/identity/.
  /** Lifetime of an Idempotency-Key. openapi.yaml states the same number. */
  idempotencyKeyMs: 24 * 60 * 60 * 1000,
  /** How long a token lookup is cached; a revocation takes effect within this time. */
  tokenTrustMs: 500,
  trustedTokensMax: 10_000,
  /** How long a verified JWT is cached, unless it expires earlier. */
  jwtTrustMs: 60_000,
  /** JWTs in the cache, and their characters. */
  trustedJwtsMax: 10_000,
  trustedJwtCharactersMax: 16 * 1024 * 1024,
  /** Tolerated clock difference between the issuer of a JWT and the server. */
  jwtClockToleranceSeconds: 5,
  /** Timeout of a request for the keys of JWTs. */
  jwksMsMax: 3_000,
  jwksRefreshMs: 5 * 60 * 1000,
  /** Time between a fetch and the next one for an unknown key; and between refreshes while the provider is away. */
  jwksCooldownMs: 10_000,
  /** How long keys stay valid if they cannot be refreshed. */
  jwksKeptMsMax: 24 * 60 * 60 * 1000,
  tokenNameCharactersMax: 100,
  /** Interval at which first uses of tokens on a day are recorded together. */
  tokenUsesMs: 10_000,
  /** Callers whose rate is tracked. Above: those with the lowest usage are forgotten. */
  rateLimitedCallersMax: 100_000,

  // Lists, searches and summaries.
  /** Plants that a search by name examines for one page. Above: the page is cut short. */
  pageScanPlantsMax: 10_000,
  /** Queued searches by name in a file. Above: 503. */
  searchesMax: 100,
  /** Queued long lists in a file. Above: 503. */
  listsMax: 10_000,
  /**
   * Approximate bytes of a page that is read at once: from a file by the main thread, and from a database beside others.
   * A worker thread reads longer pages from a file. From a database, they are read one after another.
   */
  quickPageBytesMax: 512 * 1024,
  /** Tags in a summary: the most common ones. */
  summaryTagsMax: 100,
  /** Tags of a file that a summary examines. If there are more, it uses the first. */
  summaryTagsCounted: 10_000,
  /** Tags of a file that the main thread summarizes. A worker thread summarizes more. */
  quickSummaryTagsMax: 100,
  /** Plants in PostgreSQL that a summary counts. If there are more, it estimates. */
  summaryPlantsCounted: 10_000,

  // The log of changes and its streams.
  /** Changes that are read for one page of the log, in characters of JSON. Above: the page is cut short. */
  changePageCharactersMax: 1_000_000,
  /** Approximate number of characters of changes in one row of the log. */
  changeRowCharactersMax: 64 * 1024,
  /** Streams of changes. Above: 503. */
  changeStreamsMax: 1_000,
  /** Streams of changes of one credential. Above: 429. */
  changeStreamsOfCallerMax: 20,
  changeStreamPollMs: 100,
  /** Changes that are written to a stream at once. */
  changeStreamPage: 200,
  /** Unread output of a stream. Above: nothing is written to it until the client reads. */
  changeStreamUnreadBytesMax: 64 * 1024,
  /** Interval of comments on a stream without changes. */
  changeStreamCommentMs: 15_000,
  /** Interval at which the credentials of streams are checked. */
  changeStreamCheckMs: 250,
  /** Size of the log of changes. Above: changes that only a webhook needs are deleted, and the webhook is paused. */
  changesBytesMax: 4 * 1024 * 1024 * 1024,
  changesSweepMs: 60_000,
  /** How long changes are kept at least. In PostgreSQL, they also show whether a transaction committed. */
  changesKeptMsMin: 10 * 60 * 1000,

  // Webhooks: src/deliver/.
  webhookUrlCharactersMax: 2_000,
  /** Secrets that sign for a webhook at the same time. Above: it cannot be rotated. */
  webhookSecretsMax: 10,
  webhookPollMs: 200,
  /** Interval at which a server looks for webhooks that were added, paused or removed. */
  webhookRefreshMs: 1_000,
  /** Interval at which a server stores its progress. After a crash, changes accepted since then are sent again. */
  webhookSaveMs: 500,
  /** In a fleet, how long a server that sends for a webhook may be silent before another takes over. */
  webhookLeaseMs: 10_000,
  /** How long before the end of its lease that server stops sending. It also stores its progress at this interval. */
  webhookLeaseMarginMs: 2_000,
  webhookPage: 100,
  /** Requests of one webhook at the same time, each until its answer has ended. */
  webhookInFlightMax: 10,
  /** Connections to receivers, shared by all webhooks. Each webhook has at least one. */
  webhookSocketsMax: 64,
  /** Plants with a change that a webhook's receiver did not accept. Above: no changes of other plants are sent. */
  webhookBlockedMax: 100,
  /** How long a request of a webhook may take, to the end of its answer. */
  webhookAnswerMsMax: 10_000,
  webhookAnswerBytesMax: 64 * 1024,
  /** Pause before a change is sent again, the first time; later pauses are longer. */
  webhookRetryMs: 5_000,
  /** Longest Retry-After that is obeyed. */
  webhookRetryAfterMsMax: 60 * 60 * 1000,
  /** Requests for a change before it is given up: over three days. As many failures of a receiver pause its webhook. */
  webhookTriesMax: 29,
  /** How long a stopping server waits for the receivers of webhooks. */
  webhookStopMs: 500,

  // Group commit: src/store/.
  /** Changes that wait for a commit. Above: 503. */
  waitingJobsMax: 10_000,
  transactionJobsMax: 1_024,
  /** How long a batch waits for the callers who were just answered. */
  gatheringMsMax: 10,

  // Stores in a file: src/store/sqlite/.
  /** How long a change waits for another process that writes to the same file. Above: 503. */
  storeBusyMsMax: 1_000,
  /** A server checks a file up to this size before it starts; a separate process checks a larger one afterwards. */
  storeCheckBytesMax: 4 * 1024 * 1024,
  /** Interval at which an idle store checks that its files exist. Each commit checks, too. */
  storeWatchMs: 500,
  /** How long opening a store waits for a command that is opening or closing it. */
  storeLockMsMax: 2_000,
  /** Interval at which a command retries to open the store. */
  storeLockCheckMs: 5,
  /** Jobs between two checkpoints, which copy the write-ahead log into the database. A transaction adds some jobs. */
  checkpointJobs: 5_000,

  // Stores in PostgreSQL: src/store/postgres/.
  /** PostgreSQL connections for reads. There are also two for writes and one for health checks. */
  databaseReaders: 4,
  /** How long connecting to PostgreSQL may take, unless `connect_timeout` is set. */
  databaseConnectMsMax: 2_000,
  /** Idle time after which TCP keep-alive probes are sent, so that no firewall drops the connection. */
  databaseKeepAliveMs: 10_000,
  /** How long PostgreSQL keeps the session, and the locks, of a machine that does not respond. */
  databaseDeadClientMsMax: 25_000,
  /** Timeout of a read in PostgreSQL. Above: 503. */
  databaseReadMsMax: 3_000,
  /** Timeout of a transaction of changes in PostgreSQL, commit included. Above: 503. */
  databaseCommitMsMax: 5_000,
  /** How long a transaction may be idle before PostgreSQL ends it, so that others can continue. */
  databaseIdleMsMax: 2_000,
  /** How long a change may wait for a row that another session has locked. Above: 503. */
  databaseLockMsMax: 2_000,
  /** How long a batch waits for such a row before the change that needs it is set aside. */
  databaseLockMs: 50,
  /** How long to search a batch for the changes that meet locked rows. Above: the whole batch is set aside. */
  databaseLockSearchMsMax: 500,
  /** How long each retry of a change that was set aside waits for the lock; and the pause while its row is locked. */
  databaseLockRetryMs: 20,
  /** How long later changes of the same plant are set aside immediately. */
  databaseLockMemoryMs: 10_000,
  /** Changes set aside at once, and plants remembered. Above: 503. */
  databaseLockedJobsMax: 1_000,
  databaseProbeMs: 250,
  /** Timeout of a health check. Above: requests are rejected until PostgreSQL is back. */
  databaseProbeMsMax: 1_500,
  /**
   * How long a connection with a pending query may be silent before another connection asks PostgreSQL whether it is
   * processing the query. If not, the connection is closed.
   */
  databaseSilenceMs: 1_000,
  /** Interval of reconnection attempts. */
  databaseRetryMs: 100,
  /** Minimum time between two log lines that say why PostgreSQL is unreachable. */
  databaseReasonMs: 1_000,
  /** How long requests wait for a reconnection to PostgreSQL before they are rejected. */
  databaseGraceMs: 1_500,
  /** Queued reads of each connection for reads. Above: 503. */
  databaseReadsMax: 1_000,
  /** How long opening a store waits for the migration of another server, and an import for a locked row. */
  databaseOpenLockMsMax: 30_000,
  /** Timeout of one step of an export, or of an import that is committed as a whole. */
  databaseBulkMsMax: 30_000,
  /** Attempts of a transaction that meets conflicts or loses its connection. Above: 503. */
  databaseAttemptsMax: 8,
  /** Maximum pause before the third attempt; later pauses are longer. */
  databaseAttemptPauseMs: 20,
  /** How long creates are looked up before they are written, after one met a plant or key that was there. */
  databaseLookUpMs: 1_000,
  /** Lock timeout of a migration attempt. Reads of other servers wait as long. */
  databaseMigrationLockMs: 100,
  databaseCloseMsMax: 200,
  /** How long the log keeps rows without changes, which only show that a transaction committed, or never will. */
  databaseCommitKnownMs: 24 * 60 * 60 * 1000,

  // Import and export: src/files/.
  /** Plants of an import in one transaction. */
  importCommitPlants: 20_000,
  importReadBytes: 64 * 1024,
  recordCharactersShown: 200,
  exportBatchPlants: 2_000,

  // The kit.
  /** How long `plantstore verify` waits for a response, unless `--timeout` is set. */
  verifyAnswerMs: 10_000,
  verifyAnswerSecondsMax: 600,

  // The process: its stop, its log, its terminal.
  /** How long a stopping server, no longer ready, accepts requests and asks clients to close. */
  stopGraceMs: 500,
  /** How long it then waits for connections on their way, and for requests in flight. */
  drainMsMax: 1_000,
  /** How long it then waits for a pending commit before it exits. */
  storeCloseMsMax: 200,
  /** Buffered bytes of the log. Above: lines are counted and dropped. */
  logWaitingBytesMax: 1024 * 1024,
  /**
   * Minimum time between two log lines of failures, or of rejections by a limit, with the same error. The rest are
   * counted.
   */
  repeatedLineMs: 1_000,
  /** Minimum time between two log lines with the same stack. */
  repeatedStackMs: 10 * 60 * 1000,
  /** Interval at which a program that npm has started checks whether npm's shell is still there. */
  parentCheckMs: 200,
  /** A repeated signal within this time is the same one: npm passes on what the terminal already sent. */
  sameSignalMs: 100,
  /** How long a server with a failed store still responds before it exits. */
  failedStoreExitMs: 200,
})

export type Limits = Readonly<Record<keyof typeof limits, number>>

/** Limits of commands: longer, because no request waits for them and the machine may be busy. */
export const commandLimits = Object.freeze({
  ...limits,
  databaseConnectMsMax: 10_000,
  databaseProbeMsMax: 10_000,
  // On a slow disk, a process that opens a store may hold its lock for seconds.
  storeLockMsMax: 10_000,
})
