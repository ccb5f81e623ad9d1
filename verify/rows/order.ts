// Limits of HTTP, and requests with two errors: the answer must report the one that is checked first.

import { type ErrorCode, refusal } from '../checks.ts'
import type { RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, forProxies, needing, type Row, row } from '../row.ts'

const both =
  'of several errors in path, method, token and body, the response reports the first in this order (the ' +
  'description of the document)'
const body = 'no json'
const noToken = { Authorization: undefined }
const wrongType = { 'Content-Type': 'text/plain' }
const wrongScope = { Authorization: 'Bearer $READ_ONLY_TOKEN' }
const nowhere = { target: '/nowhere' }

export function orderRows(circumstances: Circumstances): readonly Row[] {
  const { ids } = circumstances
  const first = (title: string, code: ErrorCode, request: RowRequest): Row =>
    row(`order of refusals: ${title}`, both, ids.take(1), (store, id) =>
      store.send({ body: plantJson(id, 'n'), ...request }, refusal(code)),
    )
  return [
    first('the path before the method', 'unknownPath', { ...nowhere, method: 'DELETE', headers: noToken }),
    first('the path before the token', 'unknownPath', { ...nowhere, headers: noToken }),
    first('the method before the token', 'methodNotAllowed', { method: 'PATCH', headers: noToken }),
    first('the token before the media type', 'missingToken', { body, headers: { ...noToken, ...wrongType } }),
    needing(
      '$READ_ONLY_TOKEN',
      circumstances,
      first('the scope before the media type', 'insufficientScope', { body, headers: { ...wrongScope, ...wrongType } }),
    ),
    forProxies(
      row('order of refusals: the path before the expectation', both, [], (store) =>
        store.send({ ...nowhere, headers: { Expect: 'tea' } }, refusal('unknownPath')),
      ),
    ),
    row('order of refusals: the key and the body before a taken id', both, ids.take(1), async (store, id) => {
      await store.create({ id, name: 'n' })
      await store.refuses('invalidHeader', { id, name: 'n' }, { 'Idempotency-Key': 'a b' })
      await store.send({ body: `{"id":${id},"name":1}` }, refusal('invalidPlant'))
    }),
  ]
}

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
    refused('header fields of 20,000 bytes', 'header fields may be too long: 431', 'headerFieldsTooLarge', {
      'X-Long': 'a'.repeat(20_000),
    }),
    refused('a transfer coding that is not known', 'the transfer coding may be unknown: 501', 'unknownTransferCoding', {
      'Content-Length': undefined,
      'Transfer-Encoding': 'gzip, chunked',
    }),
  ]
}
