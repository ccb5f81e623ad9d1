// Header fields that no operation reads: clients and their libraries send them with any request.

import { field, hasNoBody, isError, isPlant, members, ok, refusal, sameField, status } from '../checks.ts'
import { fieldOf } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Row, row, take } from '../row.ts'
import type { Headers } from '../store.ts'

const unread =
  'an operation reads its parameters, and its body if it has one; nothing else changes what it does (the ' +
  'operations)'
const strong = 'ETag is a strong validator (the header ETag)'

const fields: Readonly<Record<string, Headers>> = {
  'the Content-Type of a body that is not there': { 'Content-Type': 'application/json', 'Content-Length': '0' },
  'what browsers and libraries send': {
    Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    'Accept-Language': 'de',
    Range: 'bytes=0-1',
    'X-Request-Id': 'a_b@c',
    Cookie: 'a=b',
    'Upgrade-Insecure-Requests': '1',
    'X-Requested-With': 'XMLHttpRequest',
  },
  'an Accept of nothing that the server has': { Accept: 'application/xml' },
  // `fetch` sends these with a condition, and browsers when a page is loaded again.
  'what asks for a fresh answer': { 'Cache-Control': 'no-cache', Pragma: 'no-cache' },
  'what asks for an answer that is not stored': { 'Cache-Control': 'max-age=0, no-store' },
  'another method in a field': overriding('DELETE'),
  'an Idempotency-Key where nothing is created': { 'Idempotency-Key': 'unread' },
}

/** Fields by which some programs let a POST have another method. */
function overriding(method: string): Headers {
  return { 'X-HTTP-Method-Override': method, 'X-HTTP-Method': method, 'X-Method-Override': method }
}

export const unreadRows: readonly Row[] = [
  ...Object.entries(fields).map(([what, headers]) =>
    row(`nothing changes with ${what}`, unread, take(1), async (store, id) => {
      const plant = { id, name: 'n', tag: 't' }
      await store.create(plant)
      const first = await store.read(plant)
      const isSame = [...ok, isPlant(plant), sameField('ETag', first)]
      const known = { ...headers, 'If-None-Match': fieldOf(first, 'etag') ?? '' }
      await store.get(id, isSame, headers)
      await store.get(id, [status(304), hasNoBody], known)
      await store.get(id, refusal('preconditionFailed'), { ...known, 'If-Match': '"x"' })
      await store.call('HEAD', `/plants/${id}`, [...ok, hasNoBody, sameField('ETag', first)], headers)
      await store.call('GET', '/plants?limit=1', ok, headers)
      await store.call('GET', '/summary', [...ok, field('Content-Type', /^application\/json/i)], headers)
      const allows = members('Allow', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT')
      await store.call('OPTIONS', `/plants/${id}`, [status(204), allows], headers)
      await store.get(id, isSame)
      if (headers['Content-Type'] === undefined) {
        await store.put(id, { name: 'm' }, [...ok, isPlant({ name: 'm' })], headers)
        await store.put(id, { name: 'o' }, ok, headers)
        await store.read({ id, name: 'o' })
      }
      await store.remove(id, [status(204), hasNoBody], headers)
      const isUnknown = [...refusal('unknownPlant'), isError]
      if (headers['Content-Type'] === undefined) await store.put(id, { name: 'n' }, isUnknown, headers)
      await store.isMissing(id)
    }),
  ),
  // A wrong server reads what another method would change or delete.
  row('nothing changes with another method in a field of a create', unread, take(1), async (store, id) => {
    await store.create({ id, name: 'n' }, overriding('GET'))
    await store.read({ id, name: 'n' })
    for (const method of ['PUT', 'DELETE']) {
      const request = {
        target: `/plants/${id}?_method=${method}`,
        body: plantJson(id, 'm'),
        headers: overriding(method),
      }
      await store.send(request, refusal('methodNotAllowed'))
      await store.read({ id, name: 'n' })
    }
  }),
  // A compressed answer must not have another ETag: a weak one cannot be used for a change.
  row(
    'a client that accepts compressed answers gets strong ETags, with which it can change the plant',
    strong,
    take(1),
    async (store, id) => {
      const headers = { 'Accept-Encoding': 'gzip, deflate, br' }
      await store.create({ id, name: 'n'.repeat(1_000) })
      const first = fieldOf(await store.get(id, ok, headers), 'etag') ?? ''
      await store.get(id, [status(304), hasNoBody], { ...headers, 'If-None-Match': first })
      const put = await store.put(id, { name: 'm'.repeat(1_000) }, ok, { ...headers, 'If-Match': first })
      await store.remove(id, [status(204)], { 'If-Match': fieldOf(put, 'etag') })
    },
  ),
]
