// Compiles response schemas of the contract to serialisers: what a schema does not name never leaves the service.

import fastJson from 'fast-json-stringify'
import type { Operation, Schema } from './document.ts'

export type Serialiser = (body: unknown) => string

/** The serialiser of a schema; a bigint is written with all its digits. */
export function compileSerialiser(schema: Schema): Serialiser {
  return fastJson(schema as unknown as Parameters<typeof fastJson>[0])
}

/** The serialisers of an operation's JSON responses, by status. */
export function compileSerialisers(operation: Operation): ReadonlyMap<number, Serialiser> {
  const serialisers = new Map<number, Serialiser>()
  for (const [status, response] of operation.responses) {
    const schema = response.content.get('application/json')
    if (schema !== undefined) serialisers.set(status, compileSerialiser(schema))
  }
  return serialisers
}
