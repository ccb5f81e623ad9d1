// Rows of plants as both engines give them: id, name, tag, in this order.

import type { NewPlant } from '../domain/plant.ts'
import type { PlantPage } from '../domain/store.ts'

export function toPlant(row: unknown): NewPlant {
  const [id, name, tag] = row as [bigint, string, string | null]
  return tag === null ? { id, name } : { id, name, tag }
}

/** The page of rows that were asked for with one more than fits, by which it is known whether there is a next one. */
export function toPage(rows: readonly unknown[], limit: number): PlantPage {
  const plants = (rows.length > limit ? rows.slice(0, limit) : rows).map(toPlant)
  const last = plants.at(-1)
  return rows.length > limit && last !== undefined ? { plants, nextAfter: last.id } : { plants }
}
