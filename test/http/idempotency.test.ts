// Idempotency-Key over HTTP; the store suite has the rules of the store itself.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client, plantJson } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { startServer } from '../support/program.ts'

describeOnEngines('Idempotency-Key', async (engine) => {
  const place = await engine.makePlace()
  const server = await startServer(place.store)
  const client = await Client.connect(server)
  const withKey = { 'Idempotency-Key': '5f2c1f0e' }

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  test('a repeated request gets the first answer again and says so', async () => {
    const first = await client.create(1n, 'Clivia miniata', 'bulb', withKey)
    const second = await client.create(1n, 'Clivia miniata', 'bulb', withKey)
    assert.equal(first.status, 200)
    assert.equal(first.headers.get('idempotency-replayed'), undefined)
    assert.equal(second.status, 200)
    assert.equal(second.headers.get('idempotency-replayed'), 'true')
    assert.equal(second.body, first.body)
    assert.equal(second.headers.get('location'), first.headers.get('location'))
  })

  test('the same plant written otherwise is the same plant', async () => {
    const body = '{ "tag": "bulb", "name": "Clivia miniata", "colour": "orange", "id": 1.0 }'
    const response = await client.request({ body, headers: withKey })
    assert.equal(response.headers.get('idempotency-replayed'), 'true')
  })

  test('another plant under the key is 422', async () => {
    const response = await client.create(2n, 'Clivia miniata', 'bulb', withKey)
    assert.equal(response.status, 422)
    assert.equal(JSON.parse(response.body).error, 42201)
    assert.match(JSON.parse(response.body).message, /; send another key with this one$/)
  })

  test('a key of a refused request is free', async () => {
    const headers = { 'Idempotency-Key': 'free' }
    assert.equal((await client.create(1n, 'taken', undefined, headers)).status, 409)
    assert.equal((await client.request({ body: '{}', headers })).status, 400)
    assert.equal((await client.create(3n, 'free', undefined, headers)).status, 200)
  })

  test('without a key a repeated request is 409', async () => {
    assert.equal((await client.request({ body: plantJson(4n, 'n') })).status, 200)
    assert.equal((await client.request({ body: plantJson(4n, 'n') })).status, 409)
  })
})
