// Calls the service with the types of openapi-typescript and openapi-fetch: unchanged, with ids as numbers, and with
// ids as bigints.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import createClient from 'openapi-fetch'
import { createExactClient } from './exact-client.ts'
import type { paths as RoundingPaths } from './rounding.d.ts'

const { servers } = JSON.parse(readFileSync('openapi.json', 'utf8'))
const [baseUrl, token] = [servers[0].url, process.env['PLANTS_TOKEN'] ?? '']
const rounding = createClient<RoundingPaths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } })
const exact = createExactClient(baseUrl, token)

function did(what: string): void {
  process.stdout.write(`ok: ${what}\n`)
}

// @ts-expect-error A name must be a string.
const wrong: NonNullable<Parameters<typeof rounding.POST<'/plants', object>>[1]>['body'] = { id: 1, name: 1 }
assert.ok(wrong)

const plant = { name: '🌿 Φοίνιξ\n👩‍🌾', tag: '🪴' }
const created = await rounding.POST('/plants', { body: { id: 1, ...plant } })
assert.deepEqual(created.data, plant)
assert.equal(created.response.headers.get('location'), '/plants/1')
assert.deepEqual((await rounding.GET('/plants/{id}', { params: { path: { id: 1 } } })).data, { id: 1, ...plant })
did('a plant of emoji is created and read, and a wrong type does not compile')

const rounded = await rounding.POST('/plants', { body: { id: Number('9007199254740993'), name: 'rounded' } })
assert.equal(rounded.response.headers.get('location'), '/plants/9007199254740992')
did('ids that are numbers: 9007199254740993 creates the plant 9007199254740992')

const tooLarge = await rounding.POST('/plants', { body: { id: Number('9223372036854775807'), name: 'rounded' } })
assert.equal(tooLarge.error?.error, 40002)
assert.match(tooLarge.error?.message ?? '', /^id: must be an integer from -9223372036854775808 to /)
did('ids that are numbers: 9223372036854775807 is refused')

for (const id of [-9223372036854775808n, 9007199254740993n, 9223372036854775807n]) {
  const { response } = await exact.POST('/plants', { body: { id, ...plant } })
  assert.equal(response.headers.get('location'), `/plants/${id}`)
  const { data } = await exact.GET('/plants/{id}', { params: { path: { id } } })
  assert.deepEqual(data, { id, ...plant })
  assert.ok((await exact.GET('/plants')).data?.some((each) => each.id === id))
}
did('ids that are bigints are exact at both ends, written and read')

const lone = await exact.POST('/plants', { body: { id: 2n, name: '\ud83c' } })
assert.equal(lone.response.status, 400)
assert.equal(lone.error?.message, 'name: must have no NUL character and no unpaired surrogate')
did('a name with an unpaired surrogate is refused by the server')
