// Reading, replacing and deleting plants, several clients at once, ETags and the conditions that name them, and header
// fields that no operation reads.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Check,
  etagFor,
  field,
  hasNoBody,
  isCreated,
  isError,
  isPlant,
  members,
  ok,
  otherField,
  refusal,
  sameField,
  status,
} from '../checks.ts'
import type { Operation } from '../document.ts'
import { int64Max, int64Min } from '../ids.ts'
import { toJson } from '../json.ts'
import { fieldOf, type RowRequest } from '../message.ts'
import { hardText, type Plant, plantJson } from '../plant.ts'
import { type Circumstances, clientsAtOnce, type Headers, near, type Row, row, type Store } from '../row.ts'
import { requestOf, sendInEveryWay, steadyTarget } from './operations.ts'

const missing = 'responses/UnknownPlant'

export const plantRows: readonly Row[] = [
  row('a plant is read with every digit of its id', { place: 'getPlant', ids: near(1) }, async (store, id) => {
    const plant = { id, name: hardText, tag: hardText }
    await store.create(plant)
    await store.read(plant)
    // An escaped digit is the digit (RFC 3986, section 6.2.2.2).
    await store.call('GET', `/plants/${id}`.replace(/(\d)$/, '%3$1'), [...ok, isPlant(plant)])
  }),
  row('every operation on a missing plant answers 404', missing, async (store, id) => {
    // Conditions do not count where the answer is a refusal anyway (RFC 9110, section 13.2.1).
    await answersMissing(store, id, [{}, { 'If-None-Match': '*' }, { 'If-Match': '*' }, { 'If-Match': '"x"' }])
  }),
  row('replacing a plant answers like createPlant', 'replacePlant', async (store, id, other) => {
    const replaced = { name: 'Nephrolepis', tag: 'fern' }
    await store.create({ id, name: 'n' })
    await store.read({ id, name: 'n' })
    const bodyWith = (property: unknown): string => toJson({ ...replaced, id: property, colour: 'green' })
    await store.put(id, bodyWith('seven'))
    const put = await store.put(id, bodyWith(other), [...ok, isPlant(replaced)])
    await store.read({ id, ...replaced }, [sameField('ETag', put)])
    await store.isMissing(other)
    await store.put(id, { name: 'Nephrolepis' }, [...ok, isPlant({ name: 'Nephrolepis' })])
    await store.read({ id, name: 'Nephrolepis' })
  }),
  row('a plant is deleted', 'deletePlant', async (store, id) => {
    const plant = { id, name: 'n', tag: 't' }
    await store.create(plant)
    const before = await store.read(plant)
    const gone = await store.remove(id, [status(204), hasNoBody])
    // A message without a body may say that it has none.
    const length = fieldOf(gone, 'content-length') ?? '0'
    store.assert(length === '0' ? undefined : `there is a body of ${length} bytes`)
    await answersMissing(store, id, [{}, { 'If-None-Match': fieldOf(before, 'etag') }])
    // Nor does it come back, such as from a cache.
    await sleep(returnsMs)
    await store.isMissing(id)
    await store.create({ id, name: 'again' })
    await store.read({ id, name: 'again' }, [otherField('ETag', before)])
  }),
  // Reads only: other plants may have these ids.
  row('the least and the greatest int64, and ids around 0, are ids in a path', 'parameters/PlantId', async (store) => {
    for (const id of [int64Min, -1n, 0n, 1n, int64Max]) await store.get(id, [status(200, 404)])
  }),
  row('of creates of one id at once, one succeeds', { place: 'createPlant 409', ids: near(1) }, async (store, id) => {
    await store.oneOf(() => ({ body: plantJson(id, 'n') }), 'created the plant', [200, 409])
    await store.read({ id, name: 'n' })
  }),
  row('each replace of many at once gets its own plant and ETag', 'replacePlant', async (store, id) => {
    await store.create({ id, name: 'n' })
    const plants = Array.from({ length: clientsAtOnce }, (_, client) => ({ name: `m${client}` }))
    const answers = await store.together(plants.map((plant) => store.put(id, plant, [...ok, isPlant(plant)])))
    const etags = new Set(answers.map((answer) => fieldOf(answer, 'etag')))
    store.assert(etags.size < answers.length ? 'two of the answers have one ETag' : undefined)
  }),
  row('of deletes of one plant at once, one succeeds', missing, async (store, id) => {
    await store.send({ body: plantJson(id, 'n') }, isCreated({ id, name: 'n' }))
    await store.oneOf(() => ({ method: 'DELETE', target: `/plants/${id}` }), 'deleted the plant', [204, 404])
    await store.isMissing(id)
  }),
  // A token says what may be done, not with which plants.
  row('a plant of one token is read, listed, replaced and deleted with another', 'getPlant', async (store, id) => {
    await store.create({ id, name: 'n' }, { Authorization: 'Bearer $SECOND_TOKEN' })
    await store.read({ id, name: 'n' })
    await store.list(`after=${id - 1n}`, [{ id, name: 'n' }], 1, id)
    await store.put(id, { name: 'm' })
    await store.read({ id, name: 'm' })
    await store.remove(id)
    await store.isMissing(id)
  }),
]

