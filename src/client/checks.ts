// Checks of answers: whether a value is what the document says.

import type { Change, Plant, StoredPlant, Summary } from './types.ts'

export function isObject<T extends object>(value: unknown): value is T {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isPlant(value: unknown): value is Plant {
  if (!isObject<Partial<Plant>>(value)) return false
  return typeof value.name === 'string' && ['string', 'undefined'].includes(typeof value.tag)
}

export function isStoredPlant(value: unknown): value is StoredPlant {
  return isPlant(value) && 'id' in value && typeof value.id === 'bigint'
}

export function isChangeList(value: unknown): value is Change[] {
  return Array.isArray(value) && value.every(isChange)
}

export function isChange(value: unknown): value is Change {
  if (!isObject<Partial<Change>>(value)) return false
  return typeof value.position === 'string' && typeof value.kind === 'string' && isStoredPlant(value.plant)
}

export function isPlantList(value: unknown): value is StoredPlant[] {
  return Array.isArray(value) && value.every(isStoredPlant)
}

export function isSummary(value: unknown): value is Summary {
  return isObject<Summary>(value) && Array.isArray(value.tags)
}
