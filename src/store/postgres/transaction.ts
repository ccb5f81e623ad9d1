// The statements of a transaction for a batch of changes. Plain creates are sent in one round trip. All others take two:
// the lookups of the ledger, then the writes that it decides on. Both check that all rows were written, because a trigger
// or a rule of the database may skip rows.

import { randomBytes } from 'node:crypto'
import { foldName, namesOf, type Plant } from '../../domain/plant.ts'
import { lineOf, rowsOf } from '../change-log.ts'
import type { StoreLimits } from '../engine.ts'
import { isPlainCreate, type Job, type JobOf, type KeyOfPlant, type Outcome, type Sweep } from '../jobs.ts'
import { decide, type Effects, type LookupResult, type Lookups, lookupsOf, nameOfKey } from '../ledger.ts'
import { commonStatements, commonWrites, tokenColumns, toToken } from '../rows.ts'
import { type Connection, named, type Row } from './connections/connection.ts'
import type { Registration } from './registrations.ts'

/** `atMs`: the time of the changes, by the wall clock. */
export type WriteOptions = StoreLimits & { readonly atMs: number }

/** One attempt at a transaction. */
export interface Attempt {
  readonly registration: Registration
  readonly number: bigint
  /** 64 random bits, stored with every plant that the transaction writes. */
  readonly mark: bigint
  /**
   * Set before the commit is sent. Returns the outcomes of an attempt that committed although its answer was lost.
   *
   * @param takenIds the ids that it tried to create but that were taken, from its row.
   */
  recall?: (takenIds: readonly bigint[]) => readonly Outcome[]
}

/** The row of the connection is gone; nothing was done. */
export class Unregistered extends Error {
  constructor() {
    super('the row of this connection is gone')
  }
}

export function beginAttempt(registration: Registration): Attempt {
  return { registration, number: registration.lastCommit + 1n, mark: randomBytes(8).readBigInt64BE() }
}

/** Runs and commits a batch. Throws Unregistered if the row of the connection is gone. */
export function runBatch(jobs: readonly Job[], attempt: Attempt, options: WriteOptions): Promise<readonly Outcome[]> {
  return jobs.every(isPlainCreate) ? createPlants(jobs, attempt, options) : runWithLedger(jobs, attempt, options)
}

/** A SELECT that aborts its transaction unless a condition holds (code 22P02, see failures.ts). */
const failUnless = (condition: string): string =>
  `SELECT (CASE WHEN ${condition} THEN '1' ELSE 'not every row was written' END)::int8`

const statements = named({
  ...commonStatements,
  /** Every server locks rows by ascending id, to prevent deadlocks. */
  findPlants: 'SELECT id, plant::text FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE',
  findKeys: `SELECT caller_id, key, fingerprint, created_at_ms FROM idempotency_keys
    WHERE (caller_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
  /** The lock ensures that concurrent rotations replace a token only once. */
  findTokens: `SELECT ${tokenColumns} FROM tokens WHERE id = ANY($1::text[]) OR hash = ANY($2::bytea[]) ORDER BY id FOR UPDATE`,
  /** Serializes servers that create the first token. */
  lockFirstToken: 'SELECT 1 FROM plantstore_schema WHERE one = 1 FOR UPDATE',
  deletePlants: 'DELETE FROM plants WHERE id = ANY($1::int8[])',
  updatePlants: `UPDATE plants SET plant = new.plant::json, name_folded = new.name_folded, commit_mark = $4::int8
    FROM unnest($1::int8[], $2::text[], $3::text[]) AS new (id, plant, name_folded)
    WHERE plants.id = new.id`,
  insertPlants: `INSERT INTO plants (id, plant, name_folded, commit_mark)
    SELECT id, plant::json, name_folded, $4::int8 FROM unnest($1::int8[], $2::text[], $3::text[])
      AS new (id, plant, name_folded) ORDER BY id`,
  /** Replaces an expired key, but not one that another server has inserted meanwhile. */
  upsertKeys: `INSERT INTO idempotency_keys (caller_id, key, fingerprint, created_at_ms, commit_mark)
    SELECT *, $6::int8 FROM unnest($1::text[], $2::text[], $3::bytea[], $4::int8[])
    ON CONFLICT (caller_id, key) DO UPDATE SET fingerprint = excluded.fingerprint,
      created_at_ms = excluded.created_at_ms, commit_mark = excluded.commit_mark
      WHERE idempotency_keys.created_at_ms <= excluded.created_at_ms - $5::int8`,
  /**
   * A place is taken when the rows of the plants are locked, so the places of changes of one plant are in the order of
   * their commits.
   */
  appendChanges: `WITH logged AS (
      INSERT INTO changes (changes, at_ms, lines)
      SELECT changes, $1, lines FROM unnest($2::int8[], $3::text[]) WITH ORDINALITY AS new (changes, lines, place)
      ORDER BY place RETURNING 1)
    ${failUnless('(SELECT count(*) FROM logged) = $4')}`,
  deleteChanges: 'DELETE FROM changes WHERE first = ANY($1::int8[])',
  /** The lock ensures that concurrent writes of one version do not all succeed. */
  findWebhooks: 'SELECT id, version FROM webhooks WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE',
  /** Skips locked tokens; their use is recorded the next time. */
  noteTokenUses: `UPDATE tokens SET last_used_day = used.day
    FROM (SELECT tokens.id, new.day FROM tokens JOIN unnest($1::text[], $2::int8[]) AS new (id, day) USING (id)
      WHERE coalesce(last_used_day, -1) < new.day ORDER BY tokens.id FOR UPDATE OF tokens SKIP LOCKED) AS used
    WHERE tokens.id = used.id`,
  checkTokens: `${failUnless('count(*) FILTER (WHERE id = ANY($1)) = $2 AND count(revoked_at_ms) FILTER (WHERE id = ANY($3)) = $4')}
    FROM tokens WHERE id = ANY($1::text[]) OR id = ANY($3::text[])`,
  checkReplaced: `${failUnless('count(*) = $2')} FROM tokens WHERE replaced_by = ANY($1::text[])`,
  checkPlants: `${failUnless('count(*) = $3 AND count(*) FILTER (WHERE commit_mark = $2) = $3')}
    FROM plants WHERE id = ANY($1::int8[])`,
  checkKeys: `${failUnless('count(*) FILTER (WHERE commit_mark = $3) = $4')} FROM idempotency_keys
    WHERE (caller_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
  checkWebhooks: `${failUnless('count(*) = $3')} FROM webhooks
    WHERE (id, version) IN (SELECT * FROM unnest($1::text[], $2::int8[]))`,
  lockRegistration: 'SELECT 1 FROM registrations WHERE id = $1 AND last_commit = $2 FOR UPDATE',
  createPlants: `INSERT INTO plants (id, plant, name_folded, commit_mark)
    SELECT id, plant::json, name_folded, $4::int8
      FROM unnest($1::int8[], $2::text[], $3::text[]) WITH ORDINALITY AS new (id, plant, name_folded, place)
      WHERE EXISTS (SELECT 1 FROM registrations WHERE id = $5 AND last_commit = $6)
      ORDER BY id, place
    ON CONFLICT (id) DO NOTHING`,
  /**
   * Adds the created plants to the log, and records the ids that other sessions took. Fails if a row is missing, for
   * example if a trigger skipped it.
   */
  noteCreates: `WITH seen AS (
      SELECT count(*) AS plants, count(*) FILTER (WHERE commit_mark = $4) AS created,
        coalesce(array_agg(id) FILTER (WHERE commit_mark <> $4), '{}') AS taken_ids
      FROM plants WHERE id = ANY($3::int8[])),
    logged AS (
      INSERT INTO changes (changes, at_ms, lines)
      SELECT count(*), $8, string_agg(line, E'\\n' ORDER BY place)
      FROM plants JOIN unnest($3::int8[], $6::text[], $7::int8[]) WITH ORDINALITY AS new (id, line, part, place) USING (id)
      WHERE commit_mark = $4 GROUP BY part ORDER BY part
      RETURNING changes)
    UPDATE registrations
    SET last_commit = (CASE WHEN seen.plants = $5 AND seen.created = (SELECT coalesce(sum(changes), 0) FROM logged)
        THEN $2::text ELSE 'not every row was written' END)::int8,
      taken_ids = seen.taken_ids
    FROM seen WHERE registrations.id = $1 RETURNING registrations.taken_ids`,
  advance: `UPDATE registrations SET last_commit = $2, taken_ids = '{}' WHERE id = $1 AND last_commit = $3`,
})

/** The fast path for plain creates: one round trip. */
async function createPlants(
  jobs: readonly JobOf<'createPlant'>[],
  attempt: Attempt,
  { atMs, changeRowCharactersMax }: WriteOptions,
): Promise<readonly Outcome[]> {
  const { registration, number, mark } = attempt
  const { connection, id, lastCommit } = registration
  const firstOfId = new Map<bigint, JobOf<'createPlant'>>()
  for (const job of jobs) if (!firstOfId.has(job.id)) firstOfId.set(job.id, job)
  const ids = [...firstOfId.keys()]
  const lines = Array.from(firstOfId.values(), (job) => lineOf({ kind: 'created', plant: job, callerId: job.callerId }))
  const parts = rowsOf(lines, changeRowCharactersMax).flatMap(({ changes }, part) => Array(changes).fill(part))
  const recall = (takenIds: readonly bigint[]): readonly Outcome[] => {
    const taken = new Set(takenIds)
    return jobs.map((job) => {
      if (taken.has(job.id)) return 'idTaken'
      taken.add(job.id)
      return 'created'
    })
  }
  attempt.recall = recall
  const [, , , [noted]] = await connection.sendTogether(() => [
    connection.begin(),
    connection.query(statements.lockRegistration, [id, lastCommit]),
    connection.query(statements.createPlants, [...columnsOf(jobs), mark, id, lastCommit]),
    connection.query(statements.noteCreates, [id, number, ids, mark, ids.length, lines, parts, atMs]),
    connection.commit(),
  ])
  if (noted === undefined) throw new Unregistered()
  return recall(noted[0] as readonly bigint[])
}

/** Looks up first, then writes. The outcomes are known before the commit is sent. */
async function runWithLedger(
  jobs: readonly Job[],
  attempt: Attempt,
  options: WriteOptions,
): Promise<readonly Outcome[]> {
  const { connection } = attempt.registration
  const [, , found] = await connection.sendTogether(() => [
    connection.begin(),
    advance(attempt),
    find(connection, lookupsOf(jobs)),
  ])
  const { outcomes, effects } = decide(jobs, found, options.idempotencyKeyMs)
  attempt.recall = () => outcomes
  await connection.sendTogether(() => [...sendEffects(connection, effects, attempt.mark, options), connection.commit()])
  return outcomes
}

/** Locks the row of the connection and sets its number, as the first statement of a transaction. */
export async function advance({ registration, number }: Attempt): Promise<void> {
  const { connection, id, lastCommit } = registration
  const { rowCount } = await connection.run(statements.advance, [id, number, lastCommit])
  if (rowCount !== 1) throw new Unregistered()
}

/** Runs the lookups of a batch inside an open transaction. */
export async function find(
  connection: Connection,
  { plants, keys, tokenIds, tokenHashes, firstToken, sweeps, webhookIds }: Lookups,
): Promise<LookupResult> {
  const none: Promise<readonly Row[]> = Promise.resolve([])
  const findRows = ({ untilMs, rowsMax, keptFrom }: Sweep): Promise<readonly Row[]> =>
    connection.query(statements.findSweepable, [untilMs, rowsMax, keptFrom])
  const [plantRows = [], keyRows = [], tokenRows = [], , anyToken = [], webhookRows = [], ...sweepable] =
    await connection.sendTogether(() => [
      plants.length > 0 ? connection.query(statements.findPlants, [plants]) : none,
      keys.length > 0 ? connection.query(statements.findKeys, columnsOfKeys(keys)) : none,
      tokenIds.length > 0 ? connection.query(statements.findTokens, [tokenIds, tokenHashes]) : none,
      firstToken ? connection.query(statements.lockFirstToken) : none,
      firstToken ? connection.query(statements.findAnyToken) : none,
      webhookIds.length > 0 ? connection.query(statements.findWebhooks, [webhookIds]) : none,
      ...sweeps.map(findRows),
    ])
  return {
    plants: new Map(plantRows as unknown as readonly [bigint, string][]),
    keys: new Map(
      (keyRows as readonly [string, string, Buffer, bigint][]).map(([callerId, key, fingerprint, createdAtMs]) => [
        nameOfKey({ callerId, key }),
        { fingerprint, createdAtMs: Number(createdAtMs) },
      ]),
    ),
    tokens: tokenRows.map(toToken),
    hasTokens: anyToken.length > 0,
    webhooks: new Map((webhookRows as readonly [string, bigint][]).map(([id, version]) => [id, Number(version)])),
    sweepable: sweepable.map((rows) => rows.map(([first]) => first as bigint)),
  }
}

/** Sends all writes. An id or token that another server has inserted meanwhile fails the unique constraint. */
export function sendEffects(
  connection: Connection,
  effects: Effects,
  mark: bigint,
  options: WriteOptions,
): Promise<unknown>[] {
  const writes = [...writesOfPlants(effects, mark, options), ...writesOfTokensAndWebhooks(effects)]
  return writes.map(([name, ...values]) => connection.query(statements[name], values))
}

type Write = readonly [name: keyof typeof statements, ...values: unknown[]]

/** The writes of plants, their changes and keys, each with a check that it was done. */
function* writesOfPlants(
  { deleted, updated, inserted, changes, swept, keys }: Effects,
  mark: bigint,
  { atMs, changeRowCharactersMax, idempotencyKeyMs }: WriteOptions,
): Generator<Write> {
  const gone = deleted.map(({ id }) => id)
  const written = [...updated, ...inserted].map(({ id }) => id)
  if (gone.length > 0) yield ['deletePlants', gone]
  if (updated.length > 0) yield ['updatePlants', ...columnsOf(updated), mark]
  if (inserted.length > 0) yield ['insertPlants', ...columnsOf(inserted), mark]
  if (gone.length + written.length > 0) yield ['checkPlants', [...gone, ...written], mark, written.length]
  const rows = rowsOf(changes.map(lineOf), changeRowCharactersMax)
  const columns = [rows.map((row) => row.changes), rows.map(({ lines }) => lines)]
  if (rows.length > 0) yield ['appendChanges', atMs, ...columns, rows.length]
  if (swept.length > 0) yield ['deleteChanges', swept]
  if (keys.length === 0) return
  const names = columnsOfKeys(keys)
  const values = [keys.map(({ fingerprint }) => fingerprint), keys.map((key) => key.atMs)]
  yield ['upsertKeys', ...names, ...values, idempotencyKeyMs, mark]
  yield ['checkKeys', ...names, mark, keys.length]
}

function* writesOfTokensAndWebhooks(effects: Effects): Generator<Write> {
  const { tokens, replaced, revocations, uses, webhooks } = effects
  yield* commonWrites(effects)
  const ids = tokens.map(({ id }) => id)
  const revoked = [...new Set(revocations.map(({ id }) => id))]
  const successors = replaced.map(({ replacedBy }) => replacedBy)
  if (ids.length + revoked.length > 0) yield ['checkTokens', ids, ids.length, revoked, revoked.length]
  if (successors.length > 0) yield ['checkReplaced', successors, successors.length]
  if (uses.size > 0) yield ['noteTokenUses', [...uses.keys()], [...uses.values()]]
  const kept = webhooks.filter(({ content }) => content !== undefined)
  const versions = kept.map(({ version }) => version)
  if (webhooks.length > 0) yield ['checkWebhooks', kept.map(({ id }) => id), versions, kept.length]
}

/** Plants as one array per column: id, text, folded name. */
export function columnsOf(plants: readonly Plant[]): unknown[] {
  return [
    plants.map(({ id }) => id),
    plants.map(({ json }) => json),
    plants.map(({ json }) => foldName(namesOf(json).name)),
  ]
}

function columnsOfKeys(keys: readonly KeyOfPlant[]): unknown[] {
  return [keys.map(({ callerId }) => callerId), keys.map(({ key }) => key)]
}
