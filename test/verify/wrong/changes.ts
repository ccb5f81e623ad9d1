// Sentences about the log of changes, in pages and as a stream.

import { accepts, answers, fieldOf, instead, query, receives, set, text } from '../changes.ts'
import type { Behaviour } from '../wrong-servers.ts'
import type { Entry, Wrong } from './table.ts'

const page = 'GET /changes 200'
const ordered = 'each change is listed once, in order, with the plant that it made or deleted'
const paged = 'changes are listed to the last, in pages of any length and after any position'
const byKind = 'changes are listed by their kind'
const callers = 'a change says with which token it was made'
const events = 'a stream has the changes after its position, and goes on after Last-Event-ID'
const live = 'a stream has a change that is made while it is open'
const refused = 'a stream is refused like a page, before it begins'
const described = 'listChanges: answers are as the document describes them'
const without = (name: string) => query((parameters) => parameters.delete(name))

interface Change {
  readonly position: string
  readonly kind: string
  readonly plant: { readonly id: string; readonly name: string; readonly tag?: string }
  readonly callerId?: string
}

/** Other changes in a page, but not in a stream. */
const lists = (change: (changes: readonly Change[]) => readonly object[]): Behaviour =>
  answers(page, ({ body }) => {
    if (!body.toString().startsWith('[')) return {}
    const quoted = body.toString().replaceAll(/("id":)(-?\d+)/g, '$1"#$2"')
    const changed = JSON.stringify(change(JSON.parse(quoted) as Change[]))
    return { body: Buffer.from(changed.replaceAll(/"#(-?\d+)"/g, '$1')) }
  })
const each = (change: (each: Change) => object): Behaviour => lists((changes) => changes.map(change))

