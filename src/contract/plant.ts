// Turns valid values into plants.

import { AppError } from '../domain/errors.ts'
import type { Plant } from '../domain/plant.ts'

export interface Properties {
  readonly id: bigint
  readonly [name: string]: unknown
}

/**
 * Turns valid NewPlants into plants, which have the declared properties in the order of the document. Undeclared ones
 * are left out. Integers keep their exact digits.
 *
 * @param names the declared properties, `id` first.
 * @returns a function that throws AppError `invalidPlant` for values that not every store can keep: texts with NUL or
 * unpaired surrogates, which PostgreSQL rejects, and the numbers that `toJson` rejects.
 */
export function toPlants(names: readonly string[]): (properties: Properties) => Plant {
  const keyed = names.map((name) => [name, `${JSON.stringify(name)}:`] as const)
  return (properties) => {
    let json = ''
    for (const [name, key] of keyed) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (property !== undefined) json += `${json === '' ? '{' : ','}${key}${textOf(name, property)}`
    }
    return { id: properties.id, json: `${json}}` }
  }
}

function textOf(name: string, property: unknown): string {
  const text = toJson(property)
  // JSON.stringify escapes unpaired surrogates.
  if (text.includes('\\u') && /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(text)) {
    throw new AppError('invalidPlant', `${name}: must have no NUL character and no unpaired surrogate`)
  }
  return text
}

/** Serializes a value with the exact digits of each bigint. Throws AppError `invalidPlant` for a number like 1e400. */
export function toJson(value: unknown, indent?: number): string {
  if (typeof value === 'bigint') return String(value)
  // The replacer is slow, and strings do not need it.
  return typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value, exactly, indent)
}

function exactly(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(String(value))
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new AppError('invalidPlant', 'a number is too large')
}

/** TypeScript does not know this function yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON
