// The log of changes, in pages. Others may change plants meanwhile, so rows look at their own plants only.

import type { ChangeKind } from '../../src/domain/change.ts'
import type { JsonValue } from '../../src/json/decode.ts'
import { field, hasNoBody, refusal, status, whyNotPlant } from '../checks.ts'
import { type Answer, jsonOf, type RowRequest } from '../message.ts'
import type { NewPlant, Plants } from '../plant.ts'
import type { Circumstances, OneStep, Row, Step } from '../row.ts'
import { call, create, needing, put, remove, row, type Source } from './building.ts'
import { nextPage } from './listing.ts'

export const changesSay: Source = {
  document:
    'lists the changes of plants, oldest first; who always continues with the Link sees every change exactly once, and the changes of one plant in their order',
  where: 'listChanges',
}

export type Wanted = readonly [kind: ChangeKind, plant: NewPlant]

type Change = Readonly<Record<string, JsonValue | undefined>>

export function changeRows(circumstances: Circumstances): readonly Row[] {
  return [
    orderRow(circumstances),
    pagesRow(circumstances),
    kindRow(circumstances),
    callersRow(circumstances),
    ...refusedRows(),
  ]
}

/** The position of now. */
export const now: OneStep = {
  request: { method: 'GET', target: '/changes?after=now' },
  checks: [
    status(200),
    field('Link', /; rel="next"$/),
    (answer) => (changesOf([answer]).length === 0 ? undefined : 'there is a change after now'),
  ],
}

/** The position behind a page. */
export function positionAfter(page: Answer | undefined): string {
  return positionOf(nextPage(page, '/changes') ?? {})
}

function positionOf({ target = '' }: RowRequest): string {
  return new URLSearchParams(target.split('?')[1]).get('after') ?? ''
}

export function changesOf(pages: readonly Answer[]): readonly Change[] {
  return pages.flatMap((page) => (jsonOf(page) ?? []) as readonly Change[])
}

/** What is wrong with the changes of some plants; undefined if they are these, in order. */
export function whyOthers(
  changes: readonly Change[],
  ids: readonly bigint[],
  wanted: readonly Wanted[],
  plants: Plants,
): string | undefined {
  const own = changes.filter(({ plant }) => ids.includes((plant as Change | undefined)?.['id'] as bigint))
  const [came, due] = [own.map(({ kind }) => String(kind)), wanted.map(([kind]) => kind)]
  if (came.join() !== due.join()) return `the kinds are ${came.join(', ') || 'none'}, not ${due.join(', ') || 'none'}`
  const whys = wanted.map(([, plant], at) => {
    const why = whyNotPlant(own[at]?.['plant'] as Readonly<Record<string, JsonValue>>, plant, plants)
    return why && `of change ${at + 1}, ${why}`
  })
  const positions = new Set(own.map(({ position }) => position))
  return whys.find((why) => why !== undefined) ?? (positions.size < own.length ? 'two have one position' : undefined)
}

/** All changes of some plants from a page on, short pages only up to the last of them: others may change plants, too. */
function follow(
  start: (before: readonly Answer[]) => RowRequest,
  ids: readonly bigint[],
  wanted: readonly Wanted[],
  limit = 100,
): Step {
  return {
    request: start,
    checks: [
      status(200),
      (page) => {
        const { length } = changesOf([page])
        return length > limit ? `there are ${length} changes in a page of at most ${limit}` : undefined
      },
    ],
    pages: {
      // The last page leads to itself; one before it may be empty.
      next: (page, request) => {
        const next = nextPage(page, '/changes')
        const isDone = limit < 100 && changesOf([page]).some((change) => isOf(change, wanted.at(-1)))
        return isDone || positionAfter(page) === positionOf(request) ? undefined : next
      },
      check: (pages, plants) => whyOthers(changesOf(pages), ids, wanted, plants),
    },
  }
}

function isOf({ kind, plant }: Change, wanted: Wanted | undefined): boolean {
  const { id, name } = (plant ?? {}) as Change
  return kind === wanted?.[0] && id === wanted?.[1].id && name === wanted?.[1].name
}

const from =
  (step: number, more = '') =>
  (before: readonly Answer[]): RowRequest => ({
    method: 'GET',
    target: `/changes?after=${encodeURIComponent(positionAfter(before[step]))}${more}`,
  })

function orderRow({ ids }: Circumstances): Row {
  const [id, other] = [ids.next() + 1n, ids.next()]
  const created = { id, name: 'Monstera "🌿"', tag: 'aroid' }
  return row(
    'each change is listed once, in order, with the plant that it made or deleted',
    changesSay,
    [id, other],
    now,
    create(created),
    create({ id: other, name: 'n', tag: '' }),
    put(id, '{"name":"m"}', [status(200)]),
    put(id, '{"name":"m"}', [status(200)]),
    put(id, '{"name":"x"}', refusal('preconditionFailed'), { 'If-Match': '"x"' }),
    put(id, '{"name":7}', refusal('invalidPlant')),
    { request: { body: `{"id":${id},"name":"x"}` }, checks: refusal('idTaken') },
    remove(id, [status(204)]),
    remove(id, refusal('unknownPlant')),
    create({ id, name: 'again' }),
    follow(
      (before) => nextPage(before[0], '/changes') ?? {},
      [id],
      [
        ['created', created],
        ['replaced', { id, name: 'm' }],
        ['deleted', { id, name: 'm' }],
        ['created', { id, name: 'again' }],
      ],
    ),
    follow(from(0), [other], [['created', { id: other, name: 'n', tag: '' }]]),
    // The oldest changes may be long ago. From now on, nothing.
    now,
    follow(from(13), [id, other], []),
  )
}

