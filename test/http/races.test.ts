// 50 clients in two processes want the same thing at the same moment.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { countStatuses, plantJson, type RowRequest } from '../support/client.ts'
import { describeOnBothEngines } from '../support/engines.ts'
import { cleanEnvironment, startServer } from '../support/program.ts'
import { inRing } from '../support/ring.ts'

interface Result {
  readonly status: number
  readonly body: string
  readonly replayed: boolean
}

const racer = fileURLToPath(new URL('../support/racer.ts', import.meta.url))
const connectionsEach = 25
const rounds = inRing(1, 5)

describeOnBothEngines('races', async (engine) => {
  const place = await engine.makePlace()
  const server = await startServer(place.store)

  after(async () => {
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  const race = async (parts: RowRequest): Promise<Result[]> => {
    const racers = await Promise.all([startRacer(parts), startRacer(parts)])
    const results = await Promise.all(racers.map(finishRacer))
    return results.flat()
  }

  const startRacer = async (parts: RowRequest): Promise<ChildProcess> => {
    const args = [racer, String(server.port), server.token, JSON.stringify(parts), String(connectionsEach)]
    const child = spawn(process.execPath, args, { env: cleanEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdout.setEncoding('utf8')
    await once(child.stdout, 'data')
    return child
  }

  const finishRacer = async (child: ChildProcess): Promise<Result[]> => {
    child.stdin?.write('go\n')
    const output = (await child.stdout?.toArray())?.join('') ?? ''
    return JSON.parse(output)
  }

  test('one id: one 200, 49 times 409', async () => {
    for (let id = 0n; id < rounds; id += 1n) {
      const results = await race({ body: plantJson(id, 'raced') })
      assert.deepEqual(countStatuses(results), { 200: 1, 409: 49 })
    }
  })

  test('one Idempotency-Key: one create, 50 times the same 200', async () => {
    for (let id = 100n; id < 100 + rounds; id += 1n) {
      const results = await race({
        body: plantJson(id, 'raced', 'once'),
        headers: { 'Idempotency-Key': `key ${id}`.replace(' ', '-') },
      })
      assert.deepEqual(countStatuses(results), { 200: 50 })
      assert.deepEqual(new Set(results.map(({ body }) => body)), new Set(['{"name":"raced","tag":"once"}']))
      assert.equal(results.filter(({ replayed }) => !replayed).length, 1)
    }
  })
})
