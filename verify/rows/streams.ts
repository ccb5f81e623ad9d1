// The log of changes as a stream of Server-Sent Events (WHATWG HTML, section 9.2).

import { type Check, field, status } from '../checks.ts'
import { decodeJson } from '../json.ts'
import type { Answer, RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import { type Change, plantOf, positionOfNow, type Wanted, whyOthers } from './changes.ts'

const says =
  'clients that accept text/event-stream get first the changes after the position, then each later change as ' +
  'it happens; the id of an event is the position, event is plant. and the kind, data is the Change ' +
  '(listChanges)'

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
      const lines = block.split('\n').filter((each) => each.startsWith(`${name}:`))
      return lines.length === 0
        ? undefined
        : lines.map((line) => line.slice(name.length + 1).replace(/^ /, '')).join('\n')
    }
    const data = fieldIn('data')
    return data === undefined ? [] : [{ id: fieldIn('id'), event: fieldIn('event'), change: parse(data) }]
  })
}

function parse(data: string): Change {
  try {
    return decodeJson(Buffer.from(data)) as Change
  } catch {
    return {}
  }
}

/** A stream, which is read until it has a number of events of a plant. */
function streamOf(
  id: bigint,
  count: number,
  after: string,
  headers: RowRequest['headers'] = {},
  query = '',
): RowRequest {
  return {
    method: 'GET',
    target: `/changes?after=${encodeURIComponent(after)}${query}`,
    headers: { Accept: 'text/event-stream', ...headers },
    isEnough: (body) => eventsOf(body).filter(({ change }) => plantOf(change)['id'] === id).length >= count,
  }
}

function streams(id: bigint, wanted: readonly Wanted[]): readonly Check[] {
  return [
    status(200),
    field('Content-Type', /^text\/event-stream/i),
    ({ body }, plants) => {
      const events = eventsOf(body.toString())
      const odd = events.find(({ id, event, change }) => {
        return id !== change['position'] || event !== `plant.${String(change['kind'])}`
      })
      if (odd !== undefined) {
        const { position, kind } = odd.change
        return `an event has id ${odd.id} and event ${odd.event}; its change has position ${String(position)} and kind ${String(kind)}`
      }
      return whyOthers(
        events.map(({ change }) => change),
        [id],
        wanted,
        plants,
      )
    },
  ]
}

export function streamRows({ ids }: Circumstances): readonly Row[] {
  return [
    // Changes of other rows would hide those that come in another order.
    {
      turn: 'first',
      ...row(
        'a stream has the changes after its position, and goes on after Last-Event-ID',
        says,
        ids.near(1),
        async (store, id) => {
          const created = { id, name: 'a\r\nb "\u2028" 🌿', tag: 'data: x' }
          const replaced = { id, name: 'm' }
          const all: readonly Wanted[] = [
            ['created', created],
            ['replaced', replaced],
            ['deleted', replaced],
          ]
          const start = await positionOfNow(store)
          await store.create(created)
          await store.put(id, '{"name":"m"}')
          await store.remove(id)
          const stream = await store.send(streamOf(id, all.length, start), streams(id, all))
          const first = eventsOf(stream.body.toString()).find(({ change }) => plantOf(change)['id'] === id)
          const headers = { 'Last-Event-ID': first?.id ?? '' }
          await store.send(streamOf(id, all.length - 1, start, headers), streams(id, all.slice(1)))
          await store.send(streamOf(id, 1, start, {}, '&kind=deleted'), streams(id, all.slice(2)))
        },
      ),
    },
    // The create may come before the stream begins, and is in it all the same.
    row('a stream has a change that is made while it is open', says, ids.take(1), async (store, id) => {
      const plant = { id, name: 'live' }
      const requests = [streamOf(id, 1, await positionOfNow(store)), { body: plantJson(id, plant.name) }]
      await store.together(requests, ([stream, created]) => {
        const wrong = created?.status === 200 ? undefined : `the create got ${created?.status}, not 200`
        const whys = streams(id, [['created', plant]]).map((check) => check(stream as Answer, store.plants))
        return wrong ?? whys.find((why) => why !== undefined)
      })
    }),
  ]
}
