// The client in a real browser, loaded from the file that the server has: exact ids, retries, and changes applied once.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type * as ClientModule from '../../client/client.ts'
import { FaultyProxy } from '../client/faulty-proxy.ts'
import { launchBrowser, noBrowser, openPage } from '../support/browser.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'

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
  let browser: Browser

  before(async () => {
    browser = await launchBrowser()
  })

  after(() => browser.close())

  test('is exact, follows pages, hands back states and gives the words of the server', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'))
    await using opened = await openPage(browser, server.url)
    const where = { file: `${server.url}/site/client.js`, url: server.url, token: server.token }
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

  test('creates plants from a page that came over plain HTTP, of any name', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'))
    const url = `http://plants.lan:${server.port}`
    const lan = await launchBrowser('plants.lan')
    try {
      await using opened = await openPage(lan, url)
      assert.equal(await opened.page.evaluate('isSecureContext'), false)
      const where = { file: `${url}/site/client.js`, url, token: server.token }
      assert.equal(await opened.page.evaluate(createMany, where), 100)
    } finally {
      await lan.close()
    }
  })

  test('creates once although connections are cut', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'))
    await using proxy = await FaultyProxy.start(server.port)
    await using opened = await openPage(browser, proxy.url)
    // The page and what it loads have come.
    let answers = 0
    await opened.page.evaluate((file) => import(file), `${proxy.url}/site/client.js`)
    // Every other answer, each at another byte.
    proxy.decide = ({ of, bytes }) =>
      of === 'answer' && ++answers % 2 === 0 ? (3 * proxy.cuts) % bytes.length : undefined
    const where = { file: `${proxy.url}/site/client.js`, url: proxy.url, token: server.token }
    assert.equal(await opened.page.evaluate(createMany, where), 100)
    assert.ok(proxy.cuts >= 100, `${proxy.cuts}`)
  })
})
