// The statements of a transaction of changes: first what it has to know, then what it writes.

import { foldName, type NewPlant, type Plant } from '../../domain/plant.ts'
import type { Token } from '../../domain/token.ts'
import type { CreatePlantJob, Job, KeyOfPlant } from '../jobs.ts'
import { toPlant } from '../rows.ts'
import type { Connection, Row, Statement } from './connection.ts'
import { type Effects, type Found, nameOfHash, nameOfKey } from './ledger.ts'

/** Explicit, as a database may have another one by default. */
export const begin = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/** Rows are locked in the order of their ids by every server, so that none waits for the other in a circle. */
const findPlants: Statement = {
  name: 'findPlants',
  text: 'SELECT id, name, tag FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE',
}
const findKeys: Statement = {
  name: 'findKeys',
  text: `SELECT token_id, key, fingerprint FROM idempotency_keys
    WHERE (token_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[])) AND created_at_ms > $3`,
}
const findTokenNames: Statement = {
  name: 'findTokenNames',
  text: 'SELECT id, hash FROM tokens WHERE id = ANY($1::text[]) OR hash = ANY($2::bytea[])',
}
/** Of several servers that want to make the first token one goes on while the others wait. */
const lockFirstToken: Statement = {
  name: 'lockFirstToken',
  text: 'SELECT 1 FROM plantstore_schema WHERE one = 1 FOR UPDATE',
}
const findAnyToken: Statement = { name: 'findAnyToken', text: 'SELECT 1 FROM tokens LIMIT 1' }
const revokeToken: Statement = {
  name: 'revokeToken',
  text: 'UPDATE tokens SET revoked_at_ms = coalesce(revoked_at_ms, $1) WHERE id = $2 RETURNING id',
}
const deletePlants: Statement = { name: 'deletePlants', text: 'DELETE FROM plants WHERE id = ANY($1::int8[])' }
const insertPlants: Statement = {
  name: 'insertPlants',
  text: `INSERT INTO plants (id, name, tag, name_folded, commit_mark)
    SELECT id, name, tag, name_folded, $5::int8 FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[])
      AS new (id, name, tag, name_folded) ORDER BY id`,
}
const updatePlants: Statement = {
  name: 'updatePlants',
  text: `UPDATE plants SET name = new.name, tag = new.tag, name_folded = new.name_folded
    FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[]) AS new (id, name, tag, name_folded)
    WHERE plants.id = new.id`,
}
const deleteOutlivedKeys: Statement = {
  name: 'deleteOutlivedKeys',
  text: `DELETE FROM idempotency_keys
    WHERE (token_id, key) IN (SELECT * FROM unnest($1::text[], $2::text[])) AND created_at_ms <= $3`,
}
const insertKeys: Statement = {
  name: 'insertKeys',
  text: `INSERT INTO idempotency_keys (token_id, key, fingerprint, created_at_ms)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::int8[])`,
}
const insertToken: Statement = {
  name: 'insertToken',
  text: `INSERT INTO tokens (id, hash, name, scopes, created_at_ms, expires_at_ms, revoked_at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

type JobOf<Kind extends Job['kind']> = Extract<Job, { kind: Kind }>

/** Sends what finds out, inside an open transaction, what a group of jobs has to know. */
export async function findFor(connection: Connection, jobs: readonly Job[], idempotencyKeyMs: number): Promise<Found> {
  const of = <Kind extends Job['kind']>(kind: Kind): JobOf<Kind>[] =>
    jobs.filter((job) => job.kind === kind) as JobOf<Kind>[]
  const ids = [...of('createPlant'), ...of('replacePlant'), ...of('deletePlant')].map(({ id }) => id)
  const keys = of('createPlant').flatMap(({ idempotencyKey }) => idempotencyKey ?? [])
  const tokens = of('createToken')
  const none: Promise<readonly Row[]> = Promise.resolve([])
  const [plantRows = [], keyRows = [], nameRows = [], , anyToken = [], ...revoked] = await connection.sendTogether(
    () => [
      ids.length > 0 ? connection.query(findPlants, [ids]) : none,
      keys.length > 0 ? connection.query(findKeys, [...columnsOfKeys(keys), outlivedAt(keys, idempotencyKeyMs)]) : none,
      tokens.length > 0
        ? connection.query(findTokenNames, [tokens.map(({ token }) => token.id), tokens.map(({ token }) => token.hash)])
        : none,
      tokens.some(({ onlyFirst }) => onlyFirst) ? connection.query(lockFirstToken) : none,
      tokens.length > 0 ? connection.query(findAnyToken) : none,
      ...of('revokeToken').map(({ id, revokedAtMs }) => connection.query(revokeToken, [revokedAtMs, id])),
    ],
  )
  return {
    plants: toPlants(plantRows),
    keys: new Map(keyRows.map((row) => toFingerprint(row as [string, string, Buffer]))),
    tokenNames: new Set(nameRows.flatMap(([id, hash]) => [id as string, nameOfHash(hash as Buffer)])),
    hasTokens: anyToken.length > 0,
    revokedTokens: new Set(revoked.flat().map(([id]) => id as string)),
  }
}

/** The same for plants of an import. */
export async function findPlantsFor(connection: Connection, plants: readonly NewPlant[]): Promise<Found> {
  const rows = await connection.query(findPlants, [plants.map(({ id }) => id)])
  const nothing = { keys: new Map(), tokenNames: new Set<string>(), hasTokens: false, revokedTokens: new Set<string>() }
  return { plants: toPlants(rows), ...nothing }
}

/** Sends everything that is to be written. An id or key that another server has put in meanwhile fails as unique. */
export function sendEffects(
  connection: Connection,
  { inserted, updated, deleted, keys, tokens }: Effects,
  mark: bigint,
  idempotencyKeyMs: number,
): Promise<unknown>[] {
  return [
    ...(deleted.length > 0 ? [connection.query(deletePlants, [deleted])] : []),
    ...(updated.length > 0 ? [connection.query(updatePlants, columnsOf(updated))] : []),
    ...(inserted.length > 0 ? [connection.query(insertPlants, [...columnsOf(inserted), mark])] : []),
    ...(keys.length > 0
      ? [
          connection.query(deleteOutlivedKeys, [...columnsOfKeys(keys), outlivedAt(keys, idempotencyKeyMs)]),
          connection.query(insertKeys, [
            ...columnsOfKeys(keys),
            keys.map(({ fingerprint }) => fingerprint),
            keys.map(({ atMs }) => atMs),
          ]),
        ]
      : []),
    ...tokens.map((token) => connection.query(insertToken, columnsOfToken(token))),
  ]
}

/** Plants as one array a column: id, name, tag, folded name. */
export function columnsOf(plants: readonly (NewPlant | CreatePlantJob)[]): unknown[] {
  return [
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag }) => tag ?? null),
    plants.map(({ name }) => foldName(name)),
  ]
}

function toPlants(rows: readonly Row[]): Map<bigint, Plant> {
  return new Map(rows.map(toPlant).map(({ id, ...plant }) => [id, plant]))
}

function toFingerprint([tokenId, key, fingerprint]: readonly [string, string, Buffer]): [string, Buffer] {
  return [nameOfKey({ tokenId, key }), fingerprint]
}

function columnsOfKeys(keys: readonly KeyOfPlant[]): unknown[] {
  return [keys.map(({ tokenId }) => tokenId), keys.map(({ key }) => key)]
}

/** Keys from this moment or before are outlived: by the newest request of the group. */
function outlivedAt(keys: readonly KeyOfPlant[], idempotencyKeyMs: number): number {
  return Math.max(...keys.map(({ atMs }) => atMs)) - idempotencyKeyMs
}

function columnsOfToken({ id, hash, name, scopes, createdAtMs, expiresAtMs, revokedAtMs }: Token): unknown[] {
  return [id, hash, name, scopes.join(' '), createdAtMs, expiresAtMs ?? null, revokedAtMs ?? null]
}