/** Every operation answers that there is no such plant, and creates none. */
async function answersMissing(store: Store, id: bigint, headers: readonly Headers[]): Promise<void> {
  for (const each of headers) {
    await store.get(id, refusal('unknownPlant'), each)
    await store.remove(id, refusal('unknownPlant'), each)
    await store.put(id, { name: 'n' }, refusal('unknownPlant'), each)
    await store.get(id, refusal('unknownPlant'), each)
  }
}

/** Long enough for a plant that is hidden, not deleted, to come back; short beside a run. */
const returnsMs = 500

const unread = {
  document: 'an operation reads its parameters, and its body if it has one; nothing else changes what it does (paths)',
}

/** Header fields that clients and their libraries send with any request. */
const unreadFields: Readonly<Record<string, Headers>> = {
  'the Content-Type of a body that is not there': { 'Content-Type': 'application/json', 'Content-Length': '0' },
  'what browsers and libraries send': {
    Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    'Accept-Language': 'de',
    Range: 'bytes=0-1',
    'X-Request-Id': 'a_b@c',
    Cookie: 'a=b',
    'Upgrade-Insecure-Requests': '1',
    'X-Requested-With': 'XMLHttpRequest',
  },
  'an Accept of nothing that the server has': { Accept: 'application/xml' },
  // `fetch` sends these with a condition, and browsers when a page is loaded again.
  'what asks for a fresh answer': { 'Cache-Control': 'no-cache', Pragma: 'no-cache' },
  'what asks for an answer that is not stored': { 'Cache-Control': 'max-age=0, no-store' },
  'another method in a field': overriding('DELETE'),
  'an Idempotency-Key where nothing is created': { 'Idempotency-Key': 'unread' },
}

/** Fields by which some programs let a POST have another method. */
function overriding(method: string): Headers {
  return { 'X-HTTP-Method-Override': method, 'X-HTTP-Method': method, 'X-Method-Override': method }
}

