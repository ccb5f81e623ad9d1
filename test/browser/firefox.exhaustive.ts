// The home page in Firefox: usable by keyboard alone, without requests to other servers or violations of its policy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPlantStore } from '../../src/embed/start.ts'
import { until } from '../support/time.ts'
import { FirefoxPage, noFirefox } from './firefox.ts'

const enter = '\ue007'
const tab = '\ue004'

test('the home page works in Firefox', { skip: noFirefox }, async () => {
  await using store = await startPlantStore({ plants: [{ id: 7, name: 'Ficus', tag: 'fig' }] })
  await using page = await FirefoxPage.open(`${store.url}/`)
  const text = (selector: string): Promise<string> => page.textOf(`document.querySelector('${selector}').textContent`)
  const reads = (selector: string, wanted: string): Promise<void> =>
    until(`${selector} reads ${wanted}`, async () => (await text(selector)) === wanted)
  const hasFocus = (id: string): Promise<void> =>
    until(`#${id} has the focus`, async () => (await page.textOf('document.activeElement.id')) === id)
  await hasFocus('secret')
  await page.type(`${store.token}${enter}`)
  await reads('#status', '1 plant')
  await reads('#live', 'Live')
  await page.type('n')
  await hasFocus('name')
  await page.type(`Rosa${tab}rose${enter}`)
  await reads('#changed', 'Created "Rosa" with the id 2.')
  assert.equal((await store.client.getPlant(2)).tag, 'rose')
  await page.textOf("String(document.querySelector('#table').focus())")
  await page.type('/')
  await hasFocus('prefix')
  await page.type('fic')
  await reads('#status', '1 plant')
  assert.match(await page.textOf('location.search'), /^\?name=fic$/)
  await store.client.replacePlant(7, { name: 'Ficus lyrata' })
  await reads('tbody a.name', 'Ficus lyrata')
  await page.textOf("String(document.querySelector('[data-action=edit]').focus())")
  await page.type(enter)
  await hasFocus('edit-name')
  await page.type('mine')
  await store.client.replacePlant(7, { name: 'theirs' })
  await until('the conflict is shown', async () => (await text('#edit-conflict')).includes('theirs'))
  await page.type(enter)
  await hasFocus('edit-conflict')
  assert.equal((await store.client.getPlant(7)).name, 'theirs')
  const held = "String(document.querySelector('#edit [data-overwrite][inert]'))"
  await until('it can be overwritten', async () => (await page.textOf(held)) === 'null')
  await page.type(`${tab}${tab}${enter}`)
  await until('the plant is overwritten', async () => (await store.client.getPlant(7)).name !== 'theirs')
  const isOpen = "String(document.querySelector('dialog[open]') !== null)"
  await until('the dialog is closed', async () => (await page.textOf(isOpen)) === 'false')
  await page.textOf("String(document.querySelector('#log-toggle').focus())")
  await page.type(enter)
  await page.textOf("String(document.querySelector('#log-list li:not(.aside) button').focus())")
  await page.type(enter)
  await until('the request is shown as code', async () => /^curl -i /.test(await text('#log-detail .snippets pre')))
  assert.deepEqual(page.errors, [])
  const outside = page.requests.filter((url) => new URL(url).origin !== store.url && !/^(?:data|about|blob):/.test(url))
  assert.deepEqual(outside, [])
})
