// The home page of a server with a user's document: its form, table, files and examples follow that document.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { openContract } from '../../src/contract/contract.ts'
import { startPlantStore } from '../../src/embed/start.ts'
import { columnsOf } from '../../src/files/columns.ts'
import { csvHeader, csvOf } from '../../src/files/formats.ts'
import { noBrowser } from '../support/browser.ts'
import { makeFolder } from '../support/folder.ts'
import { exhaustive } from '../support/ring.ts'
import { assertAccessible, assertQuiet, created, enter, openMany, reads, says, textOf } from './home-page.ts'
import { open } from './visits.ts'

/** With a property of each kind, of names that are none of JavaScript's, and texts that HTML would read. */
const properties = `{
  "__proto__": { "type": "string" },
  "light": { "enum": ["shade", "sun", 3], "description": "</script><!-- <script> & \\"quotes\\"" },
  "name": { "type": "string" },
  "id": { "type": "integer", "format": "int64", "minimum": 0, "maximum": 800 },
  "constructor": { "type": "integer", "minimum": 9007199254740993, "title": "Catalogue number" },
  "id2": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
  "tag": { "type": "string" },
  "größe: cm": { "type": "string" },
  "indoors": { "type": "boolean" },
  "planted": { "type": "string", "format": "date" },
  "watered": { "type": "string", "format": "date-time" },
  "grower": { "type": "string", "format": "email" },
  "page": { "type": "string", "format": "uri" },
  "notes": { "type": "string", "maxLength": 2000 },
  "care": { "type": "object", "required": ["ml"], "properties": { "ml": { "type": "integer" } } },
  "alias": { "type": ["string", "null"] },
  "": { "type": "string" }
}`
const documentWith = (required: readonly string[], its = properties): string => `{
  "openapi": "3.1.0",
  "info": { "title": "Mine", "version": "1" },
  "paths": { "/plants": { "post": { "requestBody": { "content": { "application/json": { "schema": {
    "type": "object", "required": ${JSON.stringify(required)}, "properties": ${its}
  } } } }, "responses": { "200": { "description": "ok" } } } } }
}`
const required = ['id', 'name', 'light', 'constructor', 'größe: cm']

interface Visit {
  readonly page: Page
  /** The document of the server. */
  readonly file: string
  /** Sends a request, and returns the text of its answer. */
  readonly send: (method: string, path: string, body?: string) => Promise<string>
}

