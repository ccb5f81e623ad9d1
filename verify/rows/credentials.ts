// Credentials of every operation: those that are not public require a known bearer token, with the scope that the
// operation needs.

import { type Check, challenge, field, isCreated, ok, refusal, status } from '../checks.ts'
import type { Operation } from '../document.ts'
import { type Answer, objectOf, type RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, forProxies, needing, type Row, row } from '../row.ts'
import type { Store } from '../store.ts'
import { askInEveryType, doneStatus, prepare, requestOf } from './operations.ts'

const says =
  'without a token that the server knows the answer is 401, with a challenge (RFC 6750, section 3) (the ' +
  'response Unauthorized)'
const scopes =
  'a token without the scope that the operation needs is answered with 403, which names the scope (the ' +
  'response Forbidden)'
const missing: readonly Check[] = [...refusal('missingToken'), challenge()]
const invalid: readonly Check[] = [...refusal('invalidToken'), challenge('invalid_token')]

export function credentialRows(circumstances: Circumstances): readonly Row[] {
  const { operations } = circumstances.document
  return [
    ...createRows(circumstances),
    ...operations.map((operation) => tokenRow(circumstances, operation)),
    ...operations.flatMap((operation) => scopeRows(circumstances, operation)),
    keyRow(circumstances),
    callerRow('do everything', '$TOKEN', ...scopesOf(operations)),
    needing('$READ_ONLY_TOKEN', circumstances, callerRow('read', '$READ_ONLY_TOKEN', 'plants:read')),
    needing('$WRITE_ONLY_TOKEN', circumstances, callerRow('write', '$WRITE_ONLY_TOKEN', 'plants:write')),
  ]
}

function scopesOf(operations: readonly Operation[]): readonly string[] {
  return [...new Set(operations.flatMap(({ scopes = [] }) => scopes))].sort()
}

/** All ways to write credentials, with the operation whose effect is the clearest. */
function createRows(circumstances: Circumstances): Row[] {
  const { ids } = circumstances
  const rowOf = (title: string, Authorization: string | undefined, checks?: readonly Check[]): Row =>
    row(`Authorization ${title}`, says, ids.take(1), async (store, id) => {
      const request = { body: plantJson(id, 'n'), headers: { Authorization } }
      await store.send(request, checks ?? isCreated({ id, name: 'n' }))
      await (checks === undefined ? store.read({ id, name: 'n' }) : store.isMissing(id))
    })
  const special = (title: string, token: string): Row =>
    needing(token, circumstances, rowOf(title, `Bearer ${token}`, invalid))
  return [
    rowOf('with the scheme in lower case', 'bearer $TOKEN'),
    rowOf('with the scheme in upper case', 'BEARER $TOKEN'),
    rowOf('with two spaces', 'Bearer  $TOKEN'),
    rowOf('missing', undefined, missing),
    rowOf('empty', '', missing),
    rowOf('Bearer alone', 'Bearer', missing),
    rowOf('Basic', 'Basic cGx0Og==', missing),
    rowOf('the token without a scheme', '$TOKEN', missing),
    rowOf('a token cut short', 'Bearer $SHORT_TOKEN', invalid),
    rowOf('a token with a character changed', 'Bearer $CHANGED_TOKEN', invalid),
    rowOf('a token in another case', 'Bearer $UPPER_CASE_TOKEN', invalid),
    rowOf('two tokens on one line', 'Bearer $TOKEN $TOKEN', invalid),
    rowOf('a token with a comma', 'Bearer $TOKEN,', invalid),
    rowOf('a quoted token', 'Bearer "$TOKEN"', invalid),
    rowOf('a text that is not a token', 'Bearer letmein', invalid),
    rowOf('unknown', 'Bearer $UNKNOWN_TOKEN', invalid),
    special('expired', '$EXPIRED_TOKEN'),
    special('revoked', '$REVOKED_TOKEN'),
    forProxies(rowOf('of 8,000 characters', `Bearer ${'a'.repeat(8_000)}`, invalid)),
  ]
}

/** A token in a URL ends up in logs, and one in a cookie is sent for pages of other sites, too. */
const elsewhere: readonly Partial<Record<string, string>>[] = [
  { 'X-Api-Key': '$TOKEN', 'X-Auth-Token': '$TOKEN' },
  { Cookie: 'access_token=$TOKEN; token=$TOKEN' },
  { 'Proxy-Authorization': 'Bearer $TOKEN' },
]
const ofQueries = ['access_token', 'token', 'api_key', 'authorization']
/** No plants: the token comes first. */
const otherBodies: readonly Partial<RowRequest>[] = [
  ...['{}', 'no json', ''].map((body) => ({ body })),
  { body: 'no json', headers: { 'Content-Type': 'text/plain' } },
]

