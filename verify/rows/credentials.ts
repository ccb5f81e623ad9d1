// Credentials of every operation: those that are not public require a known bearer token, with the scope that the
// operation needs.

import { type Check, challenge, field, isCreated, ok, refusal, status } from '../checks.ts'
import type { Operation } from '../document.ts'
import { objectOf, type RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, type Row, row, type Store } from '../row.ts'
import { prepare, requestOf, sendInEveryWay } from './operations.ts'

const place = 'responses/Unauthorized'
const missing: readonly Check[] = [...refusal('missingToken'), challenge()]
const invalid: readonly Check[] = [...refusal('invalidToken'), challenge('invalid_token')]

export function credentialRows({ plants, credentials }: Circumstances): readonly Row[] {
  const { operations } = plants.document
  const unknown = ['$UNKNOWN_TOKEN', '$EXPIRED_TOKEN', '$REVOKED_TOKEN'].filter((token) => credentials[token])
  const all = [...new Set(operations.flatMap(({ scopes = [] }) => scopes))].sort()
  return [
    ...lines.map(lineRow),
    ...operations.map((operation) => tokenRow(operation, unknown)),
    ...operations.flatMap(scopeRows),
    callerRow('do everything', '$TOKEN', ...all),
    callerRow('read', '$READ_ONLY_TOKEN', 'plants:read'),
    callerRow('write', '$WRITE_ONLY_TOKEN', 'plants:write'),
  ]
}

/** All ways to write credentials, and how they are refused; undefined if they are taken. */
const lines: readonly (readonly [title: string, value: string | undefined, checks?: readonly Check[]])[] = [
  ['with the scheme in lower case', 'bearer $TOKEN'],
  ['with the scheme in upper case', 'BEARER $TOKEN'],
  ['with two spaces', 'Bearer  $TOKEN'],
  ['missing', undefined, missing],
  ['empty', '', missing],
  ['Bearer alone', 'Bearer', missing],
  ['Basic, with the token as a user', 'Basic $TOKEN_AS_USER', missing],
  ['Basic, with the token as a password', 'Basic $TOKEN_AS_PASSWORD', missing],
  ['another scheme', 'Token $TOKEN', missing],
  ['the token without a scheme', '$TOKEN', missing],
  ['a token cut short', 'Bearer $SHORT_TOKEN', invalid],
  ['a token with a character changed', 'Bearer $CHANGED_TOKEN', invalid],
  ['a token in another case', 'Bearer $UPPER_CASE_TOKEN', invalid],
  ['two tokens on one line', 'Bearer $TOKEN $TOKEN', invalid],
  ['a token with a comma', 'Bearer $TOKEN,', invalid],
  ['a quoted token', 'Bearer "$TOKEN"', invalid],
  ['a text that is not a token', 'Bearer letmein', invalid],
  ['unknown', 'Bearer $UNKNOWN_TOKEN', invalid],
  ['expired', 'Bearer $EXPIRED_TOKEN', invalid],
  ['revoked', 'Bearer $REVOKED_TOKEN', invalid],
  ['of 8,000 characters', `Bearer ${'a'.repeat(8_000)}`, invalid],
]

/** Of the operation whose effect is the clearest. */
function lineRow([title, Authorization, checks]: (typeof lines)[number]): Row {
  const isForProxies = title.startsWith('of ')
  return row(`Authorization ${title}`, { place, isForProxies }, async (store, id) => {
    const request = { body: plantJson(id, 'n'), headers: { Authorization } }
    await store.send(request, checks ?? isCreated({ id, name: 'n' }))
    await (checks === undefined ? store.read({ id, name: 'n' }) : store.isMissing(id))
  })
}

