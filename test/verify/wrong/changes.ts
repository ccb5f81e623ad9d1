// Sentences about the log of changes, each before the servers that break it.

import {
  type AnyPlant,
  accepting,
  answering,
  asked,
  asking,
  caughtBy,
  drop,
  edit,
  having,
  instead,
  json,
  later,
  queryOf,
  receiving,
  rounded,
  set,
  target,
  text,
  type Wrong,
} from '../operators.ts'
import type { Answered, Behaviour, Received } from '../wrong-servers.ts'

const page = 'GET /changes 200'

interface Change {
  readonly position: string
  readonly time: string
  readonly kind: string
  readonly plant: AnyPlant
  readonly callerId?: string
}

/** Changes pages, but no streams. */
const listing = (change: (changes: readonly Change[]) => readonly object[]) => (answered: Answered) =>
  answered.body.toString().startsWith('[') ? json(change)(answered) : {}
const each = (change: (each: Change) => object) => listing((changes) => changes.map(change))
const ofKind = (kind: string, change: (each: Change) => object) =>
  each((one) => (one.kind === kind ? { ...one, ...change(one) } : one))
const isRenamed = ({ kind, plant }: Change, at: number, all: readonly Change[]): boolean =>
  kind !== 'replaced' ||
  all.slice(0, at).findLast((each) => each.plant['id'] === plant['id'])?.plant.name !== plant.name
const isReplaced = ({ kind }: Change): boolean => kind === 'replaced'
const stream = (from: RegExp, to: string) => having('Content-Type', /^text\/event-stream/, text(from, to))
const isStream = /^text\/event-stream$/

