// The client in a real browser, loaded from the file that the server has: exact ids, retries, and changes applied once.

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type * as ClientModule from '../../client/client.ts'
import { FaultyProxy } from '../client/faulty-proxy.ts'
import { lanName, noBrowser } from '../support/browser.ts'
import { open, store } from './visits.ts'

interface Where {
  readonly file: string
  readonly url: string
  readonly token: string
}

/** What the page does and sees; ids as texts, since bigints do not travel to the test. */
async function useClient({ file, url, token }: Where) {
  const { PlantStoreClient, PlantStoreError } = (await import(file)) as typeof ClientModule
  const client = new PlantStoreClient({ url, token })
  const ids = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]
  for (const id of ids) await client.createPlant({ id, name: `plant ${id}`, tag: 'edge' })
  const read = await client.getPlant(ids[0] ?? 0n)
  const replaced = await client.replacePlant(read.id, { name: 'replaced' }, { ifMatch: read })
  const failure = (error: unknown) => {
    if (!(error instanceof PlantStoreError)) return String(error)
    const { status, error: number, message, requestId } = error
    return { status, number, message, hasRequestId: requestId !== undefined }
  }
  const stale = await client.deletePlant(read.id, { ifMatch: read }).catch(failure)
  const taken = await client.createPlant({ id: ids[1] ?? 0n, name: 'n' }).catch(failure)
  const lone = await client.createPlant({ id: 5, name: '\ud800' }).catch(failure)
  for (let id = 1; id <= 250; id += 1) await client.createPlant({ id, name: 'many' })
  const listed: string[] = []
  for await (const plant of client.listPlants({ limit: 100 })) listed.push(String(plant.id))
  const unchanged = await client.getPlant(7).then((plant) => client.getPlant(7, { ifNoneMatch: plant }))
  const aborted = await client.getPlant(7, { signal: AbortSignal.abort() }).catch((error) => error.name)
  const nobody = new PlantStoreClient({ url: 'http://127.0.0.1:9', triesMax: 2 })
  return {
    ...{ stale, taken, lone, listed, aborted, name: unchanged.name, replacedName: replaced.name },
    unreachable: await nobody.getLivez().catch(failure),
  }
}

/** Creates through a proxy that cuts answers. */
async function createMany({ file, url, token }: Where): Promise<number> {
  const { PlantStoreClient } = (await import(file)) as typeof ClientModule
  const client = new PlantStoreClient({ url, token, triesMax: 30 })
  for (let id = 1_000; id < 1_100; id += 1) await client.createPlant({ id, name: 'once' })
  return (await client.getSummary()).plants
}

describe('the client in a browser', { skip: noBrowser }, () => {
  const { token } = store
  const port = Number(new URL(store.url).port)

  beforeEach(() => store.reset())

  test('is exact, follows pages, hands back states and gives the words of the server', async () => {
    await using opened = await open(store.url)
    const where = { file: `${store.url}/site/client.js`, url: store.url, token }
    const seen = await opened.page.evaluate(useClient, where)
    assert.deepEqual(seen.listed, [
      String(-(2n ** 63n)),
      ...Array.from({ length: 250 }, (_, index) => String(index + 1)),
      String(2n ** 53n + 1n),
      String(2n ** 63n - 1n),
    ])
    assert.deepEqual([seen.name, seen.replacedName, seen.aborted], ['many', 'replaced', 'AbortError'])
    const { status, number, hasRequestId } = seen.stale as { status: number; number: number; hasRequestId: boolean }
    assert.deepEqual([status, number, hasRequestId], [412, 41201, true])
    assert.match(JSON.stringify(seen.taken), /"status":409,"number":40901,"message":"id: -9223372036854775808 is/)
    assert.match(JSON.stringify(seen.lone), /"status":400,.*"message":"name: /)
    assert.match(JSON.stringify(seen.unreachable), /"message":"http:\/\/127\.0\.0\.1:9 cannot be reached: /)
  })

  test('creates once although connections are cut, from a page that came over plain HTTP, of any name', async () => {
    await using proxy = await FaultyProxy.start(port)
    const url = proxy.url.replace('127.0.0.1', lanName)
    const file = `${url}/site/client.js`
    await using opened = await open(url)
    assert.equal(await opened.page.evaluate('isSecureContext'), false)
    // The page and what it loads have come.
    let answers = 0
    await opened.page.evaluate((its) => import(its), file)
    // Every other answer, each at another byte.
    proxy.decide = ({ of, bytes }) =>
      of === 'answer' && ++answers % 2 === 0 ? (3 * proxy.cuts) % bytes.length : undefined
    assert.equal(await opened.page.evaluate(createMany, { file, url, token }), 100)
    assert.ok(proxy.cuts >= 100, `${proxy.cuts}`)
  })
})
