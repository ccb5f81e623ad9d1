// The log of changes, in pages and as a stream of Server-Sent Events (WHATWG HTML, section 9.2). Others may change plants
// meanwhile, so rows look at their own plants only.

import { type Check, field, hasNoBody, isOfNow, ok, refusal, whyNotPlant } from '../checks.ts'
import { type Answer, itemsOf, objectOf, type RowRequest } from '../message.ts'
import { hardText, type NewPlant, type Plants, plantJson } from '../plant.ts'
import { near, needs, none, type Row, row, take } from '../row.ts'
import { type Headers, nextPage, type Store } from '../store.ts'

const says =
  'lists the changes of plants, oldest first; who always continues with the Link sees every change exactly ' +
  'once, and the changes of one plant in their order (listChanges)'
const streamed =
  'clients that accept text/event-stream get first the changes after the position, then each later change as ' +
  'it happens; the id of an event is the position, event is plant. and the kind, data is the Change ' +
  '(listChanges)'
const byKind = 'kind lists only changes of this kind (the parameter kind of listChanges)'
const byCaller = 'callerId is the id of the token that was used (the schema Change)'
const gone = 'the server does not have this position: 410 (listChanges, 410)'

type Wanted = readonly [kind: 'created' | 'replaced' | 'deleted', plant: NewPlant]
type Change = ReturnType<typeof itemsOf>[number]

/** The position of now. */
async function positionOfNow(store: Store): Promise<string> {
  const isEmpty = (answer: Answer) => (itemsOf(answer).length === 0 ? undefined : 'there is a change after now')
  const page = await store.call('GET', '/changes?after=now', [...ok, field('Link', /; rel="next"$/), isEmpty])
  return positionOf(nextPage(page, '/changes'))
}

function positionOf({ target = '' }: RowRequest = {}): string {
  return new URLSearchParams(target.split('?')[1]).get('after') ?? ''
}

function plantOf(change: Change): Change {
  return (change['plant'] ?? {}) as Change
}

/** What is wrong with the changes of some plants; undefined if they are these, in order. */
function whyOthers(
  changes: readonly Change[],
  ids: readonly bigint[],
  wanted: readonly Wanted[],
  plants: Plants,
): string | undefined {
  const own = changes.filter((change) => ids.includes(plantOf(change)['id'] as bigint))
  const [came, due] = [own.map(({ kind }) => String(kind)), wanted.map(([kind]) => kind)]
  if (came.join() !== due.join()) return `the kinds are ${came.join(', ') || 'none'}, not ${due.join(', ') || 'none'}`
  const whys = wanted.map(([, plant], at) => {
    const why = whyNotPlant(plantOf(own[at] as Change), plant, plants)
    return why && `of change ${at + 1}, ${why}`
  })
  const positions = new Set(own.map(({ position }) => position))
  if (positions.size < own.length) return 'two have one position'
  const old = own.find(({ time }) => !isOfNow(String(time)))
  return whys.find((why) => why !== undefined) ?? (old && `the time of a change that was made now is ${old['time']}`)
}

/**
 * All changes of some plants after a position. Short pages end with the last of them: others may change plants, too.
 */
async function follow(
  store: Store,
  after: string,
  ids: readonly bigint[],
  wanted: readonly Wanted[],
  { limit = 100, query = '' } = {},
): Promise<readonly Change[]> {
  const isWanted = (change: Change): boolean => {
    const { id, name } = plantOf(change)
    const [kind, plant] = wanted.at(-1) ?? []
    return change['kind'] === kind && id === plant?.id && name === plant?.name
  }
  const target = `/changes?after=${encodeURIComponent(after)}${query}${limit === 100 ? '' : `&limit=${limit}`}`
  // The last page leads to itself; one before it may be empty.
  const isLast = (page: Answer, request: RowRequest): boolean =>
    (limit < 100 && itemsOf(page).some(isWanted)) || positionOf(nextPage(page, '/changes')) === positionOf(request)
  const pages = await store.pages({ method: 'GET', target }, ok, isLast)
  const changes = pages.flatMap(itemsOf)
  store.assert(whyOthers(changes, ids, wanted, store.plants))
  return changes.filter((change) => ids.includes(plantOf(change)['id'] as bigint))
}