function tokenRow({ ids, plants }: Circumstances, operation: Operation): Row {
  const { id: name, method, scopes, takesToken, body } = operation
  const isOpen = scopes === undefined
  const title = isOpen ? `${name} is open to all` : `${name} needs a token that the server knows`
  const source = isOpen ? `needs no token for the operation (${name})` : says
  return row(title, source, ids.take(1), async (store, id) => {
    const valid = requestOf(operation, id, plants)
    if (method === 'GET') await answered(store, operation, valid, id)
    const withToken = (Authorization: string | undefined, checks: readonly Check[], more: RowRequest['headers'] = {}) =>
      store.send({ ...valid, headers: { Authorization, ...more } }, checks)
    await withToken(undefined, isOpen ? ok : missing)
    await withToken('Basic cGx0Og==', isOpen ? ok : missing)
    await withToken('Bearer $UNKNOWN_TOKEN', takesToken ? invalid : ok)
    if (isOpen) return
    if (method === 'GET') {
      const as = (Authorization: string | undefined) => ({ ...valid, headers: { Authorization } })
      await askInEveryType(store, operation, as(undefined), missing)
      await askInEveryType(store, operation, as('Bearer $UNKNOWN_TOKEN'), invalid)
    }
    for (const fields of elsewhere) await withToken(undefined, missing, fields)
    for (const parameter of ofQueries) {
      const target = `${valid.target}?${parameter}=$TOKEN`
      await store.send({ ...valid, target, headers: { Authorization: undefined } }, missing)
    }
    if (body === undefined) return
    for (const other of otherBodies) {
      await store.send({ ...valid, ...other, headers: { ...other.headers, Authorization: undefined } }, missing)
    }
  })
}

/** A cache must not give the answer for one token to others. */
async function answered(store: Store, operation: Operation, valid: RowRequest, id: bigint): Promise<void> {
  await prepare(store, operation, id)
  await store.send(valid, ok)
}

/** What a token with the scope can do, and one without it cannot. */
function scopeRows(circumstances: Circumstances, operation: Operation): Row[] {
  const { ids, plants } = circumstances
  const { id: name, scopes: [scope] = [], method, body } = operation
  if (scope === undefined) return []
  const isRead = scope.endsWith(':read')
  const [holder, other] = isRead ? ['$READ_ONLY_TOKEN', '$WRITE_ONLY_TOKEN'] : ['$WRITE_ONLY_TOKEN', '$READ_ONLY_TOKEN']
  const lacks = [...refusal('insufficientScope'), challenge('insufficient_scope', scope)]
  const granted = row(`${name} is done for a token that has only its scope`, scopes, ids.take(1), async (store, id) => {
    await prepare(store, operation, id)
    const headers = { Authorization: `Bearer ${holder}` }
    await store.send(requestOf(operation, id, plants, { headers }), [status(doneStatus(operation))])
    if (method === 'GET') await store.send(requestOf(operation, id, plants, { method: 'HEAD', headers }), ok)
  })
  const refused = row(`${name} needs the scope ${scope}`, scopes, ids.take(1), async (store, id) => {
    const valid = requestOf(operation, id, plants)
    if (method === 'GET') await answered(store, operation, valid, id)
    else await prepare(store, operation, id)
    const Authorization = `Bearer ${other}`
    const send = (more: Partial<RowRequest>): Promise<Answer> =>
      store.send({ ...valid, ...more, headers: { Authorization, ...more.headers } }, lacks)
    await send({})
    if (method === 'GET') await send({ method: 'HEAD' })
    if (method === 'GET') await askInEveryType(store, operation, { ...valid, headers: { Authorization } }, lacks)
    if (body !== undefined) for (const other of otherBodies) await send(other)
  })
  return [needing(holder, circumstances, granted), needing(other, circumstances, refused)]
}

/** Nothing but the scope to write is needed to repeat a create. */
function keyRow(circumstances: Circumstances): Row {
  const { ids, nonce } = circumstances
  const headers = { Authorization: 'Bearer $WRITE_ONLY_TOKEN', 'Idempotency-Key': `write-only-${nonce}` }
  const repeated = row('a token that may only write repeats a create', scopes, ids.take(1), async (store, id) => {
    await store.create({ id, name: 'n' }, headers)
    await store.create({ id, name: 'n' }, headers, [field('Idempotency-Replayed', 'true')])
  })
  return needing('$WRITE_ONLY_TOKEN', circumstances, repeated)
}

/** A client learns the scopes of its token, and learns none without a token. */
function callerRow(does: string, token: string, ...expected: readonly string[]): Row {
  const rule = "a client that sends a token gets the token's name and scopes (getHome)"
  return row(`a token that may ${does} finds out what it may`, rule, [], async (store) => {
    const home = (Authorization: string | undefined, checks: readonly Check[]) =>
      store.call('GET', '/', [status(200), ...checks], { Accept: 'application/json', Authorization })
    await home(undefined, [hasCaller(undefined)])
    await home(`Bearer ${token}`, [
      hasCaller(expected),
      field('Cache-Control', /\b(?:private|no-store)\b/i),
      field('Vary', /\bauthorization\b|\*/i),
    ])
    await home('Basic cGx0Og==', [hasCaller(undefined)])
  })
}

const hasCaller =
  (expected: readonly string[] | undefined): Check =>
  (answer) => {
    const { caller } = objectOf(answer) as { readonly caller?: { readonly scopes?: readonly string[] } }
    const found = caller?.scopes?.filter((scope) => scope.startsWith('plants:')).sort()
    const [wanted, got] = [expected, found].map((all) => all?.join(' ') ?? 'absent')
    return wanted === got ? undefined : `the scopes of caller are ${got}, not ${wanted}`
  }