/** A token in a URL ends up in logs, and one in a cookie is sent for pages of other sites, too. */
const elsewhere: readonly Partial<Record<string, string>>[] = [
  { 'X-Api-Key': '$TOKEN', 'X-Auth-Token': '$TOKEN' },
  { Cookie: 'access_token=$TOKEN; token=$TOKEN' },
  { 'Proxy-Authorization': 'Bearer $TOKEN' },
]
/** No plants: the token comes first. */
function otherBodies({ body }: Operation): readonly Partial<RowRequest>[] {
  if (body === undefined) return []
  const plain = { body: 'no json', headers: { 'Content-Type': 'text/plain' } }
  return [{ body: '{}', isInvalid: true }, { body: 'no json' }, { body: '' }, { body: 'a'.repeat(65_537) }, plain]
}

function tokenRow(operation: Operation, unknown: readonly string[]): Row {
  const { id: name, scopes, takesToken } = operation
  const isOpen = scopes === undefined
  const title = isOpen ? `${name} is open to all` : `${name} needs a token that the server knows`
  return row(title, isOpen ? { document: `needs no token (the security of ${name})` } : place, async (store, id) => {
    const valid = await beServed(store, operation, id)
    for (const [Authorization, checks] of [
      ...[undefined, 'Basic cGx0Og=='].map((value) => [value, isOpen ? ok : missing] as const),
      ...unknown.map((token) => [`Bearer ${token}`, takesToken ? invalid : ok] as const),
    ]) {
      const request = { ...valid, headers: { Authorization } }
      await (isOpen ? store.send(request, checks) : sendInEveryWay(store, operation, request, checks))
    }
    const parameters = ['access_token', 'token', 'api_key', 'authorization']
    const others: readonly Partial<RowRequest>[] = [
      ...elsewhere.map((headers) => ({ headers })),
      ...parameters.map((parameter) => ({ target: `${valid.target}?${parameter}=$TOKEN` })),
      ...otherBodies(operation),
    ]
    for (const { headers, ...more } of isOpen ? [] : others) {
      await store.send({ ...valid, ...more, headers: { Authorization: undefined, ...headers } }, missing)
    }
  })
}

/** Returns a request that the server has served, if it is a read: a cache must not give the answer to others. */
async function beServed(store: Store, operation: Operation, id: bigint): Promise<RowRequest> {
  await prepare(store, operation, id)
  const valid = requestOf(operation, id, store.plants)
  if (operation.method === 'GET') await store.send(valid, ok)
  return valid
}

/** What a token with the scope can do, and one without it cannot. */
function scopeRows(operation: Operation): Row[] {
  const { id: name, scopes: [scope] = [] } = operation
  if (scope === undefined) return []
  const tokens = ['$READ_ONLY_TOKEN', '$WRITE_ONLY_TOKEN'] as const
  const [holder, other] = scope.endsWith(':read') ? tokens : tokens.toReversed()
  const forbidden = 'responses/Forbidden'
  const lacks = [...refusal('insufficientScope'), challenge('insufficient_scope', scope)]
  return [
    row(`${name} is done for a token that has only its scope`, forbidden, async (store, id) => {
      await prepare(store, operation, id)
      const headers = { Authorization: `Bearer ${holder}`, 'Idempotency-Key': `scope-${store.nonce}` }
      const valid = requestOf(operation, id, store.plants, { headers })
      await store.send(valid, [status(operation.doneStatus)])
      if (operation.method === 'GET') await store.send({ ...valid, method: 'HEAD' }, ok)
      if (operation.method === 'POST') await store.send(valid, [...ok, field('Idempotency-Replayed', 'true')])
    }),
    row(`${name} needs the scope ${scope}`, forbidden, async (store, id) => {
      const valid = await beServed(store, operation, id)
      const Authorization = `Bearer ${other}`
      await sendInEveryWay(store, operation, { ...valid, headers: { Authorization } }, lacks)
      for (const { headers, ...body } of otherBodies(operation)) {
        await store.send({ ...valid, ...body, headers: { Authorization, ...headers } }, lacks)
      }
    }),
  ]
}

/** A client learns the scopes of its token, and learns none without a token. */
function callerRow(does: string, token: string, ...expected: readonly string[]): Row {
  return row(`a token that may ${does} finds out what it may`, 'getHome: name and scopes', async (store) => {
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
