// The log of changes as a stream of Server-Sent Events (WHATWG HTML, section 9.2).

import { decodeJson, type JsonValue } from '../../src/json/decode.ts'
import { limits } from '../../src/limits.ts'
import { field, refusal, status } from '../checks.ts'
import type { Answer, RowRequest } from '../message.ts'
import type { Check, Circumstances, OneStep, Row } from '../row.ts'
import { create, put, remove, row, type Source } from './building.ts'
import { now, positionAfter, type Wanted, whyOthers } from './changes.ts'

const says: Source = {
  document:
    'clients that accept text/event-stream get first the changes after the position, then each later change as it happens; the id of an event is the position, event is plant. and the kind, data is the Change',
  where: 'listChanges',
}

interface StreamEvent {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly change: Readonly<Record<string, JsonValue | undefined>>
}

export function streamRows(circumstances: Circumstances): readonly Row[] {
  return [eventsRow(circumstances), liveRow(circumstances), ...refusedRows(circumstances)]
}

/** The complete events of a stream that have data. */
function eventsOf(text: string): readonly StreamEvent[] {
  const blocks = text.replaceAll('\r\n', '\n').split('\n\n').slice(0, -1)
  return blocks.flatMap((block) => {
    const fieldIn = (name: string): string | undefined => {
      const line = block.split('\n').find((each) => each.startsWith(`${name}:`))
      return line?.slice(name.length + 1).replace(/^ /, '')
    }
    const data = fieldIn('data')
    return data === undefined ? [] : [{ id: fieldIn('id'), event: fieldIn('event'), change: parse(data) }]
  })
}

function parse(data: string): StreamEvent['change'] {
  try {
    return decodeJson(Buffer.from(data), limits.jsonDepthMax) as StreamEvent['change']
  } catch {
    return {}
  }
}

/** A stream, which is read until it has a number of events of a plant. */
function streamOf(id: bigint, count: number, after: string, more: RowRequest['headers'] = {}): RowRequest {
  const isOwn = ({ change }: StreamEvent): boolean => (change['plant'] as { id?: unknown } | undefined)?.id === id
  return {
    method: 'GET',
    target: `/changes?after=${encodeURIComponent(after)}`,
    headers: { Accept: 'text/event-stream', ...more },
    isEnough: (body) => eventsOf(body).filter(isOwn).length >= count,
  }
}

function streams(id: bigint, wanted: readonly Wanted[]): readonly Check[] {
  return [
    status(200),
    field('Content-Type', /^text\/event-stream/i),
    ({ body }, _before, plants) => {
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

function eventsRow({ ids }: Circumstances): Row {
  const id = ids.next() + 1n
  const [created, replaced] = [
    { id, name: 'a\r\nb "\u2028" 🌿', tag: 'data: x' },
    { id, name: 'm' },
  ]
  const all: readonly Wanted[] = [
    ['created', created],
    ['replaced', replaced],
    ['deleted', replaced],
  ]
  const idOf = (answer: Answer | undefined): string => {
    const events = eventsOf(answer?.body.toString() ?? '')
    return events.find(({ change }) => (change['plant'] as { id?: unknown } | undefined)?.id === id)?.id ?? ''
  }
  return row(
    'a stream has the changes after its position, and goes on after Last-Event-ID',
    says,
    [id],
    now,
    create(created),
    put(id, '{"name":"m"}', [status(200)]),
    remove(id, [status(204)]),
    { request: (before) => streamOf(id, all.length, positionAfter(before[0])), checks: streams(id, all) },
    {
      request: (before) => streamOf(id, all.length - 1, positionAfter(before[0]), { 'Last-Event-ID': idOf(before[4]) }),
      checks: streams(id, all.slice(1)),
    },
  )
}

/** The create may come before the stream begins, and is in it all the same. */
function liveRow({ ids }: Circumstances): Row {
  const plant = { id: ids.next(), name: 'live' }
  return row('a stream has a change that is made while it is open', says, [plant.id], now, {
    atOnce: (before) => [
      streamOf(plant.id, 1, positionAfter(before[0])),
      { body: JSON.stringify({ id: 0, name: plant.name }).replace('0', String(plant.id)) },
    ],
    together: ([stream, created], plants) => {
      const wrong = created?.status === 200 ? undefined : `the create got ${created?.status}, not 200`
      const checks = streams(plant.id, [['created', plant]])
      return wrong ?? checks.map((check) => check(stream as Answer, [], plants)).find((why) => why !== undefined)
    },
  })
}

function refusedRows({ ids }: Circumstances): Row[] {
  const stream = (target: string, headers: RowRequest['headers'], checks: readonly Check[]): OneStep => ({
    request: {
      method: 'GET',
      target,
      headers: { Accept: 'text/event-stream', ...headers },
      // Whoever begins a stream does not refuse it.
      isEnough: () => true,
    },
    checks,
  })
  return [
    row(
      'a stream is refused like a page, before it begins',
      says,
      [ids.next()],
      stream('/changes?limit=0', {}, refusal('invalidParameter')),
      stream('/changes?kind=x', {}, refusal('invalidParameter')),
      stream('/changes?after=never-given', {}, [status(410)]),
      stream('/changes?after=now', { 'Last-Event-ID': 'never-given' }, [status(410)]),
      stream('/changes?after=now', { Authorization: undefined }, refusal('missingToken')),
      stream('/changes?after=now', { Authorization: 'Bearer $UNKNOWN_TOKEN' }, refusal('invalidToken')),
    ),
  ]
}
