// Credentials: every operation that is not public requires a known bearer token.

import { loadContract, type Operation } from '../../contract/document.ts'
import { plantJson } from '../../domain/plant.ts'
import { field, refusal, status } from '../checks.ts'
import type { RowRequest } from '../message.ts'
import type { Check, Circumstances, Row } from '../row.ts'
import { keptWith, type Source } from './building.ts'

const realm = 'Bearer realm="plantstore"'
const says: Source = {
  document: 'without a token that the server knows the answer is 401, with a challenge (RFC 6750, section 3)',
  where: 'the response Unauthorized',
}
const scopes: Source = {
  document: 'a token without the scope that the operation needs is answered with 403, which names the scope',
  where: 'the response Forbidden',
}

export function credentialRows(circumstances: Circumstances): readonly Row[] {
  return [...createRows(circumstances), ...optionalRows(circumstances), ...operationRows(circumstances)]
}

const missing: readonly Check[] = [...refusal('missingToken'), field('WWW-Authenticate', realm)]
const invalid: readonly Check[] = [
  ...refusal('invalidToken'),
  field('WWW-Authenticate', `${realm}, error="invalid_token"`),
]

function createRows({ ids }: Circumstances): Row[] {
  const accepted = (title: string, authorization: string): Row =>
    keptWith(`Authorization ${title}`, says, ids.next(), { headers: { Authorization: authorization } })
  const refused = (title: string, authorization: string | undefined, checks: readonly Check[]): Row =>
    refusedCreate(ids.next(), title, authorization, checks)
  return [
    accepted('with the scheme in lower case', 'bearer $TOKEN'),
    accepted('with the scheme in upper case', 'BEARER $TOKEN'),
    accepted('with two spaces', 'Bearer  $TOKEN'),
    refused('missing', undefined, missing),
    refused('empty', '', missing),
    refused('Bearer alone', 'Bearer', missing),
    refused('Basic', 'Basic cGx0Og==', missing),
    refused('the token without a scheme', '$TOKEN', missing),
    refused('a token cut short', 'Bearer $SHORT_TOKEN', invalid),
    refused('a token with a character changed', 'Bearer $CHANGED_TOKEN', invalid),
    refused('a token in another case', 'Bearer $UPPER_CASE_TOKEN', invalid),
    refused('two tokens on one line', 'Bearer $TOKEN $TOKEN', invalid),
    refused('a token with a comma', 'Bearer $TOKEN,', invalid),
    refused('a quoted token', 'Bearer "$TOKEN"', invalid),
    refused('a text that is not a token', 'Bearer letmein', invalid),
    refused('of 8,000 characters', `Bearer ${'a'.repeat(8_000)}`, invalid),
    refused('unknown', 'Bearer $UNKNOWN_TOKEN', invalid),
    twice(ids.next()),
  ]
}

function refusedCreate(id: bigint, title: string, authorization: string | undefined, checks: readonly Check[]): Row {
  return {
    title: `Authorization ${title}`,
    level: 'complete',
    ...says,
    ids: [id],
    steps: [{ request: { body: plantJson(id, 'n'), headers: { Authorization: authorization } }, checks }],
  }
}

function twice(id: bigint): Row {
  return {
    title: 'Authorization twice',
    level: 'complete',
    document: 'a header field that may be sent only once is refused with error 40003 when it comes twice',
    where: 'the schema Error',
    ids: [id],
    steps: [
      {
        request: { body: plantJson(id, 'n'), lines: ['authorization: Bearer $TOKEN'] },
        checks: refusal('repeatedHeader'),
      },
    ],
  }
}

/** Rows that need a special token. */
function optionalRows({ ids, credentials }: Circumstances): Row[] {
  const given = (row: Row, name: string, flag: string): Row =>
    credentials.has(name) ? row : { ...row, skipped: `it needs ${flag}` }
  const forbidden: readonly Check[] = [
    ...refusal('insufficientScope'),
    field('WWW-Authenticate', `${realm}, error="insufficient_scope", scope="plants:write"`),
  ]
  const withoutScope = refusedCreate(ids.next(), 'without the scope', 'Bearer $READ_ONLY_TOKEN', forbidden)
  const [change, reads] = [ids.next(), 'Bearer $READ_ONLY_TOKEN']
  const refusedTo = (request: RowRequest) => ({
    request: { ...request, headers: { Authorization: reads } },
    checks: forbidden,
  })
  const onlyReads: Row = {
    title: 'a token that may only read lists, but neither replaces nor deletes',
    level: 'complete',
    ...scopes,
    ids: [change],
    steps: [
      {
        request: { method: 'GET', target: '/plants?limit=1', headers: { Authorization: reads } },
        checks: [status(200)],
      },
      refusedTo({ method: 'PUT', target: `/plants/${change}`, body: '{"name":"n"}' }),
      refusedTo({ method: 'DELETE', target: `/plants/${change}` }),
    ],
  }
  return [
    given(refusedCreate(ids.next(), 'expired', 'Bearer $EXPIRED_TOKEN', invalid), '$EXPIRED_TOKEN', '--expired-token'),
    given(refusedCreate(ids.next(), 'revoked', 'Bearer $REVOKED_TOKEN', invalid), '$REVOKED_TOKEN', '--revoked-token'),
    given({ ...withoutScope, ...scopes }, '$READ_ONLY_TOKEN', '--read-only-token'),
    given(onlyReads, '$READ_ONLY_TOKEN', '--read-only-token'),
  ]
}

/** All operations except createPlant, which has its own rows. */
function operationRows({ ids }: Circumstances): Row[] {
  return loadContract()
    .operations.filter((operation) => operation.id !== 'createPlant')
    .map((operation) => operationRow(operation, ids.next()))
}

function operationRow({ id: name, method, path, scopes, body }: Operation, id: bigint): Row {
  const request = (authorization: string | undefined): RowRequest => ({
    method,
    target: path.replace('{file}', 'style.css').replaceAll(/\{\w+\}/g, String(id)),
    headers: { Authorization: authorization },
    ...(body !== undefined && { body: '{}' }),
  })
  const isOpen = scopes === undefined
  return {
    title: isOpen ? `${name} is open to all` : `${name} needs a token that the server knows`,
    level: 'complete',
    ...(isOpen ? { document: 'needs no token for the operation', where: name } : says),
    ids: [id],
    steps: [
      { request: request(undefined), checks: isOpen ? [status(200)] : missing },
      { request: request('Bearer $UNKNOWN_TOKEN'), checks: isOpen ? [status(200)] : invalid },
    ],
  }
}
