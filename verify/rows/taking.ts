// Rows of every operation that takes a plant in its body: what it refuses, and what it keeps.

import { type ErrorCode, field, isCreated, isPlant, refusal, status } from '../checks.ts'
import type { Operation } from '../document.ts'
import type { RowRequest } from '../message.ts'
import type { Plant } from '../plant.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import type { Headers, Store } from '../store.ts'

/** Writes a body from the beginning of an object, which has an id where the operation takes one, such as `{"id":7,`. */
export type Write = (start: string) => string | Buffer

/** An operation that takes a plant. */
export interface Taking {
  readonly id: string
  /** Whether it creates the plant, and takes its id. */
  readonly isNew: boolean
  readonly request: (id: bigint, body: string | Buffer, headers?: Headers) => RowRequest
  readonly start: (id: bigint) => string
}

export const etagForm = /^"[\w-]{22}"$/
const was = { name: 'was' }

export function takingOf({ document }: Circumstances): readonly Taking[] {
  return document.operations
    .filter(({ body }) => body !== undefined)
    .map(({ id: name, method, path }: Operation) => {
      const isNew = !path.includes('{')
      return {
        id: name,
        isNew,
        request: (id, body, headers = {}) => ({ method, target: path.replace(/\{\w+\}/, String(id)), body, headers }),
        start: (id) => (isNew ? `{"id":${id},` : '{'),
      }
    })
}

/** A plant that is there before a change; a create begins without one. */
export async function begin(store: Store, { isNew }: Taking, id: bigint): Promise<void> {
  if (!isNew) await store.create({ id, ...was })
}

/** Checks that nothing was done. */
export async function isUnchanged(store: Store, { isNew }: Taking, id: bigint): Promise<void> {
  await (isNew ? store.isMissing(id) : store.read({ id, ...was }))
}

/** Bodies that are refused, and change nothing. */
export function refusing(
  { ids }: Circumstances,
  taking: Taking,
  what: string,
  says: string,
  code: ErrorCode,
  writes: readonly Write[],
): Row {
  return row(`${taking.id} refuses ${what}`, says, ids.take(1), async (store, id) => {
    await begin(store, taking, id)
    const requestOf = (write: Write): RowRequest => ({
      ...taking.request(id, write(taking.start(id))),
      isInvalid: code === 'invalidPlant',
    })
    await store.each(writes, requestOf, (request) => store.send(request, refusal(code)))
    await isUnchanged(store, taking, id)
  })
}

/** Bodies whose plants are kept. */
export function keeping(
  { ids }: Circumstances,
  taking: Taking,
  what: string,
  says: string,
  bodies: readonly { readonly plant: Plant; readonly write: Write; readonly more?: Partial<RowRequest> }[],
): Row {
  const own = taking.isNew ? ids.near(bodies.length) : ids.take(1)
  return row(`${taking.id} keeps ${what}`, says, own, async (store, ...all) => {
    await begin(store, taking, all[0] as bigint)
    const requests = bodies.map(({ plant, write, more }, at) => {
      const id = (taking.isNew ? all[at] : all[0]) as bigint
      return { plant: { id, ...plant }, request: { ...taking.request(id, write(taking.start(id))), ...more } }
    })
    await store.each(
      requests,
      ({ request }) => request,
      async (request, { plant: { id, ...plant } }) => {
        const changed = [status(200), isPlant(plant), field('ETag', etagForm)]
        await store.send(request, taking.isNew ? isCreated({ id, ...plant }) : changed)
        await store.read({ id, ...plant })
      },
    )
  })
}
