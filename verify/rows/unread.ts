// Header fields that no operation reads: clients and their libraries send them with any request.

import { field, hasNoBody, isListOf, isPlant, members, membersOf, refusal, sameField, status } from '../checks.ts'
import type { RowRequest } from '../message.ts'
import type { Circumstances, OneStep, Row } from '../row.ts'
import { call, create, get, isMissing, put, read, remove, row, type Source } from './building.ts'
import { etagForm, withEtagOf } from './etags.ts'

const unread: Source = {
  document: 'an operation reads its parameters, and its body if it has one; nothing else changes what it does',
  where: 'the operations',
}

export function unreadRows(circumstances: Circumstances): readonly Row[] {
  return [
    unreadRow(circumstances, 'the Content-Type of a body that is not there', {
      'Content-Type': 'application/json',
      'Content-Length': '0',
    }),
    unreadRow(circumstances, 'what browsers and libraries send', {
      Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      'Accept-Language': 'de',
      Cookie: 'a=b',
      'Upgrade-Insecure-Requests': '1',
      'X-Requested-With': 'XMLHttpRequest',
    }),
    // `fetch` sends these with a condition, and browsers when a page is loaded again.
    unreadRow(circumstances, 'what asks for a fresh answer', { 'Cache-Control': 'no-cache', Pragma: 'no-cache' }),
    unreadRow(circumstances, 'what asks for an answer that is not stored', { 'Cache-Control': 'max-age=0, no-store' }),
    unreadRow(circumstances, 'another method in a field', {
      'X-HTTP-Method-Override': 'DELETE',
      'X-HTTP-Method': 'DELETE',
      'X-Method-Override': 'DELETE',
    }),
    unreadRow(circumstances, 'an Idempotency-Key where nothing is created', { 'Idempotency-Key': 'unread' }),
    compressedRow(circumstances),
  ]
}

function unreadRow({ ids }: Circumstances, what: string, headers: NonNullable<RowRequest['headers']>): Row {
  const plant = { id: ids.next(), name: 'n', tag: 't' }
  const [reading, checks] = [read(plant), [status(200), isPlant(plant), sameField('ETag', 1)]]
  const at = (method: string, target: string, ...wanted: OneStep['checks']): OneStep =>
    call(method, target, wanted, headers)
  const replacing = put(plant.id, '{"name":"m"}', [status(200), isPlant({ name: 'm' })], {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': undefined,
  })
  return row(
    `nothing changes with ${what}`,
    unread,
    [plant.id],
    create(plant),
    reading,
    get(plant.id, checks, headers),
    withEtagOf(1, get(plant.id, [status(304), hasNoBody], headers), 'If-None-Match'),
    withEtagOf(1, get(plant.id, refusal('preconditionFailed'), { ...headers, 'If-Match': '"x"' }), 'If-None-Match'),
    at('HEAD', `/plants/${plant.id}`, status(200), hasNoBody, sameField('ETag', 1)),
    at('GET', '/plants?limit=1', status(200), isListOf(1)),
    at('GET', '/summary', status(200), field('Content-Type', /^application\/json/i)),
    at(
      'OPTIONS',
      `/plants/${plant.id}`,
      status(204),
      members('Allow', ...membersOf('DELETE, GET, HEAD, OPTIONS, PUT')),
    ),
    get(plant.id, checks),
    ...(headers['Content-Type'] === undefined ? [replacing, read({ id: plant.id, name: 'm' })] : []),
    remove(plant.id, [status(204), hasNoBody], headers),
    isMissing(plant.id),
  )
}

/** Whoever compresses an answer must not change its ETag: a weak one is good for no change. */
function compressedRow({ ids }: Circumstances): Row {
  const id = ids.next()
  const headers = { 'Accept-Encoding': 'gzip, deflate, br' }
  const strong = [status(200), field('ETag', etagForm)]
  return row(
    'a client that accepts compressed answers gets strong ETags, with which it can change the plant',
    { document: 'ETag is a strong validator', where: 'the header ETag' },
    [id],
    create({ id, name: 'n'.repeat(1_000) }),
    get(id, strong, headers),
    withEtagOf(1, get(id, [status(304), hasNoBody], headers), 'If-None-Match'),
    withEtagOf(1, put(id, JSON.stringify({ name: 'm'.repeat(1_000) }), strong, headers), 'If-Match'),
    withEtagOf(3, get(id, strong, headers), 'If-Match'),
    withEtagOf(4, remove(id, [status(204)]), 'If-Match'),
  )
}
