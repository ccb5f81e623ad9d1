// The log of changes, in pages and as a stream of Server-Sent Events (WHATWG HTML, section 9.2). Others may change plants
// meanwhile, so rows look at their own plants only.

import { isDeepStrictEqual } from 'node:util'
import { type AnswerCheck, type Check, field, hasNoBody, isOfNow, ok, refusal, whyNotPlant } from '../checks.ts'
import { type Answer, itemsOf, objectOf, type RowRequest } from '../message.ts'
import { hardText, type NewPlant, type Plants } from '../plant.ts'
import { near, nextPage, type Row, row, type Store, take } from '../row.ts'

const streamed = 'listChanges: text/event-stream'
const byCaller = { place: 'schemas/Change/properties/callerId', ids: take(3) }

const kinds = ['created', 'replaced', 'deleted'] as const
type Wanted = readonly [kind: (typeof kinds)[number], plant: NewPlant]
type Change = ReturnType<typeof itemsOf>[number]

/** A query, the ids of some plants, and the changes of these that it asks for. */
type Asked = readonly [query: Readonly<Record<string, string>>, ids: readonly bigint[], wanted: readonly Wanted[]]

/** Reads the changes that are asked for. Those of the plants must be the wanted ones. */
type Read = (store: Store, ...asked: Asked) => Promise<readonly Change[]>

/** Short pages end with the last of the wanted changes: others may change plants, too. */
const readPages: Read = async (store, query, ids, wanted) => {
  let count = 0
  const isLast = (page: Answer, request: RowRequest): boolean => {
    count += ofPlants(ids, itemsOf(page)).length
    return (query['limit'] !== undefined && count >= wanted.length) || isLastPage(page, request)
  }
  const pages = await store.pages({ method: 'GET', target: targetOf(query) }, ok, isLast)
  const changes = ofPlants(ids, pages.flatMap(itemsOf))
  store.assert(whyOthers(changes, wanted, store.plants))
  return changes
}

/** Reads a stream until all wanted events are there. */
const readStream: Read = async (store, { lastEventId, ...query }, ids, wanted) => {
  const changesOf = (body: string | Buffer) => ofPlants(ids, [...eventsOf(body).keys()])
  const isWanted: Check = ({ body }, plants) => whyOthers(changesOf(body), wanted, plants)
  const isEnough = (text: string): boolean => changesOf(text).length >= wanted.length
  const headers = { Accept: 'text/event-stream', 'Last-Event-ID': lastEventId }
  const isStream = [field('Content-Type', /^text\/event-stream/i), field('Link', undefined), hasNamedEvents]
  const request = { method: 'GET', target: targetOf(query), headers, isEnough }
  const { body } = await store.send(request, [...ok, ...isStream, isWanted])
  return changesOf(body)
}

const reads: readonly (readonly [what: string, place: string, read: Read])[] = [
  ['a list of changes', 'listChanges: exactly once', readPages],
  ['a stream', streamed, readStream],
  // Last-Event-ID takes precedence.
  [
    'a stream that goes on',
    'parameters/LastEventId',
    (store, { after = '', ...query }, ...wanted) =>
      readStream(store, { ...query, after: 'now', lastEventId: after }, ...wanted),
  ],
]

/** The position of now. */
async function positionOfNow(store: Store): Promise<string> {
  const isLinked = [...ok, field('Link', /; rel="next"$/)]
  const isEmpty: AnswerCheck = (page) => (itemsOf(page).length === 0 ? undefined : 'there is a change after now')
  await store.call('HEAD', '/changes?after=now', [...isLinked, hasNoBody])
  const page = await store.call('GET', '/changes?after=now', [...isLinked, isEmpty])
  return positionOf(nextPage(page, '/changes'))
}

function targetOf(query: Readonly<Record<string, string>>): string {
  return `/changes?${new URLSearchParams(query)}`
}

function positionOf({ target = '' }: RowRequest = {}): string {
  return new URLSearchParams(target.split('?')[1]).get('after') ?? ''
}

/** Whether a page is the last one, which leads to itself. */
function isLastPage(page: Answer, request: RowRequest): boolean {
  return positionOf(nextPage(page, '/changes')) === positionOf(request)
}

function plantOf({ plant }: Change): Change {
  return (plant ?? {}) as Change
}

function ofPlants(ids: readonly bigint[], changes: readonly Change[]): readonly Change[] {
  return changes.filter((change) => ids.includes(plantOf(change)['id'] as bigint))
}

/** What is wrong with the changes of some plants; undefined if they are these, in order. */
function whyOthers(changes: readonly Change[], wanted: readonly Wanted[], plants: Plants): string | undefined {
  const [came, due] = [changes.map(({ kind }) => String(kind)), wanted.map(([kind]) => kind)]
  if (came.join() !== due.join()) return `the kinds are ${came.join(', ') || 'none'}, not ${due.join(', ') || 'none'}`
  const whys = wanted.map(([, plant], at) => {
    const why = whyNotPlant(plantOf(changes[at] as Change), plant, plants)
    return why && `of change ${at + 1}, ${why}`
  })
  const positions = new Set(changes.map(({ position }) => position))
  if (positions.size < changes.length) return 'two have one position'
  const old = changes.find(({ time }) => !isOfNow(String(time)))
  return whys.find((why) => why !== undefined) ?? (old && `the time of a change that was made now is ${old['time']}`)
}

