// Statements and writes of both engines, and conversions of their rows, which are arrays of columns.

import { type Plant, revisionOf } from '../domain/plant.ts'
import type { PlantPage, TagCount } from '../domain/store.ts'
import type { Token } from '../domain/token.ts'
import { damagedWebhook, isWhole, type StoredWebhook } from '../domain/webhook.ts'
import { type Effects, type LookupResult, nameOfKey } from './ledger.ts'

export const tokenColumns = 'id, hash, content'

/** With the parameters of PostgreSQL: `$1` is `?1` in SQLite. */
export const commonStatements = {
  findToken: `SELECT ${tokenColumns} FROM tokens WHERE hash = $1`,
  findAnyToken: 'SELECT 1 FROM tokens LIMIT 1',
  listTokens: `SELECT ${tokenColumns} FROM tokens`,
  insertToken: `INSERT INTO tokens (${tokenColumns}) VALUES ($1, $2, $3)`,
  updateToken: 'UPDATE tokens SET content = $1 WHERE id = $2',
  upsertWebhook: `INSERT INTO webhooks (id, version, content) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET version = excluded.version, content = excluded.content`,
  deleteWebhook: 'DELETE FROM webhooks WHERE id = $1',
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

type CommonWrite = readonly [name: keyof typeof commonStatements, ...values: (string | bigint | Uint8Array)[]]

/** The writes of tokens and webhooks, which both engines make alike. */
export function* commonWrites({ insertedTokens, updatedTokens, webhooks }: Effects): Generator<CommonWrite> {
  for (const token of insertedTokens) yield ['insertToken', token.id, token.hash, contentOf(token)]
  for (const token of updatedTokens) yield ['updateToken', contentOf(token), token.id]
  for (const { id, version, content } of webhooks) {
    yield content === undefined ? ['deleteWebhook', id] : ['upsertWebhook', id, BigInt(version), content]
  }
}

/** Names each property: the object may have others, such as the secret. */
function contentOf(token: Token): string {
  const { name, scopes, createdAtMs, expiresAtMs, revokedAtMs, replacedBy, lastUsedDay } = token
  const content = { name, scopes, createdAtMs, expiresAtMs, revokedAtMs, replacedBy, lastUsedDay }
  return JSON.stringify(content satisfies Record<Exclude<keyof Token, 'id' | 'hash'>, unknown>)
}

type FoundRows = Readonly<
  Record<'plants' | 'keys' | 'tokens' | 'anyToken' | 'sweepable' | 'webhooks', readonly unknown[]>
>

/**
 * Converts the rows that the lookups of a batch found.
 *
 * @param rows plants: id, text; keys: caller id, key, fingerprint, time; tokens: `tokenColumns`; webhooks: id, version;
 * sweepable: first numbers, for each sweep.
 */
export function toFound(rows: FoundRows): LookupResult {
  const keys = rows.keys as readonly [string, string, Uint8Array, bigint][]
  const webhooks = rows.webhooks as readonly [string, bigint][]
  return {
    plants: new Map(rows.plants as readonly [bigint, string][]),
    keys: new Map(
      keys.map(([callerId, key, fingerprint, atMs]) => [
        nameOfKey({ callerId, key }),
        { fingerprint, createdAtMs: Number(atMs) },
      ]),
    ),
    tokens: new Map(rows.tokens.map(toToken).map((token) => [token.id, token])),
    hasTokens: rows.anyToken.length > 0,
    sweepable: (rows.sweepable as readonly [bigint][][]).map((found) => found.map(([first]) => first)),
    webhooks: new Map(webhooks.map(([id, version]) => [id, Number(version)])),
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

/** A webhook whose content somebody has damaged is paused. @param row id, version, content. */
export function toWebhook(row: unknown): StoredWebhook {
  const [id, version, content] = row as [string, bigint, string]
  return { ...(readContent(content, isWhole) ?? damagedWebhook), id, version: Number(version) }
}

/** A token whose content somebody has damaged is revoked. */
const damagedToken = { name: '(damaged)', scopes: [], createdAtMs: 0, revokedAtMs: 0 }

/** @param row `tokenColumns`. */
export function toToken(row: unknown): Token {
  const [id, hash, content] = row as [string, Uint8Array, string]
  const isToken = ({ scopes, createdAtMs }: Token) => Array.isArray(scopes) && Number.isSafeInteger(createdAtMs)
  return { ...(readContent(content, isToken) ?? damagedToken), id, hash }
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
