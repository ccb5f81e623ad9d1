// Renews the pictures of README.md, with a real browser and a real server with the example plants.

import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { launchBrowser, openPage } from '../test/support/browser.ts'
import { makeFolder } from '../test/support/folder.ts'
import { runProgram, startServer } from '../test/support/program.ts'

const viewport = { width: 1200, height: 1000 }
const examples = fileURLToPath(new URL('../examples/houseplants.ndjson', import.meta.url))
const pathOf = (picture: string): string => fileURLToPath(new URL(`../docs/${picture}`, import.meta.url))

await using folder = await makeFolder()
const store = folder.file('plants.db')
await runProgram(['import', examples, '--store', store])
await using server = await startServer(store)
const browser = await launchBrowser()
try {
  await using home = await openPage(browser, `${server.url}/`, { viewport })
  await home.page.getByLabel('Access token').fill(server.token)
  await home.page.getByRole('button', { name: 'Sign in' }).click()
  await home.page.getByRole('button', { name: 'New plant' }).click()
  await home.page.locator('#name').fill('Rosa canina')
  await home.page.locator('#tag').fill('rose')
  await home.page.getByRole('button', { name: 'Create' }).click()
  await home.page.getByRole('status').getByText('with the id').waitFor()
  await home.page.keyboard.press('Escape')
  await home.page.locator('#log-toggle').click()
  await home.page.locator('#log-list button').filter({ hasText: 'POST' }).click()
  await take(home.page, 'home.webp')
  await using reference = await openPage(browser, `${server.url}/docs#createPlant`, { viewport })
  await take(reference.page, 'reference.webp')
} finally {
  await browser.close()
}

/** As WebP, which Playwright itself does not make: the package has these pictures, too. */
async function take(page: Page, picture: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 85 })
  await writeFile(pathOf(picture), Buffer.from(data, 'base64'))
}
