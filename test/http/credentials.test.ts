// Every operation of the served document without a token, with an unknown one, and with every scope but the required
// one, with our tokens and with JWTs. The operations come from the document, so that a new one is tested automatically.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { loadContract } from '../../src/contract/contract.ts'
import { allScopes } from '../../src/domain/caller.ts'
import { mintSecret } from '../../src/domain/token.ts'
import type { Operation } from '../../verify/document.ts'
import { Client } from '../support/client.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { describeOnEngines } from '../support/engines.ts'
import { IdentityProvider, makeKey } from '../support/identity-provider.ts'
import { serveHere } from '../support/service.ts'
import { addToken, revokeToken } from '../support/store.ts'
import { assertPrompt } from '../support/time.ts'

describeOnEngines('credentials', async (engine) => {
  const place = await engine.makePlace()
  const { store } = place
  const provider = await IdentityProvider.start()
  const server = await serveHere(store, {}, provider.settings)
  const client = await Client.connect(server)
  const tokens = new Map<string, string>()
  const tested = new Set<string>()

  before(async () => {
    for (const scope of allScopes) tokens.set(scope, (await addToken(store, scope, [scope])).secret)
  })

  after(async () => {
    await server[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  const request = async (operation: Operation, authorization: string | undefined): Promise<HttpResponse> => {
    const response = await client.request({
      method: operation.method,
      target: operation.path.replace('{file}', 'style.css').replaceAll(/\{\w+\}/g, '1'),
      headers: { Authorization: authorization },
      ...(operation.body !== undefined && { body: '{}' }),
    })
    // What depends on a token is kept by no cache.
    assert.equal(
      response.headers.get('cache-control') === 'private, no-cache',
      operation.scopes !== undefined,
      response.body,
    )
    return response
  }

  for (const operation of client.conformance.operations) {
    const { id, scopes, takesToken } = operation
    if (scopes === undefined) {
      test(`${id} is open to all`, async () => {
        assert.equal((await request(operation, undefined)).status, 200)
        assert.equal((await request(operation, 'Bearer nonsense')).status, takesToken ? 401 : 200)
        tested.add(id)
      })
      continue
    }
    test(`${id} needs a known token with its scope`, async () => {
      assert.ok(scopes.length > 0, 'an operation names the scope it needs')
      assert.equal(errorOf(await request(operation, undefined)), 40101)
      assert.equal(errorOf(await request(operation, `Bearer ${mintSecret(randomBytes(32))}`)), 40102)
      for (const [scope, token] of tokens) {
        const response = await request(operation, `Bearer ${token}`)
        if (scopes.includes(scope)) assert.ok(![401, 403].includes(response.status), response.body)
        else assert.equal(errorOf(response), 40301)
      }
      const other = await makeKey('ES256', 'first')
      assert.equal(errorOf(await request(operation, `Bearer ${await provider.sign({ key: other })}`)), 40102)
      for (const scope of [...allScopes, 'openid', undefined]) {
        const response = await request(operation, `Bearer ${await provider.sign({ claims: { scope } })}`)
        if (scopes.includes(scope ?? '')) assert.ok(![401, 403].includes(response.status), response.body)
        else assert.equal(errorOf(response), 40301)
      }
      tested.add(id)
    })
  }

  test('no operation was left out', () => {
    assert.deepEqual(
      [...tested].sort(),
      loadContract()
        .operations.map(({ id }) => id)
        .sort(),
    )
  })

  test('a token revoked beside the running server is refused within a second', async () => {
    const { id, secret } = await addToken(store, 'revoked')
    const use = () =>
      client.request({ method: 'GET', target: '/plants/1', headers: { Authorization: `Bearer ${secret}` } })
    assert.equal((await use()).status, 404)
    await revokeToken(store, id)
    const revokedMs = performance.now()
    // Asked all the time, so that the token is one that the server has just used.
    while ((await use()).status !== 401) assertPrompt(revokedMs, 1_000)
  })
})

function errorOf({ body }: { readonly body: string }): number {
  return JSON.parse(body).error
}
