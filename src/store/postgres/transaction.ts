// The statements of a transaction for a batch of changes. Plain creates are sent in one round trip. All others take two:
// the lookups of the ledger, then the writes that it decides on. Each write fails if rows are missing, because a trigger
// or a rule of the database may skip rows.

import { foldName, namesOf, type Plant } from '../../domain/plant.ts'
import { lineOf, rowsOf } from '../change-log.ts'
import type { StoreLimits } from '../engine.ts'
import {
  decide,
  type Effects,
  isPlainCreate,
  type Job,
  type JobOf,
  type KeyOfPlant,
  type LookupResult,
  type Lookups,
  lookupsOf,
  type Outcome,
} from '../ledger.ts'
import { commonStatements, commonWrites, toFound, tokenColumns } from '../rows.ts'
import { type Connection, named, type Row, written, writtenIf } from './connections/connection.ts'
import type { Registration } from './registrations.ts'

/** `atMs`: the time of the changes, by the wall clock. */
export type WriteOptions = StoreLimits & { readonly atMs: number }

/**
 * Returns the outcomes of a transaction whose answer was lost, but that committed.
 *
 * @param takenIds the ids that it tried to create but that were taken, from the row of its connection.
 */
export type Recall = (takenIds: readonly bigint[]) => readonly Outcome[]

/**
 * Runs and commits a batch.
 *
 * @param onReady called before the commit is sent.
 */
export function runBatch(
  jobs: readonly Job[],
  registration: Registration,
  options: WriteOptions,
  onReady: (recall: Recall) => void,
): Promise<readonly Outcome[]> {
  if (jobs.every(isPlainCreate)) return createPlants(jobs, registration, options, onReady)
  return runWithLedger(jobs, registration, options, onReady)
}

const plantsOfParameters = `SELECT id, plant::json, name_folded
      FROM unnest($1::int8[], $2::text[], $3::text[]) AS new (id, plant, name_folded) ORDER BY id`

