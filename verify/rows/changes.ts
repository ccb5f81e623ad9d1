// The log of changes, in pages and as a stream of Server-Sent Events (WHATWG HTML, section 9.2). Others may change plants
// meanwhile, so rows look at their own plants only.

import { isDeepStrictEqual } from 'node:util'
import {
  type AnswerCheck,
  type Check,
  field,
  hasNoBody,
  isCreated,
  isOfNow,
  ok,
  refusal,
  whyNotPlant,
} from '../checks.ts'
import { type Answer, itemsOf, objectOf, type RowRequest } from '../message.ts'
import { hardText, type NewPlant, type Plants, plantJson } from '../plant.ts'
import { near, type Row, row } from '../row.ts'
import { nextPage, type Store } from '../store.ts'

const streamed = 'listChanges: text/event-stream'

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
    // The last page leads to itself; one before it may be empty.
    return (
      (query['limit'] !== undefined && count >= wanted.length) ||
      positionOf(nextPage(page, '/changes')) === positionOf(request)
    )
  }
  const pages = await store.pages({ method: 'GET', target: targetOf(query) }, ok, isLast)
  const changes = ofPlants(ids, pages.flatMap(itemsOf))
  store.assert(whyOthers(changes, wanted, store.plants))
  return changes
}

/** A stream, which is read until all wanted events are there, and its checks. */
function streamOf(...[{ lastEventId, ...query }, ids, wanted]: Asked): readonly [RowRequest, readonly Check[]] {
  const isWanted: Check = ({ body }, plants) => whyOthers(changesIn(body.toString(), ids), wanted, plants)
  const request = {
    method: 'GET',
    target: targetOf(query),
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': lastEventId },
    isEnough: (text: string) => changesIn(text, ids).length >= wanted.length,
  }
  const isStream = [field('Content-Type', /^text\/event-stream/i), field('Link', undefined), hasNamedEvents]
  return [request, [...ok, ...isStream, isWanted]]
}

function changesIn(text: string, ids: readonly bigint[]): readonly Change[] {
  const changes = eventsOf(text).map(({ change }) => change)
  return ofPlants(ids, changes)
}

const readStream: Read = async (store, ...asked) => {
  const { body } = await store.send(...streamOf(...asked))
  return changesIn(body.toString(), asked[1])
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

function plantOf(change: Change): Change {
  return (change['plant'] ?? {}) as Change
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

const hasNamedEvents: AnswerCheck = ({ body }) => {
  const odd = eventsOf(body.toString()).find(({ id, event, change }) => {
    return id !== change['position'] || event !== `plant.${String(change['kind'])}`
  })
  if (odd === undefined) return undefined
  const { position, kind } = odd.change
  const its = `its change has position ${String(position)} and kind ${String(kind)}`
  return `an event has id ${odd.id} and event ${odd.event}; ${its}`
}

export const changeRows: readonly Row[] = [
  ...reads.map(readRow),
  row('a change says with which token it was made', 'schemas/Change', async (store, first, second, third) => {
    const ids = [first, second, third]
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
  row('a stream has each change as the pages have it', streamed, async (store, id) => {
    const wanted: readonly Wanted[] = [['created', { id, name: 'n' }]]
    const after = await positionOfNow(store)
    await store.create({ id, name: 'n' })
    const inPages = await readPages(store, { after }, [id], wanted)
    const inStream = await readStream(store, { after }, [id], wanted)
    store.assert(isDeepStrictEqual(inStream, inPages) ? undefined : 'a stream has other changes than the pages')
  }),
  row('without a position, the changes begin with the oldest', 'parameters/AfterPosition', async (store, id) => {
    await store.create({ id, name: 'n' })
    const isFound = (page: Answer, request: RowRequest): boolean =>
      itemsOf(page).length > 0 || positionOf(nextPage(page, '/changes')) === positionOf(request)
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
    await store.together([
      streamOf({ after }, [id], [['created', live]]),
      [{ body: plantJson(id, live.name) }, isCreated(live)],
    ])
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
    const [first] = await read(store, { after }, ids, all)
    await read(store, { after: String(first?.['position']), limit: '2' }, ids, all.slice(1))
    for (const kind of kinds) {
      const wanted = all.filter((each) => each[0] === kind)
      await read(store, { after, kind, limit: '1' }, ids, wanted)
    }
  })
}
