// Every limit that a client or an operator can meet, with its unit in its name.

/** Limits that hold for every server. None can be switched off. */
export const limits = Object.freeze({
  /** Request line and header fields together, line ends included. Past it: 431. */
  headerBytesMax: 16_384,
  /** Header field lines. Past it: 431. */
  headerFieldsMax: 100,
  /** Those of a request that may go the short way; longer ones go the long one. */
  plainHeaderBytesMax: 4_096,
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
  /** From then to an answer. Past it the connection is cut. */
  answeringMsMax: 60_000,
  /** How often connections are held against these limits, and what waits to be read is counted. */
  connectionCheckMs: 500,
  /** Bytes of requests that are still arriving, over all connections. Past it the slowest are refused: 503. */
  arrivingBytesMax: 32 * 1024 * 1024,
  /** How long a connection may wait for its next request. */
  keepAliveMsMax: 65_000,
  /** Connections at once; fewer where the process may not have so many files open. Past it: 503, and closed. */
  connectionsMax: 10_000,
  /** Connections that the system makes before the server takes them, if it is set up for so many. */
  unacceptedConnectionsMax: 4_096,
  /** Connections past that number that are told so at the same time. Past it they are closed without an answer. */
  refusedConnectionsMax: 32,
  /** Descriptors that connections leave to the store, to those that are refused, and to everything else. */
  descriptorsKept: 128,
  /** Requests of one connection that are worked on at once. Those behind them wait until they are answered. */
  pipelinedRequestsMax: 16,
  /** How long a client may read nothing of what it was sent. Past it, and at most twice as long, it is cut off. */
  unreadMsMax: 20_000,
  /**
   * Bytes that may wait to be read, over all connections. Past it no page of plants is made (503), and the slowest
   * readers are cut off.
   */
  unreadBytesMax: 48 * 1024 * 1024,
  /** A client that has read nothing for so long may be cut off when three quarters of these bytes wait. */
  slowReaderMs: 2_000,
  /** How long what a client still sends is read and thrown away, so that it gets to read the last answer. */
  lingerMsMax: 1_000,
  /** Changes that may wait for a commit. Past it: 503. */
  waitingJobsMax: 10_000,
  /** Changes in one transaction. */
  transactionJobsMax: 1_024,
  /** How long a change waits for another process that writes to the same file. Past it: 503. */
  storeBusyMsMax: 1_000,
  /** A file up to this size is looked through when a server opens it; a larger one by a process beside it. */
  storeCheckBytesMax: 4 * 1024 * 1024,
  /**
   * How long opening a larger file waits for its pages to be looked through. Damage that is found later ends the
   * server.
   */
  storeCheckMsMax: 200,
  /** How often a store that only reads looks whether its files are still there; each commit looks, too. */
  storeWatchMs: 500,
  /** What the write-ahead log of a file keeps of its size when it is begun anew. */
  logBytesKept: 64 * 1024 * 1024,
  /** Pages of a file that each connection to it keeps in memory: one that writes, and up to three that read. */
  cacheBytes: 16 * 1024 * 1024,
  /** Plants of an import in one transaction. */
  importCommitPlants: 20_000,
  /** How long an import beside a server keeps a transaction open; the server's changes wait as long. */
  importCommitMs: 200,
  /** Bytes of a file that an import reads at once. */
  importReadBytes: 64 * 1024,
  /** Characters of a refused record that are shown. */
  recordCharactersShown: 200,
  /** Refused records that are shown; the others are counted. */
  refusalsShownMax: 10,
  /** Records at the beginning of a file that may all be broken. Past it the file is taken for one of another kind. */
  shapelessRecordsMax: 10,
  /** How often the progress of a long command is drawn. */
  progressEveryMs: 100,
  /** How long an import waits for more to come before it commits what it has. */
  importStallMs: 50,
  /** How long an import lets a server write between two transactions: longer than SQLite's longest nap of 100 ms. */
  importPauseMs: 120,
  /** Plants of an export that are read at once. */
  exportBatchPlants: 2_000,
  /** Plants that the search for a page by name looks at. A page that would take more is cut short. */
  pageScanPlantsMax: 10_000,
  /** Characters of names that such a search looks at in a file, more or less. */
  pageScanCharactersMax: 2_000_000,
  /** Searches by name in a file that may wait for each other. Past it: 503. */
  searchesMax: 100,
  /** Lists of more than a few plants in a file that may wait for each other. Past it: 503. */
  listsMax: 10_000,
  /** Plants of a list in a file that is read beside other requests. Longer ones are read by a thread. */
  quickPagePlantsMax: 100,
  /** Tags that a summary names: those that most plants have. */
  summaryTagsMax: 100,
  /** Tags of a file among which a summary finds them. Of more than these it takes the first. */
  summaryTagsCounted: 10_000,
  /** Tags of a file that are summarized beside other requests. More are summarized by a thread. */
  quickSummaryTagsMax: 100,
  /** Plants in PostgreSQL that a summary counts. Of more than these it tells estimates. */
  summaryPlantsCounted: 10_000,
  /** How long opening a store waits for a command that has it for a moment. */
  storeLockMsMax: 2_000,
  /** How often a command looks whether it may open the store. */
  storeLockCheckMs: 5,
  /** How long a command waits for the lock at a time when others that open and close the store were in its way. */
  storeLockTurnMs: 250,
  /**
   * Jobs between two checkpoints, which copy the changes from the write-ahead log into the database file; a transaction
   * counts for some, too.
   */
  checkpointJobs: 5_000,
  /**
   * Connections to PostgreSQL that read, besides two that write and one that looks whether the database can be used.
   */
  databaseReaders: 4,
  /** How long a connection to PostgreSQL may take, unless `connect_timeout` says otherwise. */
  databaseConnectMsMax: 2_000,
  /** After how long without traffic a connection is kept alive, so that nothing in between forgets it. */
  databaseKeepAliveMs: 10_000,
  /** How long PostgreSQL keeps a session, and its locks, of a machine that gives no sign of life. */
  databaseDeadClientMsMax: 25_000,
  /** How long PostgreSQL may take for one read. Past it: 503. */
  databaseReadMsMax: 3_000,
  /** How long PostgreSQL may take for one transaction of changes, commit included. Past it: 503. */
  databaseCommitMsMax: 5_000,
  /** How long a transaction may wait for its server's next statement, before PostgreSQL ends it and others go on. */
  databaseIdleMsMax: 2_000,
  /** How long a change may wait for a row that another session has locked. Past it: 503. */
  databaseLockMsMax: 2_000,
  /**
   * How long the changes that are committed together wait for such a row, before the one that wants it is set aside.
   */
  databaseLockMs: 50,
  /** How long such a change is looked for among those that are committed with it, before all of them are set aside. */
  databaseLockSearchMsMax: 500,
  /** How long a change that was set aside waits each time that it is tried. */
  databaseLockRetryMs: 20,
  /** How long changes of such a plant go the way of those that were set aside. */
  databaseLockMemoryMs: 10_000,
  /** Changes that may be set aside at once, and plants that are remembered. Past it: 503. */
  databaseLockedJobsMax: 1_000,
  /** Between two looks whether PostgreSQL is there. */
  databaseProbeMs: 250,
  /** How long it may take to answer one. Past it it is away: requests are refused until it is back. */
  databaseProbeMsMax: 1_500,
  /**
   * How long nothing may come over a connection that awaits an answer, before PostgreSQL is asked over another one
   * whether it works on it. If it does not, the connection is given up.
   */
  databaseSilenceMs: 500,
  /** Between two attempts to reach a PostgreSQL that is away. */
  databaseRetryMs: 100,
  /** Between two lines of the log that say why it is away, when the reason changes. */
  databaseReasonMs: 1_000,
  /** How long the hosts of a PostgreSQL are asked, before a session is opened, whether one of them has taken over. */
  databaseSurveyMsMax: 500,
  /** How long requests wait for PostgreSQL after a connection was lost, before they are refused. */
  databaseGraceMs: 1_500,
  /** Reads that may wait for each connection that reads. Past it: 503. */
  databaseReadsMax: 1_000,
  /** How long an opening store waits for a server that brings the tables up to date, and an import for a locked row. */
  databaseOpenLockMsMax: 30_000,
  /** How long PostgreSQL may take for one step of an export, or of an import that is kept as a whole. */
  databaseBulkMsMax: 30_000,
  /** How often a transaction that met another one, or lost its connection, is tried. Past it: 503. */
  databaseAttemptsMax: 8,
  /** Between the first two of these tries, at most; later pauses are longer. */
  databaseAttemptPauseMs: 20,
  /** How often a server tries to make the tables while others do so, too. */
  databaseMigrationsMax: 20,
  /** How long a server that changes a table waits for its lock each time that it tries: other servers' reads wait, too. */
  databaseMigrationLockMs: 100,
  /** How long closing a connection waits for PostgreSQL to take note. */
  databaseCloseMsMax: 200,
  /**
   * Commits after which the row of a connection in `registrations` gets a new id: the search for it goes through a version
   * for each, for as long as another client, such as pg_dump, holds a snapshot.
   */
  registrationCommitsMax: 256,
  /** How long the row of a server that has died stays in `registrations`. */
  registrationMsMax: 7 * 24 * 60 * 60 * 1000,
  /** Between two rounds in which expired Idempotency-Keys, and such rows, are deleted from PostgreSQL. */
  expiredKeysSweepMs: 10 * 60 * 1000,
  /** Keys deleted by one statement of a round. */
  expiredKeysSwept: 10_000,
  /** Expired Idempotency-Keys that each new key deletes from a file: more than one, so that they never pile up. */
  expiredKeysDeleted: 2,
  /** How long an Idempotency-Key is remembered. openapi.yaml says the same. */
  idempotencyKeyMs: 24 * 60 * 60 * 1000,
  /** How long a token that was looked up is trusted before it is looked up again; a revocation takes hold within it. */
  tokenTrustMs: 500,
  /** Tokens that are remembered between requests. */
  trustedTokensMax: 10_000,
  /** How long a JWT is trusted before it is verified again, if it does not expire before. */
  jwtTrustMs: 60_000,
  /** JWTs that are remembered between requests, and their characters. */
  trustedJwtsMax: 10_000,
  trustedJwtCharactersMax: 16 * 1024 * 1024,
  /** How much the clocks of a JWT's issuer and of the server may differ. */
  jwtClockToleranceSeconds: 5,
  /** The `sub` of a JWT (OpenID Connect Core 1.0, section 2). */
  jwtSubjectCharactersMax: 255,
  /** Keys that are tried on a JWT that does not name its key. */
  jwtKeysTriedMax: 10,
  /** How long the keys of JWTs may take to come. */
  jwksMsMax: 3_000,
  jwksBytesMax: 256 * 1024,
  /** How often they are asked for. */
  jwksRefreshMs: 5 * 60 * 1000,
  /** How long nothing makes the server ask again: neither a JWT with an unknown key, nor a provider that is away. */
  jwksCooldownMs: 10_000,
  /** How long keys hold while they cannot be had again. */
  jwksKeptMsMax: 24 * 60 * 60 * 1000,
  /** How long `plantstore plant` waits for the answer of a server. */
  answerMsMax: 30_000,
  /** How long `plantstore verify` waits for an answer, unless `--timeout` says otherwise. */
  verifyAnswerMs: 10_000,
  verifyAnswerSecondsMax: 600,
  /** How long it waits for one request while the server answers 429, in multiples of `--timeout`. */
  verifyWaitTimeouts: 6,
  /** Pages of one list that it reads. */
  verifyPagesMax: 1_000,
  /** The longest answer that it reads. */
  verifyAnswerBytesMax: 8 * 1024 * 1024,
  /** Rows one after another to which it gets no answer. Past it it gives up, unless the server answers a read. */
  verifySilentRowsMax: 3,
  /** Failures of a subject of which it shows what was sent and what came, unless it is `--verbose`. */
  verifyFailuresShown: 5,
  /** Characters of a request or an answer that it shows. */
  verifyShownCharacters: 300,
  /** How long a process that has ended waits for its output to be read. */
  unreadOutputMsMax: 100,
  /** The name of a token. */
  tokenNameCharactersMax: 100,
  tokenLifetimeDaysMax: 36_500,
  /** How long a token that is rotated stays valid, unless `--overlap` says otherwise. */
  tokenOverlapMs: 24 * 60 * 60 * 1000,
  /** How long the first use of a token on a day waits to be noted together with others. */
  tokenUsesMs: 10_000,
  /** What a client is told to wait after a 503. */
  retryAfterSeconds: 1,
  /** How long a stopping server, not ready any more, still takes requests and asks their clients to close. */
  stopGraceMs: 500,
  /** How long it then takes connections that are being made, before it listens no more. */
  lastConnectionsMsMax: 100,
  /** How often it looks whether connections have become idle. */
  drainCheckMs: 20,
  /** How long it then waits for the requests in flight. */
  drainMsMax: 800,
  /** How long it then waits for a commit under way, before it ends all the same. */
  storeCloseMsMax: 200,
  /** Bytes of the log that may wait to be read; lines past them are counted and dropped. */
  logWaitingBytesMax: 1024 * 1024,
  /** Between two lines of the log of failures, or of refusals by a limit, with the same error; the rest is counted. */
  repeatedLineMs: 1_000,
  /** Between two lines of the log that show the same stack. */
  repeatedStackMs: 10 * 60 * 1000,
  /** Stacks that are known to have been shown; past it all are forgotten. */
  repeatedStacksMax: 100,
  /** Callers whose rate is known. Of more than these those are forgotten that have used least. */
  rateLimitedCallersMax: 100_000,
  /** Connections to the address of the metrics. */
  metricsConnectionsMax: 20,
  /** How long a server that ends may take to send the traces that wait to be sent. */
  tracesCloseMsMax: 500,
  /** A signal so soon after the first is the same one: npm passes on what the terminal has sent already. */
  sameSignalMs: 100,
  /** How long a server whose store has failed still answers, before its process ends. */
  failedStoreExitMs: 200,
  /**
   * How long the end waits for such a store to copy what its log holds, where the log or the file lost its name, and
   * for that of a start that failed to be closed, before what the start made is removed.
   */
  storeKeepMsMax: 10_000,
})

export type Limits = typeof limits

/** The limits of commands: no request waits for them, and the machine may be busy. */
export const commandLimits = Object.freeze({ ...limits, databaseConnectMsMax: 10_000, databaseProbeMsMax: 10_000 })
