// Rows as both engines give them, as arrays of their columns.

import type { Scope } from '../domain/caller.ts'
import { type NewPlant, plantOf } from '../domain/plant.ts'
import type { PlantPage, TagCount } from '../domain/store.ts'
import type { Token } from '../domain/token.ts'

export const tokenColumns = 'id, hash, name, scopes, created_at_ms, expires_at_ms, revoked_at_ms'

/** @param row id, name, tag. */
export function toPlant(row: unknown): NewPlant {
  const [id, name, tag] = row as [bigint, string, string | null]
  return { id, ...plantOf({ name, tag }) }
}

/** The page of rows that were asked for with one more than fits, by which it is known whether there is a next one. */
export function toPage(rows: readonly unknown[], limit: number): PlantPage {
  const plants = (rows.length > limit ? rows.slice(0, limit) : rows).map(toPlant)
  const last = plants.at(-1)
  return rows.length > limit && last !== undefined ? { plants, nextAfter: last.id } : { plants }
}

/** @param row tag, number of plants. */
export function toTagCount(row: unknown): TagCount {
  const [tag, plants] = row as [string, bigint]
  return { tag, plants: Number(plants) }
}

/** @param row `tokenColumns`; times as numbers or bigints. */
export function toToken(row: unknown): Token {
  const [id, hash, name, scopes, createdAtMs, expiresAtMs, revokedAtMs] = row as [
    string,
    Uint8Array,
    string,
    string,
    bigint,
    bigint | null,
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
  }
}
