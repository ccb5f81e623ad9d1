// The browser and the store that all tests of a process share, and visits of the home page.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { NewPlant } from '../../client/client.ts'
import { startPlantStore } from '../../src/embed/start.ts'
import { launchBrowser, noBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { assertQuiet } from './home-page.ts'

const browser = noBrowser ? undefined : await launchBrowser()
export const store = await startPlantStore()

after(async () => {
  await browser?.close()
  await store.stop()
})

/** Opens a page as a person with a browser of their own. */
export function open(url: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  return openPage(browser ?? assert.fail(String(noBrowser)), url, options)
}

type Run = (page: Page, watched: WatchedPage) => Promise<void>

/** Opens the home page of the store, which has these plants and no others at first, and signs in. */
export const visit = (plants: readonly NewPlant[], run: Run): Promise<void> => visitAs(store.token, plants, run)

/** @param token empty for a person who signs in later. */
export async function visitAs(token: string, plants: readonly NewPlant[], run: Run): Promise<void> {
  await store.reset()
  for (let at = 0; at < plants.length; at += 50)
    await Promise.all(plants.slice(at, at + 50).map((plant) => store.client.createPlant(plant)))
  await using watched = await open(`${store.url}/${token === '' ? '' : `#token=${token}`}`)
  if (token !== '') await watched.page.locator('#account').waitFor()
  await run(watched.page, watched)
  assertQuiet(watched)
}

/** Plants with the ids from 1, such as "Plant 1". */
export const numbered = (count: number): NewPlant[] =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, name: `Plant ${at + 1}` }))

/** The body of the answer to a get of a plant. */
export async function stored(id: number | string): Promise<string> {
  const headers = { Authorization: `Bearer ${store.token}` }
  return (await fetch(`${store.url}/plants/${id}`, { headers })).text()
}
