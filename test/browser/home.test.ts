// The home page in a real browser: what a person does there, what it asks of others (nothing), and who can use it.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { findViolations, launchBrowser, noBrowser, openPage } from '../support/browser.ts'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { type RunningServer, startServer } from '../support/program.ts'

const int64Max = '9223372036854775807'

/** A refusal that is asked for is told by the console, too. */
const isRefusal = (error: string): boolean => /status of (401|409|412|404|400)/.test(error)

async function enter(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token)
  await page.getByRole('button', { name: 'Use this token' }).click()
  await page.getByRole('heading', { name: 'Plants', exact: true }).waitFor()
}

async function create(page: Page, id: string, name: string, tag: string): Promise<void> {
  await page.locator('#id').fill(id)
  await page.locator('#name').fill(name)
  await page.locator('#tag').fill(tag)
  await page.getByRole('button', { name: 'Create' }).click()
}

const says = (page: Page, text: string): Promise<void> => page.getByRole('status').getByText(text).waitFor()

describe('the home page', { skip: noBrowser }, () => {
  let browser: Browser

  before(async () => {
    browser = await launchBrowser()
  })

  after(() => browser.close())

  async function onServer(run: (server: RunningServer, client: Client) => Promise<void>): Promise<void> {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'))
    await run(server, await Client.connect(server))
  }

  test('creates the first plant, finds it, changes it and deletes it, its id exact', () =>
    onServer(async (server, client) => {
      await using watched = await openPage(browser, `${server.url}/`)
      const { page } = watched
      await enter(page, server.token)
      await page.getByRole('heading', { name: 'Create your first plant' }).waitFor()
      await create(page, int64Max, "Rosa 'Peace' \u{1f339}", 'rose')
      await says(page, `Plant ${int64Max} was created.`)
      assert.match((await page.locator('#request').textContent()) ?? '', new RegExp(`-d '\\{"id":${int64Max},"name"`))
      assert.match(
        (await page.locator('#answer').textContent()) ?? '',
        /^HTTP 200\n.*location: \/plants\/9223372036854775807/s,
      )
      assert.equal((await client.request({ method: 'GET', target: `/plants/${int64Max}` })).status, 200)

      await create(page, int64Max, 'Another', '')
      await page.locator('#id-error').getByText('is already taken').waitFor()
      await create(page, '-1', 'Olea europaea', '')
      await says(page, 'Plant -1 was created.')

      await page.getByLabel('Name begins with').fill('rosa')
      await says(page, '1 plant on this page')
      assert.equal(await page.locator('tbody td').first().textContent(), int64Max)

      await page.getByRole('button', { name: `Edit plant ${int64Max}` }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('Rosa canina')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await says(page, `Plant ${int64Max} was changed.`)
      await page.getByRole('button', { name: `Delete plant ${int64Max}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await says(page, `Plant ${int64Max} was deleted.`)
      assert.equal((await client.request({ method: 'GET', target: `/plants/${int64Max}` })).status, 404)
      await page.getByText('1 plant in the store.').waitFor()

      assert.deepEqual(watched.outside, [])
      assert.deepEqual(
        watched.errors.filter((error) => !isRefusal(error)),
        [],
      )
    }))

  test('says when somebody else was faster, and undoes nothing of theirs', () =>
    onServer(async (server, client) => {
      await client.create(1n, 'Ficus lyrata', 'fig')
      await using watched = await openPage(browser, `${server.url}/`)
      const { page } = watched
      await enter(page, server.token)
      await page.getByRole('button', { name: 'Edit plant 1' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill('mine')
      const theirs = { method: 'PUT', target: '/plants/1', body: '{"name":"theirs"}' }
      assert.equal((await client.request(theirs)).status, 200)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('it is now theirs, with no tag').waitFor()
      assert.match((await client.request({ method: 'GET', target: '/plants/1' })).body, /theirs/)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await says(page, 'Plant 1 was changed.')
      assert.match((await client.request({ method: 'GET', target: '/plants/1' })).body, /mine/)

      await page.getByRole('button', { name: 'Delete plant 1' }).click()
      await dialog.waitFor()
      await client.request({ method: 'DELETE', target: '/plants/1' })
      await dialog.getByRole('button', { name: 'Delete' }).click()
      await dialog.getByText('there is no plant 1').waitFor()
      assert.deepEqual(
        watched.errors.filter((error) => !isRefusal(error)),
        [],
      )
    }))

  test('adds the example plants, pages through them and filters by tag', () =>
    onServer(async (server) => {
      await using watched = await openPage(browser, `${server.url}/`)
      const { page } = watched
      await enter(page, server.token)
      await page.getByRole('button', { name: 'Add the example plants' }).click()
      await says(page, 'example plants were added.')
      await page.getByText('130 plants in the store.').waitFor()
      const ids = new Set<string>()
      for (let isLast = false; !isLast; ) {
        for (const id of await page.locator('tbody td:first-child').allTextContents()) ids.add(id)
        const next = page.getByRole('button', { name: 'Next page' })
        isLast = await next.isDisabled()
        const before = (await page.locator('tbody td').first().textContent()) ?? ''
        if (isLast) break
        await next.click()
        await page.locator('tbody tr:first-child td:first-child').filter({ hasNotText: before }).waitFor()
      }
      assert.equal(ids.size, 130)
      assert.ok(ids.has(int64Max))
      await page.getByRole('button', { name: 'succulent' }).click()
      await says(page, '18 plants on this page')
      assert.deepEqual(new Set(await page.locator('tbody td:nth-child(3)').allTextContents()), new Set(['succulent']))
      assert.deepEqual([watched.outside, watched.errors], [[], []])
    }))

  test('keeps the token for the tab, and forgets it when told or when it does not hold any more', () =>
    onServer(async (server) => {
      await using watched = await openPage(browser, `${server.url}/`)
      const { page } = watched
      await page.getByLabel('Access token').fill('plt_nonsense')
      await page.getByRole('button', { name: 'Use this token' }).click()
      await page.locator('#secret-error').getByText('the token is unknown, malformed, expired or revoked').waitFor()
      await enter(page, server.token)
      await page.reload()
      await page.getByRole('heading', { name: 'Plants', exact: true }).waitFor()
      const other = await watched.context.newPage()
      await other.goto(`${server.url}/`)
      assert.ok(await other.getByLabel('Access token').isVisible())
      await page.getByRole('button', { name: 'Forget it' }).click()
      assert.ok(await page.getByLabel('Access token').isVisible())
      await page.reload()
      assert.ok(await page.getByLabel('Access token').isVisible())
    }))

  test('is accessible, light and dark, narrow and wide, by keyboard alone', () =>
    onServer(async (server, client) => {
      await client.create(1n, 'Ficus lyrata', 'fig')
      await using watched = await openPage(browser, `${server.url}/`, { bypassCSP: true })
      const { page } = watched
      await assertAccessible(page)
      // The first field has the focus.
      await page.keyboard.type(server.token)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Edit plant 1' }).waitFor()
      await page.locator('#id').focus()
      await page.keyboard.type('x\tRosa\trose')
      await page.keyboard.press('Enter')
      await page.locator('#id[aria-invalid]').waitFor()
      await page.locator('#id:focus').waitFor()
      await assertAccessible(page)
      await page.getByRole('button', { name: 'Edit plant 1' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await assertAccessible(page)
      await page.keyboard.press('Escape')
      await page.locator('button:focus[aria-label="Edit plant 1"]').waitFor()
    }))
})

/** At both ends of the widths and in both colours, and no wider than its window. */
async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const where = `${colorScheme}, ${width} px`
      assert.deepEqual(await findViolations(page), [], where)
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      assert.ok(overflow <= 0, `${where}: ${overflow} px wider than the window`)
    }
  }
}
