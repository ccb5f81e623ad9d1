// The statements of a transaction for a batch of changes: the lookups of the ledger, then the writes that it decides on.
// Each write fails if rows are missing, because a trigger or a rule of the database may skip rows.

import { foldName, namesOf, type Plant } from '../../domain/plant.ts'
import type { Limits } from '../../limits.ts'
import { lineOf, rowsOf } from '../change-log.ts'
import {
  decide,
  type Effects,
  type Job,
  type KeyOfPlant,
  type LookupResult,
  type Lookups,
  lookupsOf,
  type Outcome,
} from '../ledger.ts'
import { commonStatements, commonWrites, toFound } from '../rows.ts'
import { type Connection, named, type Row, written } from './connections/connection.ts'
import { migrations } from './connections/tables.ts'
import { makeRowId } from './lost-commits.ts'

export type WriteOptions = Limits & {
  /** The id of the transaction; see lost-commits.ts. */
  readonly id: string
  readonly atMs: number
}

/** What the lookups of creates find if all of their ids and keys are new. */
const nothing: LookupResult = toFound({ plants: [], keys: [], records: [], anyToken: [], sweepable: [] })

/**
 * Runs and commits a batch in two round trips, or in one if the plants and keys of its creates are assumed to be new. If
 * they are not, the transaction fails.
 *
 * @param onDecided called with the outcomes before the commit is sent.
 */
export async function runBatch(
  jobs: readonly Job[],
  connection: Connection,
  options: WriteOptions,
  areNew: boolean,
  onDecided: (outcomes: readonly Outcome[]) => void,
): Promise<readonly Outcome[]> {
  const findAll = async (): Promise<LookupResult> => {
    const lookups = lookupsOf(jobs)
    const [, found] = await connection.sendTogether(() => [connection.begin(), find(connection, lookups)])
    return found
  }
  const { outcomes, effects } = decide(jobs, areNew ? nothing : await findAll(), options.idempotencyKeyMs)
  onDecided(outcomes)
  await connection.sendTogether(() => [
    ...(areNew ? [connection.begin()] : []),
    ...sendEffects(connection, effects, options),
    connection.commit(),
  ])
  return outcomes
}

const plantsOfParameters = `SELECT id, plant::json, name_folded
      FROM unnest($1::int8[], $2::text[], $3::text[]) AS new (id, plant, name_folded) ORDER BY id`

const statements = named({
  ...commonStatements,
  upsertRecord: written(commonStatements.upsertRecord),
  /** Every server locks rows by ascending id, to prevent deadlocks. */
  findPlants: 'SELECT id, plant::text FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE',
  findKeys: `SELECT caller_id, key, fingerprint, created_at_ms FROM idempotency_keys
    WHERE (caller_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
  /** The lock ensures that concurrent writes of one version do not all succeed. */
  findRecords: `SELECT kind, id, version FROM records
    WHERE (kind, id) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY kind, id FOR UPDATE`,
  /** Serializes servers that create the first token. */
  lockFirstToken: 'SELECT 1 FROM plantstore_schema WHERE one = 1 FOR UPDATE',
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
   * their commits. Writes nothing if this program can no longer use the version of the tables.
   */
  appendChanges: written(
    `INSERT INTO changes (id, changes, at_ms, lines)
    SELECT id, changes, $1, lines
    FROM unnest($2::uuid[], $3::int8[], $4::text[]) WITH ORDINALITY AS new (id, changes, lines, place)
    WHERE coalesce((SELECT oldest_version FROM plantstore_schema WHERE one = 1), 0) <= ${migrations.length}
    ORDER BY place`,
    'cardinality($2)',
  ),
  /** Writes to the write-ahead log alone, so that the commit waits for standbys: they then have what it has read. */
  confirmReads: `SELECT pg_logical_emit_message(true, 'plantstore', ''::text)::text`,
  deleteChanges: 'DELETE FROM changes WHERE first = ANY($1::int8[])',
})

/** Runs the lookups of a batch inside an open transaction. */
export async function find(
  connection: Connection,
  { plants, keys, records, firstToken, sweeps }: Lookups,
): Promise<LookupResult> {
  const query = (isNeeded: boolean, name: keyof typeof statements, ...values: unknown[]): Promise<readonly Row[]> =>
    isNeeded ? connection.query(statements[name], values) : Promise.resolve([])
  const [plantRows = [], keyRows = [], recordRows = [], , anyToken = [], ...sweepable] = await connection.sendTogether(
    () => [
      query(plants.length > 0, 'findPlants', plants),
      query(keys.length > 0, 'findKeys', ...columnsOfKeys(keys)),
      query(
        records.length > 0,
        'findRecords',
        records.map(({ kind }) => kind),
        records.map(({ id }) => id),
      ),
      query(firstToken, 'lockFirstToken'),
      query(firstToken, 'findAnyToken'),
      ...sweeps.map(({ untilMs, rowsMax, keptFrom, futureMs }) =>
        query(true, 'findSweepable', untilMs, rowsMax, keptFrom, futureMs),
      ),
    ],
  )
  return toFound({ plants: plantRows, keys: keyRows, records: recordRows, anyToken, sweepable })
}

/** Sends all writes. An id or token that another server has inserted meanwhile fails the unique constraint. */
export function sendEffects(connection: Connection, effects: Effects, options: WriteOptions): Promise<unknown>[] {
  const { id, atMs, changeRowCharactersMax } = options
  const writes = [...writesOf(effects, options)]
  const changed = rowsOf(effects.changes.map(lineOf), changeRowCharactersMax)
  if (writes.length === 0 && changed.length === 0) return [connection.query(statements.confirmReads)]
  const rows = changed.length === 0 ? [{ changes: 0, lines: '' }] : changed
  const ids = rows.map((_, index) => (index === 0 ? id : makeRowId(atMs)))
  writes.push(['appendChanges', atMs, ids, rows.map(({ changes }) => changes), rows.map(({ lines }) => lines)])
  return writes.map(([name, ...values]) => connection.query(statements[name], values))
}

type Write = readonly [name: keyof typeof statements, ...values: unknown[]]

function* writesOf(effects: Effects, { idempotencyKeyMs }: WriteOptions): Generator<Write> {
  const { deleted, updated, inserted, swept, keys } = effects
  if (deleted.length > 0) yield ['deletePlants', deleted.map(({ id }) => id)]
  if (updated.length > 0) yield ['updatePlants', ...columnsOf(updated)]
  if (inserted.length > 0) yield ['insertPlants', ...columnsOf(inserted)]
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
