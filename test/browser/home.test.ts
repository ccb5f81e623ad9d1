// The home page in a real browser: its functions, its accessibility, and that it sends requests only to its server.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Locator } from 'playwright-core'
import { noBrowser } from '../support/browser.ts'
import { plantsOf } from '../support/plants.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { until } from '../support/time.ts'
import {
  assertAccessible,
  assertInWindow,
  assertReadable,
  type Box,
  boxOf,
  create,
  created,
  enter,
  filterByTag,
  hasFocus,
  holdChanges,
  holdTimers,
  noNameMatches,
  openForm,
  reads,
  remove,
  rename,
  saved,
  says,
  signOut,
  styleOf,
  textOf,
  unfoldId,
} from './home-page.ts'
import { numbered, store, stored, visit, visitAs } from './visits.ts'

const int64Max = '9223372036854775807'
const ofTheWorld = await readFile(new URL('../support/plants-of-the-world.ndjson', import.meta.url), 'utf8')

describe('the home page', { skip: noBrowser }, () => {
  test('shows what others do by itself, keeps the focus, and tells whoever edits a plant that it was changed', () =>
    visit(numbered(3), async (page, watched) => {
      await reads(page, '#live', 'Live')
      await page.getByRole('button', { name: 'Edit plant 2', exact: true }).focus()
      await store.client.createPlant({ id: 7, name: 'Monstera' })
      await page.locator('tr.fresh[data-id="7"]').getByText('Monstera').waitFor()
      await store.client.replacePlant(2, { name: 'Ficus' })
      await page.locator('tr[data-id="2"]').getByText('Ficus').waitFor()
      await hasFocus(page, '[aria-label="Edit plant 2"]')
      await store.client.deletePlant(3)
      await page.locator('tr[data-id="3"]').waitFor({ state: 'detached' })
      await assertAccessible(page, 'live')
      await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('mine')
      await store.client.replacePlant(1, { name: 'theirs', tag: 'fig' })
      await page.locator('#edit-conflict').getByText('Someone else changed this plant').waitFor()
      assert.equal(await page.getByRole('dialog').getByLabel('Name').inputValue(), 'mine')
      const rows = await page.locator('#edit-conflict tr').allTextContents()
      assert.deepEqual(rows, ['OriginalYoursTheirs', 'NamePlant 1minetheirsUse this', 'Tag(none)figfig'])
      const marks = await page.locator('#edit-conflict mark').allTextContents()
      assert.deepEqual(marks, ['mine', 'theirs', 'fig'])
      assert.equal(await stored(1), '{"id":1,"name":"theirs","tag":"fig"}')
      const dialog = page.getByRole('dialog')
      // Its person has not changed the tag.
      assert.equal(await dialog.getByLabel('Tag').inputValue(), 'fig')
      await dialog.getByRole('button', { name: 'Overwrite with mine' }).waitFor()
      await dialog.getByRole('button', { name: 'Use this' }).click()
      await hasFocus(page, '#edit-conflict')
      await dialog.getByRole('button', { name: 'Save merged' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
      await dialog.getByLabel('Tag').fill('figs')
      await store.client.replacePlant(1, { name: 'third', tag: 'fig' })
      await dialog.getByRole('button', { name: 'Save merged' }).click()
      await page.locator('tr[data-id="1"]').getByText('figs').waitFor()
      assert.equal(await stored(1), '{"id":1,"name":"third","tag":"figs"}')
      // Once this change is shown, the page has also read its own one before it.
      await store.client.replacePlant(2, { name: 'Fern' })
      await page.locator('tr[data-id="2"]').getByText('Fern').waitFor()
      for (const id of [8, 35]) {
        await page.clock.setFixedTime(`2030-01-01T10:${id + 10}:00Z`)
        await watched.context.setOffline(true)
        await page.locator('#live[data-state="away"]').waitFor()
        assert.match(await textOf(page, '#live'), RegExp(`^Server unreachable since \\d\\d:${id + 10}\\. Retrying$`))
        await store.client.createPlant({ id, name: 'while away' })
        const again = page.waitForRequest(/changes\?after=\d/)
        await watched.context.setOffline(false)
        await page.locator(`tr[data-id="${id}"]`).waitFor()
        await reads(page, '#live', 'Live')
        const after = new URL((await again).url()).searchParams.get('after') ?? ''
        assert.deepEqual((await Array.fromAsync(store.client.listChanges({ after }))).length, 1, 'nothing comes again')
      }
      assert.ok(await page.locator('#next').isHidden())
      for (let id = 9; id <= 34; id += 1) await store.client.createPlant({ id, name: 'n' })
      await page.locator('#next:enabled').waitFor()
      // The log no longer has the position of the page.
      await store.reset()
      await page.locator('#welcome-many:visible').waitFor()
      await reads(page, '#live', 'Live')
    }))

  test('overwrites no change that its person has not agreed to, whenever Enter is pressed', () =>
    visit(numbered(1), async (page, watched) => {
      const dialog = page.getByRole('dialog')
      /** Types while another client saves, presses Enter, and again once the conflict is there. */
      const lose = async (theirs: string, type: () => Promise<void>): Promise<void> => {
        await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
        await dialog.getByLabel('Name').focus()
        await type()
        await page.keyboard.press('Enter')
        for (let pressed = 1; pressed <= 2; pressed += 1) {
          await reads(page, '#edit-conflict tr:nth-child(2) td:last-child .long', theirs)
          await page.locator('#edit [aria-busy]').waitFor({ state: 'detached' })
          assert.equal(await stored(1), `{"id":1,"name":"${theirs}"}`)
          await page.keyboard.press('Enter')
          await hasFocus(page, '#edit-conflict')
        }
        await page.locator('#edit [aria-busy]').waitFor({ state: 'detached' })
        await dialog.getByRole('button', { name: 'Keep theirs' }).click()
        assert.equal(await stored(1), `{"id":1,"name":"${theirs}"}`)
      }
      await reads(page, '#live', 'Live')
      for (const beforeMs of inRing([0], [0, 20, 50, 100, 300, 600])) {
        const theirs = `theirs, ${beforeMs} ms before`
        await lose(theirs, async () => {
          await page.keyboard.type('mine')
          await store.client.replacePlant(1, { name: theirs })
          await setTimeout(beforeMs)
        })
      }
      const tab = await watched.context.newPage()
      await tab.goto(page.url())
      await tab.locator('#account').waitFor()
      await lose('of another tab', async () => {
        await Promise.all([page.keyboard.type('typed by a person', { delay: 80 }), rename(tab, '1', 'of another tab')])
      })
    }))

  test('overwrites what was shown for long enough to be read, by mouse or keyboard, and nothing newer', () =>
    visitAs('', numbered(1), async (page) => {
      const dialog = page.getByRole('dialog')
      const shows = (theirs: string): Promise<void> =>
        reads(page, '[open] .conflict tr:nth-child(2) td:last-child .long', theirs)
      // Each conflict is that of a refusal.
      await holdChanges(page)
      await enter(page, store.token)
      await openForm(page)
      await dialog.getByLabel('Name').fill('mine')
      await store.client.replacePlant(1, { name: 'first' })
      await dialog.getByRole('button', { name: 'Save', exact: true }).focus()
      await page.keyboard.press('Enter')
      await shows('first')
      await hasFocus(page, '#edit-conflict')
      await page.keyboard.press('Enter')
      await store.client.replacePlant(1, { name: 'second' })
      await holdTimers(page, 500)
      await dialog.getByRole('button', { name: 'Overwrite' }).click()
      await shows('second')
      await hasFocus(page, '#edit-conflict')
      // Too early: this press was meant for what was there before.
      const { x, y } = (await dialog.getByRole('button', { name: 'Overwrite' }).boundingBox()) ?? assert.fail()
      await page.mouse.click(x + 9, y + 9)
      await page.evaluate('releaseTimers()')
      await dialog.locator('[data-overwrite]:not([inert])').waitFor()
      assert.equal(await stored(1), '{"id":1,"name":"second"}')
      await dialog.locator('.conflict').focus()
      await page.keyboard.press('Tab')
      await hasFocus(page, '.conflict button')
      await page.keyboard.press('Tab')
      await hasFocus(page, '#edit [data-overwrite]')
      await page.keyboard.press('Enter')
      await saved(page)
      assert.match(await stored(1), /"mine"/)
    }))

  test('stays on the page to which a person turns while a change arrives', () =>
    visit(numbered(30), async (page) => {
      await reads(page, '#live', 'Live')
      const held = Promise.withResolvers<void>()
      const isFirst = (url: URL): boolean => url.pathname === '/plants' && !url.searchParams.has('after')
      await page.route(isFirst, async (route) => held.promise.then(() => route.continue()))
      const refreshing = page.waitForRequest((request) => isFirst(new URL(request.url())))
      await store.client.createPlant({ id: 31, name: 'Monstera' })
      await refreshing
      await page.getByRole('button', { name: 'Next page' }).click()
      await reads(page, '#status', '26 to 31 of 31')
      const refreshed = page.waitForResponse((response) => isFirst(new URL(response.url())))
      held.resolve()
      await (await refreshed).finished()
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))')
      assert.equal(await textOf(page, '#status'), '26 to 31 of 31')
    }))

  exhaustive.test('shows no conflict about what a dialog has read already', () =>
    visit(numbered(2), async (page) => {
      await reads(page, '#live', 'Live')
      // After a change, the page waits a second before it takes the next one.
      await holdTimers(page, 1_000)
      await store.client.createPlant({ id: 3, name: 'Monstera' })
      await page.locator('tr.fresh[data-id="3"]').waitFor()
      await store.client.replacePlant(1, { name: 'theirs' })
      await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
      await page.getByRole('dialog').waitFor()
      const looked = page.waitForResponse(`**/plants/1`)
      await page.evaluate('releaseTimers()')
      await page.locator('tr.fresh[data-id="1"]').waitFor()
      await (await looked).finished()
      await page.getByRole('dialog').getByLabel('Name').fill('mine')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await saved(page)
    }),
  )

  test('creates plants, their ids exact, offers free ids, and says in plain words what is wrong', () =>
    visit([...numbered(3), { id: 5, name: 'n' }], async (page) => {
      const offers = (id: string): Promise<void> =>
        until(`${id} is offered`, async () => (await page.locator('#id').inputValue()) === id)
      await page.setViewportSize({ width: 390, height: 800 })
      await page.locator('#log-toggle').click()
      await page.locator('#new').click()
      await page.locator('#log-panel').waitFor({ state: 'hidden' })
      await offers('6')
      for (const id of [6, 7]) await store.client.createPlant({ id, name: 'theirs' })
      await page.locator('#name').fill('mine')
      await page.keyboard.press('Enter')
      await created(page, 8)
      await assertInWindow(page, '#changed')
      await hasFocus(page, '#name')
      await offers('9')
      // The largest id has no next one.
      await create(page, int64Max, "Rosa 'Peace' \u{1f339}", 'rose')
      await created(page, int64Max)
      assert.equal(await stored(int64Max), `{"id":${int64Max},"name":"Rosa 'Peace' \u{1f339}","tag":"rose"}`)
      await offers('9')
      // An id that a person has chosen stays.
      await create(page, int64Max, 'Another', '')
      const taken = `Id ${int64Max} is already taken; choose another id. (error 40901)`
      await reads(page, '#id-error', taken)
      await hasFocus(page, '#id')
      assert.equal(await textOf(page, '#changed'), '')
      await create(page, 'x', 'n'.repeat(1_025), '')
      await reads(page, '#id-error', 'Id must be a whole number, not "x". (error 40002)')
      await reads(page, '#name-error', 'Name must have at most 1,024 characters, got 1,025. (error 40002)')
      await page.locator('#id').fill('')
      for (let presses = 1; presses <= 2; presses += 1) await page.locator('#new').click()
      await offers('9')
      await store.client.createPlant({ id: 11, name: 'theirs' })
      await page.locator('#name').fill('')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await reads(page, '#name-error', 'Enter a name, or press Create again to leave it empty.')
      await hasFocus(page, '#name')
      assert.match(await stored(9), /40402/)
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await created(page, 9)
      await offers('10')
      await create(page, '10', 'mine', '')
      await created(page, 10)
      await offers('12')
      await page.locator('#creating').getByRole('button', { name: 'Close' }).click()
      await hasFocus(page, '#new')
    }))

  exhaustive.test('reads the list once for what a person does', () =>
    visitAs('', numbered(3), async (page) => {
      let lists = 0
      page.on('request', (request) => {
        if (request.url().endsWith('?limit=25')) lists += 1
      })
      const areRead = (end: string, count: number): Promise<void> =>
        until(`${count} of ${end} are read`, () =>
          page.evaluate(
            ([end, count]) =>
              performance.getEntriesByType('resource').filter(({ name }) => name.endsWith(end)).length >= count,
            [end, count] as const,
          ),
        )
      // After a change, the page waits a second before it takes the next one: here until the list has been read.
      await holdTimers(page, 1_000)
      await enter(page, store.token)
      await reads(page, '#live', 'Live')
      // When it begins to follow the changes, the page reads all once more.
      await areRead('/summary', 2)
      const act = async (count: number, action: Promise<void>): Promise<void> => {
        await action
        await areRead('?limit=25', 2 + count)
        await page.evaluate('releaseTimers()')
        // For the action, and for its change.
        await areRead('/summary', 2 + 2 * count)
        assert.equal(lists, 2 + count)
      }
      await act(1, create(page, '4', 'Monstera', ''))
      await act(2, rename(page, '4', 'Ficus'))
      await act(3, remove(page, '4'))
    }),
  )

  exhaustive.test('takes a token as it was pasted, and says in plain words what is wrong with it', () =>
    visitAs('', numbered(1), async (page) => {
      await hasFocus(page, '#secret')
      await page.keyboard.press('Enter')
      await reads(page, '#secret-error', 'Enter a token.')
      await hasFocus(page, '#secret')
      await page.getByLabel('Access token').fill('plt_\u2026')
      await page.keyboard.press('Enter')
      await reads(page, '#secret-error', 'This is not a token: tokens have only visible ASCII characters.')
      await page.getByLabel('Access token').fill('plt_nonsense')
      await page.keyboard.press('Enter')
      await reads(page, '#secret-error', 'The token is unknown, malformed, expired or revoked (error 40102).')
      await enter(page, `  Bearer ${store.token} `)
      await hasFocus(page, '#plants-title')
    }),
  )

  test('keeps the token for its tabs, on the device if told to, and without a server, and forgets it everywhere', () =>
    visit(numbered(1), async (page, watched) => {
      const kept = (): Promise<boolean[]> =>
        page.evaluate("[sessionStorage, localStorage].map((place) => place.getItem('plantstore-token') !== null)")
      await page.reload()
      await page.locator('tbody tr').first().waitFor()
      assert.deepEqual(await kept(), [true, false])
      const other = await watched.context.newPage()
      await other.goto(page.url())
      await other.locator('tbody tr').first().waitFor()
      const reader = await watched.context.newPage()
      await reader.goto(page.url())
      await reader.locator('tbody tr').first().waitFor()
      await reader.goto(new URL('docs', page.url()).href)
      await reader.locator('#createPlant').waitFor()
      await signOut(page)
      for (const tab of [page, other]) await tab.getByLabel('Access token').waitFor()
      await until('the reference keeps no token', () => reader.evaluate<boolean>('sessionStorage.length === 0'))
      await reader.goBack()
      await reader.getByLabel('Access token').waitFor()
      await reader.close()
      await page.reload()
      await page.getByLabel('Access token').waitFor()
      await page.getByLabel('Stay signed in on this device').check()
      await enter(page, store.token)
      assert.deepEqual(await kept(), [false, true])
      await other.close()
      // Nothing is under way that would meet the refusal before the page is loaded again.
      await reads(page, '#live', 'Live')
      const isHome = ({ pathname }: URL): boolean => pathname === '/'
      await page.route(isHome, (route) =>
        route.request().isNavigationRequest() ? route.continue() : route.abort('internetdisconnected'),
      )
      await page.reload()
      await page.locator('#live[data-state="away"]').waitFor()
      await page.unroute(isHome)
      await reads(page, '#live', 'Live')
      assert.deepEqual(await kept(), [false, true])
      await page.evaluate("sessionStorage.setItem('plantstore-token', 'plt_revoked')")
      await page.reload()
      await reads(page, '#secret-error', 'The token is unknown, malformed, expired or revoked (error 40102).')
      assert.deepEqual(await kept(), [false, false])
    }))

  test('leaves the focus where a person types while the plants are loaded', () =>
    visitAs('', numbered(1), async (page) => {
      const held = Promise.withResolvers<void>()
      await page.route(/\/plants\?/, async (route) => held.promise.then(() => route.continue()))
      await enter(page, store.token)
      await page.locator('#new').click()
      await page.locator('#name').focus()
      held.resolve()
      await reads(page, '#live', 'Live')
      await hasFocus(page, '#name')
    }))

  exhaustive.test('says when the table hides what was created; the numbers are those of the whole store', () =>
    visit(numbered(30), async (page) => {
      const chips = (): Promise<string[]> => page.locator('#chips button').allTextContents()
      await page.getByLabel('Search plants').fill('zzz')
      await reads(page, '#status', noNameMatches('zzz'))
      await create(page, '999', 'Rosa canina', 'rose')
      await created(page, 999)
      await page.getByRole('button', { name: 'Show plant' }).click()
      await page.locator('#plant').getByRole('heading', { name: 'Rosa canina', exact: true }).waitFor()
      await page.keyboard.press('Escape')
      assert.deepEqual(await chips(), ['rose 1'])
      await page.getByRole('button', { name: 'Clear search' }).click()
      await reads(page, '#status', '1 to 25 of 31')
      await hasFocus(page, '#prefix')
      assert.equal(await page.getByRole('button', { name: 'Clear search' }).isVisible(), false)
      await page.getByLabel('Search plants').fill('rosa c')
      await reads(page, '#status', '1 plant')
      await remove(page, '999')
      await says(page, 'Deleted "Rosa canina".')
      await until('the tag is gone', async () => (await chips()).length === 0)
    }),
  )

  exhaustive.test('gives back as it was read what is not edited: line breaks, empty texts, no tag', () => {
    const plants = [
      { id: 1, name: 'Rosa\r\ncanina\rL.\nsp.', tag: '' },
      { id: 2, name: '', tag: 'a\r\nb' },
      { id: 3, name: 'Olea' },
      { id: 4, name: 'x\ry\nz' },
    ]
    return visit(plants, async (page) => {
      const edit = async (id: number, change: () => Promise<void>): Promise<string> => {
        await page.getByRole('button', { name: `Edit plant ${id}` }).click()
        await page.getByRole('dialog').waitFor()
        await change()
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
        await saved(page)
        return stored(id)
      }
      const type = async (field: string, ...keys: string[]): Promise<void> => {
        await page.locator(field).focus()
        for (const key of keys) await page.keyboard.press(key)
      }
      for (const plant of plants) assert.equal(await edit(plant.id, async () => {}), JSON.stringify(plant))
      await page.reload()
      assert.deepEqual(await page.locator('tbody td:nth-child(2)').nth(1).textContent(), '(empty)')
      assert.deepEqual(await page.locator('tbody td:nth-child(3)').allTextContents(), ['(empty)', 'a\r\nb', '', ''])
      const name = '{"id":1,"name":"Rosa\\r\\n>canina\\r\\nL.\\r\\nsp.\\r\\nx","tag":""}'
      const insert = ['Control+Home', 'ArrowDown', '>', 'Control+End', 'Enter', 'x']
      assert.equal(await edit(1, () => type('#edit-name', ...insert)), name)
      assert.equal(await edit(1, () => type('#edit-name', 'Control+End', 'y', 'Backspace', 'Enter', 'Backspace')), name)
      assert.equal(await edit(1, () => type('#edit-tag', 't', 'Backspace')), name)
      assert.equal(await edit(2, () => type('#edit-tag', 'Control+End', 'c')), '{"id":2,"name":"","tag":"a\\r\\nbc"}')
      assert.equal(await edit(3, () => page.locator('#edit-name').fill('')), '{"id":3,"name":""}')
      await create(page, '5', '', '')
      await created(page, 5)
      assert.equal(await stored(5), '{"id":5,"name":""}')

      await page.locator('#chips button').getByText('bc').click()
      await reads(page, '#status', '1 plant')
      assert.equal(new URL(page.url()).searchParams.get('tag'), 'a\r\nbc')
      await page.locator('#chips button[aria-pressed="true"]').click()
      await reads(page, '#status', '5 plants')
    })
  })

  exhaustive.test('shows a plant in a sentence, which keeps its direction and its dialog', () =>
    visitAs('', [{ id: 1, name: '\u2069\u202ecba', tag: 'fig' }], async (page) => {
      const dialog = page.getByRole('dialog')
      // So high that the buttons cover no text.
      await page.setViewportSize({ width: 320, height: 1_600 })
      await holdChanges(page)
      await enter(page, store.token)
      await create(page, '\u202e1', '', '')
      await assertReadable(page, '#id-error')
      // A phone has the buttons in the panel.
      await page.locator('a.name').click()
      await assertReadable(page, '#plant')
      await openForm(page, '#plant-edit')
      await assertReadable(page, 'dialog[open]')
      await dialog.getByLabel('Name').fill('mine')
      await dialog.getByLabel('Tag').fill('mine')
      for (const [at, name] of ['\u2069\u202ecba', 'n'.repeat(1_024), ''].entries()) {
        await store.client.replacePlant(1, { name, tag: `\u0085\u202egif${at}` })
        await dialog.getByRole('button', { name: at === 0 ? 'Save' : 'Overwrite with mine', exact: true }).click()
        await dialog.locator('.conflict').getByText(`gif${at}`).waitFor()
        const cell = dialog.locator('.conflict tr:nth-child(2) td:last-child .long')
        assert.equal(await cell.textContent(), name === '' ? '(empty)' : name)
        await assertReadable(page, 'dialog[open]')
      }
      await page.keyboard.press('Escape')
    }),
  )

  exhaustive.test('takes back what it said once that is no longer true', () =>
    visitAs('', numbered(30), async (page) => {
      const refuse = async (url: string): Promise<void> => {
        await page.route(url, (route) => route.fulfill({ status: 400, json: { error: 40000, message: 'not now' } }))
      }
      await page.getByRole('button', { name: 'Sign in' }).click()
      await reads(page, '#secret-error', 'Enter a token.')
      await page.locator('#secret').fill('p')
      assert.equal(await textOf(page, '#secret-error'), '')
      assert.equal(await page.locator('#secret').getAttribute('aria-invalid'), null)
      await holdChanges(page)
      await enter(page, store.token)
      await page.getByLabel('Search plants').fill('zzz')
      await reads(page, '#status', noNameMatches('zzz'))
      await create(page, '99', 'Rosa', '')
      await created(page, 99)
      await page.locator('#open').waitFor()
      await page.getByLabel('Search plants').fill('rosa')
      await reads(page, '#status', '1 plant')
      assert.equal(await textOf(page, '#changed'), '')
      await create(page, '99', 'Rosa', '')
      await reads(page, '#id-error', 'Id 99 is already taken; choose another id. (error 40901)')
      await page.locator('#id').fill('98')
      assert.equal(await textOf(page, '#id-error'), '')
      await refuse('**/plants')
      await create(page, '98', 'Rosa', '')
      await reads(page, '#create-error', 'Not now (error 40000).')
      await page.unroute('**/plants')
      const listed = page.waitForResponse(/\/plants\?/)
      await rename(page, '99', 'Rosa canina')
      await saved(page)
      await listed
      assert.equal(await textOf(page, '#create-error'), '')
      await store.client.deletePlant(99)
      await page.getByRole('button', { name: 'Edit plant 99' }).click()
      await reads(page, '#edit-error', 'This plant was deleted. Save to create it again.')
      await page.keyboard.press('Escape')
      await reads(page, '#status', '1 plant')
      assert.equal(await textOf(page, '#changed'), '')
      await refuse('**/summary')
      await create(page, '98', 'Olea', '')
      await created(page, 98)
      await page.locator('#open').waitFor()
      await reads(page, '#table-error', 'Not now (error 40000).')
      assert.equal(await textOf(page, '#tags-hint'), '')
      await page.unroute('**/summary')
      await signOut(page)
      await enter(page, store.token)
      assert.deepEqual([await textOf(page, '#changed'), await textOf(page, '#table-error')], ['', ''])
    }),
  )

  exhaustive.test('disables a button while it is busy, and shows that it is', () =>
    visitAs('', numbered(30), async (page) => {
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
        await until('it waits', async () => (await styleOf(page, 'button[aria-busy]', 'color')) === 'rgba(0, 0, 0, 0)')
        await check?.()
        held.resolve()
        await page.locator('button[aria-busy]').waitFor({ state: 'detached' })
        await page.unroute(url)
      }
      const named = (name: string): Locator => page.getByRole('button', { name, exact: true })
      await holdChanges(page)
      await page.locator('#secret').fill(store.token)
      await press('**/', named('Sign in'))
      await page.keyboard.press('n')
      await unfoldId(page)
      await page.locator('#id').focus()
      await page.locator('#id').fill('31')
      await page.locator('#name').fill('Rosa')
      await page.locator('#tag').fill('tag')
      await press('**/plants', named('Create'))
      await created(page, 31)
      await page.locator('#open').waitFor()
      await press('**/plants?*', named('Next page'))
      await reads(page, '#status', '26 to 31 of 31')
      assert.ok(await named('Next page').isDisabled())
      await page.getByRole('button', { name: 'First page' }).click()
      await page.locator('#chips button').click()
      await reads(page, '#status', '1 plant')
      await page.locator('#chips button[aria-pressed="true"]').click()
      await openForm(page)
      await dialog.getByLabel('Name').fill('mine')
      await store.client.replacePlant(1, { name: 'theirs' })
      await press('**/plants/1', dialog.getByRole('button', { name: 'Save' }))
      await dialog.locator('.conflict mark').getByText('theirs').waitFor()
      await hasFocus(page, '#edit-conflict')
      // What was asked for in a dialog that is closed by then leaves the next one alone.
      await press('**/plants/1', dialog.getByRole('button', { name: 'Overwrite' }), async () => {
        await page.keyboard.press('Escape')
        await named('Edit plant 2').click()
        await page.getByRole('heading', { name: 'Edit Plant 2', exact: true }).waitFor()
      })
      await saved(page)
      assert.ok(await dialog.isVisible())
    }),
  )

  test('changes a plant, deletes it at once, and creates it again if a person wants it, its id exact', () =>
    visit(
      [
        { id: BigInt(int64Max), name: 'Ficus', tag: 'fig' },
        { id: -1, name: 'Rosa' },
      ],
      async (page) => {
        const undo = page.getByRole('button', { name: 'Undo' })
        await reads(page, 'tbody tr:last-child td:first-child', int64Max)
        await rename(page, int64Max, 'n'.repeat(1_025))
        await reads(page, '#edit-name-error', 'Name must have at most 1,024 characters, got 1,025. (error 40002)')
        await page.locator('#edit-name').fill('n'.repeat(70_000))
        await page.keyboard.press('Enter')
        await reads(page, '#edit-error', 'The body is longer than the 65536 bytes allowed (error 41301).')
        await page.keyboard.press('Escape')
        await rename(page, int64Max, 'Ficus lyrata')
        await saved(page)
        const changed = `{"id":${int64Max},"name":"Ficus lyrata","tag":"fig"}`
        assert.equal(await stored(int64Max), changed)
        await page.locator('a.name').last().focus()
        await page.keyboard.press('Delete')
        await says(page, 'Deleted "Ficus lyrata".')
        await until('it is deleted', async () => (await stored(int64Max)).includes('40402'))
        await hasFocus(page, 'tr[data-id="-1"] a.name')
        await undo.click()
        await says(page, '"Ficus lyrata" is back.')
        assert.equal(await stored(int64Max), changed)
        assert.equal(await undo.isVisible(), false)
        await hasFocus(page, `tr[data-id="${int64Max}"] a.name`)
        await remove(page, int64Max)
        await hasFocus(page, 'tr[data-id="-1"] a.name')
        await page.keyboard.press('Backspace')
        await says(page, 'Deleted "Rosa".')
        for (const _ of ['Rosa', 'Ficus lyrata']) await page.keyboard.press('Control+z')
        await page.locator('tr[data-id="-1"] + tr').waitFor()
        // What another client has made of the plant is what comes back, and theirs is not replaced.
        await page.route(`**/plants/${int64Max}`, async (route) => {
          if (route.request().method() === 'DELETE') await store.client.replacePlant(int64Max, { name: 'theirs' })
          await route.continue()
        })
        await remove(page, int64Max)
        await page.locator('#changed').getByText('has changed').waitFor()
        await page.unroute(`**/plants/${int64Max}`)
        await remove(page, int64Max)
        await until('it is deleted again', async () => (await stored(int64Max)).includes('40402'))
        await store.client.createPlant({ id: BigInt(int64Max), name: 'of another client' })
        await undo.click()
        await says(page, `There is another plant with the id ${int64Max} now.`)
        await page.getByRole('button', { name: 'Show plant' }).click()
        await page.locator('#plant').getByRole('heading', { name: 'of another client', exact: true }).waitFor()
        assert.equal(await stored(int64Max), `{"id":${int64Max},"name":"of another client"}`)
      },
    ))

  exhaustive.test('shows a deletion before the server has answered, and takes it back if it is refused', () =>
    visit(numbered(3), async (page) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const refusal = { status: 400, json: { error: 40000, message: 'not now' } }
      await page.route('**/plants/1', (route) => released.then(() => route.continue()))
      await page.route('**/plants/2', (route) => released.then(() => route.fulfill(refusal)))
      for (const id of ['1', '2']) await remove(page, id)
      await page.getByLabel('Search plants').fill('Plant')
      await page.locator('#log-last').getByText('name=Plant').waitFor()
      await page.locator('#plants-title').focus()
      await page.locator('#table:not([aria-busy])').waitFor()
      assert.equal(await page.locator('a.name:visible').count(), 1)
      // It is the deletion of 2 that is undone, which does not succeed.
      await page.keyboard.press('Control+z')
      release()
      await says(page, '"Plant 2" is not deleted: not now (error 40000).')
      await page.locator('tr[data-id="2"]').waitFor()
      await until('1 is deleted', async () => (await stored(1)).includes('40402'))
      assert.equal(await page.locator('#log-list .post').count(), 0)
      const sent = Promise.withResolvers<void>()
      await page.route('**/plants', (route) => sent.promise.then(() => route.continue()))
      await page.keyboard.press('Control+z')
      await page.locator('tr[data-id="1"][inert] + tr[data-id="2"]').waitFor()
      sent.resolve()
      await says(page, '"Plant 1" is back.')
      await page.locator('tr[data-id="1"]:not([inert])').waitFor()
    }),
  )

  exhaustive.test('keeps apart two deletions of a plant, and a create and what is typed during it', () =>
    visit(numbered(2), async (page) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      await page.route('**/summary', (route) => released.then(() => route.continue()))
      await remove(page, '2')
      await says(page, 'Deleted "Plant 2".')
      await until('it is gone', async () => (await stored(2)).includes('40402'))
      await page.getByRole('button', { name: 'Undo' }).click()
      await says(page, '"Plant 2" is back.')
      const { promise: refused, resolve: refuse } = Promise.withResolvers<void>()
      const refusal = { status: 400, json: { error: 40000, message: 'not now' } }
      await page.route('**/plants/2', (route) => refused.then(() => route.fulfill(refusal)))
      await remove(page, '2')
      const summary = page.waitForResponse(/summary$/)
      release()
      await (await summary).finished()
      await reads(page, '#status', '2 plants')
      assert.equal(await page.locator('tr[data-id="2"]').count(), 0)
      const { promise: sent, resolve: send } = Promise.withResolvers<void>()
      await page.route('**/plants', (route) => sent.then(() => route.continue()))
      await create(page, '', 'Rosa', '')
      await page.locator('#id').focus()
      await page.locator('#id').fill('77')
      refuse()
      await says(page, '"Plant 2" is not deleted: not now (error 40000).')
      send()
      await says(page, '"Plant 2" is not deleted: not now (error 40000). Created "Rosa" with the id 3.')
      assert.equal(await page.locator('#id').inputValue(), '77')
    }),
  )

  exhaustive.test('takes back what it said and offered after ten seconds, but not from under the pointer', () =>
    visitAs('', numbered(3), async (page) => {
      const undo = page.getByRole('button', { name: 'Undo' })
      await page.clock.install()
      await enter(page, store.token)
      for (const id of ['1', '2']) {
        await remove(page, id)
        await says(page, `Deleted "Plant ${id}".`)
        // Of a request under way, the clock would end the time.
        await page
          .locator('#log-last', { hasText: `/plants/${id}` })
          .getByText('204')
          .waitFor()
        await page.clock.runFor(6_000)
        assert.equal(await textOf(page, '#changed'), `Deleted "Plant ${id}".`)
      }
      await undo.hover()
      await page.clock.runFor(15_000)
      assert.equal(await textOf(page, '#changed'), 'Deleted "Plant 2".')
      await page.mouse.move(0, 0)
      await page.clock.runFor(15_000)
      assert.deepEqual([await textOf(page, '#changed'), await undo.isVisible()], ['', false])
      // The keys bring back all, the last one first.
      await page.keyboard.press('Control+z')
      await says(page, '"Plant 2" is back.')
      await undo.click()
      await says(page, '"Plant 1" is back.')
      assert.equal(await undo.isVisible(), false)
    }),
  )

  test('acts once on a key that is held, and opens nothing for a person who has gone elsewhere', () =>
    visit(numbered(5), async (page) => {
      const link = page.locator('tr[data-id="1"] a.name')
      await link.focus()
      for (let times = 0; times < 3; times += 1) await page.keyboard.down('Delete')
      await says(page, 'Deleted "Plant 1".')
      await hasFocus(page, 'tr[data-id="2"] a.name')
      await page.keyboard.down('Delete')
      await page.keyboard.up('Delete')
      // What was typed comes first.
      for (const key of ['n', 'P', 'Backspace', 'Control+z', 'Backspace', 'Escape', '/']) await page.keyboard.press(key)
      await says(page, 'Deleted "Plant 1".')
      await page.keyboard.press('Control+z')
      await says(page, '"Plant 1" is back.')
      await reads(page, '#status', '5 plants')
      await store.fail({ operation: 'getPlant', delayMs: 300 })
      await link.focus()
      const answered = page.waitForResponse(/plants\/1$/)
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
      await answered
      await until('the address has no plant', () => Promise.resolve(!page.url().includes('plant=')))
      assert.equal(await page.locator('#plant').isVisible(), false)
    }))

  test('goes from plant to plant, opens, edits and leaves them with single keys', () =>
    visit(numbered(3), async (page) => {
      await hasFocus(page, '#plants-title')
      const stops = await page.evaluate(
        "[...document.querySelectorAll('tbody *')].filter((each) => each.tabIndex === 0).length",
      )
      assert.equal(stops, 3)
      await page.keyboard.press('ArrowDown')
      await hasFocus(page, 'tr[data-id="1"] a.name')
      await page.locator('#prefix').focus()
      for (const [key, id] of [
        ['ArrowDown', '1'],
        ['ArrowDown', '2'],
        ['End', '3'],
        ['ArrowDown', '3'],
        ['Home', '1'],
        ['ArrowDown', '2'],
      ] as const) {
        await page.keyboard.press(key)
        await hasFocus(page, `tr[data-id="${id}"] a.name`)
      }
      await page.keyboard.press('Enter')
      await page.locator('#plant').getByRole('heading', { name: 'Plant 2' }).waitFor()
      assert.equal(await page.title(), 'Plant 2 - Plant Store')
      for (const [key, name] of Object.entries({ ArrowDown: 'Plant 3', ArrowUp: 'Plant 2' })) {
        await page.keyboard.press(key)
        await page.locator('#plant').getByRole('heading', { name }).waitFor()
      }
      await page.keyboard.press('e')
      await hasFocus(page, '#edit-name')
      await page.keyboard.type('!')
      await page.keyboard.press('Enter')
      await page
        .locator('#plant-title')
        .getByText(/^!?Plant 2!?$/)
        .waitFor()
      await page.keyboard.press('Escape')
      await hasFocus(page, 'tr[data-id="2"] a.name')
      // What the row has is shown before the server has answered.
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
      await page.route('**/plants/2', (route) => answered.then(() => route.continue()))
      await page.keyboard.press('Enter')
      await page.locator('#plant').getByRole('heading', { name: 'Plant 2' }).waitFor()
      answer()
      await page.locator('#plant').getByText('is the version of this plant').waitFor()
      await page.keyboard.press('ArrowDown')
      await page.locator('#plant').getByRole('heading', { name: 'Plant 3' }).waitFor()
      await page.keyboard.press('Escape')
      await hasFocus(page, 'tr[data-id="3"] a.name')
      const lists: string[] = []
      page.on('request', (request) => lists.push(new URL(request.url()).pathname))
      await page.goBack()
      await page.locator('#plant').getByRole('heading', { name: 'Plant 3' }).waitFor()
      await page.goBack()
      await hasFocus(page, 'tr[data-id="3"] a.name')
      assert.ok(!lists.includes('/plants'), 'the table, which has the focus, is not read again')
      await until('the title is that of the list', async () => (await page.title()) === 'Plant Store')
      await page.keyboard.press('e')
      await hasFocus(page, '#edit-name')
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
      await page.getByLabel('Use the single keys').uncheck()
      await page.keyboard.press('Escape')
      await page.reload()
      await page.locator('tbody tr').first().waitFor()
      for (const key of ['n', '/', '?']) await page.keyboard.press(key)
      for (const shut of ['#creating', '#keys']) assert.equal(await page.locator(shut).isVisible(), false)
      await page.locator('#account summary').click()
      await page.locator('#help').click()
      await page.getByLabel('Use the single keys').check()
      await page.keyboard.press('Escape')
      await page.locator('tr[data-id="3"]').click({ position: { x: 400, y: 10 } })
      await page.locator('#plant').getByRole('heading', { name: 'Plant 3' }).waitFor()
      // Beside the panel, the table stays in use; where there is no room, the panel covers it.
      await page.locator('tr[data-id="1"] a.name').click()
      await page.locator('#plant').getByRole('heading', { name: 'Plant 1' }).waitFor()
      assert.deepEqual(await page.locator('tr[aria-current]').allTextContents(), ['1Plant 1'])
      await page.keyboard.press('Escape')
      await page.locator('#plant').waitFor({ state: 'hidden' })
      await until('no row is marked', async () => (await page.locator('tr[aria-current]').count()) === 0)
      await page.locator('tr[data-id="1"] a.name').click()
      await page.locator('#plant').getByRole('heading', { name: 'Plant 1' }).waitFor()
      await remove(page, '1')
      await page.locator('#plant').waitFor({ state: 'hidden' })
      await page.setViewportSize({ width: 1_000, height: 800 })
      await page.locator('tr[data-id="2"] a.name').click()
      await page.locator('#plant:modal').waitFor()
      await page.keyboard.press('e')
      await page.locator('#edit-name').fill('Rosa')
      await page.keyboard.press('Enter')
      await reads(page, '#plant-said', 'Saved "Rosa".')
    }))

  test('jumps to the id that is searched, and offers to create the name that is not found', () =>
    visit([...numbered(39), { id: 40, name: 'Plant 40', tag: 'fig' }], async (page) => {
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.getByLabel('Search plants').fill('12')
      await reads(page, '#status', '1 plant')
      assert.equal(await page.title(), '12 - Plant Store')
      await page.keyboard.press('Enter')
      await page.locator('#plant').getByRole('heading', { name: 'Plant 12' }).waitFor()
      await page.keyboard.press('Escape')
      await reads(page, '#page', '12Plant 12')
      await page.getByLabel('Search plants').fill('41')
      await reads(page, '#status', 'There is no plant 41.\nA number is searched as an id.')
      await store.client.createPlant({ id: 41, name: 'Plant 41' })
      await reads(page, '#page', '41Plant 41')
      await store.client.createPlant({ id: 42, name: 'Plant 42' })
      await store.client.deletePlant(41)
      await reads(page, '#status', 'There is no plant 41.\nA number is searched as an id.')
      await store.client.deletePlant(42)
      await filterByTag(page, 'none')
      await until('the tag is searched, too', () => Promise.resolve(page.url().endsWith('name=41&tag=none')))
      await page.goBack()
      await until('the tag is gone', () => Promise.resolve(page.url().endsWith('name=41')))
      await filterByTag(page, 'none')
      await reads(page, '#status', 'There is no plant 41 with this tag.\nA number is searched as an id.')
      await page.getByRole('button', { name: 'Show all plants' }).click()
      await reads(page, '#status', '1 to 25 of 40')
      for (const least of ['-9223372036854775808', ' -007 ']) {
        await page.getByLabel('Search plants').fill(least)
        await reads(page, '#status', `There is no plant ${BigInt(least)}.\nA number is searched as an id.`)
      }
      await page.getByLabel('Search plants').fill('9223372036854775808')
      await reads(page, '#status', noNameMatches('9223372036854775808'))
      await page.getByLabel('Search plants').fill('plant 1')
      await reads(page, '#status', '11 plants')
      await page.getByRole('button', { name: 'Clear search' }).click()
      await reads(page, '#status', '1 to 25 of 40')
      await hasFocus(page, '#prefix')
      assert.equal(await page.getByRole('button', { name: 'Clear search' }).isVisible(), false)
      await page.getByLabel('Search plants').fill('Rosa')
      await reads(page, '#status', noNameMatches('Rosa'))
      await page.getByRole('button', { name: 'Create "Rosa"' }).click()
      await page.locator('#creating .glyph use[href="#drawing-flower"]').waitFor({ state: 'attached' })
      await hasFocus(page, '#name')
      await page.keyboard.press('Enter')
      await reads(page, '#status', '1 plant')
      assert.equal(await stored(41), '{"id":41,"name":"Rosa"}')
      assert.equal(await page.locator('#create-named').isVisible(), false)
      // No picture is read again.
      assert.ok(asked.every((url) => /(plants|summary|changes)\b/.test(url)))
    }))

  exhaustive.test('turns pages to and fro, each read from its top', () =>
    visit(numbered(53), async (page) => {
      await reads(page, '#status', '1 to 25 of 53')
      for (const name of ['First page', 'Previous page'])
        assert.ok(await page.getByRole('button', { name }).isDisabled())
      for (const [name, status, first] of [
        ['Next page', '26 to 50 of 53', '26'],
        ['Next page', '51 to 53 of 53', '51'],
        ['Previous page', '26 to 50 of 53', '26'],
        ['Next page', '51 to 53 of 53', '51'],
        ['First page', '1 to 25 of 53', '1'],
      ] as const) {
        await page.getByRole('button', { name, exact: true }).click()
        await reads(page, '#status', status)
        await reads(page, 'tbody tr:first-child td:first-child', first)
        await hasFocus(page, '#table')
        await assertInWindow(page, '#status')
        await assertInWindow(page, 'tbody tr:first-child')
        assert.equal(await page.getByRole('button', { name: 'Next page' }).isDisabled(), first === '51')
      }
    }),
  )

  exhaustive.test('stays on the page and with the plant that was changed, or with the next one', () =>
    visit(numbered(53), async (page) => {
      for (const place of ['26 to 50 of 53', '51 to 53 of 53']) {
        await page.getByRole('button', { name: 'Next page' }).click()
        await reads(page, '#status', place)
      }
      await rename(page, '52', 'Changed')
      await saved(page)
      await reads(page, '#status', '51 to 53 of 53')
      await hasFocus(page, 'tr[data-id="52"] [data-action="edit"]')
      for (const [id, name, next] of [
        ['52', 'Changed', '53'],
        ['53', 'Plant 53', '51'],
      ] as const) {
        await remove(page, id)
        await says(page, `Deleted "${name}".`)
        await hasFocus(page, `tr[data-id="${next}"] a.name`)
      }
      await remove(page, '51')
      await says(page, 'Deleted "Plant 51".')
      await reads(page, '#status', '26 to 50 of 50')
      await rename(page, '50', 'The last of its page')
      await saved(page)
      await hasFocus(page, 'tr[data-id="50"] [data-action="edit"]')
      await assertInWindow(page, '#changed')
      await page.getByRole('button', { name: 'Previous page' }).click()
      await reads(page, '#status', '1 to 25 of 50')
      assert.equal(await textOf(page, '#changed'), 'Deleted "Plant 51".')
      await page.getByRole('button', { name: 'Undo delete' }).click()
      await says(page, '"Plant 51" is back.')
      await page.evaluate('Element.prototype.animate = function () { (window.moved ??= []).push(this.dataset.id) }')
      for (const [reducedMotion, id, moved] of [
        ['reduce', '22', undefined],
        ['no-preference', '23', ['24', '25']],
      ] as const) {
        await page.emulateMedia({ reducedMotion })
        await remove(page, id)
        await says(page, `Deleted "Plant ${id}".`)
        assert.deepEqual(await page.evaluate('window.moved'), moved)
        await page.getByRole('button', { name: 'Undo' }).click()
        await says(page, `"Plant ${id}" is back.`)
        await page.evaluate('delete window.moved')
      }
    }),
  )

  exhaustive.test('welcomes to an empty store, adds the example plants, and filters them by tag', () =>
    visit([], async (page) => {
      const isWelcome = async (): Promise<void> => {
        await page.getByRole('heading', { name: 'Create your first plant' }).waitFor()
        await hasFocus(page, '#name')
        for (const hidden of ['#plants', '.tools']) assert.equal(await page.locator(hidden).isVisible(), false)
      }
      await isWelcome()
      await create(page, '', 'Rosa', '')
      await created(page, 1)
      await page.getByRole('heading', { name: 'New plant' }).waitFor()
      assert.equal(await page.locator('#welcome').isVisible(), false)
      await remove(page, '1')
      await says(page, 'Deleted "Rosa".')
      await isWelcome()
      // They come at once, not one after the other.
      await page.evaluate(`new MutationObserver(() => {
        window.fewest = Math.min(window.fewest ?? 25, document.querySelector('#page').rows.length)
      }).observe(document.querySelector('#page'), { childList: true })`)
      await store.fail({ operation: 'createPlant', delayMs: 150, times: 60 })
      await page.getByRole('button', { name: 'Add example plants' }).click()
      await says(page, '60 plants added.')
      assert.equal(await page.evaluate('fewest'), 25)
      await hasFocus(page, '#plants-title')
      await reads(page, '#status', '1 to 25 of 60')
      await page.locator('#chips').getByRole('button', { name: 'succulent 7' }).click()
      await reads(page, '#status', '7 plants')
      await page.emulateMedia({ forcedColors: 'active' })
      assert.equal(await styleOf(page, '#chips [aria-pressed="true"]', 'outline-style'), 'solid')
      await page.emulateMedia({ forcedColors: null })
      assert.deepEqual(new Set(await page.locator('tbody td:nth-child(3)').allTextContents()), new Set(['succulent']))
      const counts = (count: number): Promise<void> =>
        page
          .locator('#chips :focus .count')
          .and(page.getByText(String(count)))
          .waitFor({ state: 'attached' })
      await counts(7)
      await store.client.createPlant({ id: 99, name: 'Aloe vera', tag: 'succulent' })
      await counts(8)
      await store.client.deletePlant(99)
      await counts(7)
      assert.match(await textOf(page, '#chips'), /^foliage .*succulent/)
      // The same chip shows all again. A late answer leaves the focus where a person has moved it.
      await store.fail({ operation: 'listPlants', delayMs: 500 })
      await page.getByRole('button', { name: 'succulent : clear this filter', pressed: true }).click()
      await page.locator('#prefix').focus()
      await reads(page, '#status', '1 to 25 of 60')
      await hasFocus(page, '#prefix')
      await page.getByLabel('Rows per page').selectOption('100')
      await reads(page, '#status', '60 plants')
      await filterByTag(page, 'fern')
      await reads(page, '#status', '4 plants')
      // A tag in place of a name is offered as one.
      await page.locator('#chips [aria-pressed="true"]').click()
      await page.getByLabel('Search plants').fill('Palm')
      await page.getByRole('button', { name: 'Show 3 plants with this tag' }).click()
      await reads(page, '#status', '3 plants')
    }),
  )

  exhaustive.test('claims no number that the server does not give', () =>
    visitAs('', numbered(30), async (page) => {
      const tags = Array.from({ length: 100 }, (_, at) => ({ tag: `tag ${at}`, plants: 200 - at }))
      for (const [isExact, shown, status, hint] of [
        [true, 100, '1 to 25 of 1,000,000', 'The 100 most common tags.'],
        [false, 99, '1 to 25 of about 1,000,000', 'The 99 most common tags.'],
      ] as const) {
        const json = { plants: 1_000_000, tags: tags.slice(0, shown), isExact }
        await page.unrouteAll()
        await page.route('**/summary', (route) => route.fulfill({ json }))
        await (isExact ? enter(page, store.token) : page.reload())
        await reads(page, '#status', status)
        assert.equal(await textOf(page, '#tags-hint'), hint)
        assert.equal(await page.locator('#chips button').count(), 8)
      }
    }),
  )

  exhaustive.test('copies an id, and selects it where there is no clipboard for it', () =>
    visit(numbered(2), async (page, watched) => {
      await watched.context.grantPermissions(['clipboard-read', 'clipboard-write'])
      const id = page.getByRole('button', { name: 'Copy id 2' })
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
        await id.click()
        await page.locator(`button.id[data-said="${said}"]`).waitFor()
        assert.equal(await styleOf(page, '[data-said]', 'font-size'), '0px')
        assert.equal(await page.evaluate(held), '2', said)
        await page.locator('[data-said]').waitFor({ state: 'detached' })
      }
    }),
  )

  exhaustive.test('shows plants above the fold, in columns that stay, and as lines on a phone', () =>
    visit(plantsOf(Buffer.from(`[${ofTheWorld.trimEnd().replaceAll('\n', ',')}]`)), async (page, watched) => {
      const inWindow = async (): Promise<number> => {
        const rows = "[...document.querySelectorAll('tbody tr')]"
        const tops = await page.evaluate<number[]>(`${rows}.map((row) => row.getBoundingClientRect().bottom)`)
        const place = (await boxOf(page, '#place')).top
        return tops.filter((bottom) => bottom <= place).length
      }
      await page.setViewportSize({ width: 1_280, height: 800 })
      await reads(page, '#status', '1 to 25 of 130')
      assert.ok((await inWindow()) >= 8, `${await inWindow()} rows`)
      const places = ['th:nth-child(1)', 'th:nth-child(2)', 'th:nth-child(3)', '#chips button:last-child']
      const left = (): Promise<Box[]> => Promise.all(places.map((place) => boxOf(page, place)))
      const before = (await left()).map((box) => box.left)
      await page.getByLabel('Search plants').fill('z')
      await page.getByText(/^\d+ plants?$/).waitFor()
      const after = (await left()).map((box) => box.left)
      assert.deepEqual(after, before)
      await page.getByRole('button', { name: 'Clear search' }).click()
      await reads(page, '#status', '1 to 25 of 130')

      await page.setViewportSize({ width: 360, height: 740 })
      assert.ok((await inWindow()) >= 10, `${await inWindow()} lines`)
      const [row, name, tag] = await Promise.all([
        boxOf(page, 'tbody tr'),
        boxOf(page, 'tbody td:nth-child(2)'),
        boxOf(page, 'tbody td:nth-child(3)'),
      ])
      assert.ok(row.top < 170 && row.height < 50, JSON.stringify(row))
      assert.ok(tag.top < name.bottom && tag.left > name.left, 'the tag stands beside the name')
      const session = await watched.context.newCDPSession(page)
      const { nodes } = await session.send('Accessibility.getFullAXTree')
      const count = (role: string): number => nodes.filter((node) => node.role?.value === role && !node.ignored).length
      assert.deepEqual(['table', 'row', 'columnheader', 'cell'].map(count), [1, 26, 3, 75])
    }),
  )

  test('is accessible, light and dark, narrow and wide, by keyboard alone', () =>
    visitAs('', [], async (page) => {
      await holdChanges(page)
      await assertAccessible(page, 'no token')
      // The first field has the focus.
      await page.keyboard.type('nonsense\n')
      await page.locator('#secret[aria-invalid]').waitFor()
      await assertAccessible(page, 'wrong token')
      await page.locator('#secret').fill(store.token)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Create your first plant' }).waitFor()
      await assertAccessible(page, 'empty store')
      await hasFocus(page, '#name')
      await page.keyboard.type('Rosa')
      await page.keyboard.press('Tab')
      await page.keyboard.type('rose')
      await page.keyboard.press('Enter')
      await created(page, 1)
      await page.locator('tr.fresh[data-id="1"]').waitFor()
      await assertAccessible(page, 'first plant')
      await unfoldId(page)
      await page.locator('#id').fill('x')
      await page.locator('#name').fill('Rosa')
      await page.keyboard.press('Enter')
      await page.locator('#id[aria-invalid]:focus').waitFor()
      await assertAccessible(page, 'error beside a field')

      await store.client.replacePlant(1, { name: 'Rosa\ncanina', tag: '' })
      await page.getByRole('button', { name: 'Edit plant 1' }).focus()
      await page.keyboard.press('Enter')
      await hasFocus(page, 'textarea#edit-name')
      await assertAccessible(page, 'edit dialog')
      await page.keyboard.type('mine')
      await store.client.replacePlant(1, { name: 'theirs' })
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.locator('#edit-conflict mark').getByText('theirs').waitFor()
      await assertAccessible(page, 'conflict')
      await page.keyboard.press('Escape')
      await hasFocus(page, '[aria-label="Edit plant 1"]')
      await page.keyboard.press('Delete')
      await page.getByRole('button', { name: 'Undo' }).waitFor()
      await assertAccessible(page, 'deleted')
      await page.getByRole('button', { name: 'Undo' }).click()
      await says(page, '"theirs" is back.')
      await page.keyboard.press('?')
      await assertAccessible(page, 'keys')
      await page.keyboard.press('Escape')

      await Promise.all(
        numbered(30)
          .slice(1)
          .map((plant) => store.client.createPlant({ ...plant, tag: `tag ${BigInt(plant.id) % 15n}` })),
      )
      await page.locator('#table').focus()
      await page.keyboard.press('/')
      await page.keyboard.type('none')
      await reads(page, '#status', noNameMatches('none'))
      await assertAccessible(page, 'nothing found')
      await page.getByRole('button', { name: 'Clear search' }).focus()
      await page.keyboard.press('Enter')
      await reads(page, '#status', '1 to 25')
      await page.reload()
      await reads(page, '#status', '1 to 25 of 30')
      await page.locator('#more-tags summary').focus()
      await page.keyboard.press('Enter')
      await assertAccessible(page, 'all tags')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Next page' }).focus()
      await page.keyboard.press('Enter')
      await reads(page, '#status', '26 to 30 of 30')
      await assertAccessible(page, 'many plants')
      await page.locator('tbody a.name').first().focus()
      await page.keyboard.press('Enter')
      await page.locator('#plant[open]').waitFor()
      await assertAccessible(page, 'a plant')
      await page.keyboard.press('Escape')
      await page.locator('#log-toggle').focus()
      await page.keyboard.press('Enter')
      await page.locator('#log-list li:not(.aside) button').first().focus()
      await page.keyboard.press('Enter')
      await page.locator('#log-detail .snippets pre').waitFor()
      await assertAccessible(page, 'the log')
      await page.keyboard.press('Escape')
      await hasFocus(page, '#log-toggle')
      await page.locator('#more summary').click()
      await page.locator('#add-many').focus()
      await page.keyboard.press('Enter')
      await page.locator('#rows').fill('id,name\n1,a\nx,b,c\n')
      await page.locator('#preview table').waitFor()
      await assertAccessible(page, 'many at once')
    }))
})
