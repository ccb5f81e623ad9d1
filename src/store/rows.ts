// Converts rows of both engines, which are arrays of columns.

import type { Scope } from '../domain/caller.ts'
import { type Plant, revisionOf } from '../domain/plant.ts'
import type { PlantPage, TagCount } from '../domain/store.ts'
import type { Token } from '../domain/token.ts'
import type { StoredWebhook, Webhook } from '../domain/webhook.ts'

/** The columns of a new token; the others are null. */
export const newTokenColumns = 'id, hash, name, scopes, created_at_ms, expires_at_ms, revoked_at_ms'
export const tokenColumns = `${newTokenColumns}, replaced_by, last_used_day`

/** @param row id, text. */
export function toPlant(row: unknown): Plant {
  const [id, json] = row as [bigint, string]
  return { id, json }
}

/**
 * Makes a page.
 *
 * @param plants plants in JSON, comma-separated.
 */
export function pageOf(plants: string, nextAfter?: bigint): PlantPage {
  return pageOfJson(encoder.encode(`[${plants}]`), nextAfter)
}

/** Makes a page of its body. */
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

/** @param row id, version, content. */
export function toWebhook(row: unknown): StoredWebhook {
  const [id, version, content] = row as [string, bigint, string]
  return { ...(JSON.parse(content) as Omit<Webhook, 'id'>), id, version: Number(version) }
}

/** @param row `tokenColumns`; times and days as numbers or bigints. */
export function toToken(row: unknown): Token {
  const [id, hash, name, scopes, createdAtMs, expiresAtMs, revokedAtMs, replacedBy, lastUsedDay] = row as [
    string,
    Uint8Array,
    string,
    string,
    bigint,
    bigint | null,
    bigint | null,
    string | null,
    bigint | null,
  ]
  return {
    id,
    hash,
    name,
    scopes: scopes.split(' ') as Scope[],
    createdAtMs: Number(createdAtMs),
    ...(expiresAtMs !== null && { expiresAtMs: Number(expiresAtMs) }),
    ...(revokedAtMs !== null && { revokedAtMs: Number(revokedAtMs) }),
    ...(replacedBy !== null && { replacedBy }),
    ...(lastUsedDay !== null && { lastUsedDay: Number(lastUsedDay) }),
  }
}
