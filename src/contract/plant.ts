// Makes plants of valid values.

import type { Plant } from '../domain/plant.ts'
import { plantProperties } from './compiled.ts'

export interface Properties {
  readonly id: bigint
  readonly [name: string]: unknown
}

/**
 * Makes the plant of a valid NewPlant: its declared properties, in the order of the document. Others are left out.
 * Integers keep their exact digits.
 */
export function toPlant(properties: Properties): Plant {
  let json = ''
  for (const [name, key] of plantProperties) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property !== undefined) json += `${json === '' ? '{' : ','}${key}${toJson(property)}`
  }
  return { id: properties.id, json: `${json}}` }
}

/** JSON with the exact digits of each bigint. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  // A replacer takes time.
  return typeof value === 'object' ? JSON.stringify(value, exactly) : JSON.stringify(value)
}

function exactly(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJson(String(value)) : value
}

/** TypeScript does not know this function yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON
