// The statements of a transaction of changes: the lookups and writes of the ledger, and checks that all rows were
// written, because a trigger or a rule of the database may skip rows.

import { foldName, namesOf, type Plant } from '../../domain/plant.ts'
import { lineOf, rowsOf } from '../change-log.ts'
import type { KeyOfPlant, Sweep } from '../jobs.ts'
import { type Effects, type LookupResult, type Lookups, nameOfKey, type WebhookRow } from '../ledger.ts'
import { tokenColumns, toToken } from '../rows.ts'
import type { Connection, Row, Statement } from './connections/connection.ts'
import { failUnless, sendTokens } from './token-writes.ts'

export interface WriteOptions {
  /** The time of the changes, by the wall clock. */
  readonly atMs: number
  readonly idempotencyKeyMs: number
  readonly changeRowCharactersMax: number
}

/** Every server locks rows by ascending id, to prevent deadlocks. */
const findPlants: Statement = {
  name: 'findPlants',
  text: 'SELECT id, plant::text FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE',
}
const findKeys: Statement = {
  name: 'findKeys',
  text: `SELECT caller_id, key, fingerprint, created_at_ms FROM idempotency_keys
    WHERE (caller_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
}
/** The lock ensures that concurrent rotations replace a token only once. */
const findTokens: Statement = {
  name: 'findTokens',
  text: `SELECT ${tokenColumns} FROM tokens WHERE id = ANY($1::text[]) OR hash = ANY($2::bytea[]) ORDER BY id FOR UPDATE`,
}
/** Serializes servers that create the first token. */
const lockFirstToken: Statement = {
  name: 'lockFirstToken',
  text: 'SELECT 1 FROM plantstore_schema WHERE one = 1 FOR UPDATE',
}
const findAnyToken: Statement = { name: 'findAnyToken', text: 'SELECT 1 FROM tokens LIMIT 1' }

const deletePlants: Statement = { name: 'deletePlants', text: 'DELETE FROM plants WHERE id = ANY($1::int8[])' }
const updatePlants: Statement = {
  name: 'updatePlants',
  text: `UPDATE plants SET plant = new.plant::json, name_folded = new.name_folded, commit_mark = $4::int8
    FROM unnest($1::int8[], $2::text[], $3::text[]) AS new (id, plant, name_folded)
    WHERE plants.id = new.id`,
}
const insertPlants: Statement = {
  name: 'insertPlants',
  text: `INSERT INTO plants (id, plant, name_folded, commit_mark)
    SELECT id, plant::json, name_folded, $4::int8 FROM unnest($1::int8[], $2::text[], $3::text[])
      AS new (id, plant, name_folded) ORDER BY id`,
}
/** Replaces an expired key, but not one that another server has inserted meanwhile. */
const upsertKeys: Statement = {
  name: 'upsertKeys',
  text: `INSERT INTO idempotency_keys (caller_id, key, fingerprint, created_at_ms, commit_mark)
    SELECT *, $6::int8 FROM unnest($1::text[], $2::text[], $3::bytea[], $4::int8[])
    ON CONFLICT (caller_id, key) DO UPDATE SET fingerprint = excluded.fingerprint,
      created_at_ms = excluded.created_at_ms, commit_mark = excluded.commit_mark
      WHERE idempotency_keys.created_at_ms <= excluded.created_at_ms - $5::int8`,
}

/**
 * A place is taken when the rows of the plants are locked, so the places of changes of one plant are in the order of
 * their commits.
 */
const appendChanges: Statement = {
  name: 'appendChanges',
  text: `WITH logged AS (
      INSERT INTO changes (changes, at_ms, lines)
      SELECT changes, $1, lines FROM unnest($2::int8[], $3::text[]) WITH ORDINALITY AS new (changes, lines, place)
      ORDER BY place RETURNING 1)
    SELECT (CASE WHEN (SELECT count(*) FROM logged) = $4 THEN '1' ELSE 'not every row was written' END)::int8`,
}
/**
 * A reader may continue from the last row to delete, so the last row before the first to keep stays. Clocks may be set
 * back, and differ between servers: the running maximum ends at the first row to keep, so that the log has no holes.
 */
const findSweepable: Statement = {
  name: 'findSweepable',
  text: `SELECT first FROM (SELECT first, next_first, max(next_at_ms) OVER (ORDER BY first) AS newest_at_ms
      FROM (SELECT first, lead(first) OVER (ORDER BY first) AS next_first, lead(at_ms) OVER (ORDER BY first) AS next_at_ms
        FROM (SELECT first, at_ms FROM changes WHERE first IS NOT NULL ORDER BY first LIMIT $2 + 1) AS oldest) AS pairs)
      AS ages
    WHERE newest_at_ms <= $1 AND next_first <= $3`,
}
const deleteChanges: Statement = { name: 'deleteChanges', text: 'DELETE FROM changes WHERE first = ANY($1::int8[])' }

/** The lock ensures that concurrent writes of one version do not all succeed. */
const findWebhooks: Statement = {
  name: 'findWebhooks',
  text: 'SELECT id, version FROM webhooks WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE',
}
const upsertWebhook: Statement = {
  name: 'upsertWebhook',
  text: `INSERT INTO webhooks (id, version, content) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET version = excluded.version, content = excluded.content`,
}
const deleteWebhook: Statement = { name: 'deleteWebhook', text: 'DELETE FROM webhooks WHERE id = $1' }

const checkPlants: Statement = {
  name: 'checkPlants',
  text: `${failUnless('count(*) = $3 AND count(*) FILTER (WHERE commit_mark = $2) = $3')}
    FROM plants WHERE id = ANY($1::int8[])`,
}
const checkKeys: Statement = {
  name: 'checkKeys',
  text: `${failUnless('count(*) FILTER (WHERE commit_mark = $3) = $4')} FROM idempotency_keys
    WHERE (caller_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
}
const checkWebhooks: Statement = {
  name: 'checkWebhooks',
  text: `${failUnless('count(*) = $3')} FROM webhooks
    WHERE (id, version) IN (SELECT * FROM unnest($1::text[], $2::int8[]))`,
}

/** Runs the lookups of a batch inside an open transaction. */
export async function find(
  connection: Connection,
  { plants, keys, tokenIds, tokenHashes, firstToken, sweeps, webhookIds }: Lookups,
): Promise<LookupResult> {
  const none: Promise<readonly Row[]> = Promise.resolve([])
  const findRows = ({ untilMs, rowsMax, keptFrom }: Sweep): Promise<readonly Row[]> =>
    connection.query(findSweepable, [untilMs, rowsMax, keptFrom])
  const [plantRows = [], keyRows = [], tokenRows = [], , anyToken = [], webhookRows = [], ...sweepable] =
    await connection.sendTogether(() => [
      plants.length > 0 ? connection.query(findPlants, [plants]) : none,
      keys.length > 0 ? connection.query(findKeys, columnsOfKeys(keys)) : none,
      tokenIds.length > 0 ? connection.query(findTokens, [tokenIds, tokenHashes]) : none,
      firstToken ? connection.query(lockFirstToken) : none,
      firstToken ? connection.query(findAnyToken) : none,
      webhookIds.length > 0 ? connection.query(findWebhooks, [webhookIds]) : none,
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
  return [
    ...sendPlants(connection, effects, mark),
    ...sendChanges(connection, effects, options),
    ...sendKeys(connection, effects.keys, mark, options.idempotencyKeyMs),
    ...sendTokens(connection, effects),
    ...sendWebhooks(connection, effects.webhooks),
  ]
}

function sendPlants(
  connection: Connection,
  { deleted, updated, inserted }: Effects,
  mark: bigint,
): Promise<readonly Row[]>[] {
  const written = [...updated, ...inserted].map(({ id }) => id)
  const gone = deleted.map(({ id }) => id)
  if (deleted.length + written.length === 0) return []
  return [
    ...(deleted.length > 0 ? [connection.query(deletePlants, [gone])] : []),
    ...(updated.length > 0 ? [connection.query(updatePlants, [...columnsOf(updated), mark])] : []),
    ...(inserted.length > 0 ? [connection.query(insertPlants, [...columnsOf(inserted), mark])] : []),
    connection.query(checkPlants, [[...gone, ...written], mark, written.length]),
  ]
}

function sendChanges(
  connection: Connection,
  { changes, swept }: Effects,
  { atMs, changeRowCharactersMax }: WriteOptions,
): Promise<readonly Row[]>[] {
  const rows = rowsOf(changes.map(lineOf), changeRowCharactersMax)
  const columns = [rows.map((row) => row.changes), rows.map(({ lines }) => lines)]
  return [
    ...(rows.length > 0 ? [connection.query(appendChanges, [atMs, ...columns, rows.length])] : []),
    ...(swept.length > 0 ? [connection.query(deleteChanges, [swept])] : []),
  ]
}

function sendKeys(
  connection: Connection,
  keys: readonly KeyOfPlant[],
  mark: bigint,
  idempotencyKeyMs: number,
): Promise<readonly Row[]>[] {
  if (keys.length === 0) return []
  const names = columnsOfKeys(keys)
  const [fingerprints, times] = [keys.map(({ fingerprint }) => fingerprint), keys.map(({ atMs }) => atMs)]
  return [
    connection.query(upsertKeys, [...names, fingerprints, times, idempotencyKeyMs, mark]),
    connection.query(checkKeys, [...names, mark, keys.length]),
  ]
}

function sendWebhooks(connection: Connection, webhooks: readonly WebhookRow[]): Promise<readonly Row[]>[] {
  if (webhooks.length === 0) return []
  const kept = webhooks.filter(({ content }) => content !== undefined)
  const expected = [kept.map(({ id }) => id), kept.map(({ version }) => version)]
  return [
    ...webhooks.map(({ id, version, content }) =>
      content === undefined
        ? connection.query(deleteWebhook, [id])
        : connection.query(upsertWebhook, [id, version, content]),
    ),
    connection.query(checkWebhooks, [...expected, kept.length]),
  ]
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