const statements = named({
  ...commonStatements,
  insertToken: written(commonStatements.insertToken),
  updateToken: written(commonStatements.updateToken),
  upsertWebhook: written(commonStatements.upsertWebhook),
  /** Every server locks rows by ascending id, to prevent deadlocks. */
  findPlants: 'SELECT id, plant::text FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE',
  findKeys: `SELECT caller_id, key, fingerprint, created_at_ms FROM idempotency_keys
    WHERE (caller_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
  /** The lock ensures that concurrent rotations replace a token only once. */
  findTokens: `SELECT ${tokenColumns} FROM tokens WHERE id = ANY($1::text[]) OR hash = ANY($2::bytea[]) ORDER BY id FOR UPDATE`,
  /** Serializes servers that create the first token. */
  lockFirstToken: 'SELECT 1 FROM plantstore_schema WHERE one = 1 FOR UPDATE',
  /** The lock ensures that concurrent writes of one version do not all succeed. */
  findWebhooks: 'SELECT id, version FROM webhooks WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE',
  deletePlants: written('DELETE FROM plants WHERE id = ANY($1::int8[])', 'cardinality($1)'),
  updatePlants: written(
    `UPDATE plants SET plant = new.plant, name_folded = new.name_folded FROM (${plantsOfParameters}) AS new
    WHERE plants.id = new.id`,
    'cardinality($1)',
  ),
  insertPlants: written(`INSERT INTO plants (id, plant, name_folded) ${plantsOfParameters}`, 'cardinality($1)'),
  /** Replaces an expired key, but not one that another server has inserted meanwhile. */
  upsertKeys: written(
    `INSERT INTO idempotency_keys (caller_id, key, fingerprint, created_at_ms)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::int8[])
    ON CONFLICT (caller_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, created_at_ms = excluded.created_at_ms
      WHERE idempotency_keys.created_at_ms <= excluded.created_at_ms - $5::int8`,
    'cardinality($1)',
  ),
  /**
   * A place is taken when the rows of the plants are locked, so the places of changes of one plant are in the order of
   * their commits.
   */
  appendChanges: written(
    `INSERT INTO changes (changes, at_ms, lines)
    SELECT changes, $1, lines FROM unnest($2::int8[], $3::text[]) WITH ORDINALITY AS new (changes, lines, place)
    ORDER BY place`,
    'cardinality($2)',
  ),
  deleteChanges: 'DELETE FROM changes WHERE first = ANY($1::int8[])',
  lockRegistration: `SELECT ${writtenIf('count(*) = 1')}
    FROM (SELECT 1 FROM registrations WHERE id = $1 AND last_commit = $2 FOR UPDATE) AS own`,
  advance: written(
    `UPDATE registrations SET last_commit = $2::int8 + 1, taken_ids = '{}' WHERE id = $1 AND last_commit = $2`,
  ),
  /** Creates the plants whose ids are free, adds them to the log, and records the other ids. */
  createPlants: `WITH made AS (
      INSERT INTO plants (id, plant, name_folded) ${plantsOfParameters} ON CONFLICT (id) DO NOTHING RETURNING id),
    logged AS (
      INSERT INTO changes (changes, at_ms, lines)
      SELECT count(*), $6, string_agg(line, E'\\n' ORDER BY place)
      FROM made JOIN unnest($1::int8[], $4::text[], $5::int8[]) WITH ORDINALITY AS new (id, line, part, place) USING (id)
      GROUP BY part ORDER BY part
      RETURNING changes)
    UPDATE registrations SET taken_ids = ARRAY(SELECT unnest($1::int8[]) EXCEPT SELECT id FROM made),
      last_commit = last_commit + ${writtenIf('(SELECT count(*) FROM made) = (SELECT coalesce(sum(changes), 0) FROM logged)')}
    WHERE id = $7 RETURNING taken_ids`,
  /** Each id is now taken, unless a trigger has skipped its row, or another session has deleted it meanwhile. */
  checkCreated: `SELECT ${writtenIf('count(*) = cardinality($1::int8[])')} FROM plants WHERE id = ANY($1::int8[])`,
})

/** The fast path for plain creates: one round trip. */
async function createPlants(
  jobs: readonly JobOf<'createPlant'>[],
  { connection, id, lastCommit }: Registration,
  { atMs, changeRowCharactersMax }: WriteOptions,
  onReady: (recall: Recall) => void,
): Promise<readonly Outcome[]> {
  const firstOfId = new Map<bigint, JobOf<'createPlant'>>()
  for (const job of jobs) if (!firstOfId.has(job.id)) firstOfId.set(job.id, job)
  const plants = [...firstOfId.values()]
  const lines = plants.map((job) => lineOf({ kind: 'created', plant: job, callerId: job.callerId }))
  const parts = rowsOf(lines, changeRowCharactersMax).flatMap(({ changes }, part) => Array(changes).fill(part))
  const recall: Recall = (takenIds) => {
    const taken = new Set(takenIds)
    return jobs.map((job) => {
      if (taken.has(job.id)) return 'idTaken'
      taken.add(job.id)
      return 'created'
    })
  }
  onReady(recall)
  const [, , [row]] = await connection.sendTogether(() => [
    connection.begin(),
    connection.query(statements.lockRegistration, [id, lastCommit]),
    connection.query(statements.createPlants, [...columnsOf(plants), lines, parts, atMs, id]),
    connection.query(statements.checkCreated, [plants.map((plant) => plant.id)]),
    connection.commit(),
  ])
  return recall(row?.[0] as readonly bigint[])
}

/** Looks up first, then writes. The outcomes are known before the commit is sent. */
async function runWithLedger(
  jobs: readonly Job[],
  registration: Registration,
  options: WriteOptions,
  onReady: (recall: Recall) => void,
): Promise<readonly Outcome[]> {
  const { connection } = registration
  const [, , found] = await connection.sendTogether(() => [
    connection.begin(),
    advance(registration),
    find(connection, lookupsOf(jobs)),
  ])
  const { outcomes, effects } = decide(jobs, found, options.idempotencyKeyMs)
  onReady(() => outcomes)
  await connection.sendTogether(() => [...sendEffects(connection, effects, options), connection.commit()])
  return outcomes
}

/**
 * Locks the row of the connection and sets its next number, as the first statement of a transaction. The row may be gone;
 * then the transaction fails.
 */
export function advance({ connection, id, lastCommit }: Registration): Promise<unknown> {
  return connection.query(statements.advance, [id, lastCommit])
}

/** Runs the lookups of a batch inside an open transaction. */
export async function find(
  connection: Connection,
  { plants, keys, tokenIds, tokenHashes, firstToken, sweeps, webhookIds }: Lookups,
): Promise<LookupResult> {
  const query = (isNeeded: boolean, name: keyof typeof statements, ...values: unknown[]): Promise<readonly Row[]> =>
    isNeeded ? connection.query(statements[name], values) : Promise.resolve([])
  const [plantRows = [], keyRows = [], tokenRows = [], , anyToken = [], webhookRows = [], ...sweepable] =
    await connection.sendTogether(() => [
      query(plants.length > 0, 'findPlants', plants),
      query(keys.length > 0, 'findKeys', ...columnsOfKeys(keys)),
      query(tokenIds.length > 0, 'findTokens', tokenIds, tokenHashes),
      query(firstToken, 'lockFirstToken'),
      query(firstToken, 'findAnyToken'),
      query(webhookIds.length > 0, 'findWebhooks', webhookIds),
      ...sweeps.map(({ untilMs, rowsMax, keptFrom }) => query(true, 'findSweepable', untilMs, rowsMax, keptFrom)),
    ])
  return toFound({
    plants: plantRows,
    keys: keyRows,
    tokens: tokenRows,
    anyToken,
    sweepable,
    webhooks: webhookRows,
  })
}

/** Sends all writes. An id or token that another server has inserted meanwhile fails the unique constraint. */
export function sendEffects(connection: Connection, effects: Effects, options: WriteOptions): Promise<unknown>[] {
  return [...writesOf(effects, options)].map(([name, ...values]) => connection.query(statements[name], values))
}

type Write = readonly [name: keyof typeof statements, ...values: unknown[]]

function* writesOf(
  effects: Effects,
  { atMs, changeRowCharactersMax, idempotencyKeyMs }: WriteOptions,
): Generator<Write> {
  const { deleted, updated, inserted, changes, swept, keys } = effects
  if (deleted.length > 0) yield ['deletePlants', deleted.map(({ id }) => id)]
  if (updated.length > 0) yield ['updatePlants', ...columnsOf(updated)]
  if (inserted.length > 0) yield ['insertPlants', ...columnsOf(inserted)]
  const rows = rowsOf(changes.map(lineOf), changeRowCharactersMax)
  if (rows.length > 0) {
    yield ['appendChanges', atMs, rows.map((row) => row.changes), rows.map(({ lines }) => lines)]
  }
  if (swept.length > 0) yield ['deleteChanges', swept]
  if (keys.length > 0) {
    const values = [keys.map(({ fingerprint }) => fingerprint), keys.map((key) => key.atMs)]
    yield ['upsertKeys', ...columnsOfKeys(keys), ...values, idempotencyKeyMs]
  }
  yield* commonWrites(effects)
}

/** Plants as one array per column: id, text, folded name. */
function columnsOf(plants: readonly Plant[]): unknown[] {
  return [
    plants.map(({ id }) => id),
    plants.map(({ json }) => json),
    plants.map(({ json }) => foldName(namesOf(json).name)),
  ]
}

function columnsOfKeys(keys: readonly KeyOfPlant[]): unknown[] {
  return [keys.map(({ callerId }) => callerId), keys.map(({ key }) => key)]
}
