// Requests of any operation of the document, made from its path, its parameters and the schema of its body; and rows of
// every operation that takes a plant: what it refuses, and what it keeps.

import { type Check, field, isCreated, isPlant, refusal, status } from '../checks.ts'
import type { Operation } from '../document.ts'
import { int64Max } from '../ids.ts'
import { toJson } from '../json.ts'
import type { RowRequest } from '../message.ts'
import type { Plant, Plants } from '../plant.ts'
import { type Circumstances, near, type Row, type Rule, row, type Store, take } from '../row.ts'
import { merged, propertiesOf } from '../schemas.ts'

/** The path with an id, and with examples of its other parameters. */
export function pathOf({ path, parameters }: Operation, id: bigint | string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const { schema = {}, example } = parameters.find((each) => each.place === 'path' && each.name === name) ?? {}
    return schema['type'] === 'integer' ? String(id) : encodeURIComponent(String(example ?? 'sample'))
  })
}

/** A target whose answer does not change while others change plants: of a list, the end. */
export function steadyTarget(operation: Operation, id: bigint): string {
  const after = operation.parameters.find(({ name }) => name === 'after')
  return `${pathOf(operation, id)}${after === undefined ? '' : `?after=${String(after.example ?? int64Max)}`}`
}

/** A valid request. */
export function requestOf(
  operation: Operation,
  id: bigint,
  plants: Plants,
  more: Partial<RowRequest> = {},
): RowRequest {
  const { method, body } = operation
  const target = pathOf(operation, id)
  if (body === undefined) return { method, target, ...more }
  const { root } = plants.document
  const required = propertiesOf(root, body).filter(({ isRequired }) => isRequired)
  const isPlant = required.some(({ name }) => name === 'name')
  const members = required.map(({ name, schema }) => {
    if (name === 'id' && merged(root, schema)['type'] === 'integer') return [name, id]
    return [name, isPlant && name === 'name' ? 'n' : plants.sampleOf(schema)]
  })
  return { method, target, body: toJson(Object.fromEntries(members)), ...more }
}

/** Creates the plant that the path of an operation names, if it does. */
export async function prepare(store: Store, operation: Operation, id: bigint): Promise<void> {
  if (operation.hasPlant) await store.create({ id, name: 'n' })
}

/** Sends a request of an operation; a GET also as HEAD, and for each media type of the answer, which may be a stream. */
export async function sendInEveryWay(
  store: Store,
  { method, types }: Operation,
  request: RowRequest,
  checks: readonly Check[],
): Promise<void> {
  await store.send({ method, ...request }, checks)
  if (method !== 'GET') return
  await store.send({ ...request, method: 'HEAD' }, checks)
  for (const Accept of types) {
    // A server that begins a stream does not refuse it.
    await store.send({ method, isEnough: () => true, ...request, headers: { ...request.headers, Accept } }, checks)
  }
}

/** Bodies that an operation must keep, or refuse all for one reason. */
export interface Bodies {
  /** The end of the row's title, such as `repeated keys`. */
  readonly what: string
  readonly rule: string | Rule
  readonly sent: readonly (string | Sent)[]
  /** How they are refused; undefined if they are kept. */
  readonly code?: string
  /** What else is checked of an answer. */
  readonly checkFor?: (body: string | Buffer) => Check
}

export function kept(what: string, rule: Bodies['rule'], sent: Bodies['sent']): Bodies {
  return { what, rule, sent }
}

/** @param rule by default what the document says of the error. */
export function refused(what: string, code: string, sent: Bodies['sent'], rule?: Bodies['rule']): Bodies {
  return { what, code, sent, rule: rule ?? `schemas/Error: ${code}` }
}

export interface Sent extends Pick<RowRequest, 'headers' | 'chunkBytes'> {
  /** `<id>` stands for the id where the operation takes one, `<digits>` for its digits. */
  readonly body: string
  /** What is done to the body before it is sent, such as to compress it. */
  readonly write?: (body: string) => string | Buffer
  /** The plant that is kept, by default one with the name n. */
  readonly plant?: Plant
}

/** A row for each of the bodies and each operation that takes one. */
export function bodiesOf(
  bodies: (plants: Plants, isNew: boolean) => readonly Bodies[],
): (run: Circumstances) => readonly Row[] {
  return ({ plants }) => {
    const takings = plants.document.operations.filter(({ body }) => body !== undefined)
    return takings.flatMap((operation) => bodies(plants, !operation.hasPlant).map((each) => takingRow(operation, each)))
  }
}

function takingRow(operation: Operation, { what, rule, sent, code, checkFor }: Bodies): Row {
  const { id: name, method } = operation
  const isNew = !operation.hasPlant
  const does = code === undefined ? 'keeps' : 'refuses'
  const ids = isNew && code === undefined ? near(sent.length) : take(1)
  const whole: Rule = typeof rule === 'string' ? { place: rule } : rule
  return row(`${name} ${does} ${what}`, { ...whole, ids }, async (store, ...own) => {
    const [first = 0n] = own
    const was = { id: first, name: 'was' }
    const key = isNew && code !== undefined ? { 'Idempotency-Key': `refused-${first}-${store.nonce}` } : {}
    if (!isNew) await store.create(was)
    const whysNot: string[] = []
    for (const [at, each] of sent.entries()) {
      const {
        body: form,
        write,
        plant: due = { name: 'n' },
        ...parts
      }: Sent = typeof each === 'string' ? { body: each } : each
      const plant = { id: own[at] ?? first, ...due }
      const text = form
        .replaceAll(/<id>(,?)/g, (_, comma) => (isNew ? `"id":${plant.id}${comma}` : ''))
        .replaceAll('<digits>', String(plant.id))
      const body = store.plants.fill(write?.(text) ?? text)
      const headers = { ...key, ...parts.headers }
      const target = pathOf(operation, plant.id)
      const request = { method, target, body, isInvalid: code === 'invalidPlant', ...parts, headers }
      const whyNot = store.plants.whyNot(request)
      if (whyNot !== undefined) {
        whysNot.push(whyNot)
        continue
      }
      const isDone = isNew ? isCreated(plant) : [status(200), isPlant(due)]
      const isRight = code === undefined ? isDone : refusal(code)
      await store.send(request, checkFor === undefined ? isRight : [...isRight, checkFor(body)])
      if (code === undefined) await store.read(plant)
    }
    if (whysNot.length === sent.length) store.skipIf(whysNot[0])
    if (code === undefined) return
    await (isNew ? store.isMissing(first) : store.read(was))
    // A refused request does not use up its key.
    if (isNew) await store.create({ id: first, name: 'n' }, key, [field('Idempotency-Replayed', undefined)])
  })
}
