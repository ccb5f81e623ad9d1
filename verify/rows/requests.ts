// Requests of any operation of the document, made from its path, its parameters and the schema of its body.

import type { Check } from '../checks.ts'
import type { Operation } from '../document.ts'
import { toJson } from '../json.ts'
import type { RowRequest } from '../message.ts'
import type { Plants } from '../plant.ts'
import { merged, propertiesOf } from '../schemas.ts'
import type { Store } from '../store.ts'

/** Whether the path has the id of a plant. */
export function hasPlant({ parameters }: Operation): boolean {
  return parameters.some(({ place, schema }) => place === 'path' && schema['type'] === 'integer')
}

/** The path with an id, and with examples of its other parameters. */
export function pathOf({ path, parameters }: Operation, id: bigint | string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const { schema = {}, example } = parameters.find((each) => each.place === 'path' && each.name === name) ?? {}
    return schema['type'] === 'integer' ? String(id) : encodeURIComponent(String(example ?? 'sample'))
  })
}

/** A valid request. */
export function requestOf(
  operation: Operation,
  id: bigint,
  plants: Plants,
  more: Partial<RowRequest> = {},
): RowRequest {
  const { method, body } = operation
  return { method, target: pathOf(operation, id), ...(body && { body: bodyOf(operation, id, plants) }), ...more }
}

function bodyOf({ body = {} }: Operation, id: bigint, plants: Plants): string {
  const { root } = plants.document
  const required = propertiesOf(root, body).filter(({ isRequired }) => isRequired)
  const isPlant = required.some(({ name }) => name === 'name')
  const members = required.map(({ name, schema }) => {
    if (name === 'id' && merged(root, schema)['type'] === 'integer') return [name, id]
    return [name, isPlant && name === 'name' ? 'n' : plants.sampleOf(schema)]
  })
  return toJson(Object.fromEntries(members))
}

/** Creates the plant that the path of an operation names, if it does. */
export async function prepare(store: Store, operation: Operation, id: bigint): Promise<void> {
  if (hasPlant(operation)) await store.create({ id, name: 'n' })
}

/** The first status of an operation that succeeds. */
export function doneStatus({ responses }: Operation): number {
  return [...responses.keys()].find((status) => status < 300) ?? 200
}

/** Sends a GET for each media type of the answer, which may be a stream. */
export async function askInEveryType(
  store: Store,
  { responses }: Operation,
  { headers, ...request }: RowRequest,
  checks: readonly Check[],
): Promise<void> {
  for (const Accept of responses.get(200)?.content.keys() ?? []) {
    // Whoever begins a stream does not refuse it.
    await store.send({ method: 'GET', isEnough: () => true, ...request, headers: { ...headers, Accept } }, checks)
  }
}
