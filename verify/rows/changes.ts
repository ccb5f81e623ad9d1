// The log of changes, in pages. Others may change plants meanwhile, so rows look at their own plants only.

import { field, hasNoBody, isListOf, ok, refusal, status, whyNotPlant } from '../checks.ts'
import { type Answer, itemsOf, type RowRequest } from '../message.ts'
import type { NewPlant, Plants } from '../plant.ts'
import { type Circumstances, needing, type Row, row } from '../row.ts'
import { type Headers, nextPage, type Store } from '../store.ts'

const says =
  'lists the changes of plants, oldest first; who always continues with the Link sees every change exactly ' +
  'once, and the changes of one plant in their order (listChanges)'
const byKind = 'kind lists only changes of this kind (the parameter kind of listChanges)'
const byCaller = 'callerId is the id of the token that was used (the schema Change)'
const gone = 'the server does not have this position: 410 (listChanges, 410)'

/** Clocks differ by less. */
const dayMs = 86_400_000

export type Wanted = readonly [kind: 'created' | 'replaced' | 'deleted', plant: NewPlant]
export type Change = ReturnType<typeof itemsOf>[number]

/** The position of now. */
export async function positionOfNow(store: Store): Promise<string> {
  const isEmpty = (answer: Answer) => (itemsOf(answer).length === 0 ? undefined : 'there is a change after now')
  const page = await store.call('GET', '/changes?after=now', [...ok, field('Link', /; rel="next"$/), isEmpty])
  return positionOf(nextPage(page, '/changes'))
}

function positionOf({ target = '' }: RowRequest = {}): string {
  return new URLSearchParams(target.split('?')[1]).get('after') ?? ''
}

export function plantOf(change: Change): Change {
  return (change['plant'] ?? {}) as Change
}

/** What is wrong with the changes of some plants; undefined if they are these, in order. */
export function whyOthers(
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
  const old = own.find(({ time }) => Math.abs(Date.parse(String(time)) - Date.now()) > dayMs)
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
  const pages = await store.pages({ method: 'GET', target }, [status(200), isListOf(limit)], isLast)
  const changes = pages.flatMap(itemsOf)
  store.assert(whyOthers(changes, ids, wanted, store.plants))
  return changes.filter((change) => ids.includes(plantOf(change)['id'] as bigint))
}

export function changeRows(circumstances: Circumstances): readonly Row[] {
  const { ids } = circumstances
  return [
    orderRow(circumstances),
    // Changes of other rows would hide those that come in another order.
    {
      turn: 'first',
      ...row(
        'changes are listed to the last, in pages of any length and after any position',
        says,
        ids.take(3),
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
    },
    kindRow(circumstances),
    callersRow(circumstances),
    row('a position that the server never gave is refused, for a page and a stream', gone, [], async (store) => {
      const get = (after: string, headers: Headers): Promise<Answer> => {
        const target = `/changes?after=${after}`
        return store.send({ method: 'GET', target, headers, isEnough: () => true }, refusal('positionGone'))
      }
      for (const Accept of ['application/json', 'text/event-stream']) await get('never-given', { Accept })
      await get('now', { Accept: 'text/event-stream', 'Last-Event-ID': 'never-given' })
    }),
  ]
}

function orderRow({ ids }: Circumstances): Row {
  const title = 'each change is listed once, in order, with the plant that it made or deleted'
  const [id, other] = [...ids.near(1), ...ids.take(1)] as [bigint, bigint]
  return row(title, says, [id, other], async (store) => {
    const created = { id, name: 'Monstera "🌿"', tag: 'aroid' }
    const start = await positionOfNow(store)
    await store.create(created)
    await store.create({ id: other, name: 'n', tag: '' })
    for (const _ of [1, 2]) await store.put(id, '{"name":"m"}')
    await store.put(id, '{"name":"x"}', refusal('preconditionFailed'), { 'If-Match': '"x"' })
    await store.send(
      { method: 'PUT', target: `/plants/${id}`, body: '{"name":7}', isInvalid: true },
      refusal('invalidPlant'),
    )
    await store.refuses('idTaken', { id, name: 'x' })
    await store.remove(id)
    await store.remove(id, refusal('unknownPlant'))
    await store.create({ id, name: 'again' })
    await follow(
      store,
      start,
      [id],
      [
        ['created', created],
        ['replaced', { id, name: 'm' }],
        ['deleted', { id, name: 'm' }],
        ['created', { id, name: 'again' }],
      ],
    )
    await follow(store, start, [other], [['created', { id: other, name: 'n', tag: '' }]])
    // From now on, nothing.
    await follow(store, await positionOfNow(store), [id, other], [])
  })
}

function kindRow({ ids }: Circumstances): Row {
  return row('changes are listed by their kind', byKind, ids.take(2), async (store, id, between) => {
    const plant = (name: string): NewPlant => ({ id, name, tag: 't' })
    const other = { id: between, name: 'n' }
    const start = await positionOfNow(store)
    await store.create(plant('n'))
    await store.put(id, '{"name":"m","tag":"t"}')
    await store.create(other)
    await store.put(id, '{"name":"o","tag":"t"}')
    await store.remove(id)
    const list = (kind: Wanted[0], limit: number, ...wanted: readonly NewPlant[]) => {
      const changes = wanted.map((each): Wanted => [kind, each])
      return follow(store, start, [id, between], changes, { limit, query: `&kind=${kind}` })
    }
    await list('created', 100, plant('n'), other)
    // A page that forgets the kind has the creation between both replacements.
    await list('replaced', 1, plant('m'), plant('o'))
    await list('deleted', 100, plant('o'))
  })
}

function callersRow(circumstances: Circumstances): Row {
  const title = 'a change says with which token it was made'
  const listed = row(title, byCaller, circumstances.ids.take(3), async (store, ours, theirs, too) => {
    const plants = [ours, theirs, too].map((id) => ({ id, name: 'n' }))
    const start = await positionOfNow(store)
    for (const plant of plants) {
      await store.create(plant, plant.id === theirs ? { Authorization: 'Bearer $SECOND_TOKEN' } : {})
    }
    const wanted = plants.map((plant): Wanted => ['created', plant])
    const [one, another, same] = (await follow(store, start, [ours, theirs, too], wanted)).map(
      ({ callerId }) => callerId,
    )
    store.assert(one === undefined || another === undefined ? 'there is no callerId' : undefined)
    store.assert(one === same ? undefined : 'changes with one token have different callerIds')
    store.assert(one === another ? 'changes with different tokens have one callerId' : undefined)
  })
  return needing('$SECOND_TOKEN', circumstances, listed)
}
