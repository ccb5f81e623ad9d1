// The home page in shared use: links that can be shared, the log of requests, tokens with fewer scopes, and many
// plants.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import type { Route } from 'playwright-core'
import { noBrowser } from '../support/browser.ts'
import { exhaustive } from '../support/ring.ts'
import { until } from '../support/time.ts'
import {
  addMany,
  assertAccessible,
  assertInWindow,
  assertQuiet,
  boxOf,
  create,
  created,
  enter,
  hasFocus,
  hasText,
  noNameMatches,
  openMany,
  readLetters,
  reads,
  remove,
  rename,
  saved,
  says,
  signOut,
  styleOf,
  textOf,
} from './home-page.ts'
import { numbered, open, store, stored, visit, visitAs } from './visits.ts'

describe('the home page, shared', { skip: noBrowser }, () => {
  test('has the search, the page and the open plant in its address, and the token never', () =>
    visit(
      numbered(90).map((plant, at) => ({ ...plant, tag: `tag ${at % 3}` })),
      async (page, watched) => {
        const query = (): string => new URL(page.url()).search
        const { promise: isLate, resolve: release } = Promise.withResolvers<void>()
        await page.route(/name=Plant\+9\b/, (route) => isLate.then(() => route.continue()))
        const asked = page.waitForRequest(/name=Plant\+9\b/)
        await page.getByLabel('Search plants').fill('Plant 9')
        const slow = await asked
        await page.getByLabel('Search plants').fill('plant')
        await reads(page, '#status', '1 to 25')
        release()
        await (await slow.response())?.finished()
        await page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))')
        assert.equal(await textOf(page, '#status'), '1 to 25')
        await page.locator('#chips').getByRole('button', { name: 'tag 1' }).click()
        await page.getByRole('button', { name: 'Next page' }).click()
        await reads(page, '#status', '26 to 30 of 30')
        assert.equal(query(), '?name=plant&tag=tag+1&after=74&from=26')
        await page.getByRole('link', { name: 'Plant 80' }).click()
        await page.getByRole('heading', { name: 'Plant 80', exact: true }).waitFor()
        assert.equal(query(), '?name=plant&tag=tag+1&after=74&from=26&plant=80')
        const tags = ['#chips [aria-pressed="true"]', 'tr[aria-current] .chip']
        const [chosen, ofRow] = await Promise.all(tags.map((tag) => styleOf(page, tag, '--hue')))
        assert.equal(chosen, ofRow, 'a tag has one colour')
        // The event of the closed panel comes late, when the plant is asked for again.
        const panel = page.locator('#plant')
        await panel.evaluate((dialog) => {
          const hold = (event: { stopImmediatePropagation(): void }): void => event.stopImmediatePropagation()
          dialog.addEventListener('close', hold, { capture: true, once: true })
        })
        await page.goBack()
        await panel.waitFor({ state: 'hidden' })
        await page.goForward()
        await panel.dispatchEvent('close')
        await page.locator('#plant[open]').waitFor()
        await page.keyboard.press('Escape')
        await page.waitForURL((url) => url.search === '?name=plant&tag=tag+1&after=74&from=26')
        await page.goBack()
        await page.locator('#plant[open]').waitFor()
        await page.reload()
        await page.getByRole('heading', { name: 'Plant 80', exact: true }).waitFor()
        await reads(page, '#status', '26 to 30 of 30')
        assert.equal(await page.getByLabel('Search plants').inputValue(), 'plant')
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Previous page' }).click()
        await reads(page, '#status', '1 to 25')

        // A colleague opens the link in a browser of their own.
        const link = `${store.url}/?name=plant&tag=tag+1&after=74&from=26&plant=80`
        await using other = await open(link)
        await enter(other.page, store.token)
        await other.page.getByRole('heading', { name: 'Plant 80', exact: true }).waitFor()
        await other.page.keyboard.press('Escape')
        await reads(other.page, '#status', '26 to 30 of 30')
        assert.ok(await other.page.getByRole('button', { name: 'Previous page' }).isDisabled())
        await other.page.locator('#size').selectOption('100')
        await reads(other.page, '#status', '30 plants')
        await other.page.goBack()
        await other.page.getByRole('button', { name: 'First page' }).click()
        await reads(other.page, '#status', '1 to 25')
        for (const each of [page, other.page]) assert.ok(!each.url().includes(store.token))
        assertQuiet(other)

        // An address from elsewhere may say anything.
        await page.goto(`${store.url}/?size=7&from=x&after=y&plant=99&tag=none&name=%3Cb%3E`)
        await reads(page, '#table-error', 'There is no plant 99 (error 40402).')
        assert.equal(await textOf(page, '#status'), noNameMatches('<b>', 'No plant with this tag'))
        assert.ok(watched.errors.every((error) => error.includes('404')))
        await page.goto(`${store.url}/?plant=abc`)
        await reads(page, '#table-error', 'The address names no plant: "abc" is no id.')
      },
    ))

  test('shows each request, its answer first, and the request as code that works', () =>
    visit([{ id: 7, name: 'Ficus' }], async (page) => {
      const last = (text: string): Promise<void> => page.locator('#log-last').getByText(text).waitFor()
      const open = async (line: RegExp): Promise<void> => {
        await page.locator('#log-list button:visible').filter({ hasText: line }).first().click()
      }
      await create(page, '9223372036854775807', "Rosa 'Peace'", '')
      await created(page, '9223372036854775807')
      await rename(page, '7', 'Ficus lyrata')
      await saved(page)
      await last('200 OK')
      await page.locator('#log-toggle').click()
      await open(/^POST/)
      assert.match(await textOf(page, '#log-detail > .code pre'), /^\{ "name": "Rosa 'Peace'" \}$/)
      const detail = await textOf(page, '#log-detail')
      assert.match(detail, /location\/plants\/9223372036854775807Where the new plant is\./)
      assert.match(detail, /idempotency-key/)
      assert.ok(!detail.includes(store.token))
      const code = page.locator('#log-detail .snippets pre')
      await code.getByText('curl').waitFor()
      assert.match(
        (await code.textContent()) ?? '',
        /-d '\{\n {4}"id": 9223372036854775807,\n {4}"name": "Rosa '\\''Peace'\\''"\n {2}\}'$/,
      )
      await page.locator('#log-detail').getByRole('button', { name: 'JavaScript' }).click()
      assert.match(
        (await code.textContent()) ?? '',
        /body: '\{"id":9223372036854775807,"name":"Rosa \\'Peace\\'"\}',$/m,
      )
      await page.locator('#log-detail').getByRole('button', { name: 'Python' }).click()
      assert.match((await code.textContent()) ?? '', /data='\{"id":9223372036854775807,/)
      assert.deepEqual((await code.locator('.code-value').allTextContents()).slice(0, 2), ['import', 'import'])
      assert.ok((await code.locator('.code-text').allTextContents()).includes('"POST"'))
      assert.ok((await code.locator('.code-name').allTextContents()).includes('"content-type"'))
      await open(/^PUT/)
      assert.match((await code.textContent()) ?? '', /method="PUT"/)
      assert.match(await textOf(page, '#log-detail'), /if-match/)
      await page.getByLabel('Show background requests').check()
      await open(/^GET\/plants\?limit=25/)
      assert.match(await textOf(page, '#log-detail > .code pre'), /"id": 9223372036854775807/)
      await page.locator('#log-list li:not(.aside) button').first().focus()
      await page.keyboard.press('Escape')
      await hasFocus(page, '#log-toggle')
      for (let sent = 0; sent < 60; sent += 1)
        await page.evaluate("document.querySelector('#size').dispatchEvent(new Event('change'))")
      await page.locator('#log-toggle').click()
      assert.ok((await page.locator('#log-list li:visible').count()) > 50)
      await page.getByLabel('Show background requests').uncheck()
      assert.equal(await page.locator('#log-list li:visible').count(), 51)
      await page.locator('tr[data-id="7"] a.name').focus()
      await page.keyboard.press('Delete')
      await says(page, 'Deleted "Ficus lyrata".')
      const [toast, log] = [await boxOf(page, '#toast'), await boxOf(page, '#log')]
      assert.ok(toast.bottom <= log.top, 'what the page says covers no request')
      await page.locator('#create-close').click()
      await page.setViewportSize({ width: 390, height: 844 })
      await until('it covers no button on a phone, either', async () => {
        const [toast, news, log] = await Promise.all(['#toast', '.news', '#log'].map((each) => boxOf(page, each)))
        return toast !== undefined && toast.top >= (news?.bottom ?? 0) && toast.bottom <= (log?.top ?? 0)
      })
      const opened = page.locator('#log-list li:visible')
      assert.equal(await opened.count(), 1)
      await opened.getByRole('button').click()
      assert.ok((await opened.count()) > 1)
      assert.equal(await textOf(page, '#log-detail'), '')
      await page.locator('#account summary').click()
      await page.getByLabel('Show requests').uncheck()
      await page.reload()
      await reads(page, '#status', '1 plant')
      assert.ok(await page.locator('#log').isHidden())
    }))

  test('offers what the token may do, and says why not the rest', () =>
    visitAs('', [{ id: 7, name: 'Ficus', tag: 'fig' }], async (page) => {
      const seen = (selector: string): Promise<boolean> => page.locator(selector).first().isVisible()
      await enter(page, await store.tokenWith(['plants:read']))
      await reads(page, '#status', '1 plant')
      assert.match(await textOf(page, '#account'), /can only read/)
      assert.match(await textOf(page, '#limits'), /needs the scope plants:write/)
      for (const hidden of ['#new', '#add-many', '.actions button']) assert.equal(await seen(hidden), false, hidden)
      await store.client.deletePlant(7)
      await reads(page, '#status', 'There are no plants.')
      await store.client.createPlant({ id: 7, name: 'Ficus', tag: 'fig' })
      await reads(page, '#status', '1 plant')
      await page.keyboard.press('n')
      assert.equal(await seen('#creating'), false)
      await page.getByRole('link', { name: 'Ficus' }).click()
      await page.locator('#plant[open]').waitFor()
      assert.equal(await seen('#plant-edit'), false)
      await page.keyboard.press('Escape')
      await assertAccessible(page, 'reads only')
      await signOut(page)

      await enter(page, await store.tokenWith(['plants:write']))
      assert.match(await textOf(page, '#limits'), /also needs the scope plants:read/)
      for (const hidden of ['#plants', '#search', '#export-csv']) assert.equal(await seen(hidden), false, hidden)
      await create(page, '', 'Rosa', '')
      await reads(page, '#id-error', 'Enter an id.')
      await hasFocus(page, '#id')
      await create(page, '8', 'Rosa', '')
      await created(page, 8)
      assert.equal((await store.client.getPlant(8)).name, 'Rosa')
      await assertAccessible(page, 'writes only')
      const asked = await page.locator('#log-last').textContent()
      assert.match(asked ?? '', /POST/)
      await page.locator('#more summary').click()
      await page.locator('#add-many').click()
      await page.locator('#rows').fill('9\tLily')
      await addMany(page)
      await reads(page, '#many-status', '1 plant added of 1 row.')
    }))

  exhaustive.test('adds many plants, says what is wrong, and adds nothing twice', () =>
    visit([{ id: 2, name: 'taken' }], async (page) => {
      const rows = Array.from({ length: 40 }, (_, at) => `${at + 10}\tPlant ${at}\t`)
      await openMany(page)
      const all = ['id\tname\ttag', '1\t"two\nlines"\tfig', 'x\twrong\t', '2\tother\t', ...rows]
      await page.locator('#rows').fill(all.join('\n'))
      await addMany(page, 'Add 42 plants')
      await page.locator('#many-status').getByText('41 plants added, 2 rejected of 43 rows.').waitFor()
      const [, ...kept] = await page.locator('#preview tr').allTextContents()
      const [wrong, taken] = kept.map((row) => row.replace(/ from \S+ to \S+,|,? \(error \d+\)/g, ''))
      assert.equal(wrong, '4id must be a whole number, not "x" x\twrong\t')
      assert.equal(taken, '5id: 2 is already taken; choose another id 2\tother\t')
      await hasFocus(page, '#many [data-cancel]')
      assert.equal(await page.locator('#log-list li:not(.aside) .post').count(), 1)
      assert.equal(await page.getByRole('dialog').getByRole('button', { name: /^Add/ }).count(), 0)
      const rejected = 'id\tname\ttag\nx\twrong\t\n2\tother\t'
      await page.getByRole('button', { name: 'Edit the rejected rows' }).click()
      assert.equal(await page.locator('#rows').inputValue(), rejected)
      await page.locator('#rows').fill([rejected, ...rows].join('\n'))
      await addMany(page, 'Add 41 plants')
      await page.locator('#many-status').getByText('0 plants added, 40 there already, 2 rejected').waitFor()
      await page.keyboard.press('Escape')
      await reads(page, '#status', '1 to 25 of 42')
      assert.equal((await store.client.getPlant(1)).name, 'two\nlines')
      await openMany(page)
      await page.locator('#many[open]').waitFor()
      await page.locator('#file').setInputFiles({
        name: 'more.ndjson',
        mimeType: 'application/x-ndjson',
        buffer: Buffer.from('\ufeff{"id":9223372036854775807,"name":"last","tag":""}\n{"id":1.5,"name":"n"}\n'),
      })
      await page.getByText('1 ready, 1 with a problem.').waitFor()
      await addMany(page)
      await page.locator('#many-status').getByText('1 plant added, 1 rejected of 2 rows.').waitFor()
      assert.equal((await store.client.getPlant(2n ** 63n - 1n)).tag, '')
      const give = (buffer: Buffer): Promise<void> =>
        page.locator('#file').setInputFiles({ name: 'rows.txt', mimeType: '', buffer })
      await give(Buffer.from('\ufeffid\tname\n7\t\u00c4hre\n', 'utf16le'))
      await reads(page, '#preview tr:last-child td:last-child', '\u00c4hre')
      await give(Buffer.from([0x69, 0xff]))
      await page.locator('#many-error').getByText('This is not valid UTF-8; save it as').waitFor()
    }),
  )

  test('gives ids to names, and to the rows of a table that has none', () =>
    visit(numbered(2), async (page) => {
      await openMany(page)
      for (const [rows, ids, names] of [
        ['Rose, Lily,Tulip', ['next', 'next', 'next'], ['Rose', 'Lily', 'Tulip']],
        ['Rose\nLily, white\n\nTulip\n', ['next', 'next', 'next'], ['Rose', 'Lily, white', 'Tulip']],
        ['tag;name\nflower;Sedum', ['next'], ['Sedum']],
        ['Iris\nLily\tflower', ['next', 'next'], ['Iris', 'Lily']],
      ] as const) {
        await page.locator('#rows').fill(rows)
        const cells = (at: number): Promise<string[]> => page.locator(`#preview td:nth-child(${at})`).allTextContents()
        await until(
          rows,
          async () => (await cells(2)).join() === ids.join() && (await cells(3)).join() === names.join(),
        )
      }
      await page.locator('#rows').fill('id,name,colour\n9007199254740990000,a,red')
      const rounded = 'An id has zeros after 15 digits, as if rounded by a spreadsheet: compare the source.'
      await reads(page, '#many-status', `Columns ignored: colour. ${rounded}`)
      // A page of the API, in lines.
      await page.locator('#rows').fill(' [ {"id": 1, "name": "mine"}, {"id": 8, "name": "a"}, {"name": "b"} ]\n')
      await page.getByRole('dialog').getByRole('button', { name: 'Add 3 plants' }).waitFor()
      await page.keyboard.press('Escape')
      await openMany(page)
      assert.match(await page.locator('#rows').inputValue(), /^{"id":1,"name":"mine"}\n.*\n{"name":"b"}\n$/)
      assert.equal((await store.client.getSummary()).plants, 2)
      await page.locator('#rows').fill('id,name\n5,a\n9223372036854775808,b\n1,Plant 1\n5,c')
      await reads(page, '#many-error', 'Line 2: id 5 stands in more than one row.')
      assert.deepEqual(await page.locator('#preview .error').allTextContents(), [
        'id 5 stands in more than one row 5,a',
        'id must be from -9223372036854775808 to 9223372036854775807 9223372036854775808,b',
        'id 5 stands in more than one row 5,c',
      ])
      // What is left has its id and its line, so that it can be changed.
      await page.route('**/plants', (route) => route.fulfill({ status: 404 }), { times: 1 })
      await page.locator('#rows').fill('Rose\nLily')
      for (const said of ['nothing is added twice.', '1 plant added of 1 row.']) {
        await page.getByRole('dialog').getByRole('button', { name: /^Add / }).click()
        await page.locator('#many-status').getByText(said).waitFor()
      }
      assert.equal((await store.client.getPlant(3)).name, 'Rose')
      // One that is too large does not stop the others.
      await page.locator('#rows').fill(`{"name":"${'n'.repeat(70_000)}"}\n{"id":90,"name":"small"}`)
      await addMany(page)
      await page.locator('#many-status').getByText('1 plant added, 1 rejected of 2 rows.').waitFor()
      await store.client.deletePlant(90)
      // Not those of others, nor of other rows.
      await store.client.createPlant({ id: 7, name: 'of others' })
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      await page.locator('#rows').fill('{"name":"a"}\n{"id":8,"name":"b"}\n{"name":"c"}')
      await page.locator('#many [type="submit"]:enabled').waitFor()
      await page.route(/limit=25/, (route) => released.then(() => route.continue()))
      await addMany(page)
      await page.locator('#many-status').getByText('3 plants added of 3 rows.').waitFor()
      const all = await Array.fromAsync(store.client.listPlants())
      assert.deepEqual(all.map(({ id, name }) => `${id} ${name}`).slice(4), ['6 a', '7 of others', '8 b', '9 c'])
      await page.locator('#rows').fill('id,nmae\n1,a')
      const why =
        'its first line must name the columns: id, name, and the other properties of plants, but it is: id,nmae.'
      await reads(page, '#many-error', `This has no column id or no column name; ${why}`)
      // What is pasted before the page has read its plants again stays.
      const shown = page.waitForResponse(/limit=25/)
      release()
      await shown
      const drop = async (...files: string[]): Promise<void> => {
        const isLeft = await page.evaluate<boolean>(`{
          const dataTransfer = new DataTransfer()
          for (const text of ${JSON.stringify(files)}) dataTransfer.items.add(new File([text], 'rows.csv'))
          document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
        }`)
        assert.equal(isLeft, false, 'a file dropped beside the field would replace the page')
      }
      await drop('Rose', 'Lily')
      await reads(page, '#many-error', 'This is more than one file; add one after the other.')
      await drop('')
      await reads(page, '#many-error', 'This is an empty file; choose one that has a plant in each line.')
      assert.equal(await page.locator('#rows').inputValue(), 'id,nmae\n1,a')
      await page.locator('#rows').fill('Rose')
      await drop('name\nDropped')
      await reads(page, '#preview tr:last-child td:last-child', 'Dropped')
      await drop('')
      await reads(page, '#many-error', 'This is an empty file; choose one that has a plant in each line.')
      assert.equal(await page.getByRole('button', { name: 'Add 1 plant' }).isVisible(), false)
      await drop('name\nDropped')
      await reads(page, '#preview tr:last-child td:last-child', 'Dropped')
    }))

  exhaustive.test('takes 10,000 rows, and stops when told', () =>
    visit([], async (page) => {
      const all = Array.from({ length: 10_000 }, (_, at) => `${at + 1},Plant ${at},tag ${at % 7}`)
      await openMany(page)
      await page.locator('#many[open]').waitFor()
      // Typing so much takes a browser long; a paste does not.
      await page.locator('#rows').evaluate((area, text) => {
        const field = area as unknown as { value: string; dispatchEvent(event: unknown): void }
        field.value = text
        field.dispatchEvent(new Event('input', { bubbles: true }))
      }, all.join('\n'))
      await page.getByText('10,000 ready. These are 10 of 10,000 rows.').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: /^Add / }).dblclick()
      await until(
        'some are added',
        async () => (await page.evaluate<number>("document.querySelector('#many-progress').value")) > 100,
      )
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.locator('#many-status').getByText('You stopped it.').waitFor()
      const { plants } = await store.client.getSummary()
      assert.match(
        await textOf(page, '#many-status'),
        new RegExp(`^${plants.toLocaleString('en')} plants added of 10,000 rows\\.`),
      )
      // What is changed now adds nothing again.
      assert.equal((await page.locator('#rows').inputValue()).split('\n').length, 10_000 - plants)
      await reads(page, '#preview tr:nth-child(2) td', '1')
      await addMany(page)
      await page.getByRole('button', { name: 'Stop' }).waitFor()
      await page.keyboard.press('Escape')
      await page.locator('#changed').getByText('You stopped it.').waitFor()
    }),
  )

  exhaustive.test('does again what failed once the server is back, and until then shows no count as its result', () =>
    visit(numbered(3), async (page, watched) => {
      await reads(page, '#live', 'Live')
      await watched.context.setOffline(true)
      await page.locator('#live[data-state="away"]').waitFor()
      await page.getByLabel('Search plants').fill('plant 2')
      await reads(page, '#table-error', 'The server cannot be reached; try again.')
      await reads(page, '#status', 'Showing the previous results.')
      assert.ok(await page.locator('#next').isHidden())
      await watched.context.setOffline(false)
      await reads(page, '#status', '1 plant')
      assert.equal(await textOf(page, '#table-error'), '')
      await watched.context.setOffline(true)
      for (const id of ['', '9']) {
        await create(page, id, 'mine', '')
        await reads(page, '#create-error', 'The server cannot be reached; try again.')
      }
      await page.locator('#log-last').getByText('no response').waitFor()
      await watched.context.setOffline(false)
      await reads(page, '#live', 'Live')
      await until('no message is left', async () => (await page.locator('.error').allTextContents()).join('') === '')
      assert.doesNotMatch(await textOf(page, '#log-last'), /no response/)
      assert.equal(await page.locator('#name').inputValue(), 'mine')
      // What a refresh failed with is taken back, too.
      await store.fail({ operation: 'listPlants', status: 400 })
      await store.client.createPlant({ id: 20, name: 'Plant 20' })
      await page.locator('#table-error').getByText('ordered by a test').waitFor()
      await store.client.createPlant({ id: 21, name: 'Plant 21' })
      await reads(page, '#status', '3 plants')
      assert.equal(await textOf(page, '#table-error'), '')
      // And what a network has answered in place of the service.
      const reading = /\/(?:plants\?|summary)/
      await page.route(reading, (route) => route.fulfill({ contentType: 'text/html', body: '<p>sign in' }))
      await store.client.createPlant({ id: 22, name: 'Plant 22' })
      await until('it fails', async () => (await textOf(page, '#table-error')) !== '')
      await page.unroute(reading)
      await reads(page, '#status', '4 plants')
      assert.equal(await textOf(page, '#table-error'), '')
    }),
  )

  test('asks for a token again once the server refuses it, and says why', () =>
    visit(numbered(1), async (page) => {
      await reads(page, '#live', 'Live')
      await page.locator('#log-toggle').click()
      await page.locator('#log-list li:not(.aside) button').first().click()
      await page.locator('#log-detail').getByText('Plant 1').waitFor()
      await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
      await page.locator('#edit-name').fill('typed')
      await store.fail({ operation: 'listChanges', status: 401 })
      // Cuts the open stream, which is then asked for again.
      await store.fail({ operation: 'listChanges' })
      await reads(page, '#secret-error', 'This refusal was ordered by a test (error 40102).')
      // Whoever signs in next sees nothing of what was read, and what was typed.
      assert.equal(await page.locator('#secret').inputValue(), '')
      await page.locator('#log-list li:not(.aside) button').first().waitFor({ state: 'detached' })
      await enter(page, store.token)
      await page.locator('#edit[open]').waitFor()
      assert.equal(await page.locator('#edit-name').inputValue(), 'typed')
      await page.keyboard.press('Escape')
      await page.locator('#log-list li:not(.aside) button').first().waitFor()
      assert.equal(await textOf(page, '#log-detail'), '')
      // What was typed is not for somebody else.
      await page.route(`${store.url}/`, async (route) => {
        if (route.request().resourceType() === 'document') return route.continue()
        const response = await route.fetch()
        await route.fulfill({ response, body: (await response.text()).replace('"test"', '"other"') })
      })
      await Promise.all([page.waitForEvent('load'), page.evaluate(`location.hash = '#token=${store.token}'`)])
      await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
      assert.equal(await page.locator('#edit-name').inputValue(), 'Plant 1')
      await page.evaluate('sessionStorage.clear()')
      await page.reload()
      await hasFocus(page, '#secret')
      // Without a token, nothing is sent, and nothing is said to have failed.
      await page.clock.install()
      await page.locator('#size').dispatchEvent('change')
      await page.clock.runFor(120_000)
      assert.equal(await textOf(page, '#table-error'), '')
    }))

  test('does nothing twice and loses nothing if answers are lost', () =>
    visit(numbered(1), async (page) => {
      const unreachable = 'The server cannot be reached; try again.'
      const isPlants = ({ pathname }: URL): boolean => pathname === '/plants'
      const lose = (isDone: boolean, isLost = isPlants): Promise<unknown> =>
        page.route(isLost, async (route) => {
          if (route.request().method() === 'GET') return route.continue()
          if (isDone) await route.fetch()
          return route.abort('internetdisconnected')
        })
      await reads(page, '#live', 'Live')
      await lose(true)
      await create(page, '2', 'Rosa', 'rose')
      await reads(page, '#create-error', unreachable)
      await page.locator('tr[data-id="2"]:not([inert])').waitFor()
      await page.unroute(isPlants)
      // A refusal of the next try says nothing of the one that is lost.
      await store.fail({ operation: 'createPlant', status: 400 })
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await reads(page, '#create-error', 'This refusal was ordered by a test (error 40005).')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await created(page, 2)
      assert.equal((await store.client.getSummary()).plants, 2)
      const undo = page.getByRole('button', { name: 'Undo' })
      await remove(page, '2')
      await undo.waitFor()
      await lose(false)
      await undo.click()
      await says(page, '"Rosa" may or may not be back: the server cannot be reached; try again.')
      await page.locator('tr[data-id="2"]').waitFor({ state: 'detached' })
      await page.unroute(isPlants)
      await undo.click()
      await says(page, '"Rosa" is back.')
      assert.equal((await store.client.getPlant(2)).name, 'Rosa')
      const isPlant = ({ pathname }: URL): boolean => pathname === '/plants/2'
      await lose(true, isPlant)
      await rename(page, '2', 'Rosa canina')
      await reads(page, '#edit-error', unreachable)
      await page.unroute(isPlant)
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await saved(page)
      assert.equal(await page.locator('#edit').isVisible(), false)
      // A save that is rejected although nothing has changed is sent again once.
      await store.fail({ operation: 'replacePlant', status: 412, times: 2 })
      await rename(page, '2', 'Rosa alba')
      await reads(page, '#edit-error', 'This refusal was ordered by a test (error 41201).')
      assert.equal((await store.client.getPlant(2)).name, 'Rosa canina')
    }))

  test('opens no late panel under the keys of a person who has gone on, and leads back past a plant that is gone', () =>
    visit(numbered(3), async (page) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      await page.route('**/plants/2', (route) => released.then(() => route.continue()))
      const search = page.getByLabel('Search plants')
      await search.fill('2')
      await search.press('Enter')
      await page.keyboard.press('Backspace')
      const answered = page.waitForResponse(/plants\/2$/)
      release()
      await (await answered).finished()
      await reads(page, '#status', '3 plants')
      await page.keyboard.press('Backspace')
      assert.equal(page.url().includes('plant='), false)
      assert.equal(await page.locator('#plant').isVisible(), false)
      await page.getByRole('link', { name: 'Plant 2' }).click()
      await page.locator('#plant[open]').getByRole('button', { name: 'Delete', exact: true }).click()
      await says(page, 'Deleted "Plant 2".')
      await until('it is gone', async () => (await store.client.getSummary()).plants === 2)
      await page.goBack()
      await reads(page, '#table-error', 'There is no plant 2 (error 40402).')
      await page.goBack()
      assert.equal(await search.inputValue(), '')
      assert.equal(page.url().includes('?'), false)
    }))

  test('keeps a plant open while it is edited, deleted by another client and created again, and the focus in it', () =>
    visit(numbered(2), async (page) => {
      const plant = page.locator('#plant[open]')
      await page.getByRole('link', { name: 'Plant 1' }).click()
      await plant.waitFor()
      await page.locator('#plant-edit').click()
      await page.locator('#edit[open]').waitFor()
      await page.goBack()
      await plant.waitFor({ state: 'hidden' })
      await page.goForward()
      await page.locator('tr[data-id="1"][aria-current="true"]').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'Plant 1' }).click()
      await plant.waitFor()
      await page.keyboard.press('e')
      await page.locator('#edit-name').fill('mine')
      await page.keyboard.press('Enter')
      await reads(page, '#plant-title', 'mine')
      await page.locator('#edit').waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'PUT', exact: true }).focus()
      await store.client.replacePlant(1, { name: 'changed' })
      await reads(page, '#plant-title', 'changed')
      await hasFocus(page, '#plant-title')
      await store.client.deletePlant(1)
      await plant.getByText('This plant was deleted.').waitFor()
      assert.deepEqual(await plant.getByRole('button').allTextContents(), ['Create it again', ''])
      await plant.getByRole('button', { name: 'Create it again' }).click()
      await says(page, '"changed" is back.')
      await plant.getByRole('button', { name: 'Edit' }).click()
      await page.locator('#edit-name').fill('mine again')
      await store.client.replacePlant(1, { name: 'theirs' })
      await page.locator('#edit-conflict table').waitFor()
      await store.client.deletePlant(1)
      await reads(page, '#edit-error', 'This plant was deleted. Save to create it again.')
      await page.locator('#edit-name').focus()
      await store.fail({ operation: 'createPlant', status: 400 })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('#edit-error').getByText('ordered by a test').waitFor()
      await page.keyboard.press('Enter')
      await plant.getByRole('heading', { name: 'mine again' }).waitFor()
      await page.locator('#edit').waitFor({ state: 'hidden' })
      assert.equal(await stored(1), '{"id":1,"name":"mine again"}')
    }))

  test('works where nothing may be stored', () =>
    visitAs('', numbered(1), async (page) => {
      await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, name, { get() { throw new DOMException('', 'SecurityError') } })`)
      await page.reload()
      await enter(page, store.token)
      await reads(page, '#status', '1 plant')
      await signOut(page)
      await hasFocus(page, '#secret')
    }))

  test('keeps what a person types while a plant is created, read or changed', () =>
    visit(numbered(2), async (page) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const held = async (route: Route): Promise<void> => released.then(() => route.continue())
      await reads(page, '#live', 'Live')
      await page.route('**/plants', held)
      await page.route('**/plants/1', held)
      await create(page, '', 'first', '')
      await page.locator('tr[data-id="3"][inert]').waitFor()
      await page.locator('#name').fill('second')
      const slow = page.waitForResponse('**/plants/1')
      for (const id of [1, 2]) {
        await page.getByRole('button', { name: `Edit plant ${id}`, exact: true }).click()
        await page.locator('#edit-hint').getByText(`Plant ${id}`).waitFor()
        if (id === 1) await page.keyboard.press('Escape')
      }
      await page.locator('#edit-name').fill('draft')
      await page.keyboard.press('Escape')
      release()
      await slow
      await page.locator('#plants:not(:has([aria-busy]))').waitFor()
      assert.equal(await page.locator('#edit').isVisible(), false)
      await created(page, 3)
      await page.locator('tr[data-id="3"]:not([inert])').waitFor()
      assert.equal(await page.locator('#name').inputValue(), 'second')
      await store.fail({ operation: 'replacePlant', delayMs: 500 })
      await rename(page, '1', 'typed before')
      await page.locator('#edit-name').fill('typed after')
      await saved(page)
      assert.equal((await store.client.getPlant(1)).name, 'typed before')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.locator('#edit').waitFor({ state: 'hidden' })
      assert.equal((await store.client.getPlant(1)).name, 'typed after')
      await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
      await reads(page, '#edit-hint', 'Plant 1')
      await page.keyboard.press('Escape')
      // What was typed and not saved stands there again, until it is given up.
      await store.client.replacePlant(2, { name: 'Plant 2', tag: 'theirs' })
      for (const [name, leave] of [
        ['draft', '.close'],
        ['draft', '[data-cancel]'],
        ['Plant 2', '.close'],
      ] as const) {
        await page.getByRole('button', { name: 'Edit plant 2', exact: true }).click()
        await page.locator('#edit[open]').waitFor()
        const typed = "['#edit-name', '#edit-tag'].map((each) => document.querySelector(each).value).join()"
        await until('the form has both', async () => (await page.evaluate(typed)) === `${name},theirs`)
        await page.locator(`#edit ${leave}`).click()
      }
    }))

  test('takes a token from its address, where it is never seen again', () =>
    visitAs('', numbered(3), async (page, watched) => {
      const given = await store.tokenWith(['plants:read'])
      const places: string[] = []
      page.on('request', (request) => places.push(request.url(), request.headers()['referer'] ?? ''))
      const session = await watched.context.newCDPSession(page)
      const assertUnseen = async (): Promise<void> => {
        const { entries } = await session.send('Page.getNavigationHistory')
        const seen = [...places, page.url(), ...entries.map(({ url }) => url)]
        const leaks = seen.filter((place) => /token|plt_/.test(place))
        assert.deepEqual(leaks, [])
      }
      // Where the page is open and another token is stored.
      await enter(page, store.token)
      await hasText(page, '#may', 'can read and write')
      await page.getByRole('button', { name: 'Edit plant 1' }).click()
      await page.locator('#edit[open]').waitFor()
      await page.evaluate(`location.hash = 'token=${given}'`)
      await hasText(page, '#may', 'can only read')
      await reads(page, '#live', 'Live')
      assert.equal(await page.locator('dialog[open]').count(), 0)
      await page.reload()
      await hasText(page, '#may', 'can only read')
      await assertUnseen()
      // A person opens it in a new tab; the view stays.
      await page.goto('about:blank')
      await page.goto(`${store.url}/?name=plant&plant=2#token=${store.token}`)
      await hasText(page, '#may', 'can read and write')
      await page.getByRole('heading', { name: 'Plant 2', exact: true }).waitFor()
      assert.equal(page.url(), `${store.url}/?name=plant&plant=2`)
      // A search leaves it open.
      await page.locator('#prefix').fill('')
      await until('the plant stays', async () => page.url() === `${store.url}/?plant=2`)
      for (const [token, may, hidden] of [
        [given, 'can only read', 1],
        [store.token, 'can read and write', 0],
      ] as const) {
        await page.evaluate(`location.hash = 'token=${token}'`)
        await hasText(page, '#may', may)
        assert.equal(await page.locator('body.no-writes').count(), hidden)
        await reads(page, '#live', 'Live')
      }
      await page.evaluate(`location.hash = 'token=plt_nonsense'`)
      await reads(page, '#secret-error', 'The token is unknown, malformed, expired or revoked (error 40102).')
      await hasFocus(page, '#secret')
      assert.equal(await page.locator('#store').isVisible(), false)
      await assertUnseen()
      await page.reload()
      await reads(page, '#token-title', 'Sign in to Plant Store')
    }))

  exhaustive.test('closes a menu with Escape, a click beside it and a choice, and has one open at most', () =>
    visit(
      Array.from({ length: 12 }, (_, at) => ({ id: at, name: 'n', tag: `tag ${at}` })),
      async (page) => {
        const open = (): Promise<string[]> =>
          page.evaluate("[...document.querySelectorAll('.menu[open]')].map(({ id }) => id)")
        const is = (...ids: string[]): Promise<void> =>
          until(`open: ${ids}`, async () => (await open()).join() === ids.join())
        await page.setViewportSize({ width: 390, height: 600 })
        await page.locator('#account summary').click()
        const isOnTop = `[...document.querySelectorAll('#account div > :not(#help)')].map((item) => {
          const { x, y, width, height } = item.getBoundingClientRect()
          return item.contains(document.elementFromPoint(x + width / 2, y + height / 2))
        })`
        assert.deepEqual(new Set(await page.evaluate<boolean[]>(isOnTop)), new Set([true]))
        await page.keyboard.press('Escape')
        await page.setViewportSize({ width: 1280, height: 720 })
        await page.locator('#more summary').click()
        await is('more')
        await page.evaluate("document.querySelector('#more-tags').open = true")
        await is('more-tags')
        await page.locator('#tag-filter').fill('tag 1')
        await reads(page, '#status', '1 plant')
        await page.keyboard.press('Escape')
        await is()
        await hasFocus(page, '#more-tags summary')
        assert.equal(await page.locator('#tag-filter').inputValue(), 'tag 1')
        await page.keyboard.press('Enter')
        await is('more-tags')
        await page.keyboard.press('n')
        assert.ok(await page.locator('#creating').isHidden())
        await page.locator('#live').click()
        await is()
        await page.locator('#more-tags summary').click()
        await page.locator('#more-chips .chip').first().click()
        await is()
        await hasFocus(page, '#chips [aria-pressed="true"]')
        await page.locator('#more summary').click()
        await page.getByRole('button', { name: 'Export as CSV' }).click()
        await is()
        await hasFocus(page, '#more summary')
      },
    ),
  )

  exhaustive.test('keeps everything in its place, however long the texts are, and shows of them a part at a time', () =>
    visit(
      [
        { id: 1, name: 'word '.repeat(200), tag: '\n'.repeat(200) },
        { id: 2, name: `${'word '.repeat(150)}\r${'word '.repeat(50)}`, tag: 'W '.repeat(100) },
      ],
      async (page) => {
        const buttonsAreInWindow = async (selector: string): Promise<void> => {
          await assertInWindow(page, `${selector} [data-cancel], ${selector} .quiet`)
        }
        await page.emulateMedia({ reducedMotion: 'reduce' })
        await page.setViewportSize({ width: 360, height: 640 })
        // On a phone, it is the bottom that stays, with the buttons.
        for (const [width, edge, end] of [
          [360, 'bottom', 'end'],
          [1_000, 'top', 'END'],
        ] as const) {
          const edges = (...selectors: string[]): Promise<number[]> =>
            Promise.all(selectors.map(async (each) => (await boxOf(page, each))[edge]))
          await page.setViewportSize({ width, height: 640 })
          await page.locator('tr[data-id="1"] a.name').click()
          await hasFocus(page, '#plant-title')
          await assertInWindow(page, '#plant-title')
          assert.ok((await boxOf(page, '#plant-title')).height < 200)
          await buttonsAreInWindow('#plant')
          await page.locator('#plant-edit').click()
          await page.locator('#edit').waitFor()
          const places = ['#edit', edge === 'top' ? '#edit h2' : '#edit [data-cancel]']
          const before = await edges(...places)
          await page.getByRole('dialog').getByLabel('Name').fill('mine')
          await store.client.replacePlant(1, { name: `${'word '.repeat(200)}${end}` })
          await page.locator('#edit-conflict mark').getByText(end).waitFor()
          assert.deepEqual(await edges(...places), before)
          await buttonsAreInWindow('#edit')
          await page.locator('#edit [data-cancel]').click()
          await page.keyboard.press('Escape')
        }
        await page.setViewportSize({ width: 768, height: 600 })
        await page.evaluate(`document.querySelector('#caller bdi').textContent = 'a token with a long name '.repeat(9)`)
        for (const [selector, most] of [
          ['#account', 45],
          ['tbody .chip', 34],
          ['#chips .chip', 34],
          ['tbody tr', 48],
        ] as const) {
          const { height } = await boxOf(page, selector)
          assert.ok(height <= most, `${selector}: ${height} px`)
        }
        await page.setViewportSize({ width: 360, height: 600 })
        const [title, account] = await Promise.all([boxOf(page, 'h1'), boxOf(page, '#account')])
        assert.ok(account.top < title.bottom && account.height <= 45, `${account.top} ${account.height}`)
        // What leads through the plants stays, in a low window without the header; in a very low one, nothing does.
        for (const [height, top] of [
          [800, 56],
          [500, 0],
          [250, -120],
        ] as const) {
          await page.setViewportSize({ width: 1_000, height })
          await page.evaluate("document.querySelector('tbody td').style.height = '999px'")
          await page.evaluate('scrollTo(0, 176)')
          await until(`in ${height} px, the bar is at ${top} px, above the head`, async () => {
            const [bar, head] = await Promise.all([boxOf(page, '.bar'), boxOf(page, 'thead th')])
            return bar.top === top && (top < 0 || Math.abs(head.top - bar.bottom) < 1)
          })
        }
      },
    ),
  )

  exhaustive.test('exports all pages of what is found', () =>
    visit([...numbered(1_200), { id: 5_000, name: 'x' }], async (page) => {
      for (const [searched, found] of Object.entries({ 5000: 1, plant: 1_200 })) {
        await page.getByLabel('Search plants').fill(searched)
        await reads(page, '#status', found === 1 ? '1 plant' : '1 to 25')
        const downloading = page.waitForEvent('download')
        await page.locator('#more summary').click()
        await page.getByRole('button', { name: 'Export as NDJSON' }).click()
        const exported = await readFile(await (await downloading).path(), 'utf8')
        assert.equal(exported.trimEnd().split('\n').length, found)
      }
    }),
  )

  exhaustive.test('leads a person who opened an address of the API to what it names', () =>
    visit([{ id: 7, name: 'Ficus', tag: 'fig' }], async (page) => {
      await page.goto(`${store.url}/plants/7`)
      await page.getByRole('heading', { name: 'This address needs a token' }).waitFor()
      await page.getByRole('link', { name: 'Open plant 7' }).click()
      await page.getByRole('heading', { name: 'Ficus', exact: true }).waitFor()
      await page.goto(`${store.url}/no/such/page`)
      await page.getByRole('link', { name: 'Go to the plants' }).click()
      await reads(page, '#status', '1 plant')
    }),
  )

  exhaustive.test('lets no character change the direction of others', () =>
    visit([{ id: 1, name: '\u202eevil\u2069\u202e name', tag: '\u2067fig' }], async (page) => {
      /** The letters of an element, from left to right. */
      const seen = (selector: string): Promise<string> =>
        page.evaluate<string>(`(${readLetters})(document.querySelector('${selector}')).seen`)
      const assertSeen = async (selector: string, text: string | RegExp): Promise<void> => {
        await page.locator(selector).first().waitFor()
        const letters = await seen(selector)
        if (typeof text === 'string') assert.equal(letters, text.replaceAll(' ', ''), selector)
        else assert.match(letters, text, selector)
      }
      await page.setViewportSize({ width: 1_280, height: 1_600 })
      await reads(page, '#live', 'Live')
      await assertSeen('a.name', 'evil name')
      await assertSeen('tbody .chip', 'fig')
      await assertSeen('#chips .chip', 'fig1')
      assert.equal(await page.locator('#tags option').count(), 0)
      await page.locator('a.name').click()
      await assertSeen('#plant-title', 'evil name')
      await page.locator('#plant-requests').getByRole('button', { name: 'PUT' }).click()
      await assertSeen('#plant-requests pre', /"name":"\\u202eevil\\u2069\\u202ename"/)
      await page.keyboard.press('Escape')
      await page.locator('tr [data-action="edit"]').click()
      await page.locator('#edit-name').fill('\u202enow')
      await store.client.replacePlant(1, { name: '\u202etheirs' })
      await assertSeen('#edit-conflict tr:nth-child(2) td:nth-child(3)', 'now')
      await assertSeen('#edit-conflict tr:nth-child(2) td:last-child .long', 'theirs')
      await page.keyboard.press('Escape')
      await page.locator('#log-toggle').click()
      await page.locator('#log-list li:not(.aside) button').first().click()
      await assertSeen('#log-detail pre', /"theirs"/)
      await openMany(page)
      await page.locator('#rows').fill('id,name\n\u202e1,a\n')
      await assertSeen('#preview .error', /^idmustbeawholenumber,not"1"/)
      await page.getByRole('dialog').getByRole('button', { name: /^Add / }).waitFor({ state: 'hidden' })
    }),
  )

  exhaustive.test('marks what cannot be seen, and leaves whole what can', () =>
    visit(
      [
        { id: 1, name: ' a\u200bb\u0007\r\n ', tag: '\u202ex' },
        { id: 2, name: '\u{1f469}\u{1f3fd}\u200d\u{1f33e} \u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645' },
        { id: 3, name: '' },
      ],
      async (page) => {
        await reads(page, '#status', '3 plants')
        const marks = await page.evaluate(
          "[...document.querySelectorAll('tbody .mark')].map((mark) => mark.dataset.name)",
        )
        assert.deepEqual(marks, ['\u2423', 'U+200B', 'U+0007', '\u240d', '\u21b5', '\u2423', 'U+202E'])
        assert.equal(await textOf(page, 'tbody tr:nth-child(1) a.name'), ' a\u200bb\u0007\r\n ')
        assert.equal(await textOf(page, 'tbody tr:nth-child(3) a.name'), '(empty)')
      },
    ),
  )
})
