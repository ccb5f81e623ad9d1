// Validates requests and responses with hey-api's zod schemas, whose ids are bigints.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { zNewPlant, zStoredPlant } from './generated/zod.gen.ts'

const { servers } = JSON.parse(readFileSync('openapi.json', 'utf8'))
const headers = { Authorization: `Bearer ${process.env['PLANTS_TOKEN']}` }

interface ExactJson {
  rawJSON(text: string): unknown
  parse(text: string, reviver: (key: string, value: unknown, context: { source: string }) => unknown): unknown
}
/** Parts of JSON that Node.js has since 22, but TypeScript 5.9 does not know. */
const { rawJSON, parse } = JSON as unknown as ExactJson

async function create(plant: object): Promise<Response> {
  const body = JSON.stringify(plant, (_key, value) => (typeof value === 'bigint' ? rawJSON(String(value)) : value))
  const jsonHeaders = { ...headers, 'Content-Type': 'application/json' }
  return fetch(`${servers[0].url}/plants`, { method: 'POST', headers: jsonHeaders, body })
}

function did(what: string): void {
  process.stdout.write(`ok: ${what}\n`)
}

const plant = { name: '🌿 Φοίνιξ\n👩‍🌾', tag: '🪴' }
for (const id of [-9223372036854775808n, 9007199254740993n, 9223372036854775807n]) {
  const created = await create(zNewPlant.parse({ id, ...plant }))
  assert.equal(created.headers.get('location'), `/plants/${id}`)
  const text = await (await fetch(`${servers[0].url}/plants/${id}`, { headers })).text()
  const read = parse(text, (key, value, { source }) => (key === 'id' ? BigInt(source) : value))
  assert.deepEqual(zStoredPlant.parse(read), { id, ...plant })
}
did('plants of emoji pass in both directions, with ids at both ends, when JSON is written and read exactly')

const url = `${servers[0].url}/plants/9007199254740993`
const rounded = zStoredPlant.parse(await (await fetch(url, { headers })).json())
assert.deepEqual(rounded, { id: 9007199254740992n, ...plant })
did('read with JSON.parse, the id 9007199254740993 is 9007199254740992, and valid')

for (const id of [-9223372036854775809n, 9223372036854775808n]) {
  assert.ok(!zNewPlant.safeParse({ id, ...plant }).success)
}
did('ids outside of int64 are refused by the client')

const lone = await create(zNewPlant.parse({ id: 2n, name: '\ud83c' }))
assert.equal(lone.status, 400)
const { message } = (await lone.json()) as { message: string }
assert.equal(message, 'name: must have no NUL character and no unpaired surrogate')
did('a name with an unpaired surrogate is refused by the server')
