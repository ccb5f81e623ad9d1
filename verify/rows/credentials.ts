// Credentials: every operation that is not public requires a known bearer token.

import type { Operation } from '../../src/contract/document.ts'
import { allScopes } from '../../src/domain/caller.ts'
import { challenge, field, refusal, status } from '../checks.ts'
import { jsonOf, type RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import type { Check, Circumstances, OneStep, Row } from '../row.ts'
import { call, create, forProxies, get, keptWith, needing, put, refused, remove, row, type Source } from './building.ts'

const says: Source = {
  document: 'without a token that the server knows the answer is 401, with a challenge (RFC 6750, section 3)',
  where: 'the response Unauthorized',
}
const scopes: Source = {
  document: 'a token without the scope that the operation needs is answered with 403, which names the scope',
  where: 'the response Forbidden',
}

export function credentialRows(circumstances: Circumstances): readonly Row[] {
  return [
    ...createRows(circumstances),
    callerRow('do everything', '$TOKEN', ...allScopes),
    ...optionalRows(circumstances),
    ...operationRows(circumstances),
  ]
}

const missing: readonly Check[] = [...refusal('missingToken'), challenge()]
const invalid: readonly Check[] = [...refusal('invalidToken'), challenge('invalid_token')]

function createRows({ ids }: Circumstances): Row[] {
  const accepted = (title: string, authorization: string): Row =>
    keptWith(`Authorization ${title}`, says, ids.next(), { headers: { Authorization: authorization } })
  const bad = (title: string, authorization: string | undefined, checks: readonly Check[]): Row =>
    refusedCreate(ids.next(), title, authorization, checks)
  return [
    accepted('with the scheme in lower case', 'bearer $TOKEN'),
    accepted('with the scheme in upper case', 'BEARER $TOKEN'),
    accepted('with two spaces', 'Bearer  $TOKEN'),
    bad('missing', undefined, missing),
    bad('empty', '', missing),
    bad('Bearer alone', 'Bearer', missing),
    bad('Basic', 'Basic cGx0Og==', missing),
    bad('the token without a scheme', '$TOKEN', missing),
    bad('a token cut short', 'Bearer $SHORT_TOKEN', invalid),
    bad('a token with a character changed', 'Bearer $CHANGED_TOKEN', invalid),
    bad('a token in another case', 'Bearer $UPPER_CASE_TOKEN', invalid),
    bad('two tokens on one line', 'Bearer $TOKEN $TOKEN', invalid),
    bad('a token with a comma', 'Bearer $TOKEN,', invalid),
    bad('a quoted token', 'Bearer "$TOKEN"', invalid),
    bad('a text that is not a token', 'Bearer letmein', invalid),
    elsewhereRow(ids.next()),
    forProxies(bad('of 8,000 characters', `Bearer ${'a'.repeat(8_000)}`, invalid)),
    bad('unknown', 'Bearer $UNKNOWN_TOKEN', invalid),
    forProxies(
      refused('Authorization twice', once, 'repeatedHeader', { lines: ['authorization: Bearer $TOKEN'] }, ids.next()),
    ),
  ]
}

/** A token in a URL ends up in logs, and one in a cookie is sent for pages of other sites, too. */
function elsewhereRow(id: bigint): Row {
  const fields = [
    { 'X-Api-Key': '$TOKEN' },
    { 'X-Auth-Token': '$TOKEN' },
    { Cookie: 'access_token=$TOKEN; token=$TOKEN' },
    { 'Proxy-Authorization': 'Bearer $TOKEN' },
  ]
  const without = (request: RowRequest): OneStep => ({
    request: { ...request, headers: { ...request.headers, Authorization: undefined } },
    checks: missing,
  })
  const reads = ['/plants', `/plants/${id}`, '/summary']
  return row(
    'a token anywhere but in Authorization is none',
    says,
    [id],
    ...['access_token', 'token', 'api_key', 'authorization'].map((name) =>
      without({ method: 'GET', target: `/summary?${name}=$TOKEN` }),
    ),
    ...reads.map((target) => without({ method: 'GET', target: `${target}?access_token=$TOKEN` })),
    without({ target: '/plants?access_token=$TOKEN', body: plantJson(id, 'n') }),
    ...fields.flatMap((headers) => reads.map((target) => without({ method: 'GET', target, headers }))),
    call('GET', '/plants?access_token=$TOKEN', refusal('invalidParameter')),
  )
}

function refusedCreate(id: bigint, title: string, authorization: string | undefined, checks: readonly Check[]): Row {
  const request = { body: plantJson(id, 'n'), headers: { Authorization: authorization } }
  return row(`Authorization ${title}`, says, [id], { request, checks })
}

const once: Source = {
  document: 'a header field that may be sent only once is refused with error 40003 when it comes twice',
  where: 'the schema Error',
}

/** Rows that need a special token. */
function optionalRows(circumstances: Circumstances): Row[] {
  const { ids, nonce } = circumstances
  const key = { 'Idempotency-Key': `write-only-${nonce}` }
  const lacks = (scope: string): readonly Check[] => [
    ...refusal('insufficientScope'),
    challenge('insufficient_scope', scope),
  ]
  const forbidden = lacks('plants:write')
  const withoutScope = refusedCreate(ids.next(), 'without the scope', 'Bearer $READ_ONLY_TOKEN', forbidden)
  const [change, reads] = [ids.next(), { Authorization: 'Bearer $READ_ONLY_TOKEN' }]
  const onlyReads = row(
    'a token that may only read lists, but neither replaces nor deletes',
    scopes,
    [change],
    call('GET', '/plants?limit=1', [status(200)], reads),
    call('GET', '/summary', [status(200)], reads),
    get(change, refusal('unknownPlant'), reads),
    ...['/plants?limit=1', '/summary'].map((target) => call('HEAD', target, [status(200)], reads)),
    call('HEAD', `/plants/${change}`, [status(404)], reads),
    call('GET', '/changes?after=now', [status(200)], reads),
    put(change, '{"name":"n"}', forbidden, reads),
    ...['{}', 'no json', ''].map((body) => put(change, body, forbidden, reads)),
    remove(change, forbidden, reads),
  )
  const [written, writes] = [ids.next(), { Authorization: 'Bearer $WRITE_ONLY_TOKEN' }]
  const onlyWrites = row(
    'a token that may only write creates, replaces and deletes, but reads nothing',
    scopes,
    [written],
    create({ id: written, name: 'n' }, { ...writes, ...key }),
    create({ id: written, name: 'n' }, { ...writes, ...key }),
    put(written, '{"name":"m"}', [status(200)], writes),
    get(written, lacks('plants:read'), writes),
    call('HEAD', `/plants/${written}`, lacks('plants:read'), writes),
    call('GET', '/plants?limit=1', lacks('plants:read'), writes),
    call('GET', '/summary', lacks('plants:read'), writes),
    call('GET', '/changes', lacks('plants:read'), writes),
    call('GET', '/changes', lacks('plants:read'), { ...writes, Accept: 'text/event-stream' }),
    remove(written, [status(204)], writes),
  )
  return [
    needing('$EXPIRED_TOKEN', circumstances, refusedCreate(ids.next(), 'expired', 'Bearer $EXPIRED_TOKEN', invalid)),
    needing('$REVOKED_TOKEN', circumstances, refusedCreate(ids.next(), 'revoked', 'Bearer $REVOKED_TOKEN', invalid)),
    needing('$READ_ONLY_TOKEN', circumstances, { ...withoutScope, ...scopes }),
    needing('$READ_ONLY_TOKEN', circumstances, onlyReads),
    needing('$WRITE_ONLY_TOKEN', circumstances, onlyWrites),
    needing('$READ_ONLY_TOKEN', circumstances, callerRow('read', '$READ_ONLY_TOKEN', 'plants:read')),
    needing('$WRITE_ONLY_TOKEN', circumstances, callerRow('write', '$WRITE_ONLY_TOKEN', 'plants:write')),
  ]
}

/** A token learns what it may do, and nobody learns it without the token. */
function callerRow(does: string, token: string, ...expected: readonly string[]): Row {
  const home = (authorization: string | undefined): RowRequest => ({
    method: 'GET',
    target: '/',
    headers: { Accept: 'application/json', Authorization: authorization },
  })
  return row(
    `a token that may ${does} finds out what it may`,
    { document: "a client that sends a token gets the token's name and scopes", where: 'getHome' },
    [],
    { request: home(undefined), checks: [status(200), hasCaller(undefined)] },
    {
      request: home(`Bearer ${token}`),
      checks: [status(200), hasCaller(expected), isPrivate, field('Vary', /\bauthorization\b|\*/i)],
    },
    { request: home('Basic cGx0Og=='), checks: [status(200), hasCaller(undefined)] },
  )
}

const isPrivate = field('Cache-Control', /\b(?:private|no-store)\b/i)

const hasCaller =
  (expected: readonly string[] | undefined): Check =>
  (answer) => {
    const { caller } = (jsonOf(answer) ?? {}) as { readonly caller?: { readonly scopes?: readonly string[] } }
    const found = caller?.scopes?.filter((scope) => scope.startsWith('plants:')).sort()
    const [wanted, got] = [expected, found].map((scopes) => scopes?.join(' ') ?? 'absent')
    return wanted === got ? undefined : `the scopes of caller are ${got}, not ${wanted}`
  }

/** All operations except createPlant, which has its own rows. */
function operationRows({ contract, ids }: Circumstances): Row[] {
  return contract.operations
    .filter((operation) => operation.id !== 'createPlant')
    .map((operation) => operationRow(operation, ids.next()))
}

function operationRow({ id: name, method, path, scopes, takesToken, body }: Operation, id: bigint): Row {
  const request = (authorization: string | undefined): RowRequest => ({
    method,
    target: path.replace('{file}', 'style.css').replaceAll(/\{\w+\}/g, String(id)),
    headers: { Authorization: authorization },
    ...(body !== undefined && { body: '{}' }),
  })
  const isOpen = scopes === undefined
  return row(
    isOpen ? `${name} is open to all` : `${name} needs a token that the server knows`,
    isOpen ? { document: 'needs no token for the operation', where: name } : says,
    [id],
    { request: request(undefined), checks: isOpen ? [status(200)] : missing },
    { request: request('Bearer $UNKNOWN_TOKEN'), checks: takesToken ? invalid : [status(200)] },
    { request: request('Basic cGx0Og=='), checks: isOpen ? [status(200)] : missing },
  )
}