interface StreamEvent {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly change: Change
}

/** The complete events of a stream that have data. */
function eventsOf(text: string): readonly StreamEvent[] {
  const blocks = text.replaceAll(/\r\n?/g, '\n').split('\n\n').slice(0, -1)
  return blocks.flatMap((block) => {
    const fieldIn = (name: string): string | undefined => {
      const lines = block.split('\n').filter((line) => line.startsWith(`${name}:`))
      const values = lines.map((line) => line.slice(name.length + 1).replace(/^ /, ''))
      return values.length === 0 ? undefined : values.join('\n')
    }
    const data = fieldIn('data')
    if (data === undefined) return []
    return [{ id: fieldIn('id'), event: fieldIn('event'), change: objectOf({ body: Buffer.from(data) }) }]
  })
}

/** A stream, which is read until it has a number of events of a plant. */
function streamOf(id: bigint, count: number, query: string, headers: Headers = {}): RowRequest {
  return {
    method: 'GET',
    target: `/changes?${query}`,
    headers: { Accept: 'text/event-stream', ...headers },
    isEnough: (body) => eventsOf(body).filter(({ change }) => plantOf(change)['id'] === id).length >= count,
  }
}

function isStreamOf(id: bigint, wanted: readonly Wanted[]): readonly Check[] {
  const hasEvents: Check = ({ body }, plants) => {
    const events = eventsOf(body.toString())
    const odd = events.find(({ id, event, change }) => {
      return id !== change['position'] || event !== `plant.${String(change['kind'])}`
    })
    if (odd === undefined) {
      const changes = events.map(({ change }) => change)
      return whyOthers(changes, [id], wanted, plants)
    }
    const { position, kind } = odd.change
    const its = `its change has position ${String(position)} and kind ${String(kind)}`
    return `an event has id ${odd.id} and event ${odd.event}; ${its}`
  }
  return [...ok, field('Content-Type', /^text\/event-stream/i), field('Link', undefined), hasEvents]
}

