// JWTs from an identity provider: which are accepted, which are rejected, and what happens while the provider rotates
// its keys, is away or misbehaves. The provider is a real server; the test makes its keys.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestFinished } from '../../src/domain/events.ts'
import type { HttpResponse } from '../support/conformance.ts'
import { exhaustiveOnFolder, onFolder } from '../support/folder.ts'
import { audience, IdentityProvider, makeKey, nowSeconds } from '../support/identity-provider.ts'
import { runHere, startServer } from '../support/program.ts'
import { exhaustive, inRing, testOn } from '../support/ring.ts'
import { type Service, startService, startSuite } from '../support/service.ts'
import { assertPrompt, until } from '../support/time.ts'

/** Limits that a test can afford to wait for. */
const quick = { jwksCooldownMs: 300, jwksRefreshMs: 600_000, jwtTrustMs: 0 }
/** Nothing is asked for again while a test lasts. */
const still = { jwksCooldownMs: 600_000, jwksRefreshMs: 600_000, jwtTrustMs: 0 }

/** Reads or deletes with a token: 404 when it is good, as there is no plant. */
function use(service: Service, token: string, method = 'GET'): Promise<HttpResponse> {
  return service.request({ method, target: '/plants/1', headers: { Authorization: `Bearer ${token}` } })
}

async function statusOf(service: Service, token: string): Promise<number> {
  return (await use(service, token)).status
}

function assertRefused({ status, headers, body }: HttpResponse, why = ''): void {
  assert.equal(status, 401, `${why} ${body}`)
  const message = 'Authorization: the token is unknown, malformed, expired or revoked'
  assert.deepEqual(JSON.parse(body), { error: 40102, message })
  assert.equal(headers.get('www-authenticate'), 'Bearer realm="plantstore", error="invalid_token"')
}

function assertAway({ status, headers, body }: HttpResponse): void {
  assert.equal(status, 503, body)
  assert.equal(JSON.parse(body).error, 50306)
  assert.equal(headers.get('retry-after'), '1')
}