export const unreadRows: readonly Row[] = [
  ...Object.entries(unreadFields).map(([what, headers]) =>
    row(`nothing changes with ${what}`, unread, async (store, id) => {
      const plant = { id, name: 'n', tag: 't' }
      await store.create(plant)
      const first = await store.read(plant)
      const isSame = [...ok, isPlant(plant), sameField('ETag', first)]
      const known = { ...headers, 'If-None-Match': fieldOf(first, 'etag') ?? '' }
      await store.get(id, isSame, headers)
      await store.get(id, [status(304), hasNoBody], known)
      await store.get(id, refusal('preconditionFailed'), { ...known, 'If-Match': '"x"' })
      await store.call('HEAD', `/plants/${id}`, [...ok, hasNoBody, sameField('ETag', first)], headers)
      await store.call('GET', '/plants?limit=1', ok, headers)
      await store.call('GET', '/summary', [...ok, field('Content-Type', /^application\/json/i)], headers)
      const allows = members('Allow', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT')
      await store.call('OPTIONS', `/plants/${id}`, [status(204), allows], headers)
      await store.get(id, isSame)
      if (headers['Content-Type'] === undefined) {
        await store.put(id, { name: 'm' }, [...ok, isPlant({ name: 'm' })], headers)
        await store.put(id, { name: 'o' }, ok, headers)
        await store.read({ id, name: 'o' })
      }
      await store.remove(id, [status(204), hasNoBody], headers)
      const isUnknown = [...refusal('unknownPlant'), isError]
      if (headers['Content-Type'] === undefined) await store.put(id, { name: 'n' }, isUnknown, headers)
      await store.isMissing(id)
    }),
  ),
  // A wrong server reads what another method would change or delete.
  row('nothing changes with another method in a field of a create', unread, async (store, id) => {
    await store.create({ id, name: 'n' }, overriding('GET'))
    await store.read({ id, name: 'n' })
    for (const method of ['PUT', 'DELETE']) {
      const [target, headers] = [`/plants/${id}?_method=${method}`, overriding(method)]
      await store.send({ target, headers, body: plantJson(id, 'm') }, refusal('methodNotAllowed'))
      await store.read({ id, name: 'n' })
    }
  }),
  // A compressed answer must not have another ETag: a weak one cannot be used for a change.
  row('a client that accepts compressed answers gets strong ETags', 'headers/ETag', async (store, id) => {
    const headers = { 'Accept-Encoding': 'gzip, deflate, br' }
    await store.create({ id, name: 'n'.repeat(1_000) })
    const first = fieldOf(await store.get(id, ok, headers), 'etag') ?? ''
    await store.get(id, [status(304), hasNoBody], { ...headers, 'If-None-Match': first })
    const put = await store.put(id, { name: 'm'.repeat(1_000) }, ok, { ...headers, 'If-Match': first })
    await store.remove(id, [status(204)], { 'If-Match': fieldOf(put, 'etag') })
  }),
]

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
      for (const operation of own.filter((each) => each.hasPlant)) {
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
    const etag = operation.hasPlant ? await begin(store, id) : (fieldOf(await store.send(asking({}), ok), 'etag') ?? '')
    let old: string | undefined
    if (operation.hasPlant) {
      old = fieldOf(await store.put(id, { name: 'old' }), 'etag')
      await store.put(id, { name: 'n' })
    }
    const inOtherCase = [...etag].map((each) => (each < 'a' ? each.toLowerCase() : each.toUpperCase())).join('')
    const requestFor = (form: string): RowRequest =>
      asking({
        [name]: form
          .replace('{}', etag)
          .replace('{other case}', inOtherCase)
          .replace('{old}', old ?? '"old"'),
      })
    for (const form of unmet) {
      await sendInEveryWay(store, operation, requestFor(form), isStopped(operation, name, etag))
    }
    if (name === 'If-None-Match' && takes(operation, 'If-Match')) {
      await store.send(asking({ 'If-Match': '"x"', [name]: etag }), failed)
      await store.send(asking({ 'If-Match': etag, [name]: etag }), isStopped(operation, name, etag))
    }
    if (operation.hasPlant) await store.read({ id, name: 'n' }, [field('ETag', etag)])
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
  await store.send(request, [status(operation.doneStatus)])
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

/** What programs write between name and tag before they hash them. */
const joints = [
  ...['', '\n', '\t', ' ', ',', '|', ':', ';', '/', '-', '\u0001', '\u001f', '":"', '","', 'undefined', 'null'],
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
  raceRow('replaces', 'PUT', [200, 412]),
  raceRow('replaces and deletes', 'DELETE', [200, 204, 404, 412]),
]

/** @param other the method of every other client: the first, so that a slow one has begun before a PUT is done. */
function raceRow(what: string, other: string, statuses: readonly number[]): Row {
  return row(`of ${what} with one ETag at once, one succeeds`, placeOf('If-Match'), async (store, id) => {
    const parts = { target: `/plants/${id}`, headers: { 'If-Match': await begin(store, id) } }
    const requestOf = (client: number): RowRequest => {
      const method = client % 2 === 0 ? other : 'PUT'
      return { ...parts, method, ...(method === 'PUT' && { body: `{"name":"m${client}"}` }) }
    }
    await store.oneOf(requestOf, 'succeeded', statuses)
  })
}