export const changeRows: readonly Row[] = [
  row('each change is listed once, in order, with its plant', says, take(2), async (store, id, other) => {
    const created = { id, name: hardText, tag: 'aroid' }
    const beside = { id: other, name: 'n', tag: '' }
    const start = await positionOfNow(store)
    await store.create(created)
    await store.create(beside)
    for (const _ of [1, 2]) await store.put(id, { name: 'm' })
    await store.put(id, { name: 'x' }, refusal('preconditionFailed'), { 'If-Match': '"x"' })
    const invalid = { method: 'PUT', target: `/plants/${id}`, body: '{"name":7}', isInvalid: true }
    await store.send(invalid, refusal('invalidPlant'))
    await store.refuses('idTaken', { id, name: 'x' })
    await store.remove(id)
    await store.remove(id, refusal('unknownPlant'))
    await store.create({ id, name: 'again' })
    const all: readonly Wanted[] = [
      ['created', created],
      ['replaced', { id, name: 'm' }],
      ['deleted', { id, name: 'm' }],
      ['created', { id, name: 'again' }],
    ]
    await follow(store, start, [id], all)
    await follow(store, start, [other], [['created', beside]])
    // From now on, nothing.
    await follow(store, await positionOfNow(store), [id, other], [])
  }),
  // Changes of other rows would hide those that come in another order.
  row(
    'changes are listed to the last, in pages of any length and after any position',
    { document: says, turn: 'first' },
    take(3),
    async (store, ...own) => {
      const plants = own.map((id, at) => ({ id, name: `n${at}` }))
      const all = plants.map((plant): Wanted => ['created', plant])
      const start = await positionOfNow(store)
      for (const plant of plants) await store.create(plant)
      for (const limit of [1, 2, 1_000]) await follow(store, start, own, all, { limit })
      const target = `/changes?after=${encodeURIComponent(start)}`
      await store.call('HEAD', target, [...ok, hasNoBody, field('Link', /; rel="next"$/)])
      const [first] = await follow(store, start, own, all)
      await follow(store, String(first?.['position']), own, all.slice(1))
    },
  ),
  row('changes are listed by their kind', byKind, take(2), async (store, id, between) => {
    const plant = (name: string): NewPlant => ({ id, name, tag: 't' })
    const other = { id: between, name: 'n' }
    const start = await positionOfNow(store)
    await store.create(plant('n'))
    await store.put(id, { name: 'm', tag: 't' })
    await store.create(other)
    await store.put(id, { name: 'o', tag: 't' })
    await store.remove(id)
    const list = (kind: Wanted[0], limit: number, ...wanted: readonly NewPlant[]) => {
      const changes = wanted.map((each): Wanted => [kind, each])
      return follow(store, start, [id, between], changes, { limit, query: `&kind=${kind}` })
    }
    await list('created', 100, plant('n'), other)
    // A page that forgets the kind has the creation between both replacements.
    await list('replaced', 1, plant('m'), plant('o'))
    await list('deleted', 100, plant('o'))
  }),
  row(
    'a change says with which token it was made',
    { document: byCaller, unless: needs('$SECOND_TOKEN') },
    take(3),
    async (store, ...own) => {
      const plants = own.map((id) => ({ id, name: 'n' }))
      const start = await positionOfNow(store)
      for (const [at, plant] of plants.entries()) {
        await store.create(plant, at === 1 ? { Authorization: 'Bearer $SECOND_TOKEN' } : {})
      }
      const wanted = plants.map((plant): Wanted => ['created', plant])
      const callers = (await follow(store, start, own, wanted)).map(({ callerId }) => callerId)
      const [one, another, same] = callers
      store.assert(one === undefined || another === undefined ? 'there is no callerId' : undefined)
      store.assert(one === same ? undefined : 'changes with one token have different callerIds')
      store.assert(one === another ? 'changes with different tokens have one callerId' : undefined)
    },
  ),
  row('a position that the server never gave is refused, for a page and a stream', gone, none, async (store) => {
    const get = (after: string, headers: Headers): Promise<Answer> => {
      const target = `/changes?after=${after}`
      return store.send({ method: 'GET', target, headers, isEnough: () => true }, refusal('positionGone'))
    }
    for (const Accept of ['application/json', 'text/event-stream']) await get('never-given', { Accept })
    await get('now', { Accept: 'text/event-stream', 'Last-Event-ID': 'never-given' })
  }),
]

export const streamRows: readonly Row[] = [
  row(
    'a stream has the changes after its position, and goes on after Last-Event-ID',
    { document: streamed, turn: 'first' },
    near(1),
    async (store, id) => {
      const created = { id, name: hardText, tag: 'a\r\ndata: x' }
      const replaced = { id, name: 'm' }
      const all: readonly Wanted[] = [
        ['created', created],
        ['replaced', replaced],
        ['deleted', replaced],
      ]
      const query = `after=${encodeURIComponent(await positionOfNow(store))}`
      await store.create(created)
      await store.put(id, { name: 'm' })
      await store.remove(id)
      const stream = await store.send(streamOf(id, 3, query), isStreamOf(id, all))
      const first = eventsOf(stream.body.toString()).find(({ change }) => plantOf(change)['id'] === id)
      const after = first?.id ?? ''
      await store.send(streamOf(id, 2, `after=${encodeURIComponent(after)}`), isStreamOf(id, all.slice(1)))
      await store.send(streamOf(id, 2, query, { 'Last-Event-ID': after }), isStreamOf(id, all.slice(1)))
      await store.send(streamOf(id, 1, `${query}&kind=deleted`), isStreamOf(id, all.slice(2)))
    },
  ),
  // The create may come before the stream begins, and is in it all the same.
  row('a stream has a change that is made while it is open', streamed, take(1), async (store, id) => {
    const plant = { id, name: 'live' }
    const query = `after=${encodeURIComponent(await positionOfNow(store))}`
    await store.together([
      [streamOf(id, 1, query), isStreamOf(id, [['created', plant]])],
      [{ body: plantJson(id, plant.name) }, ok],
    ])
  }),
]