/** What the log has of the last request. */
function lastOf({ events }: Service): RequestFinished | undefined {
  return events.findLast((event) => event.kind === 'requestFinished')
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a JWT', async () => {
  const provider = await IdentityProvider.start()
  const service = await startSuite(still, provider.settings)

  after(() => provider[Symbol.asyncDispose]())

  test('is seen in the log by its subject and an id, never itself', async () => {
    // The override would turn the rest of a line around on a terminal.
    const token = await provider.sign({ claims: { sub: 'carol\u202e' } })
    await use(service, token)
    await service.request({ method: 'GET', target: `/plants/${token}` })
    const [used, misused] = service.events.filter((event) => event.kind === 'requestFinished').slice(-2)
    assert.equal(used?.tokenName, 'carol\ufffd')
    assert.match(used?.tokenId ?? '', /^jwt_[\w-]{43}$/)
    assert.equal(misused?.path, '/plants/eyJ...')
    assert.ok(!JSON.stringify(service.events).includes(token.split('.')[1] as string))
  })

  test('may have several audiences, any type of an access token, and a clock that is a little out of step', async () => {
    const now = nowSeconds()
    const audiences = [audience, [audience], ['account', audience]].map((aud) => ({ claims: { aud } }))
    const types = [undefined, 'JWT', 'AT+JWT', 'application/at+jwt'].map((typ) => ({ header: { typ } }))
    const times = [{ exp: now - 1 }, { nbf: now + 2 }, { iat: now + 2 }].map((claims) => ({ claims }))
    for (const parts of [...audiences, ...types, ...times]) {
      assert.equal(await statusOf(service, await provider.sign(parts)), 404, JSON.stringify(parts))
    }
    assert.equal(await statusOf(service, service.token), 404, 'beside our own tokens')
    const headers = { Authorization: `Bearer ${await provider.sign()}` }
    assert.equal((await service.create(7n, 'Olea', undefined, headers)).status, 200)
  })

  test('gives the scopes that we know, from scope or scp or the claims that are set, as a text or a list', async () => {
    await using other = await startService(still, { ...provider.settings, jwtScopeClaims: 'scp,roles' })
    const [read, write, all] = ['plants:read', 'plants:write', undefined] as const
    for (const [at, claims, scopes] of [
      [service, { scope: read }, read],
      [service, { scope: [read, 'email', 7] }, read],
      [service, { scp: read }, read],
      [service, { scope: `plants:writer plants: write PLANTS:WRITE plants:read\t${write}` }, 'none'],
      [service, { scope: 7, scp: { [write]: true } }, 'none'],
      [service, { roles: [write] }, 'none'],
      [other, { roles: [read, write] }, all],
      [other, { roles: write }, all],
      [other, { scp: read, roles: [write] }, all],
      [other, { scp: read }, read],
      [other, { scope: write, permissions: [write] }, 'none'],
      [other, { roles: { [write]: true } }, 'none'],
    ] as const) {
      const { status, body } = await use(at, await provider.sign({ claims: { scope: undefined, ...claims } }), 'DELETE')
      assert.equal(status, scopes === all ? 404 : 403, JSON.stringify(claims))
      if (scopes !== all) assert.ok(body.includes(`the token needs the scope plants:write, but has ${scopes}"`), body)
    }
  })

  describe('is refused', () => {
    const now = nowSeconds()
    const cases: Record<string, NonNullable<Parameters<IdentityProvider['sign']>[0]>> = {
      'that has expired': { claims: { exp: now - 60 } },
      'that never expires': { claims: { exp: undefined } },
      'that is not valid yet': { claims: { nbf: now + 3_600 } },
      'that is not issued yet': { claims: { iat: now + 3_600 } },
      'of another issuer': { claims: { iss: 'https://login.example/realms/plants/' } },
      'without an issuer': { claims: { iss: undefined } },
      'for other audiences': { claims: { aud: ['account', 'https://plants.example/x'] } },
      'without an audience': { claims: { aud: undefined } },
      'without a subject': { claims: { sub: undefined } },
      'with an empty subject': { claims: { sub: '' } },
      'with a subject that is no text': { claims: { sub: 7 } },
      'with a subject of several lines': { claims: { sub: 'alice\nINFO: all is well' } },
      'with a long subject': { claims: { sub: 'x'.repeat(256) } },
      'of another type': { header: { typ: 'dpop+jwt' } },
      'that is a refresh token': { header: { typ: 'rt+jwt' } },
      'with an unknown key': { header: { kid: 'unknown' } },
    }

    for (const [name, parts] of Object.entries(cases)) {
      test(`one ${name}`, async () => {
        assertRefused(await use(service, await provider.sign(parts)))
        assert.match(String(lastOf(service)?.cause), /^.{1,99}$/, 'the log says why')
      })
    }

    test('one that is forged, broken, or signed by another key of the same name', async () => {
      const [header = '', claims = '', signature = ''] = (await provider.sign()).split('.')
      const changed = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
      for (const token of [
        await provider.sign({ key: await makeKey('ES256', 'first') }),
        `${header}.${encode({ ...provider.claims(), sub: 'root' })}.${signature}`,
        `${encode({ alg: 'ES256', kid: 'first', a: 1 })}.${claims}.${signature}`,
        ...[changed, signature.slice(0, 40), `${signature}AAAA`, 'AAAA'].map((odd) => `${header}.${claims}.${odd}`),
        ...['a.b.c', `${encode([])}.${claims}.AAAA`, `${header}.${encode(null)}.AAAA`],
      ]) {
        assertRefused(await use(service, token), token)
      }
    })

    test('one that is not signed, or signed by HMAC with the public key as its secret', async () => {
      for (const alg of ['none', 'HS256']) {
        const input = `${encode({ alg, kid: 'first' })}.${encode(provider.claims())}`
        const hmac = createHmac('sha256', JSON.stringify(provider.key.jwk)).update(input).digest('base64url')
        assertRefused(await use(service, `${input}.${alg === 'none' ? 'AA' : hmac}`))
        assert.equal(lastOf(service)?.cause, '"alg" (Algorithm) Header Parameter value not allowed')
      }
    })

    test('without the provider being asked for each', async () => {
      assert.equal(provider.requests, 2, 'once by each server')
    })
  })
})

const onProvider = testOn(() => IdentityProvider.start())

