// Limits of HTTP, and requests with two errors that no other row has.

import { refusal } from '../checks.ts'
import type { RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { none, type Row, type Rule, row, take } from '../row.ts'

const both =
  'of several errors in path, method, token and body, the response reports the first in this order (the ' +
  'description of the document)'
const once = forProxies('a header field that may be sent only once is refused with error 40003 (the schema Error)')
const single: readonly (readonly [name: string, value: string])[] = [
  ['Authorization', 'Bearer $TOKEN'],
  ['Content-Type', 'application/json'],
  ['Idempotency-Key', 'twice'],
]
const beyond = [
  ['header fields of 20,000 bytes', 'headerFieldsTooLarge', { 'X-Long': 'a'.repeat(20_000) }],
  [
    'a transfer coding that is not known',
    'unknownTransferCoding',
    { 'Content-Length': undefined, 'Transfer-Encoding': 'gzip, chunked' },
  ],
] as const
const limits = forProxies('header fields may be too long: 431, and the transfer coding unknown: 501 (createPlant)')

/** Limits and features of HTTP, which proxies have of their own. */
export const limitRows: readonly Row[] = [
  ...single.map(([name, value]) =>
    row(`${name} twice`, once, take(1), async (store, id) => {
      const headers = { [name]: value }
      await store.send(
        { body: plantJson(id, 'n'), headers, lines: [`${name.toLowerCase()}: ${value}`] },
        refusal('repeatedHeader'),
      )
      await store.isMissing(id)
    }),
  ),
  row('the path is judged before the expectation', forProxies(both), none, (store) =>
    store.send({ target: '/nowhere', headers: { Expect: 'tea' } }, refusal('unknownPath')),
  ),
  row('the key and the body are judged before a taken id', both, take(1), async (store, id) => {
    await store.create({ id, name: 'n' })
    await store.refuses('invalidHeader', { id, name: 'n' }, { 'Idempotency-Key': 'a b' })
    await store.send({ body: `{"id":${id},"name":1}` }, refusal('invalidPlant'))
  }),
  ...beyond.map(([title, code, headers]) =>
    row(title, limits, take(1), async (store, id) => {
      const request: RowRequest = { body: plantJson(id, 'n'), headers }
      await store.send(request, refusal(code))
      await store.isMissing(id)
    }),
  ),
]

function forProxies(document: string): Rule {
  return { document, isForProxies: true }
}
