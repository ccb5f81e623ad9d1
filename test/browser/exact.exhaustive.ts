// The home page changes no byte of a text: texts of all kinds pass unchanged through create, edit of another field,
// conflict, paste and export.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { loadContract } from '../../src/contract/contract.ts'
import { columnsOf } from '../../src/files/columns.ts'
import { csvHeader, csvOf } from '../../src/files/formats.ts'
import { noBrowser } from '../support/browser.ts'
import { toPlant } from '../support/plants.ts'
import { assertQuiet, create, created, enter, openMany, reads, saved } from './home-page.ts'
import { open, store } from './visits.ts'

/** What people and programs have in names. */
const kinds = [
  '',
  ' ',
  ' a ',
  'a\r\nb\rc\nd',
  '\u05e9\u05dc\u05d5\u05dd \u202eabc\u202c \u0645\u0631\u062d\u0628\u0627',
  '\u{1f469}\u{1f3fd}\u200d\u{1f33e} \u2764\ufe0f\u200d\u{1f525} \u{1f1e9}\u{1f1ea}',
  'a\u200bb\u200d\u2060\ufeffc\u00ad',
  'e\u0301 \u00e9 \u212b \u00c5',
  '\u{1d538}'.repeat(1_024),
  '"quoted", \'single\' \\ $(rm) `x` %s {{}} <b>&amp;</b>',
  '=1+1',
  '\t\u0001\u001f\u007f\u0085\u2028\u2029',
  'id,name,tag',
]
const text = fc.oneof(fc.constantFrom(...kinds), fc.string({ unit: 'binary', maxLength: 40 }))
const columns = columnsOf(loadContract().properties)
const withoutNul = (value: string): string => value.replaceAll('\0', '0')
const name = text.map(withoutNul)
const tag = fc.option(
  text.map((value) => withoutNul(Array.from(value).slice(0, 256).join(''))),
  { nil: undefined },
)

describe('texts of every kind', { skip: noBrowser }, () => {
  test('go through the page unchanged', async () => {
    await store.reset()
    await using watched = await open(`${store.url}/`)
    const { page } = watched
    const stored = async (id: number): Promise<unknown> => {
      const { etag: _, id: __, ...plant } = await store.client.getPlant(id)
      return plant
    }
    const plantOf = (its: { name: string; tag: string | undefined }): object => ({
      name: its.name,
      ...(its.tag !== undefined && { tag: its.tag }),
    })
    await enter(page, store.token)
    await page.getByRole('heading', { name: 'Create your first plant' }).waitFor()
    let id = 0
    await fc.assert(
      fc.asyncProperty(fc.record({ name, tag }), async (plant) => {
        id += 1
        // By the form, which has one line for each text and no empty tag.
        const typed = { name: plant.name.replaceAll(/[\r\n]/g, ' '), tag: plant.tag?.replaceAll(/[\r\n]/g, ' ') }
        await create(page, String(id), typed.name, typed.tag ?? '')
        await created(page, id)
        assert.deepEqual(await stored(id), plantOf({ ...typed, tag: typed.tag || undefined }))
        // Another client changes it to any text; then the page changes the other field, through a conflict.
        await page.goto(`${store.url}/?name=&after=${id - 1}&from=${id}`)
        await page.getByRole('button', { name: `Edit plant ${id}`, exact: true }).click()
        await page.getByRole('dialog').getByLabel('Name').fill('mine')
        await store.client.replacePlant(id, { name: 'theirs' })
        await page.locator('#edit-conflict table').waitFor()
        await store.client.replacePlant(id, plantOf(plant) as { name: string })
        await page.reload()
        await page.getByRole('button', { name: `Edit plant ${id}`, exact: true }).click()
        await page.getByRole('dialog').getByLabel('Tag (optional)').fill('other')
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
        await saved(page)
        assert.deepEqual(await stored(id), { name: plant.name, tag: 'other' })
        await store.client.replacePlant(id, plantOf(plant) as { name: string })
      }),
      { numRuns: 12, endOnFailure: true },
    )
    assertQuiet(watched)
  })

  test('are pasted and exported unchanged', async () => {
    await store.reset()
    await using watched = await open(`${store.url}/`)
    const { page } = watched
    const plants = fc.sample(fc.record({ name, tag }), { numRuns: 60, seed: 7 }).map((plant, at) => ({
      id: BigInt(at) - 30n,
      name: plant.name,
      ...(plant.tag !== undefined && { tag: plant.tag }),
    }))
    const all = {
      csv: csvHeader(columns) + plants.map((plant) => csvOf(toPlant(plant), columns, () => {})).join(''),
      ndjson: plants.map((plant) => `${toPlant(plant).json}\n`).join(''),
    }
    await enter(page, store.token)
    await openMany(page)
    await page.locator('#many[open]').waitFor()
    await page.locator('#file').setInputFiles({ name: 'p.ndjson', mimeType: '', buffer: Buffer.from(all.ndjson) })
    await page.getByText('60 ready.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: /^Add / }).click()
    await page.locator('#many-status').getByText('60 plants added of 60 rows.').waitFor()
    await page.keyboard.press('Escape')
    await reads(page, '#status', '1 to 25 of 60')
    for (const [button, form] of [
      ['Export as CSV', 'csv'],
      ['Export as NDJSON', 'ndjson'],
    ] as const) {
      await page.locator('#more summary').click()
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: button }).click()
      assert.equal(await readFile(await (await downloading).path(), 'utf8'), all[form], form)
    }
    assertQuiet(watched)
  })
})