describe('keys of a provider', () => {
  onProvider('are of any algorithm whose private half stays with the issuer', async (provider) => {
    const some = ['RS256', 'PS512', 'ES384', 'EdDSA']
    const others = ['RS384', 'RS512', 'PS256', 'PS384', 'ES256', 'ES512', 'Ed25519']
    const algorithms = inRing(some, [...some, ...others])
    const keys = await Promise.all([...algorithms, 'ES384'].map((alg, at) => makeKey(alg, `key ${at}`)))
    provider.keys = keys.map(({ jwk }) => jwk)
    await using service = await startService(still, provider.settings)
    for (const key of keys) {
      assert.equal(await statusOf(service, await provider.sign({ key })), 404, key.alg)
      // Only where one key fits, its name is not needed.
      const unnamed = await use(service, await provider.sign({ key, header: { kid: undefined } }))
      assert.equal(unnamed.status, key.alg === 'ES384' ? 401 : 404, unnamed.body)
    }
  })

  test('are found after a rotation, and unknown names make the provider be asked only now and then', async () => {
    await using provider = await IdentityProvider.start()
    await using service = await startService(quick, provider.settings)
    assert.equal(await statusOf(service, await provider.sign()), 404)
    const second = await makeKey('RS256', 'second')
    const early = await provider.sign({ key: second })
    const startedMs = performance.now()
    for (let kid = 0; performance.now() - startedMs < 4 * quick.jwksCooldownMs; kid += 1) {
      assertRefused(await use(service, await provider.sign({ header: { kid: String(kid) } })))
      await sleep(10)
    }
    const roundsMax = 1 + Math.ceil((performance.now() - startedMs) / quick.jwksCooldownMs)
    assert.ok(provider.requests >= 2 && provider.requests <= 1 + roundsMax, `asked ${provider.requests} times`)
    provider.keys = [second.jwk]
    await until('the new key is found', async () => (await statusOf(service, early)) === 404)
    // The old one was not served any more.
    assertRefused(await use(service, await provider.sign()))
  })

  onProvider('need not be there when a server starts', async (provider) => {
    await provider.leave()
    await using service = await startService(quick, provider.settings)
    const token = await provider.sign()
    assertAway(await use(service, token))
    assert.equal(await statusOf(service, service.token), 404)
    assert.ok(service.events.some(({ kind }) => kind === 'jwtKeysAway'))
    await provider.comeBack()
    await until('the provider is found', async () => (await statusOf(service, token)) === 404)
  })

  type Fault = ((response: ServerResponse, provider: IdentityProvider) => void) | undefined
  const faults: Readonly<Record<string, Fault>> = {
    'the provider is away': undefined,
    'its answer is too long': (response, { keys }) => response.end(JSON.stringify({ keys, more: 'x'.repeat(262_144) })),
    'its answer never comes': () => {},
    'its answer is not a key set': (response) => response.end('{"keys":{"first":{}}}'),
    'its answer is a redirect': (response) => response.writeHead(302, { location: '/moved' }).end(),
  }
  for (const [number, [what, answer]] of Object.entries(faults).entries()) {
    const inItsRing = number < 2 ? test : exhaustive.test
    inItsRing(`that were known hold while ${what}; another gets 503 until that is over`, async () => {
      const limits = { ...quick, jwksCooldownMs: 50, jwksRefreshMs: 50, jwksMsMax: 1_000 }
      await using provider = await IdentityProvider.start()
      await using service = await startService(limits, provider.settings)
      const second = await makeKey('ES256', 'second')
      const [known, unknown] = [await provider.sign(), await provider.sign({ key: second })]
      assert.equal(await statusOf(service, known), 404)
      const serve = provider.answer
      if (answer === undefined) await provider.leave()
      else provider.answer = (response) => answer(response, provider)
      provider.keys = [second.jwk]
      const keyEvents = () => service.events.filter(({ kind }) => kind.startsWith('jwt'))
      await until('the provider is missed', () => keyEvents().length > 0)
      const missedMs = performance.now()
      assert.equal(await statusOf(service, known), 404)
      await until('another waits for it', async () => (await statusOf(service, unknown)) === 503)
      assertAway(await use(service, unknown))
      assert.match(String(lastOf(service)?.cause), /^the keys cannot be renewed: ./)
      assert.equal(await statusOf(service, service.token), 404)
      await until('several tries have failed', () => performance.now() - missedMs > 5 * limits.jwksCooldownMs)
      const awayMs = performance.now() - missedMs
      provider.answer = serve
      if (answer === undefined) await provider.comeBack()
      await until('the provider is found again', async () => (await statusOf(service, unknown)) === 404)
      await until('that is seen', () => keyEvents().length > 1)
      const { requests } = provider
      provider.keys = []
      await until('the keys are renewed again', () => provider.requests > requests + 1)
      assertRefused(await use(service, unknown))
      const [away, back, ...others] = keyEvents()
      assert.deepEqual([away?.kind, back?.kind, others], ['jwtKeysAway', 'jwtKeysBack', []])
      assert.ok(back?.kind === 'jwtKeysBack' && back.awayMs >= awayMs, 'since the first failure, not the last')
    })
  }

  onFolder('may be in a file, which is read again when a token names another key', async (folder) => {
    await using provider = await IdentityProvider.start()
    const path = folder.file('keys.json')
    await writeFile(path, JSON.stringify({ keys: [provider.key.jwk] }))
    await using service = await startService(quick, { ...provider.settings, jwtKeys: path })
    const second = await makeKey('RS256', 'second')
    const known = await provider.sign()
    const unknown = await provider.sign({ key: second })
    assert.equal(await statusOf(service, known), 404)
    assertRefused(await use(service, unknown))
    await writeFile(path, '{"keys":[')
    await until('the file is found broken', async () => (await statusOf(service, unknown)) === 503)
    assert.equal(await statusOf(service, known), 404)
    await writeFile(path, JSON.stringify({ keys: [second.jwk] }))
    await until('the file is read again', async () => (await statusOf(service, unknown)) === 404)
    assertRefused(await use(service, known))
    assert.equal(provider.requests, 0)
  })
})