/** Begins a page with the change that the page before ended with. */
function repeats(): Behaviour {
  const known = new Map<string, string>()
  return answers(page, ({ body }, { target }) => {
    const changes = [...body.toString().matchAll(/\{"position":"([^"]+)".*?\}(?=,\{"position"|\]$)/g)]
    for (const [change, position = ''] of changes) known.set(position, change)
    const again = known.get(new URLSearchParams(target.split('?')[1]).get('after') ?? '')
    if (again === undefined || changes.length === 0) return {}
    return { body: Buffer.from(`[${[again, ...changes.map(([change]) => change)].join()}]`) }
  })
}

const streams = (from: RegExp, to: string): Behaviour =>
  answers(page, (answered) =>
    fieldOf(answered, 'content-type').startsWith('text/event-stream') ? text(from, to)(answered) : {},
  )

const inPages: readonly Wrong[] = [
  ['lists the newest change first', lists((changes) => changes.toReversed()), ordered, paged],
  ['leaves deleted plants out', lists((changes) => changes.filter(({ kind }) => kind !== 'deleted')), ordered],
  ['leaves replaced plants out', lists((changes) => changes.filter(({ kind }) => kind !== 'replaced')), ordered],
  [
    'lists replacements that change nothing',
    lists((changes) =>
      changes.flatMap((change) =>
        change.kind === 'replaced' ? [change, { ...change, position: `${change.position}x` }] : [change],
      ),
    ),
    ordered,
  ],
  ['repeats the last change of a page', repeats(), paged],
  ['leaves the first change after a position out', lists((changes) => changes.slice(1)), paged],
  [
    'shows no plant that was deleted',
    each((change) => (change.kind === 'deleted' ? { ...change, plant: { id: change.plant.id, name: '' } } : change)),
    ordered,
  ],
  [
    'keeps the tag of a replaced plant',
    each((change) => (change.kind === 'replaced' ? { ...change, plant: { ...change.plant, tag: 'aroid' } } : change)),
    ordered,
  ],
  [
    'rounds ids of changes',
    each((change) => ({ ...change, plant: { ...change.plant, id: `#${BigInt(Number(change.plant.id.slice(1)))}` } })),
    ordered,
  ],
  [
    'calls replacements updates',
    each((change) => ({ ...change, kind: change.kind.replace('replaced', 'updated') })),
    ordered,
  ],
  ['has changes without their plant', each(({ plant: _, ...rest }) => rest), ordered, described],
  [
    'lists changes for writers',
    async (received, forward) => {
      const answered = await forward(received)
      const isMeant = received.target.startsWith('/changes') && answered.status === 403
      return isMeant ? instead(200, [], ['Link', '</changes?after=x>; rel="next"']) : answered
    },
    'a token that may only write creates, replaces and deletes, but reads nothing',
  ],
]

export const changes: readonly Entry[] = [
  {
    says: [
      'Lists the changes of plants, oldest first.',
      'A client that always continues with the `Link` of the previous page sees every change exactly once, and the changes of one plant in their order.',
      'A replacement that changes nothing is not a change.',
      'A page of changes.',
      'A change of a plant',
      'What happened to the plant',
      'The plant after the change; if it was deleted, the plant before.',
    ],
    wrong: inPages,
  },
  {
    says: [
      '`after=now` gives an empty page, whose `Link` begins with the next change.',
      'A page can contain fewer changes than `limit`, or none, and still not be the last: the last page has a `Link` to itself, where the next changes will be.',
      'Of a page, not of a stream.',
      'The next page, such as `</changes?after=7-mh3x2k1a&limit=100>; rel="next"`.',
      'Always present: later changes are on that page.',
    ],
    wrong: [
      ['has no Link to later changes', answers(page, set('Link', undefined)), ordered, paged],
      [
        'has no Link on the last page',
        answers(page, (answered) => (answered.body.toString() === '[]' ? set('Link', undefined)(answered) : {})),
        ordered,
      ],
      [
        'takes now for the oldest change',
        receives('GET /changes', (received) =>
          received.target.includes('after=now') ? without('after')(received) : {},
        ),
        ordered,
      ],
      ['answers HEAD of changes without Link', answers('HEAD /changes 200', set('Link', undefined)), paged],
      [
        'links to the page itself',
        answers(page, (answered, { target }) =>
          target.includes('after=') ? set('Link', `<${target}>; rel="next"`)(answered) : {},
        ),
        ordered,
      ],
    ],
  },
  {
    says: [
      'The position of a change, or `now`.',
      'Lists only changes after it.',
      'Where the change is in the log.',
      'Opaque; a client may only send it back in `after`.',
    ],
    wrong: [
      ['gives all changes one position', each((change) => ({ ...change, position: 'same' })), ordered],
      [
        'takes an unknown position for the oldest',
        accepts('GET /changes 400|410', without('after')),
        'a position that the server never gave is refused',
      ],
      [
        'takes an empty position for none',
        accepts('GET /changes 400', (received) =>
          /after=(?:&|$|%20)/.test(received.target) ? without('after')(received) : {},
        ),
        'of changes, the query after= is refused',
        'of changes, the query after=%20 is refused',
      ],
    ],
  },
  {
    says: ['Maximum number of changes in a page'],
    wrong: [
      [
        'ignores the limit of changes',
        receives(
          'GET /changes',
          query((parameters) => parameters.set('limit', '1000')),
        ),
        paged,
      ],
      [
        'takes any limit of changes',
        accepts('GET /changes 400', without('limit')),
        'of changes, the query limit=0 is refused',
        'of changes, the query limit=1001 is refused',
        'of changes, the query limit=1%0A is refused',
      ],
      [
        'ignores parameters of plants',
        accepts('GET /changes 400', without('tag')),
        'of changes, the query tag=a is refused',
      ],
      [
        'ignores unknown parameters of changes',
        accepts('GET /changes 400', without('colour')),
        'of changes, the query colour=green is refused',
      ],
    ],
  },
  {
    says: ['Lists only changes of this kind.'],
    wrong: [
      ['ignores the kind', receives('GET /changes', without('kind')), byKind],
      [
        'takes unknown kinds for all',
        accepts('GET /changes 400', without('kind')),
        'of changes, the query kind= is refused',
        'of changes, the query kind=Created is refused',
        'of changes, the query kind=created,deleted is refused',
      ],
      [
        'forgets the kind on the next page',
        answers(page, (answered) => set('Link', fieldOf(answered, 'link').replace(/&kind=\w+/, ''))(answered)),
        byKind,
      ],
    ],
  },
  {
    says: ['The id of the token that was used; for a JWT, an id of its issuer and subject.'],
    wrong: [
      ['does not say who made a change', each(({ callerId: _, ...rest }) => rest), callers],
      ['says that one token made all changes', each((change) => ({ ...change, callerId: 'tok_a' })), callers],
      [
        'says that each change has a caller of its own',
        each((change) => ({ ...change, callerId: change.position })),
        callers,
      ],
    ],
  },
  {
    says: ['When the change was made, by the clock of its server, in UTC (RFC 3339)'],
    wrong: [
      ['has times without a zone', each((change) => ({ ...change, time: '2026-11-23T08:00:00.000' })), described],
      ['has times in seconds', each((change) => ({ ...change, time: 1_763_884_800 })), described],
    ],
  },
  {
    says: [
      'Clients that accept `text/event-stream` get a stream of Server-Sent Events (WHATWG HTML, section 9.2) instead, which has no end: first the changes after the position, then each later change as it happens.',
      'The `id` of an event is the position of the change, `event` is `plant.` and its kind, and `data` is the Change.',
      'Of a stream.',
    ],
    wrong: [
      ['has no stream', receives('GET /changes', set('Accept', 'application/json')), events, live],
      ['has events without an id', streams(/^id: .*\n(?=event)/gm, ''), events],
      ['numbers events by itself', streams(/^id: .*$/gm, 'id: 7'), events],
      ['has events without plant. in their name', streams(/^event: plant\./gm, 'event: '), events],
      ['has events without a name', streams(/^event: .*\n/gm, ''), events],
      ['has events with the plant alone', streams(/^data: .*"plant":(\{.*?\}).*$/gm, 'data: $1'), events],
      ['ends an event with one line break', streams(/^(data: .*)\n\n/gm, '$1\n'), events],
      ['has no events of deletes', streams(/^id: .*\nevent: plant\.deleted\ndata: .*\n\n/gm, ''), events],
      [
        'begins a stream with the oldest change',
        receives('GET /changes', (received) =>
          fieldOf(received, 'accept') === 'text/event-stream' && fieldOf(received, 'last-event-id') === ''
            ? without('after')(received)
            : {},
        ),
        refused,
      ],
      [
        'refuses within a stream',
        answers('GET /changes 400', (answered, received) =>
          fieldOf(received, 'accept') === 'text/event-stream'
            ? { ...set('Content-Type', 'text/event-stream')(answered), status: 200 }
            : {},
        ),
        refused,
      ],
    ],
  },
  {
    says: [
      'A client that reconnects with `Last-Event-ID` misses nothing and gets nothing twice.',
      'The position of the last change that the client has received.',
      'Takes precedence over `after`.',
    ],
    wrong: [
      ['ignores Last-Event-ID', receives('GET /changes', set('Last-Event-ID', undefined)), events, refused],
      [
        'goes on with the last event again',
        answers(page, (answered, received) =>
          fieldOf(received, 'last-event-id') === '' ? {} : text(/(id: \S+\nevent: (?:.|\n)*?\n\n)/g, '$1$1')(answered),
        ),
        events,
      ],
    ],
  },
  {
    says: [
      'Each change is written in the same transaction as the plant.',
      'To copy all plants, request `after=now`, then list the plants, then follow that `Link`.',
      'A comment is sent at least every 15 seconds.',
      'The stream ends when the token is revoked or expires, when the client reads too slowly, and when the server stops.',
      'Tells nginx to pass events on as they come.',
      'Without it, the list begins with the oldest change that the server has.',
      'The server does not have this position: it keeps changes for a limited time, and a restored backup begins another log.',
      'Copy all plants again.',
      'Absent if a command made the change.',
      '| 41001 | positionGone | The log of changes does not have this position. |',
      '| 42902 | tooManyStreams | The token has too many streams of changes; end one of them. |',
    ],
    because: 'needs minutes, many connections or the command line of the server; the tests of this service check them',
  },
]