/** The changes of a stream, from the data of its complete events, and the other fields of each. */
function eventsOf(body: string | Buffer): ReadonlyMap<Change, Readonly<Record<string, string>>> {
  const blocks = body.toString().replaceAll(/\r\n?/g, '\n').split('\n\n').slice(0, -1)
  const events = blocks.map((block) => {
    const fields: Record<string, string> = {}
    for (const [, name = '', text = ''] of block.matchAll(/(?<![^\n])(\w+): ?([^\n]*)/g)) {
      // Data on several lines is one text.
      fields[name] = name in fields ? `${fields[name]}\n${text}` : text
    }
    return fields
  })
  const withData = events.filter(({ data }) => data !== undefined)
  return new Map(withData.map((event) => [objectOf({ body: Buffer.from(event['data'] ?? '') }), event]))
}

const hasNamedEvents: AnswerCheck = ({ body }) => {
  for (const [{ position, kind }, { id, event }] of eventsOf(body)) {
    if (id === position && event === `plant.${String(kind)}`) continue
    const its = `its change has position ${String(position)} and kind ${String(kind)}`
    return `an event has id ${id} and event ${event}; ${its}`
  }
  return undefined
}

export const changeRows: readonly Row[] = [
  ...reads.map(readRow),
  row('a change says with which token it was made', byCaller, async (store, ...ids) => {
    const plants = ids.map((id) => ({ id, name: 'n' }))
    const after = await positionOfNow(store)
    for (const [at, plant] of plants.entries()) {
      await store.create(plant, at === 1 ? { Authorization: 'Bearer $SECOND_TOKEN' } : {})
    }
    const made = plants.map((plant): Wanted => ['created', plant])
    const changes = await readPages(store, { after }, ids, made)
    const [one, another, same] = changes.map(({ callerId }) => callerId)
    const home = objectOf(await store.call('GET', '/', ok, { Accept: 'application/json' }))
    const { id } = (home['caller'] ?? {}) as Change
    store.assert(one === id && id !== undefined ? undefined : `callerId is ${one}, but the id of the token ${id}`)
    store.assert(one === same ? undefined : 'changes with one token have different callerIds')
    const isMixed = another !== undefined && one === another
    store.assert(isMixed ? 'changes with different tokens have one callerId' : undefined)
  }),
  row('without a position, the changes begin with the oldest', 'parameters/AfterPosition', async (store, id) => {
    await store.create({ id, name: 'n' })
    const isFound = (page: Answer, request: RowRequest): boolean =>
      itemsOf(page).length > 0 || isLastPage(page, request)
    const pages = await store.pages({ method: 'GET', target: '/changes?limit=1' }, ok, isFound)
    store.assert(pages.some((page) => itemsOf(page).length > 0) ? undefined : 'there is no change')
  }),
  row('a position that the server never gave is refused, for a page and a stream', 'listChanges 410', async (store) => {
    const stream = { Accept: 'text/event-stream' }
    for (const [after, headers] of [
      ['never-given', { Accept: 'application/json' }],
      ['never-given', stream],
      ['now', { ...stream, 'Last-Event-ID': 'never-given' }],
    ] as const) {
      const request = { method: 'GET', target: targetOf({ after }), headers, isEnough: () => true }
      await store.send(request, refusal('positionGone'))
    }
  }),
  // The create may come before the stream begins, and is in it all the same.
  row('a stream has a change that is made while it is open', streamed, async (store, id) => {
    const live = { id, name: 'live' }
    const after = await positionOfNow(store)
    const creating = store.create(live)
    await store.together<unknown>([creating, readStream(store, { after }, [id], [['created', live]])])
  }),
]

function readRow([what, place, read]: (typeof reads)[number]): Row {
  // Changes of other rows would hide those that come in another order.
  const rule = { place, turn: 'first', ids: near(2) } as const
  return row(`${what} has each change once, in order, with its plant`, rule, async (store, id, other) => {
    const ids = [id, other]
    const created = { id, name: hardText, tag: 'a\r\ndata: x' }
    const beside = { id: other, name: 'n', tag: '' }
    const [renamed, tagged] = [{ name: 'm' }, { name: 'm', tag: 't' }]
    const after = await positionOfNow(store)
    await store.create(created)
    for (const _ of [1, 2]) await store.put(id, renamed)
    await store.put(id, { name: 'x' }, refusal('preconditionFailed'), { 'If-Match': '"x"' })
    const invalid = { method: 'PUT', target: `/plants/${id}`, body: '{"name":7}', isInvalid: true }
    await store.send(invalid, refusal('invalidPlant'))
    await store.refuses('idTaken', { id, name: 'x' })
    // A page that forgets its kind has this creation between both replacements.
    await store.create(beside)
    await store.put(id, tagged)
    await store.remove(id)
    await store.remove(id, refusal('unknownPlant'))
    await store.create({ id, name: 'again' })
    const all: readonly Wanted[] = [
      ['created', created],
      ['replaced', { id, ...renamed }],
      ['created', beside],
      ['replaced', { id, ...tagged }],
      ['deleted', { id, ...tagged }],
      ['created', { id, name: 'again' }],
    ]
    const changes = await read(store, { after }, ids, all)
    const isSame = isDeepStrictEqual(changes, await readPages(store, { after }, ids, all))
    store.assert(isSame ? undefined : 'the pages have other changes')
    await read(store, { after: String(changes[0]?.['position']), limit: '2' }, ids, all.slice(1))
    for (const kind of kinds) {
      const wanted = all.filter((each) => each[0] === kind)
      await read(store, { after, kind, limit: '1' }, ids, wanted)
    }
  })
}
