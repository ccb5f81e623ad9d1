// Statements and writes of both engines, and conversions of their rows, which are arrays of columns.

import { type Plant, revisionOf } from '../domain/plant.ts'
import type { PlantPage, TagCount } from '../domain/store.ts'
import type { StoredToken, Token } from '../domain/token.ts'
import { damagedWebhook, isWhole, type StoredWebhook } from '../domain/webhook.ts'
import { type Effects, type LookupResult, nameOfKey, nameOfRecord, type RecordWrite } from './ledger.ts'

const recordColumns = 'id, version, content, hash'

/** With the parameters of PostgreSQL: `$1` is `?1` in SQLite. */
export const commonStatements = {
  findToken: `SELECT ${recordColumns} FROM records WHERE hash = $1`,
  findAnyToken: `SELECT 1 FROM records WHERE kind = 'token' LIMIT 1`,
  listRecords: `SELECT ${recordColumns} FROM records WHERE kind = $1 ORDER BY place`,
  upsertRecord: `INSERT INTO records (kind, ${recordColumns}) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, content = excluded.content`,
  deleteRecord: 'DELETE FROM records WHERE kind = $1 AND id = $2',
  newestChanges: `SELECT first, changes, at_ms, lines FROM changes WHERE first IS NOT NULL ORDER BY first DESC LIMIT 1`,
  // A reader may continue from the last row to delete, so the last row before the first to keep stays. Clocks may be set
  // back, and differ between servers: the running maximum ends at the first row to keep, so that the log has no holes.
  // Rows after $4, from a clock that was far ahead, are deleted with the next row before $4 among the first 10,000.
  findSweepable: `SELECT first FROM changes WHERE first <= (SELECT max(first)
      FROM (SELECT first, next_first, max(next_at_ms) OVER (ORDER BY first) AS newest_at_ms
        FROM (SELECT first, lead(first) OVER (ORDER BY first) AS next_first, lead(at_ms) OVER (ORDER BY first) AS next_at_ms
          FROM (SELECT first, at_ms FROM
            (SELECT first, at_ms FROM changes WHERE first IS NOT NULL ORDER BY first LIMIT 10000) AS oldest
            WHERE at_ms <= $4 LIMIT $2 + 1) AS dated) AS pairs) AS ages
      WHERE newest_at_ms <= $1 AND next_first <= $3) ORDER BY first LIMIT $2`,
} as const

type CommonWrite = readonly [name: keyof typeof commonStatements, ...values: (string | bigint | Uint8Array | null)[]]

/** The writes of records, which both engines make alike. */
export function* commonWrites({ records }: Effects): Generator<CommonWrite> {
  for (const { kind, id, version = 0, content, hash = null } of records) {
    if (content === undefined) yield ['deleteRecord', kind, id]
    else yield ['upsertRecord', kind, id, BigInt(version + 1), content, hash]
  }
}

/** Names each property: the object may have others, such as the secret. */
export function recordOfToken({ id, hash, version, ...token }: StoredToken): RecordWrite {
  const { name, scopes, createdAtMs, expiresAtMs, revokedAtMs, replacedBy, lastUsedDay } = token
  const content = { name, scopes, createdAtMs, expiresAtMs, revokedAtMs, replacedBy, lastUsedDay }
  const text = JSON.stringify(content satisfies Record<Exclude<keyof Token, 'id' | 'hash'>, unknown>)
  return { kind: 'token', id, hash, version, content: text }
}

type FoundRows = Readonly<Record<'plants' | 'keys' | 'records' | 'anyToken' | 'sweepable', readonly unknown[]>>

/**
 * Converts the rows that the lookups of a batch found.
 *
 * @param rows plants: id, text; keys: caller id, key, fingerprint, time; records: kind, id, version; sweepable: first
 * numbers, for each sweep.
 */
export function toFound(rows: FoundRows): LookupResult {
  const keys = rows.keys as readonly [string, string, Uint8Array, bigint][]
  const records = rows.records as readonly [RecordWrite['kind'], string, bigint][]
  return {
    plants: new Map(rows.plants as readonly [bigint, string][]),
    keys: new Map(
      keys.map(([callerId, key, fingerprint, atMs]) => [
        nameOfKey({ callerId, key }),
        { callerId, key, fingerprint, atMs: Number(atMs) },
      ]),
    ),
    records: new Map(records.map(([kind, id, version]) => [nameOfRecord({ kind, id }), Number(version)])),
    hasTokens: rows.anyToken.length > 0,
    sweepable: (rows.sweepable as readonly [bigint][][]).map((found) => found.map(([first]) => first)),
  }
}

/** @param row id, text. */
export function toPlant(row: unknown): Plant {
  const [id, json] = row as [bigint, string]
  return { id, json }
}

/** @param plants plants in JSON, comma-separated. */
export function pageOf(plants: string, nextAfter?: bigint): PlantPage {
  return pageOfJson(encoder.encode(`[${plants}]`), nextAfter)
}

export function pageOfJson(json: Uint8Array<ArrayBuffer>, nextAfter?: bigint): PlantPage {
  const revision = revisionOf(json)
  if (nextAfter === undefined) return { json, revision }
  return { json, nextAfter, revision: revisionOf(`${revision} ${nextAfter}`) }
}

const encoder = new TextEncoder()

/** @param row tag, number of plants. */
export function toTagCount(row: unknown): TagCount {
  const [tag, plants] = row as [string, bigint]
  return { tag, plants: Number(plants) }
}

/** A webhook whose content somebody has damaged is paused. @param row `recordColumns`. */
export function toWebhook(row: unknown): StoredWebhook {
  const [id, version, content] = row as [string, bigint, string]
  return { ...(readContent(content, isWhole) ?? damagedWebhook), id, version: Number(version) }
}

/** A token whose content somebody has damaged is revoked. */
const damagedToken = { name: '(damaged)', scopes: [], createdAtMs: 0, revokedAtMs: 0 }

/** @param row `recordColumns`. */
export function toToken(row: unknown): StoredToken {
  const [id, version, content, hash] = row as [string, bigint, string, Uint8Array]
  const isToken = ({ scopes, createdAtMs }: Token) => Array.isArray(scopes) && Number.isSafeInteger(createdAtMs)
  return { ...(readContent(content, isToken) ?? damagedToken), id, hash, version: Number(version) }
}

/** @param isWhole may throw if a part of the content has another type. */
function readContent<T>(content: string, isWhole: (found: T) => boolean): T | undefined {
  try {
    const found = JSON.parse(content) as T
    return isWhole(found) ? found : undefined
  } catch {
    return undefined
  }
}

/**
 * The exclusive upper bound of all texts with a prefix, in code point order, which is also the order of UTF-8 bytes;
 * undefined if there is none.
 */
export function endOfPrefix(prefix: string): string | undefined {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // Skip the surrogates, which are not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
