// Validates requests and responses with orval's zod schemas.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { CreatePlantBody, CreatePlantResponse, GetPlantParams, GetPlantResponse } from './schemas.ts'

const { servers } = JSON.parse(readFileSync('openapi.json', 'utf8'))
const headers = { Authorization: `Bearer ${process.env['PLANTS_TOKEN']}` }

async function create(plant: object): Promise<Response> {
  const body = JSON.stringify(plant)
  const jsonHeaders = { ...headers, 'Content-Type': 'application/json' }
  return fetch(`${servers[0].url}/plants`, { method: 'POST', headers: jsonHeaders, body })
}

function did(what: string): void {
  process.stdout.write(`ok: ${what}\n`)
}

const plant = { name: '🌿 Φοίνιξ\n👩‍🌾', tag: '🪴' }
const ids = [Number.MIN_SAFE_INTEGER, -7, Number.MAX_SAFE_INTEGER]
for (const id of ids) {
  const created = await create(CreatePlantBody.parse({ id, ...plant }))
  assert.equal(created.headers.get('location'), `/plants/${id}`)
  assert.deepEqual(CreatePlantResponse.parse(await created.json()), plant)
  const read = await fetch(`${servers[0].url}/plants/${GetPlantParams.parse({ id }).id}`, { headers })
  assert.deepEqual(GetPlantResponse.parse(await read.json()), { id, ...plant })
}
did('plants of emoji pass in both directions, with ids up to 2^53 - 1')

for (const id of [-9223372036854775808n, 9007199254740993n, 9223372036854775807n]) {
  assert.ok(!CreatePlantBody.safeParse({ id, ...plant }).success)
  assert.ok(!CreatePlantBody.safeParse({ id: Number(id), ...plant }).success)
}
did('ids beyond 2^53 - 1 are refused by the client, as numbers and as bigints')

assert.equal((await create(CreatePlantBody.parse({ id: 1, name: '🌿'.repeat(1024) }))).status, 200)
assert.ok(!CreatePlantBody.safeParse({ id: 1, name: '🌿'.repeat(1025) }).success)
assert.equal((await create({ id: 2, name: '🌿'.repeat(1025) })).status, 400)
did('a name of 1024 emoji passes, one of 1025 is refused by both')

assert.ok(!CreatePlantBody.safeParse({ id: 2, name: 'NUL: \0' }).success)
const lone = await create(CreatePlantBody.parse({ id: 2, name: '\ud83c' }))
assert.equal(lone.status, 400)
const { message } = (await lone.json()) as { message: string }
assert.equal(message, 'name: must have no NUL character and no unpaired surrogate')
did('a name with NUL is refused by the client, one with an unpaired surrogate by the server')