onProvider('a caller is a subject of an issuer, independent of the token', async (provider) => {
  const iss = 'https://login.example/realms/others'
  await using service = await startService(still, provider.settings)
  await using other = await startService(still, { ...provider.settings, jwtIssuer: iss })
  const idOf = async (at: Service, claims: Record<string, unknown>): Promise<string | undefined> => {
    assert.equal(await statusOf(at, await provider.sign({ claims })), 404)
    return lastOf(at)?.tokenId
  }
  const alice = await idOf(service, {})
  assert.equal(await idOf(service, { exp: nowSeconds() + 600 }), alice)
  const subjects = ['Alice', 'alice ', 'x'.repeat(255), '["a","b"]', '\u{1f335}'.repeat(100), service.token]
  const ids = [alice, await idOf(other, { iss })]
  for (const sub of subjects) ids.push(await idOf(service, { sub }))
  assert.equal(new Set(ids).size, ids.length)
  assertRefused(await use(other, await provider.sign()))
})

describe('a server for JWTs', () => {
  onFolder('does not start with incomplete settings or without keys, and reports the problem', async (folder) => {
    const file = folder.file('empty.json')
    await writeFile(file, '{}')
    const start = (flags: readonly string[]) =>
      runHere(['serve', '--port', '0', '--store', folder.file('plants.db'), ...flags])
    const together = 'plantstore: --jwt-keys, --jwt-issuer and --jwt-audience belong together: add'
    for (const [flags, missing] of [
      [['--jwt-keys', 'keys.json', '--jwt-issuer', 'a'], '--jwt-audience'],
      [['--jwt-scope-claims', 'roles'], '--jwt-keys and --jwt-issuer and --jwt-audience'],
    ] as const) {
      assert.deepEqual(await start(flags), { status: 2, stdout: '', stderr: `${together} ${missing}\n` })
    }
    assert.deepEqual(await readdir(folder.path), ['empty.json'])
    const { status, stderr } = await start(['--jwt-keys', file, '--jwt-issuer', 'a', '--jwt-audience', 'b'])
    const broken = `plantstore: --jwt-keys: the keys at ${file} cannot be used: JSON Web Key Set malformed\n`
    assert.deepEqual([status, stderr], [2, broken])
  })

  exhaustiveOnFolder('warns of keys that come in plain text from another machine', async (folder) => {
    const flags = ['--jwt-keys', 'http://0.0.0.0:1/keys?secret', '--jwt-issuer', 'a', '--jwt-audience', 'b']
    await using server = await startServer(folder.file('plants.db'), { args: flags })
    assert.match(server.output.stdout, /"message":"--jwt-keys: .* http:\/\/0\.0\.0\.0:1\/keys can .*https:/)
    await server.sees('jwtKeysAway')
    assert.doesNotMatch(server.output.stderr + server.output.stdout, /secret/)
  })

  exhaustiveOnFolder('ends without waiting for a provider that does not answer', async (folder) => {
    await using provider = await IdentityProvider.start()
    provider.answer = () => {}
    const limits = { jwksMsMax: 600_000 }
    await using server = await startServer(folder.file('plants.db'), { args: provider.flags, limits })
    await until('the keys are asked for', () => provider.requests > 0)
    const stoppedMs = performance.now()
    assert.equal(await server.stop(), 0)
    assertPrompt(stoppedMs, 2_000)
  })
})