/** Begins a page with the change that the page before ended with. */
function repeats(): (answered: Answered, received: Received) => Partial<Answered> {
  const known = new Map<string, string>()
  return ({ body }, received) => {
    const changes = [...body.toString().matchAll(/\{"position":"([^"]+)".*?\}(?=,\{"position"|\]$)/g)]
    for (const [change, position = ''] of changes) known.set(position, change)
    const again = known.get(queryOf(received).get('after') ?? '')
    if (again === undefined || changes.length === 0) return {}
    return { body: Buffer.from(`[${[again, ...changes.map(([change]) => change)].join()}]`) }
  }
}

const linksToItself = (answered: Answered, { target }: Received): Partial<Answered> =>
  target.includes('after=') ? set('Link', `<${target}>; rel="next"`)(answered) : {}
const beginsStream = (answered: Answered) => ({ ...set('Content-Type', 'text/event-stream')(answered), status: 200 })

const hasLongPages = (received: Received): Partial<Received> =>
  queryOf(received).has('limit') ? {} : asking('limit', '1000')(received)

const listsForWriters: Behaviour = async (received, forward) => {
  const answered = await forward(received)
  const isMeant = received.target.startsWith('/changes') && answered.status === 403
  return isMeant ? instead(200, [], ['Link', '</changes?after=x>; rel="next"']) : answered
}

export const changes: readonly Wrong[] = [
  ...caughtBy('credentials')(['lists changes for writers', listsForWriters]),
  ...caughtBy('changes')(
    ...receiving('GET /changes')(['forgets the kind of a stream', having('Accept', isStream, asking('kind'))]),
    ...answering(page)(
      text(/(?<="time":")\d{4}/g, '1970'),
      [
        'swaps the first two events of streams',
        text(/(id: [^\n]*\ne[^\n]*\nd[^\n]*\n\n)(id: [^\n]*\ne[^\n]*\nd[^\n]*\n\n)/, '$2$1'),
      ],
      ['lists the newest change first', listing((all) => all.toReversed())],
      ['leaves deleted plants out', listing((all) => all.filter(({ kind }) => kind !== 'deleted'))],
      ['leaves replaced plants out', listing((all) => all.filter(({ kind }) => kind !== 'replaced'))],
      ['lists no-op replacements', listing((all) => all.flatMap((it) => [it, ...(isReplaced(it) ? [it] : [])]))],
      ['repeats the last change of a page', repeats()],
      ['leaves the first change after a position out', listing((all) => all.slice(1))],
      ['shows no plant that was deleted', ofKind('deleted', ({ plant }) => ({ plant: { ...plant, name: '' } }))],
      ['keeps tags of replaced plants', ofKind('replaced', ({ plant }) => ({ plant: { tag: '', ...plant } }))],
      ['rounds ids of changes', text(/(?<="id":)-?\d+/g, rounded)],
      ['calls replacements updates', ofKind('replaced', () => ({ kind: 'updated' }))],
      ['has times two hours off', each((one) => ({ ...one, time: later(one.time) }))],
      ['has no Link to later changes', drop('Link')],
      ['has no Link on the last page', (one) => (one.body.toString() === '[]' ? drop('Link')(one) : {})],
      ['links to the page itself', linksToItself],
    ),
    ...answering('HEAD /changes 200')(drop('Link')),
    ...answering(page)(
      ['takes another tag for no change', listing((all) => all.filter(isRenamed))],
      ['has events without a caller', stream(/,"callerId":"[^"]*"/g, '')],
      ['names another caller than the home page', each((one) => ({ ...one, callerId: `${one.callerId}x` }))],
    ),
    ...receiving('GET /changes')([
      'begins now without a position',
      (received) => (queryOf(received).has('after') ? {} : asking('after', 'now')(received)),
    ]),
    ...receiving('GET /changes')(['takes now for the oldest change', target(/after=now/, '')]),
    ...answering(page)([
      'gives the changes of a plant one position',
      listing((all) =>
        all.map((one) => ({ ...one, position: all.find(({ plant }) => plant['id'] === one.plant['id'])?.position })),
      ),
    ]),
    ...accepting('GET /changes 410')(asking('after')),
    ...receiving('GET /changes')(asking('kind')),
    ...answering(page)(
      ['escapes markup of changes', text(/</g, '&lt;')],
      ['has a Link in a stream', having('Content-Type', /stream/, set('Link', '</changes?after=x>; rel="next"'))],
      ['forgets the kind on the next page', edit('Link', /&kind=\w+/, '')],
      ['does not say who made a change', each(({ callerId: _, ...rest }) => rest)],
      ['says that one token made all changes', each((one) => ({ ...one, callerId: 'tok_a' }))],
      ['says that each change has a caller of its own', each((one) => ({ ...one, callerId: one.position }))],
      ['has events without an id', stream(/^id: .*\n(?=event)/gm, '')],
      ['numbers events by itself', stream(/^id: .*$/gm, 'id: 7')],
      ['has events without plant. in their name', stream(/^event: plant\./gm, 'event: ')],
      ['has events without a name', stream(/^event: .*\n/gm, '')],
      ['has events with the plant alone', stream(/^data: .*"plant":(\{.*?\}).*$/gm, 'data: $1')],
      ['ends an event with one line break', stream(/^(data: .*)\n\n/gm, '$1\n')],
      ['has no events of deletes', stream(/^id: .*\nevent: plant\.deleted\ndata: .*\n\n/gm, '')],
    ),
    ...receiving('GET /changes')(
      ['has no stream', set('Accept', 'application/json')],
      having('Last-Event-ID', /^$/, having('Accept', isStream, asking('after'))),
    ),
    ...receiving('GET /changes')(drop('Last-Event-ID')),
    ...answering(page)(asked('Last-Event-ID', /./, stream(/(id: .*\nevent: .*\ndata: .*\n\n)/g, '$1$1'))),
  ),
  ...caughtBy('parameters')(
    ...answering('GET /changes 400')(['refuses within a stream', asked('Accept', isStream, beginsStream)]),
    ...receiving('GET /changes')(having('Accept', isStream, asking('colour'))),
    ...accepting('GET /changes 400')(asking('after'), asking('limit'), asking('tag'), asking('colour'), asking('kind')),
  ),
  ...caughtBy('answers')(
    ...receiving('GET /changes')(asking('limit', '1000')),
    ...receiving('GET /(?:plants|changes)')(['has long pages by default', hasLongPages]),
    ...answering(page)(
      ['has times without a zone', each((one) => ({ ...one, time: '2026-11-23T08:00:00.000' }))],
      ['has times in seconds', each((one) => ({ ...one, time: 1_763_884_800 }))],
    ),
  ),
]