function pagesRow({ ids }: Circumstances): Row {
  const plants = [1, 2, 3].map((at) => ({ id: ids.next(), name: `n${at}` }))
  const all = plants.map((plant): Wanted => ['created', plant])
  const own = plants.map(({ id }) => id)
  const first = plants.length + 1
  return row(
    'changes are listed to the last, in pages of any length and after any position',
    changesSay,
    own,
    now,
    ...plants.map((plant) => create(plant)),
    follow(from(0, '&limit=1'), own, all, 1),
    follow(from(0, '&limit=2'), own, all, 2),
    follow(from(0, '&limit=1000'), own, all, 1_000),
    {
      request: (before) => ({ ...from(0)(before), method: 'HEAD' }),
      checks: [status(200), hasNoBody, field('Link', /; rel="next"$/)],
    },
    follow(from(0), own, all),
    // After the first change, as its position says.
    follow(
      (before) => {
        const [change] = changesOf(before.slice(first + 4, first + 5)).filter(({ plant }) =>
          own.includes((plant as Change | undefined)?.['id'] as bigint),
        )
        return { method: 'GET', target: `/changes?after=${encodeURIComponent(String(change?.['position']))}` }
      },
      own,
      all.slice(1),
    ),
  )
}

function kindRow({ ids }: Circumstances): Row {
  const [id, between] = [ids.next(), ids.next()]
  const [created, replaced, again] = ['n', 'm', 'o'].map((name) => ({ id, name, tag: 't' })) as [
    NewPlant,
    NewPlant,
    NewPlant,
  ]
  const other = { id: between, name: 'n' }
  const own = [id, between]
  return row(
    'changes are listed by their kind',
    { document: 'kind lists only changes of this kind', where: 'the parameter kind of listChanges' },
    own,
    now,
    create(created),
    put(id, '{"name":"m","tag":"t"}', [status(200)]),
    create(other),
    put(id, '{"name":"o","tag":"t"}', [status(200)]),
    remove(id, [status(204)]),
    follow(from(0, '&kind=created'), own, [
      ['created', created],
      ['created', other],
    ]),
    // A page that forgets the kind has the creation between both replacements.
    follow(
      from(0, '&kind=replaced&limit=1'),
      own,
      [
        ['replaced', replaced],
        ['replaced', again],
      ],
      1,
    ),
    follow(from(0, '&kind=deleted'), own, [['deleted', again]]),
  )
}

function callersRow(circumstances: Circumstances): Row {
  const { ids } = circumstances
  const [ours, too, theirs] = [ids.next(), ids.next(), ids.next()]
  const second = { Authorization: 'Bearer $SECOND_TOKEN' }
  return needing(
    '$SECOND_TOKEN',
    circumstances,
    row(
      'a change says with which token it was made',
      { document: 'callerId is the id of the token that was used', where: 'the schema Change' },
      [ours, too, theirs],
      now,
      create({ id: ours, name: 'n' }),
      create({ id: theirs, name: 'n' }, second),
      create({ id: too, name: 'n' }),
      {
        request: from(0),
        checks: [
          status(200),
          (answer) => {
            const [one, another, same] = [ours, theirs, too].map(
              (id) =>
                changesOf([answer]).find(({ plant }) => (plant as Change | undefined)?.['id'] === id)?.['callerId'],
            )
            if (one === undefined || another === undefined) return 'there is no callerId'
            if (one !== same) return 'changes with one token have different callerIds'
            return one === another ? 'changes with different tokens have one callerId' : undefined
          },
        ],
      },
    ),
  )
}

function refusedRows(): Row[] {
  const says: Source = {
    document: 'a query parameter that is unknown, or has a value that is not allowed, is refused with 400',
    where: 'the parameters of listChanges',
  }
  return [
    ...['after=', 'after=%20', 'after=now&after=now', 'limit=0', 'limit=1001', 'limit=01', 'limit=1%0A', 'kind='],
    ...['kind=Created', 'kind=created,deleted', 'kind=created&kind=deleted', 'tag=a', 'colour=green'],
  ]
    .map((query) => {
      const request = { method: 'GET', target: `/changes?${query}` }
      return row(`of changes, the query ${query} is refused`, says, [], {
        request,
        checks: refusal('invalidParameter'),
      })
    })
    .concat(
      row(
        'a position that the server never gave is refused',
        { document: 'the server does not have this position: 410', where: 'listChanges, 410' },
        [],
        call('GET', '/changes?after=never-given', [status(410)]),
      ),
    )
}
