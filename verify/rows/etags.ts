// ETags of plants, and the conditions that name them.

import { type Check, etagFor, field, hasNoBody, ok, refusal, status } from '../checks.ts'
import type { Operation } from '../document.ts'
import { fieldOf, type RowRequest } from '../message.ts'
import type { Plant } from '../plant.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import type { Headers, Store } from '../store.ts'
import { doneStatus, hasPlant, requestOf, sendInEveryWay, steadyTarget } from './operations.ts'

const failed = refusal('preconditionFailed')

/** Values of the header fields, where `{}` is the current ETag: those with which an operation is done, and the others. */
const conditions: Readonly<Record<string, { readonly met: readonly string[]; readonly unmet: readonly string[] }>> = {
  'If-Match': {
    met: ['{}', '*', '"a,b", "x", {}'],
    unmet: ['"x"', '"*"', 'W/{}', '{other case}', '{old}', ',', ''],
  },
  'If-None-Match': {
    met: ['"x"', '"*"', 'W/"*"', '{old}', ''],
    unmet: ['{}', 'W/{}', '"x", {}', '"a,b", {}', '{},"y",', ', ,"x" ,\t,{}, ,', '*'],
  },
}

export function conditionRows({ plants }: Circumstances): readonly Row[] {
  return Object.entries(conditions).flatMap(([name, { met, unmet }]) => {
    const own = plants.document.operations.filter((operation) => takes(operation, name))
    // Each in a row of its own: a proxy may refuse a field on two lines (RFC 9110, section 5.3).
    const rule = { place: placeOf(name), isForProxies: true }
    const onLines = row(`${name} may be on two lines`, rule, async (store, id) => {
      const etag = await begin(store, id)
      for (const operation of own.filter(hasPlant)) {
        for (const [one, other] of [['"x"', etag] as const, [etag, '"x"'] as const]) {
          const more = { headers: { [name]: one }, lines: [`${name}: ${other}`] }
          const request = requestOf(operation, id, store.plants, more)
          if (name === 'If-Match') await isDone(store, operation, id, request)
          else await store.send(request, isStopped(operation, name, etag))
        }
      }
    })
    return [...own.map((operation) => conditionRow(operation, name, met, unmet)), onLines]
  })
}

function conditionRow(operation: Operation, name: string, met: readonly string[], unmet: readonly string[]): Row {
  return row(`${operation.id} obeys ${name}`, placeOf(name), async (store, id) => {
    const target = steadyTarget(operation, id)
    const asking = (headers: Headers): RowRequest => requestOf(operation, id, store.plants, { target, headers })
    const [old, etag] = hasPlant(operation)
      ? await beginAgain(store, id)
      : ['"old"', fieldOf(await store.send(asking({}), ok), 'etag') ?? '']
    const requestFor = (form: string): RowRequest => {
      const value = form.replace('{}', etag).replace('{other case}', inOtherCase(etag)).replace('{old}', old)
      return asking({ [name]: value })
    }
    for (const form of unmet) {
      await sendInEveryWay(store, operation, requestFor(form), isStopped(operation, name, etag))
    }
    if (name === 'If-None-Match' && takes(operation, 'If-Match')) {
      await store.send(asking({ 'If-Match': '"x"', [name]: etag }), failed)
      await store.send(asking({ 'If-Match': etag, [name]: etag }), isStopped(operation, name, etag))
    }
    if (hasPlant(operation)) await store.read({ id, name: 'n' }, [field('ETag', etag)])
    for (const form of met) await isDone(store, operation, id, requestFor(form))
  })
}

/** Of a parameter of many operations. */
function placeOf(name: string): string {
  return `parameters/${name.replaceAll('-', '')}`
}

function takes({ parameters }: Operation, name: string): boolean {
  return parameters.some((each) => each.name === name)
}

/** The request is done, and the plant is created anew if it was deleted: an equal plant has an equal ETag. */
async function isDone(store: Store, operation: Operation, id: bigint, request: RowRequest): Promise<void> {
  await store.send(request, [status(doneStatus(operation))])
  if (operation.method === 'DELETE') await begin(store, id)
}

/** A read of what the client has gets 304, and any other operation is refused. */
function isStopped({ method }: Operation, name: string, etag: string): readonly Check[] {
  return method === 'GET' && name === 'If-None-Match' ? [status(304), hasNoBody, field('ETag', etag)] : failed
}

/** Creates a plant with the name n. Returns its ETag. */
async function begin(store: Store, id: bigint): Promise<string> {
  await store.create({ id, name: 'n' })
  return fieldOf(await store.read({ id, name: 'n' }), 'etag') ?? ''
}

/** Creates a plant with the name n that had another one. Returns its ETags. */
async function beginAgain(store: Store, id: bigint): Promise<readonly [old: string, current: string]> {
  const etag = await begin(store, id)
  const old = fieldOf(await store.put(id, { name: 'old' }), 'etag') ?? ''
  await store.put(id, { name: 'n' })
  return [old, etag]
}

function inOtherCase(etag: string): string {
  return etag.replaceAll(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
}

/** What programs write between name and tag before they hash them. */
const joints = [
  ...['', '\n', '\t', ' ', ',', '|', ':', ';', '/', '-', '\u0001', '\u001f', '":"', '","', 'undefined', 'null'],
]

/** What clients do with the ETag of the plant before, how that is answered, and which of them replace it. */
const races: readonly (readonly [what: string, statuses: readonly number[], isReplace: (client: number) => boolean])[] =
  [
    ['replaces', [200, 412], () => true],
    ['replaces and deletes', [200, 204, 404, 412], (client) => client % 2 === 0],
  ]

export const etagRows: readonly Row[] = [
  row('an ETag changes with name and tag, and comes back with them', 'headers/ETag', async (store, id) => {
    const earlier = new Map<string, string>()
    const first = { name: 'n', tag: 't' }
    const plants: readonly Plant[] = joints.flatMap((joint) => [
      { name: `a${joint}b` },
      { name: `a${joint}`, tag: 'b' },
      { name: 'a', tag: `${joint}b` },
    ])
    await store.create({ id, ...first })
    for (const plant of [first, ...plants, first, first]) {
      await store.put(id, plant, [...ok, etagFor(JSON.stringify(plant), earlier)])
    }
    await store.get(id, [...ok, etagFor(JSON.stringify(first), earlier)])
  }),
  ...races.map(([what, statuses, isReplace]) =>
    row(`of ${what} with one ETag at once, one succeeds`, placeOf('If-Match'), async (store, id) => {
      const headers = { 'If-Match': await begin(store, id) }
      const requestOf = (client: number): RowRequest => ({
        ...(isReplace(client) ? { method: 'PUT', body: `{"name":"m${client}"}` } : { method: 'DELETE' }),
        target: `/plants/${id}`,
        headers,
      })
      await store.oneOf(requestOf, 'succeeded', statuses)
    }),
  ),
]
