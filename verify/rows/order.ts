// Limits of HTTP, and requests with two errors that no other row has.

import { type ErrorCode, refusal } from '../checks.ts'
import type { RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, forProxies, type Row, row } from '../row.ts'

const both =
  'of several errors in path, method, token and body, the response reports the first in this order (the ' +
  'description of the document)'
const once =
  'a header field that may be sent only once is refused with error 40003 when it comes twice (the schema Error)'

/** Limits and features of HTTP, which proxies have of their own. */
export function limitRows({ ids, nonce }: Circumstances): readonly Row[] {
  const refused = (title: string, document: string, code: ErrorCode, headers: RowRequest['headers'] = {}): Row =>
    forProxies(
      row(title, `${document} (createPlant)`, ids.take(1), async (store, id) => {
        await store.refuses(code, { id, name: 'n' }, headers)
        await store.isMissing(id)
      }),
    )
  const single = { Authorization: 'Bearer $TOKEN', 'Content-Type': 'application/json', 'Idempotency-Key': nonce }
  const twice = Object.entries(single).map(([name, value]) =>
    forProxies(
      row(`${name} twice`, once, ids.take(1), async (store, id) => {
        const request = {
          body: plantJson(id, 'n'),
          headers: { [name]: value },
          lines: [`${name.toLowerCase()}: ${value}`],
        }
        await store.send(request, refusal('repeatedHeader'))
        await store.isMissing(id)
      }),
    ),
  )
  return [
    ...twice,
    forProxies(
      row('the path is judged before the expectation', both, [], (store) =>
        store.send({ target: '/nowhere', headers: { Expect: 'tea' } }, refusal('unknownPath')),
      ),
    ),
    row('the key and the body are judged before a taken id', both, ids.take(1), async (store, id) => {
      await store.create({ id, name: 'n' })
      await store.refuses('invalidHeader', { id, name: 'n' }, { 'Idempotency-Key': 'a b' })
      await store.send({ body: `{"id":${id},"name":1}` }, refusal('invalidPlant'))
    }),
    refused('header fields of 20,000 bytes', 'header fields may be too long: 431', 'headerFieldsTooLarge', {
      'X-Long': 'a'.repeat(20_000),
    }),
    refused('a transfer coding that is not known', 'the transfer coding may be unknown: 501', 'unknownTransferCoding', {
      'Content-Length': undefined,
      'Transfer-Encoding': 'gzip, chunked',
    }),
  ]
}
