// The log of changes over HTTP: rows.test.ts has its rows, the store suite the rules of the log itself.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fromJson } from '../../client/exact-json.ts'
import { limits } from '../../src/limits.ts'
import { startSweeping } from '../../src/serve/sweeping.ts'
import type { Client, HttpResponse } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { importHere } from '../support/program.ts'
import { serveSuite, startService } from '../support/service.ts'
import { until } from '../support/time.ts'

interface Change {
  readonly position: string
  readonly kind: string
  readonly plant: { readonly id: bigint; readonly name: string }
  readonly callerId?: string
}

const changesOf = ({ body }: HttpResponse): readonly Change[] => fromJson(body) as readonly Change[]
const nextOf = ({ headers }: HttpResponse): string => /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? ''
const read = (client: Client, target: string): Promise<HttpResponse> => client.request({ method: 'GET', target })

describeOnEngines('GET /changes', async (engine) => {
  const { place, client } = await serveSuite(engine)

  test('has what a command adds beside the server, without a credential', async () => {
    const start = nextOf(await read(client, '/changes?after=now'))
    const { status, stderr } = await importHere('examples/houseplants.ndjson', place.store, '--on-conflict', 'skip')
    assert.equal(status, 0, stderr)
    const changes = changesOf(await read(client, start))
    assert.ok(changes.length > 0)
    assert.ok(changes.every(({ kind, callerId }) => kind === 'created' && callerId === undefined))
  })

  test('copies a store without a gap: the position first, then the list, then the changes', async () => {
    const changing = new AbortController()
    const changes = async (): Promise<void> => {
      for (let id = 1_000n; !changing.signal.aborted; id += 1n) {
        await client.create(id, 'n')
        if (id % 3n === 0n) await client.request({ method: 'DELETE', target: `/plants/${id - 1n}` })
        if (id % 3n === 1n) await client.request({ method: 'PUT', target: `/plants/${id}`, body: '{"name":"m"}' })
      }
    }
    const running = changes()
    try {
      let next = nextOf(await read(client, '/changes?after=now'))
      const copy = new Map<bigint, string>()
      for (let target = '/plants?limit=7'; target !== ''; ) {
        const page = await read(client, target)
        for (const { id, name } of fromJson(page.body) as readonly { id: bigint; name: string }[]) copy.set(id, name)
        target = nextOf(page)
      }
      await sleep(100)
      changing.abort()
      await running
      for (let count = 1; count > 0; ) {
        const page = await read(client, next)
        for (const { kind, plant } of changesOf(page)) {
          if (kind === 'deleted') copy.delete(plant.id)
          else copy.set(plant.id, plant.name)
        }
        count = changesOf(page).length
        next = nextOf(page)
      }
      const all = fromJson((await read(client, '/plants?limit=1000')).body) as readonly { id: bigint; name: string }[]
      assert.deepEqual(
        [...copy].toSorted(([a], [b]) => (a < b ? -1 : 1)),
        all.map(({ id, name }) => [id, name]),
      )
    } finally {
      changing.abort()
      await running
    }
  })
})

describe('the log of changes of a server', () => {
  test('loses changes older than --changes-kept, and reports that', async () => {
    await using service = await startService({ changesSweepMs: 5, changesKeptMsMin: 0 }, { changesKept: '0' })
    const { client } = service
    const start = nextOf(await read(client, '/changes?after=now'))
    for (let id = 0n; id < 5n; id += 1n) await client.create(id, 'n')
    await until('the changes are gone', async () => (await read(client, start)).status === 410)
    // The last one stays: who has read it may go on from it.
    await until('one is left', async () => changesOf(await read(client, '/changes')).length === 1)
    const next = nextOf(await read(client, '/changes'))
    await sleep(50)
    assert.equal((await read(client, next)).status, 200)
    await client.create(9n, 'n')
  })

  test('keeps changes for ten minutes at least, in which a commit may be looked up', async () => {
    const swept: number[] = []
    const store = {
      listWebhooks: async () => [],
      measure: async () => ({ plants: 0, bytes: 0, changesBytes: 0 }),
      sweepChanges: async (untilMs: number) => {
        swept.push(untilMs)
        return false
      },
    }
    const clock = { wallMs: () => 1_000_000, monotonicMs: () => 0 }
    using _sweeping = startSweeping(store, 0, clock, { ...limits, changesSweepMs: 1 })
    await until('it sweeps', () => swept.length > 0)
    assert.equal(swept[0], 400_000)
  })

  test('has links with the path of the public URL', async () => {
    await using service = await startService({}, { publicUrl: 'https://plants.example/store' })
    assert.match(nextOf(await read(service.client, '/changes')), /^\/store\/changes\?after=1-\w+&limit=100$/)
  })
})
