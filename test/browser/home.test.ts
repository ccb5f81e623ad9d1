// The home page in a real browser: what a person does there, what it asks of others (nothing), and who can use it.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Locator, Page, Route } from 'playwright-core'
import { startPlantStore } from '../../src/embed/start.ts'
import { launchBrowser, noBrowser, openPage, type WatchedPage } from '../support/browser.ts'
import { Client } from '../support/client.ts'
import {
  assertAccessible,
  assertInWindow,
  assertQuiet,
  assertReadable,
  boxOf,
  create,
  enter,
  hasFocus,
  holdChanges,
  reads,
  remove,
  rename,
  says,
  styleOf,
  textOf,
} from '../support/home-page.ts'
import { plantsOf } from '../support/page.ts'
import { exhaustive } from '../support/ring.ts'

const int64Max = '9223372036854775807'
const examples = await readFile(new URL('../../examples/houseplants.ndjson', import.meta.url), 'utf8')

/** Plants with the ids from 1. */
const numbered = (count: number): string =>
  Array.from({ length: count }, (_, at) => `{"id":${at + 1},"name":"Plant number ${at + 1}"}\n`).join('')

interface Visit {
  readonly token: string
  readonly client: Client
  readonly watched: WatchedPage
  readonly page: Page
}

describe('the home page', { skip: noBrowser }, () => {
  let browser: Browser

  before(async () => {
    browser = await launchBrowser()
  })

  after(() => browser.close())

  /** @param plants what the store has at first, as NDJSON. */
  async function visit(
    plants: string,
    run: (visit: Visit) => Promise<void>,
    options?: BrowserContextOptions,
  ): Promise<void> {
    const json = `[${plants.trimEnd().replaceAll('\n', ',')}]`
    await using store = await startPlantStore({ plants: plantsOf(Buffer.from(json)) })
    const { url, token } = store
    await using watched = await openPage(browser, `${url}/`, options)
    const client = await Client.connect({ url, token, port: Number(new URL(url).port) })
    await run({ token, client, watched, page: watched.page })
    assertQuiet(watched)
  }

  test('shows what others do by itself, keeps the focus, and tells whoever edits a plant that it was changed', () =>
    visit(
      numbered(3),
      async ({ page, token, client, watched }) => {
        await enter(page, token)
        await reads(page, '#live', 'Live')
        await page.getByRole('button', { name: 'Edit plant 2', exact: true }).focus()
        await client.create(7n, 'Monstera')
        await page.locator('tr.fresh[data-id="7"]').getByText('Monstera').waitFor()
        await client.request({ method: 'PUT', target: '/plants/2', body: '{"name":"Ficus"}' })
        await page.locator('tr[data-id="2"]').getByText('Ficus').waitFor()
        await hasFocus(page, '[aria-label="Edit plant 2"]')
        await client.request({ method: 'DELETE', target: '/plants/3' })
        await page.locator('tr.gone[data-id="3"]').getByText('Deleted').waitFor()
        await assertAccessible(page, 'live')
        await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
        await page.getByRole('dialog').getByLabel('Name').fill('mine')
        await client.request({ method: 'PUT', target: '/plants/1', body: '{"name":"theirs"}' })
        await page.locator('#edit-error').getByText('Another client has changed this plant').waitFor()
        assert.equal(await page.getByRole('dialog').getByLabel('Name').inputValue(), 'mine')
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
        await page.locator('tr[data-id="1"]').getByText('mine').waitFor()
        await watched.context.setOffline(true)
        await reads(page, '#live', 'The server is away')
        await client.create(8n, 'while away')
        await watched.context.setOffline(false)
        await page.locator('tr[data-id="8"]').waitFor()
        await reads(page, '#live', 'Live')
      },
      { bypassCSP: true },
    ))

  exhaustive.test('stays on the page to which a person turns while a change arrives', () =>
    visit(numbered(30), async ({ page, token, client }) => {
      await enter(page, token)
      await reads(page, '#live', 'Live')
      const first = Promise.withResolvers<void>()
      const second = Promise.withResolvers<void>()
      const isFirst = (url: URL): boolean => url.pathname === '/plants' && !url.searchParams.has('after')
      const isSecond = (url: URL): boolean => url.pathname === '/plants' && url.searchParams.has('after')
      const hold = (held: Promise<void>) => async (route: Route) => held.then(() => route.continue())
      await page.route(isFirst, hold(first.promise))
      await page.route(isSecond, hold(second.promise))
      const turning = page.waitForRequest((request) => isSecond(new URL(request.url())))
      await page.getByRole('button', { name: 'Next page' }).click()
      await turning
      const refreshing = page.waitForRequest((request) => isFirst(new URL(request.url())))
      await client.create(31n, 'Monstera')
      await refreshing
      second.resolve()
      await reads(page, '#status', 'Page 2: 6 plants')
      const refreshed = page.waitForResponse((response) => isFirst(new URL(response.url())))
      first.resolve()
      await (await refreshed).finished()
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)))
      assert.equal(await textOf(page, '#status'), 'Page 2: 6 plants')
    }),
  )

  exhaustive.test('takes a token as it was pasted, and says in plain words what is wrong with it', () =>
    visit(numbered(1), async ({ page, token }) => {
      await hasFocus(page, '#secret')
      await page.keyboard.press('Enter')
      await reads(page, '#secret-error', 'Enter a token.')
      await hasFocus(page, '#secret')
      await page.getByLabel('Access token').fill('plt_\u2026')
      await page.keyboard.press('Enter')
      await reads(page, '#secret-error', 'This is not a token: tokens have only visible ASCII characters')
      await page.getByLabel('Access token').fill('plt_nonsense')
      await page.keyboard.press('Enter')
      await reads(page, '#secret-error', 'The token is unknown, malformed, expired or revoked')
      await enter(page, `  Bearer ${token} `)
      await hasFocus(page, '#id')
    }),
  )

  test('keeps the token for the tab, and forgets it when told or when it does not hold any more', () =>
    visit(numbered(1), async ({ page, token, watched }) => {
      await enter(page, token)
      await page.reload()
      await page.getByRole('heading', { name: 'Plants', exact: true }).waitFor()
      const other = await watched.context.newPage()
      await other.goto(page.url())
      assert.ok(await other.getByLabel('Access token').isVisible())
      await page.getByRole('button', { name: 'Forget it' }).click()
      assert.ok(await page.getByLabel('Access token').isVisible())
      await page.reload()
      assert.ok(await page.getByLabel('Access token').isVisible())
      await page.evaluate("sessionStorage.setItem('plantstore-token', 'plt_revoked')")
      await page.reload()
      await reads(page, '#secret-error', 'The token is unknown, malformed, expired or revoked')
    }))

  test('is one card for an empty store, which refuses on the page what is missing', () =>
    visit('', async ({ page, token, client }) => {
      await enter(page, token)
      await page.getByRole('heading', { name: 'Create your first plant' }).waitFor()
      assert.deepEqual(await page.locator('h2:visible').allTextContents(), ['Access', 'Create your first plant'])
      assert.ok(await page.locator('section:has(#create)').getByText('The store is empty.').isVisible())
      assert.ok(await page.locator('section:has(#create)').getByRole('button', { name: 'Add the example' }).isVisible())
      for (const hidden of ['#count', '#bars', '#search', '#table', '#pager']) {
        assert.equal(await page.locator(hidden).isVisible(), false, hidden)
      }

      await create(page, '', 'Rosa', '')
      await reads(page, '#id-error', 'Enter an id.')
      await hasFocus(page, '#id')
      assert.match((await client.request({ method: 'GET', target: '/summary' })).body, /"plants":0/)

      await create(page, '1', 'Rosa', '')
      await reads(page, '#created', 'Plant 1 was created.')
      assert.deepEqual(await page.locator('h2:visible').allTextContents(), ['Access', 'Create a plant', 'Plants'])
      assert.equal(await page.locator('#welcome').isVisible(), false)

      await remove(page, '1')
      await reads(page, '#created', 'Plant 1 was deleted.')
      await page.getByRole('heading', { name: 'Create your first plant' }).waitFor()
      await hasFocus(page, '#id')
    }))

  test('creates a plant, its id exact, and shows the request and the very answer', () =>
    visit(numbered(1), async ({ page, token, client }) => {
      await page.setViewportSize({ width: 390, height: 800 })
      await enter(page, token)
      await create(page, '41', 'Olea europaea', '')
      await reads(page, '#created', 'Plant 41 was created.')
      await assertInWindow(page, '#created')
      assert.equal(await page.locator('#id').inputValue(), '42')
      await hasFocus(page, '#name')

      await create(page, int64Max, "Rosa 'Peace' \u{1f339}", 'rose')
      await reads(page, '#created', `Plant ${int64Max} was created.`)
      assert.equal(await page.locator('#id').inputValue(), '')
      await hasFocus(page, '#id')
      assert.match(await textOf(page, '#request'), new RegExp(`-d '\\{"id":${int64Max},"name"`))
      const [status, ...fields] = (await textOf(page, '#answer')).split('\n')
      const names = fields.map((field) => field.split(':')[0])
      assert.equal(status, 'HTTP 200')
      assert.equal(fields[0], `location: /plants/${int64Max}`)
      assert.equal(fields[1], 'content-type: application/json')
      for (const name of ['content-length', 'date', 'x-request-id']) assert.ok(names.includes(name), name)
      assert.equal(await page.getByText('$TOKEN stands for your token.').count(), 1)
      assert.equal((await client.request({ method: 'GET', target: `/plants/${int64Max}` })).status, 200)

      await create(page, int64Max, 'Another', '')
      await reads(page, '#id-error', `Id ${int64Max} is already taken; choose another id`)
      assert.equal(await textOf(page, '#created'), '')
      await create(page, 'x', 'n'.repeat(1_025), '')
      await reads(page, '#id-error', `Id must be an integer from -9223372036854775808 to ${int64Max}, got "x"`)
      await reads(page, '#name-error', 'Name must have at most 1024 characters, got 1025')
    }))

  test('finds a plant, changes it and deletes it, its id exact', () =>
    visit(`{"id":${int64Max},"name":"Rosa","tag":"rose"}\n{"id":-1,"name":"Olea"}`, async ({ page, token, client }) => {
      await enter(page, token)
      await reads(page, '#status', '2 plants')
      await page.getByLabel('Name begins with').fill('rosa')
      await reads(page, '#status', '1 plant')
      assert.equal(await textOf(page, 'tbody td:first-child'), int64Max)
      await rename(page, int64Max, 'n'.repeat(1_025))
      await reads(page, '#edit-name-error', 'Name must have at most 1024 characters, got 1025')
      await page.keyboard.press('Escape')
      await rename(page, int64Max, 'Rosa canina')
      await says(page, `Plant ${int64Max} was changed.`)
      assert.match((await client.request({ method: 'GET', target: `/plants/${int64Max}` })).body, /"Rosa canina"/)
      await remove(page, int64Max)
      await says(page, `Plant ${int64Max} was deleted.`)
      await hasFocus(page, '#plants-title')
      assert.equal((await client.request({ method: 'GET', target: `/plants/${int64Max}` })).status, 404)
    }))

  exhaustive.test('says when the table hides what was created; the numbers are those of the whole store', () =>
    visit(numbered(30), async ({ page, token }) => {
      await enter(page, token)
      await page.getByLabel('Name begins with').fill('zzz')
      await reads(page, '#status', 'No plant matches.')
      await create(page, '999', 'Rosa canina', 'rose')
      await reads(page, '#created', 'Plant 999 was created. The search below does not show it.')
      await reads(page, '#count', '31 plants in the store.')
      assert.deepEqual(await page.locator('#bars button').allTextContents(), ['rose'])
      await page.getByRole('button', { name: 'Clear search' }).click()
      await reads(page, '#status', 'Page 1: 25 plants')
      await hasFocus(page, '#prefix')
      assert.equal(await page.getByRole('button', { name: 'Clear search' }).isVisible(), false)
      await create(page, '1000', 'Rosa rugosa', '')
      await reads(page, '#created', 'Plant 1000 was created. It is on another page of the table below.')
      await page.getByLabel('Name begins with').fill('plant')
      await reads(page, '#status', 'Page 1: 25 plants')
      await create(page, '1001', 'Rosa glauca', '')
      await reads(page, '#created', 'Plant 1001 was created. This page of the search below does not show it.')
      await page.getByLabel('Name begins with').fill('rosa c')
      await reads(page, '#status', '1 plant')
      await remove(page, '999')
      await says(page, 'Plant 999 was deleted.')
      await reads(page, '#count', '32 plants in the store.')
      assert.deepEqual(await page.locator('#bars button').allTextContents(), [])
    }),
  )

  exhaustive.test('gives back as it was read what is not edited: line breaks, empty texts, no tag', () => {
    const plants = [
      '{"id":1,"name":"Rosa\\r\\ncanina\\rL.\\nsp.","tag":""}',
      '{"id":2,"name":"","tag":"a\\r\\nb"}',
      '{"id":3,"name":"Olea"}',
      '{"id":4,"name":"x\\ry\\nz"}',
    ]
    return visit(plants.join('\n'), async ({ page, token, client }) => {
      const stored = async (id: number): Promise<string> =>
        (await client.request({ method: 'GET', target: `/plants/${id}` })).body
      const edit = async (id: number, change: () => Promise<void>): Promise<string> => {
        await page.getByRole('button', { name: `Edit plant ${id}` }).click()
        await page.getByRole('dialog').waitFor()
        await change()
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
        await says(page, `Plant ${id} was changed.`)
        return stored(id)
      }
      const type = async (field: string, ...keys: string[]): Promise<void> => {
        await page.locator(field).focus()
        for (const key of keys) await page.keyboard.press(key)
      }
      await enter(page, token)
      for (const [at, plant] of plants.entries()) assert.equal(await edit(at + 1, async () => {}), plant)
      await page.reload()
      assert.deepEqual(await page.locator('tbody td:nth-child(2)').nth(1).textContent(), '(empty)')
      assert.deepEqual(await page.locator('tbody td:nth-child(3)').allTextContents(), ['(empty)', 'a\r\nb', '', ''])

      const name = '{"id":1,"name":"Rosa\\r\\n>canina\\rL.\\nsp.\\r\\nx","tag":""}'
      const insert = ['Control+Home', 'ArrowDown', '>', 'Control+End', 'Enter', 'x']
      assert.equal(await edit(1, () => type('#edit-name', ...insert)), name)
      assert.equal(await edit(1, () => type('#edit-name', 'Control+End', 'y', 'Backspace', 'Enter', 'Backspace')), name)
      assert.equal(await edit(1, () => type('#edit-tag', 't', 'Backspace')), name)
      assert.equal(await edit(2, () => type('#edit-tag', 'Control+End', 'c')), '{"id":2,"name":"","tag":"a\\r\\nbc"}')
      const beside = await edit(4, () => type('#edit-name', 'Control+Home', 'ArrowDown', 'Delete'))
      assert.equal(beside, '{"id":4,"name":"x\\n\\nz"}')
      assert.equal(await edit(3, () => page.locator('#edit-name').fill('')), '{"id":3,"name":""}')
      await create(page, '5', '', '')
      await reads(page, '#created', 'Plant 5 was created. Its name is empty.')
      assert.equal(await stored(5), '{"id":5,"name":""}')

      await page.locator('#bars').getByRole('button', { name: 'a bc' }).click()
      await reads(page, '#status', '1 plant')
      await page.getByRole('button', { name: 'Clear search' }).click()
      await reads(page, '#status', '5 plants')
    })
  })

  exhaustive.test('shows a plant in a sentence, which keeps its direction and its dialog', () =>
    visit('{"id":1,"name":"\u2069\u202ecba","tag":"fig"}', async ({ page, token, client }) => {
      const dialog = page.getByRole('dialog')
      const replace = async (plant: unknown): Promise<void> => {
        const body = JSON.stringify(plant)
        assert.equal((await client.request({ method: 'PUT', target: '/plants/1', body })).status, 200)
      }
      await page.setViewportSize({ width: 320, height: 800 })
      await holdChanges(page)
      await enter(page, token)
      await create(page, '\u202e1', '', '')
      await assertReadable(page, '#id-error')
      for (const [action, submit] of [
        ['Edit', 'Save'],
        ['Delete', 'Delete'],
      ] as const) {
        await page.getByRole('button', { name: `${action} plant 1` }).click()
        await dialog.waitFor()
        await assertReadable(page, 'dialog[open]')
        for (const [name, said] of [
          ['\u2069\u202ecba', 'it is now “\u2069\u202ecba”, with the tag “\u0085\u202egif”.'],
          ['n'.repeat(1_024), `it is now “${'n'.repeat(1_024)}”, with the tag “\u0085\u202egif”.`],
          ['', 'its name is now empty, with the tag “\u0085\u202egif”.'],
        ] as const) {
          await replace({ name, tag: '\u0085\u202egif' })
          await dialog.getByRole('button', { name: submit }).click()
          await dialog.getByText(said).waitFor()
          await assertReadable(page, 'dialog[open]')
        }
        await replace({ name: '', tag: '' })
        await dialog.getByRole('button', { name: submit }).click()
        await dialog.getByText('its name is now empty, with an empty tag.').waitFor()
        await page.keyboard.press('Escape')
        await replace({ name: 'n'.repeat(1_024) })
      }
      await page.getByRole('button', { name: 'Delete plant 1' }).click()
      await reads(page, '#remove-text', `“${'n'.repeat(1_024)}” will be gone for good.`)
      await assertReadable(page, 'dialog[open]')
      await page.keyboard.press('Escape')
      await replace({ name: '' })
      await page.getByRole('button', { name: 'Delete plant 1' }).click()
      await reads(page, '#remove-text', 'Its name is empty. It will be gone for good.')
    }),
  )

  exhaustive.test('takes back what it said once that is no longer true', () =>
    visit(numbered(30), async ({ page, token, client }) => {
      const refuse = async (url: string): Promise<void> => {
        await page.route(url, (route) => route.fulfill({ status: 400, json: { error: 40000, message: 'not now' } }))
      }
      await page.getByRole('button', { name: 'Use this token' }).click()
      await reads(page, '#secret-error', 'Enter a token.')
      await page.locator('#secret').fill('p')
      assert.equal(await textOf(page, '#secret-error'), '')
      assert.equal(await page.locator('#secret').getAttribute('aria-invalid'), null)
      await holdChanges(page)
      await enter(page, token)

      await page.getByLabel('Name begins with').fill('zzz')
      await reads(page, '#status', 'No plant matches.')
      await create(page, '99', 'Rosa', '')
      await reads(page, '#created', 'Plant 99 was created. The search below does not show it.')
      await page.getByLabel('Name begins with').fill('rosa')
      await reads(page, '#status', '1 plant')
      assert.equal(await textOf(page, '#created'), '')
      await create(page, '99', 'Rosa', '')
      await reads(page, '#id-error', 'Id 99 is already taken; choose another id')
      await page.locator('#id').fill('98')
      assert.equal(await textOf(page, '#id-error'), '')
      await refuse('**/plants')
      await create(page, '98', 'Rosa', '')
      await reads(page, '#create-error', 'Not now')
      await page.unrouteAll()
      await rename(page, '99', 'Rosa canina')
      await says(page, 'Plant 99 was changed.')
      assert.equal(await textOf(page, '#create-error'), '')

      await client.request({ method: 'DELETE', target: '/plants/99' })
      await page.getByRole('button', { name: 'Edit plant 99' }).click()
      await reads(page, '#table-error', 'There is no plant 99')
      await reads(page, '#status', '1 plant')
      assert.equal(await textOf(page, '#changed'), '')
      await refuse('**/summary')
      await create(page, '98', 'Olea', '')
      await reads(page, '#created', 'Plant 98 was created. The search below does not show it.')
      await reads(page, '#table-error', 'Not now')
      assert.deepEqual([await textOf(page, '#count'), await textOf(page, '#bars-hint')], ['', ''])
      await page.unrouteAll()
      await page.getByRole('button', { name: 'Forget it' }).click()
      await enter(page, token)
      await reads(page, '#count', '31 plants in the store.')
      assert.deepEqual([await textOf(page, '#created'), await textOf(page, '#table-error')], ['', ''])
    }),
  )

  exhaustive.test('disables a button while it is busy, and shows that it is', () =>
    visit(numbered(30), async ({ page, token, client }) => {
      const dialog = page.getByRole('dialog')
      /** Presses a button whose request is held until the end of a check. */
      const press = async (url: string, button: Locator, check?: () => Promise<void>): Promise<void> => {
        const held = Promise.withResolvers<void>()
        await page.route(url, async (route) => {
          await held.promise
          await route.continue()
        })
        const still = (await button.elementHandle()) ?? assert.fail()
        await still.click()
        await page.locator('button[aria-busy="true"]:disabled').waitFor()
        assert.deepEqual([await still.getAttribute('aria-busy'), await still.isDisabled()], ['true', true], url)
        assert.equal(
          await page.evaluate(`getComputedStyle(document.querySelector('[aria-busy]'), '::after').content`),
          '""',
        )
        await check?.()
        held.resolve()
        await page.locator('[aria-busy]').waitFor({ state: 'detached' })
        await page.unroute(url)
      }
      const named = (name: string): Locator => page.getByRole('button', { name, exact: true })
      await holdChanges(page)
      await page.locator('#secret').fill(token)
      await press('**/summary', named('Use this token'))
      await page.locator('#id').fill('31')
      await page.locator('#tag').fill('tag')
      await press('**/plants', named('Create'))
      await reads(
        page,
        '#created',
        'Plant 31 was created. Its name is empty. It is on another page of the table below.',
      )
      await press('**/plants?*', named('Next page'))
      await reads(page, '#status', 'Page 2: 6 plants')
      assert.ok(await named('Next page').isDisabled())
      await press('**/plants?*', named('tag'))
      await press('**/plants?*', named('Clear search'))
      await press('**/plants/1', named('Edit plant 1'))
      await dialog.waitFor()
      await client.request({ method: 'PUT', target: '/plants/1', body: '{"name":"theirs"}' })
      await press('**/plants/1', dialog.getByRole('button', { name: 'Save' }))
      await dialog.getByText('theirs').waitFor()
      await hasFocus(page, '#edit [type="submit"]')
      // What was asked for in a dialog that is closed by then leaves the next one alone.
      await press('**/plants/1', dialog.getByRole('button', { name: 'Save' }), async () => {
        await page.keyboard.press('Escape')
        await named('Edit plant 2').click()
        await page.getByRole('heading', { name: 'Plant 2', exact: true }).waitFor()
      })
      await says(page, 'Plant 1 was changed.')
      assert.ok(await dialog.isVisible())
    }),
  )

  exhaustive.test('says when somebody else was faster, and undoes nothing of theirs', () =>
    visit('{"id":1,"name":"Ficus lyrata","tag":"fig"}', async ({ page, token, client }) => {
      const dialog = page.getByRole('dialog')
      const replace = async (body: string): Promise<void> => {
        assert.equal((await client.request({ method: 'PUT', target: '/plants/1', body })).status, 200)
      }
      const now = async (): Promise<string> => (await client.request({ method: 'GET', target: '/plants/1' })).body
      await holdChanges(page)
      await enter(page, token)
      await page.getByRole('button', { name: 'Edit plant 1' }).click()
      await dialog.getByLabel('Name').fill('mine')
      await replace('{"name":"theirs"}')
      await dialog.getByRole('button', { name: 'Save' }).click()
      const changed = 'Another client has changed this plant: it is now “theirs”'
      await reads(page, '#edit-error', `${changed}, with no tag. Press Save again to overwrite it.`)
      assert.match(await now(), /theirs/)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await says(page, 'Plant 1 was changed.')
      assert.match(await now(), /mine/)

      await page.getByRole('button', { name: 'Delete plant 1' }).click()
      await hasFocus(page, '#remove [data-cancel]')
      await page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'hidden' })
      assert.match(await now(), /mine/)

      await page.getByRole('button', { name: 'Delete plant 1' }).click()
      await dialog.waitFor()
      await replace('{"name":"theirs","tag":"fig"}')
      await dialog.getByRole('button', { name: 'Delete' }).click()
      await reads(page, '#remove-error', `${changed}, with the tag “fig”. Press Delete again to delete it anyway.`)
      await client.request({ method: 'DELETE', target: '/plants/1' })
      await dialog.getByRole('button', { name: 'Delete' }).click()
      await reads(page, '#remove-error', 'There is no plant 1')
    }),
  )

  exhaustive.test('turns pages to and fro, each read from its top', () =>
    visit(numbered(53), async ({ page, token }) => {
      const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()
      const firstIs = (id: string): Promise<void> => reads(page, 'tbody tr:first-child td:first-child', id)
      const atTop = async (): Promise<void> => {
        await hasFocus(page, '#table')
        await assertInWindow(page, '#status')
        await assertInWindow(page, 'tbody tr:first-child')
      }
      assert.equal(await styleOf(page, 'html', 'scroll-behavior'), 'smooth')
      await page.emulateMedia({ reducedMotion: 'reduce' })
      assert.equal(await styleOf(page, 'html', 'scroll-behavior'), 'auto')
      await enter(page, token)
      await reads(page, '#status', 'Page 1: 25 plants')
      for (const name of ['First page', 'Previous page'])
        assert.ok(await page.getByRole('button', { name }).isDisabled())
      await press('Next page')
      await reads(page, '#status', 'Page 2: 25 plants')
      await firstIs('26')
      await atTop()
      await press('Next page')
      await reads(page, '#status', 'Page 3: 3 plants')
      await atTop()
      assert.ok(await page.getByRole('button', { name: 'Next page' }).isDisabled())
      await press('Previous page')
      await reads(page, '#status', 'Page 2: 25 plants')
      await firstIs('26')
      await atTop()
      await press('Next page')
      await reads(page, '#status', 'Page 3: 3 plants')
      await press('First page')
      await reads(page, '#status', 'Page 1: 25 plants')
      await firstIs('1')
      await atTop()
    }),
  )

  exhaustive.test('stays on the page and with the plant that was changed, or with the next one', () =>
    visit(numbered(53), async ({ page, token }) => {
      await enter(page, token)
      for (const place of ['Page 2: 25 plants', 'Page 3: 3 plants']) {
        await page.getByRole('button', { name: 'Next page' }).click()
        await reads(page, '#status', place)
      }
      await rename(page, '52', 'Changed')
      await says(page, 'Plant 52 was changed.')
      await reads(page, '#status', 'Page 3: 3 plants')
      await hasFocus(page, '[aria-label="Edit plant 52"]')
      for (const [id, next] of [
        ['52', '53'],
        ['53', '51'],
      ] as const) {
        await remove(page, id)
        await says(page, `Plant ${id} was deleted.`)
        await hasFocus(page, `[aria-label="Delete plant ${next}"]`)
      }
      await remove(page, '51')
      await says(page, 'Plant 51 was deleted.')
      await reads(page, '#status', 'Page 2: 25 plants')
      await rename(page, '50', 'The last of its page')
      await says(page, 'Plant 50 was changed.')
      await hasFocus(page, '[aria-label="Edit plant 50"]')
      await assertInWindow(page, '#changed')
      await page.getByRole('button', { name: 'Previous page' }).click()
      await reads(page, '#status', 'Page 1: 25 plants')
      assert.equal(await textOf(page, '#changed'), '')
    }),
  )

  test('adds the example plants, pages through them and filters by tag', () =>
    visit('', async ({ page, token }) => {
      await enter(page, token)
      await page.getByRole('button', { name: 'Add the example plants' }).click()
      await reads(page, '#created', '130 example plants were added.')
      await reads(page, '#count', '130 plants in the store.')
      const ids = new Set<string>()
      for (let number = 1; number <= 6; number += 1) {
        await page.locator('#status').getByText(`Page ${number}: `).waitFor()
        for (const id of await page.locator('tbody td:first-child').allTextContents()) ids.add(id)
        if (number < 6) await page.getByRole('button', { name: 'Next page' }).click()
      }
      assert.equal(ids.size, 130)
      assert.ok(ids.has(int64Max))
      const hint = 'The 12 most common tags of 31. Press one to see its plants. 8 plants have no tag.'
      await reads(page, '#bars-hint', hint)
      await page.getByLabel('Name begins with').fill('rosa')
      await page.getByRole('button', { name: 'succulent' }).hover()
      assert.match(await styleOf(page, '#bars button', 'text-decoration-line'), /underline/)
      await page.getByRole('button', { name: 'succulent' }).click()
      await reads(page, '#status', '18 plants')
      assert.deepEqual(new Set(await page.locator('tbody td:nth-child(3)').allTextContents()), new Set(['succulent']))
      assert.equal(await page.locator('#pager').isVisible(), false)
      await hasFocus(page, '#table')
    }))

  exhaustive.test('claims no number of tags that the server does not give', () =>
    visit(numbered(1), async ({ page, token }) => {
      const tags = Array.from({ length: 100 }, (_, at) => ({ tag: `tag ${at}`, plants: 200 - at }))
      for (const [isExact, shown, count] of [
        [true, 100, '1,000,000 plants in the store.'],
        [false, 99, 'About 1,000,000 plants in the store.'],
      ] as const) {
        const json = { plants: 1_000_000, tags: tags.slice(0, shown), isExact }
        await page.unrouteAll()
        await page.route('**/summary', (route) => route.fulfill({ json }))
        await (count.startsWith('About') ? page.reload() : enter(page, token))
        await reads(page, '#count', count)
        await reads(page, '#bars-hint', 'The 12 most common tags. Press one to see its plants.')
        assert.equal(await page.locator('#bars li').count(), 12)
      }
    }),
  )

  exhaustive.test('copies the request, and selects it where there is no clipboard for it', () =>
    visit(numbered(1), async ({ page, token, watched }) => {
      await watched.context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await enter(page, token)
      await create(page, '2', 'Rosa', '')
      await reads(page, '#created', 'Plant 2 was created.')
      const request = await textOf(page, '#request')
      await page.clock.install()
      for (const [setUp, said, held] of [
        ['', 'Copied', 'navigator.clipboard.readText()'],
        ['navigator.clipboard.writeText = () => Promise.reject(new Error())', 'Press Ctrl+C', 'String(getSelection())'],
        [
          "Object.defineProperty(navigator, 'clipboard', { value: undefined })",
          'Press Ctrl+C',
          'String(getSelection())',
        ],
      ] as const) {
        await page.evaluate(`getSelection().removeAllRanges(); ${setUp}`)
        await page.getByRole('button', { name: 'Copy', exact: true }).click()
        await reads(page, '#copy', said)
        assert.equal(await page.evaluate(held), request, said)
        await page.clock.fastForward(3_000)
        await reads(page, '#copy', 'Copy')
      }
    }),
  )

  exhaustive.test('has room for its parts, and shows the plants as cards on a phone', () =>
    visit(examples, async ({ page, token, watched }) => {
      await enter(page, token)
      await reads(page, '#status', 'Page 1: 25 plants')
      await create(page, '1', 'Rosa', '')
      await reads(page, '#created', 'Plant 1 was created.')
      const gap = async (above: string, below: string): Promise<number> =>
        (await boxOf(page, below)).top - (await boxOf(page, above)).bottom
      const [tag, button] = [await boxOf(page, '#tag'), await boxOf(page, '#create button')]
      assert.deepEqual([button.top, button.height], [tag.top, tag.height])
      const ring = 3 + Number.parseFloat(await styleOf(page, '#name', 'outline-offset'))
      const lineHeight = Number.parseFloat(await styleOf(page, '#create label', 'line-height'))
      assert.ok((await boxOf(page, '#create label')).height - lineHeight > ring + 2)
      assert.equal((await boxOf(page, '#request')).top, (await boxOf(page, '#answer')).top)
      assert.ok((await gap('#copy', '#request')) >= 6)
      assert.equal(await styleOf(page, '#copy', 'font-weight'), '400')

      await page.setViewportSize({ width: 390, height: 800 })
      assert.ok((await gap('#tag', '#create button')) >= 8)
      assert.equal((await boxOf(page, '#create button')).left, (await boxOf(page, '#tag')).left)
      assert.ok((await gap('tbody td:nth-child(2)', 'tbody td:nth-child(1)')) >= 0, 'the id is below the name')
      assert.ok(
        await page.evaluate(
          "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.scroll'))",
        ),
      )
      assert.ok((await page.evaluate<number>('document.documentElement.scrollHeight')) < 4_500)
      // One line each, whatever is in them.
      for (const part of ['.actions button', 'tbody td:first-child']) {
        const boxes = await Promise.all((await page.locator(part).all()).map((each) => each.boundingBox()))
        const heights = new Set(boxes.map((box) => Math.round(box?.height ?? 0)))
        assert.ok(heights.size === 1 && !heights.has(0), `${part}: ${[...heights].join(', ')}`)
      }
      const session = await watched.context.newCDPSession(page)
      const { nodes } = await session.send('Accessibility.getFullAXTree')
      const count = (role: string): number => nodes.filter((node) => node.role?.value === role && !node.ignored).length
      assert.deepEqual(['table', 'row', 'columnheader', 'cell'].map(count), [1, 26, 4, 100])
      assert.equal(await page.locator('tbody > tr[role="row"] > td[role="cell"]').count(), 100)
      assert.equal(await page.locator('table[role="table"] > [role="rowgroup"]').count(), 2)

      await page.getByRole('button', { name: 'Edit plant' }).first().click()
      await page.getByRole('dialog').waitFor()
      assert.ok((await gap('#edit-tag', '#edit [type="submit"]')) >= 8)
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Forget it' }).click()
      assert.ok((await gap('#secret-hint', '#token-form button')) >= 8)
    }),
  )

  test('is accessible, light and dark, narrow and wide, by keyboard alone', () =>
    visit(
      '',
      async ({ page, token, client }) => {
        await holdChanges(page)
        await assertAccessible(page, 'no token')
        // The first field has the focus.
        await page.keyboard.type('nonsense\n')
        await page.locator('#secret[aria-invalid]').waitFor()
        await assertAccessible(page, 'wrong token')
        await page.locator('#secret').fill(token)
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: 'Create your first plant' }).waitFor()
        await assertAccessible(page, 'empty store')
        for (const word of ['Rosa', 'rose']) {
          await page.keyboard.press('Tab')
          await page.keyboard.type(word)
        }
        await page.keyboard.press('Enter')
        await reads(page, '#created', 'Plant 1 was created.')
        await assertAccessible(page, 'first plant')
        await page.locator('#id').fill('x')
        await page.keyboard.press('Tab')
        await page.keyboard.type('Rosa\n')
        await page.locator('#id[aria-invalid]:focus').waitFor()
        await assertAccessible(page, 'error beside a field')

        await client.request({ method: 'PUT', target: '/plants/1', body: '{"name":"Rosa\\ncanina","tag":""}' })
        await page.getByRole('button', { name: 'Edit plant 1' }).focus()
        await page.keyboard.press('Enter')
        await hasFocus(page, 'textarea#edit-name')
        await assertAccessible(page, 'edit dialog')
        await client.request({ method: 'PUT', target: '/plants/1', body: '{"name":"theirs"}' })
        await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
        await page.locator('#edit-error').getByText('theirs').waitFor()
        await assertAccessible(page, 'conflict')
        await page.keyboard.press('Escape')
        await hasFocus(page, '[aria-label="Edit plant 1"]')
        await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
        await hasFocus(page, '#remove [data-cancel]')
        const colours = ['#remove .danger', '#create button'].map((button) => styleOf(page, button, 'background-color'))
        assert.equal(new Set(await Promise.all(colours)).size, 2)
        await assertAccessible(page, 'delete dialog')
        await page.keyboard.press('Escape')

        for (let id = 2; id <= 30; id += 1) await client.create(String(id), `Rosa ${id}`, `tag ${id % 15}`)
        await page.getByLabel('Tag is exactly').focus()
        await page.keyboard.type('none')
        await reads(page, '#status', 'No plant matches.')
        await assertAccessible(page, 'nothing found')
        await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
        await reads(page, '#status', 'Page 1: 25 plants')
        await page.reload()
        await page.locator('#bars li').nth(11).waitFor()
        await page.getByRole('button', { name: 'Next page' }).focus()
        await page.keyboard.press('Enter')
        await reads(page, '#status', 'Page 2: 5 plants')
        await assertAccessible(page, 'many plants')
      },
      { bypassCSP: true },
    ))
})