describe("the home page of a document of one's own", { skip: noBrowser }, () => {
  async function visit(document: string, run: (visit: Visit) => Promise<void>): Promise<void> {
    await using folder = await makeFolder()
    const file = folder.file('own.json')
    await writeFile(file, document)
    await using store = await startPlantStore({ document: file })
    await using watched = await open(`${store.url}/`, { timezoneId: 'America/New_York' })
    const headers = { authorization: `Bearer ${store.token}`, 'content-type': 'application/json' }
    const send = async (method: string, path: string, body: string | null = null): Promise<string> =>
      (await fetch(store.url + path, { method, headers, body })).text()
    await enter(watched.page, store.token)
    await run({ page: watched.page, file, send })
    assertQuiet(watched)
  }

  const whole =
    '{"id":1,"__proto__":"","light":3,"name":"Fern","constructor":9223372036854775807,"id2":0.25,"tag":"","größe: cm":"",' +
    '"indoors":false,"planted":"soon","watered":"2026-07-01T06:00:00.50+02:00","grower":"a@b.c","page":"https://a.example/",' +
    '"notes":"one\\r\\ntwo","care":{"ml":9007199254740995,"__proto__":{"toString":1.5}},"alias":null}'
  const loose = properties.replace('"format": "date" ', '"maxLength": 20 ')

  test('creates plants with every property, and says beside its field what is wrong', () =>
    visit(documentWith(required), async ({ page, send }) => {
      const form = page.locator('#create')
      const field = (label: string): Locator => form.getByLabel(label, { exact: true })
      const create = form.getByRole('button', { name: 'Create' })
      await assertAccessible(page, 'a form with many properties')
      await field('Name').fill('Fern')
      await create.click()
      await form.getByText('Enter a value.').first().waitFor()
      assert.deepEqual(await form.locator('.error:not(:empty)').allTextContents(), [
        'Choose a light.',
        'Enter a value.',
      ])
      await form.getByText('</script><!-- <script> & "quotes"', { exact: true }).waitFor()
      await field('Light').selectOption({ label: '3' })
      await field('Catalogue number').fill('7')
      await field('Care (optional)').fill('{"ml": 1')
      await field('Planted (optional)').pressSequentially('02')
      await create.click()
      await form.getByText('This is incomplete.').waitFor()
      await field('Planted (optional)').fill('2026-02-28')
      await field('Care (optional)').fill('{"ml": 9007199254740995, "x": [1.50, null]}')
      await field('Id2 (optional)').fill('wide')
      await field('Größe: cm').fill('12 cm')
      await create.click()
      await form.getByText(/^Constructor must be .*9007199254740993, got 7.* \(error 40002\)$/).waitFor()
      // The server names the first thing that is wrong.
      assert.equal(await form.locator('[aria-invalid]').count(), 1)
      await field('Catalogue number').fill('09223372036854775807')
      await create.click()
      await form.getByText(/^Id2 must be .*, got "wide"\. \(error 40002\)$/).waitFor()
      assert.equal(await form.locator('[aria-invalid]').count(), 1)
      await field('Id2 (optional)').fill('0.250')
      await field('__proto__ (optional)').fill('p')
      await field('Indoors (optional)').selectOption('true')
      await field('Watered (optional)').fill('2026-07-01T06:00:00.50+02:00')
      await field('Grower (optional)').fill('me@example.com')
      await field('Page (optional)').fill('https://example.com/x')
      await field('Notes (optional)').fill('one\ntwo')
      await field('Alias (optional)').fill('"a"')
      await field('(empty) (optional)').fill('blank')
      await create.click()
      await created(page, 1)
      await page.locator('tr[data-id="1"]').waitFor()
      const wanted =
        '{"id":1,"__proto__":"p","light":3,"name":"Fern","constructor":9223372036854775807,"id2":0.25,"größe: cm":"12 cm",' +
        '"indoors":true,"planted":"2026-02-28","watered":"2026-07-01T06:00:00.50+02:00","grower":"me@example.com",' +
        '"page":"https://example.com/x","notes":"one\\ntwo","care":{"ml":9007199254740995,"x":[1.5,null]},"alias":"a","":"blank"}'
      assert.equal(await send('GET', '/plants/1'), wanted)
      const cells = await page.locator('tr[data-id="1"] td').allTextContents()
      assert.match(cells.join('; '), /; Feb 28, 2026; Jul 1, 2026, 12:00\sAM; /)
      await field('Name').fill('Moss')
      await field('Light').selectOption('sun')
      await field('Catalogue number').fill('9007199254740993')
      await create.click()
      await created(page, 2)
      const least = '{"id":2,"light":"sun","name":"Moss","constructor":9007199254740993,"größe: cm":""}'
      assert.equal(await send('GET', '/plants/2'), least)
      await page.goto(new URL('docs', page.url()).href)
      await page.locator('#schema-Plant').getByText('string or null', { exact: true }).waitFor()
    }))

  test('shows every property, and sends what a person does not change as it was', () =>
    visit(documentWith(required, loose), async ({ page, send }) => {
      const dialog = page.locator('#edit')
      const edit = async (): Promise<void> => {
        await page.getByRole('button', { name: 'Edit plant 1', exact: true }).click()
        await dialog.waitFor()
      }
      const save = async (): Promise<void> => {
        await dialog.getByRole('button', { name: 'Save' }).click()
        await dialog.waitFor({ state: 'hidden' })
        await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' })
      }
      await send('POST', '/plants', whole)
      await reads(page, '#table tbody a.name', 'Fern')
      const cells = await page.locator('#table tbody td').allTextContents()
      const shown = ['1', 'Fern', '(empty)', '(empty)', '3', '9223372036854775807', '0.25', '(empty)', 'No', 'soon']
      assert.deepEqual(cells.slice(0, shown.length), shown)
      assert.deepEqual(cells.slice(-4, -2), ['{ "ml": 9007199254740995, "__proto__": { "toString": 1.5 } }', 'null'])
      const heads = (await page.locator('#table th').allTextContents()).slice(0, 6)
      assert.deepEqual(heads, ['Id', 'Name', 'Tag', '__proto__', 'Light', 'Catalogue number'])
      await page.locator('a.name').click()
      await page.locator('#plant[open]').waitFor()
      assert.match(await textOf(page, '#plant-facts'), /Catalogue number9223372036854775807Id20\.25.*Aliasnull/s)
      await page.locator('#plant-requests').getByRole('button', { name: 'PUT' }).click()
      await page.locator('#plant-requests button').getByText('JavaScript').click()
      const code = await textOf(page, '#plant-requests pre')
      assert.match(code, /body: '\{.*"__proto__":"",.*"constructor":9223372036854775807,/)
      await page.keyboard.press('Escape')
      await edit()
      await assertAccessible(page, 'a dialog with many properties')
      await save()
      assert.equal(await send('GET', '/plants/1'), whole)
      await edit()
      await dialog.getByLabel('Notes (optional)').press('End')
      await dialog.getByLabel('Notes (optional)').press('!')
      await dialog.getByLabel('Light').selectOption('shade')
      for (const label of ['Id2 (optional)', 'Planted (optional)', 'Care (optional)', 'Alias (optional)', 'Name'])
        await dialog.getByLabel(label).fill('')
      await dialog.getByLabel('Indoors (optional)').selectOption('')
      await save()
      const changed =
        '{"id":1,"__proto__":"","light":"shade","name":"","constructor":9223372036854775807,"tag":"","größe: cm":"",' +
        '"watered":"2026-07-01T06:00:00.50+02:00","grower":"a@b.c","page":"https://a.example/","notes":"one\\r\\ntwo!"}'
      assert.equal(await send('GET', '/plants/1'), changed)
      await edit()
      await dialog.getByLabel('Name').fill('mine')
      await send('PUT', '/plants/1', changed.replace('"id":1,', '').replace('"tag"', '"indoors":true,"tag"'))
      await page.locator('#edit-conflict table').waitFor()
      const rows = await page.locator('#edit-conflict tr').allTextContents()
      assert.deepEqual(rows, ['OriginalYoursTheirs', 'Name(empty)mine(empty)Use this', 'Indoors(none)truetrue'])
      assert.equal(await dialog.getByLabel('Indoors (optional)').inputValue(), 'true')
      await page.keyboard.press('Escape')
      await page.locator('tr.fresh td').getByText('Yes').waitFor()
    }))

  test('reads and writes files as the commands do, with its columns', () =>
    visit(documentWith(required, loose), async ({ page, send, file }) => {
      const columns = columnsOf((await openContract(file)).properties)
      const csv = csvHeader(columns) + csvOf({ id: 1n, json: whole }, columns, () => {})
      // CSV has no empty optional text.
      const read = whole.replace('"__proto__":"",', '').replace('"tag":"",', '')
      await openMany(page)
      await page.getByText('The first row names the columns: id, __proto__, light,').waitFor()
      const rest = '2,,sun,b,9007199254740993,x,,,TRUE\n3,,sun,c,1e400,,,,no\n4,,,d,9007199254740993\n'
      const give = (text: string): Promise<void> =>
        page.locator('#file').setInputFiles({ name: 'plants', mimeType: '', buffer: Buffer.from(text) })
      await give(csv + rest)
      await page.getByText('3 ready, 1 with a problem.').waitFor()
      assert.deepEqual(await page.locator('#preview .error').allTextContents(), [
        'is not JSON, or has a number that is too large 3,,sun,c,1e400,,,,no',
      ])
      const add = page.getByRole('dialog').getByRole('button', { name: /^Add / })
      await add.click()
      await page.locator('#many-status').getByText('1 plant added, 3 rejected of 4 rows.').waitFor()
      assert.match(await textOf(page, '#preview tr:nth-child(2) .error'), /^id2: must be .*got "x"/)
      await give(csv + rest.replace(',x,', ',0.5,'))
      await add.click()
      await page.locator('#many-status').getByText('1 plant added, 1 there already, 2 rejected of 4 rows.').waitFor()
      assert.equal(await send('GET', '/plants/1'), read)
      const second =
        '{"id":2,"light":"sun","name":"b","constructor":9007199254740993,"id2":0.5,"größe: cm":"","indoors":true}'
      assert.equal(await send('GET', '/plants/2'), second)
      await give(`${read}\n${second.replace('"b"', '"other"')}\n{"id":5,"name":"e"}\n{"id":900,"name":"f"}`)
      await reads(page, '#many-error', 'Line 4: id must be from 0 to 800.')
      await add.click()
      await page.locator('#many-status').getByText('0 plants added, 1 there already, 3 rejected of 4 rows.').waitFor()
      await page.keyboard.press('Escape')
      for (const [button, text] of [
        [
          'Export as CSV',
          csvHeader(columns) + [read, second].map((json) => csvOf({ id: 1n, json }, columns, () => {})).join(''),
        ],
        ['Export as NDJSON', `${read}\n${second}\n`],
      ] as const) {
        await page.locator('#more summary').click()
        const downloading = page.waitForEvent('download')
        await page.getByRole('button', { name: button }).click()
        assert.equal(await readFile(await (await downloading).path(), 'utf8'), text)
      }
    }))

  exhaustive.test('adds example plants with a sample of what is required, and none of what is not declared', () => {
    const samples = `{
      "id": { "type": "integer" }, "name": { "type": "string" },
      "one": { "type": "string", "examples": ["first"], "default": "second" },
      "two": { "enum": ["b", "c"] },
      "three": { "type": "integer", "exclusiveMinimum": 9007199254740993 },
      "four": { "type": "object", "required": ["a"], "properties": { "a": { "type": "array", "minItems": 2, "items": { "type": "number", "maximum": -1 } } } },
      "five": { "type": "string", "format": "date-time" },
      "six": { "type": "string", "minLength": 8 },
      "seven": { "type": "boolean" }
    }`
    const its = ['one', 'two', 'three', 'four', 'five', 'six', 'seven']
    return visit(documentWith(['id', 'name', ...its], samples), async ({ page, send }) => {
      await page.getByRole('button', { name: 'Add example plants' }).click()
      await says(page, '60 plants added.')
      const wanted =
        '{"id":1,"name":"Monstera deliciosa","one":"first","two":"b","three":9007199254740994,' +
        '"four":{"a":[-1,-1]},"five":"2026-01-31T12:00:00Z","six":"sample--","seven":false}'
      assert.equal(await send('GET', '/plants/1'), wanted)
      assert.equal(await page.locator('#more-tags').isVisible(), false)
    })
  })

  exhaustive.test('says why it cannot add example plants', () => {
    const odd = '{"id":{"type":"integer"},"name":{"type":"string"},"code":{"type":"string","pattern":"^[0-9]+$"}}'
    return visit(documentWith(['id', 'name', 'code'], odd), async ({ page }) => {
      await page.getByRole('button', { name: 'Add example plants' }).click()
      await reads(page, '#many-status', '0 plants added, 60 rejected of 60 rows.')
      assert.match(await textOf(page, '#preview tr:nth-child(2) .error'), /^code: must match pattern/)
    })
  })
})
