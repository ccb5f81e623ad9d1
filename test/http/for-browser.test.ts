// What a person gets who opens an address of the API, and what a token learns about itself.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PlantStoreClient } from '../../client/client.ts'
import { startPlantStore } from '../../src/embed/start.ts'

test('a page in place of a 401 or 404 leads to what the address names, below any path', async () => {
  await using store = await startPlantStore()
  const open = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${store.url}${path}`, { headers: { accept: 'text/html', ...headers } })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  for (const [path, status, link] of [
    ['/plants', 401, './'],
    ['/plants?tag=a%22%3Cb%3E&name=x', 401, './?tag=a%22%3Cb%3E&amp;name=x'],
    ['/plants/7', 401, '../?plant=7'],
    ['/plants/-9223372036854775808', 401, '../?plant=-9223372036854775808'],
    ['/plants/x', 401, '../'],
    ['/summary', 401, './'],
    ['/changes', 401, './'],
    ['/a/b/c', 404, '../../'],
    ['/plants/7/', 404, '../../'],
    ['/site/none.css', 404, '../'],
    ['/%3Cscript%3E"<b>', 404, './'],
  ] as const) {
    const { status: got, type, text } = await open(path)
    assert.deepEqual([got, type], [status, 'text/html'], path)
    assert.ok(text.includes(`<a class="button" href="${link}">`), `${path}: ${text}`)
    assert.doesNotMatch(text, /<script|<b>/)
  }
  for (const headers of [{ authorization: 'Bearer x' }, { accept: 'application/json' }, { accept: 'text/html;q=0' }]) {
    assert.match((await open('/plants/7', headers)).text, /^\{"error":40/)
  }
})

test('GET / tells a token its name and scopes, and refuses a token that the server does not know', async () => {
  await using store = await startPlantStore()
  const home = (headers: Record<string, string>) => fetch(`${store.url}/`, { headers })
  const readOnly = await store.tokenWith(['plants:read'])
  const { caller } = await new PlantStoreClient({ url: store.url, token: readOnly }).getHome()
  assert.deepEqual(caller?.scopes, ['plants:read'])
  assert.deepEqual(Object.keys(caller).sort(), ['id', 'name', 'scopes'])
  assert.equal((await new PlantStoreClient({ url: store.url }).getHome()).caller, undefined)
  const known = await home({ authorization: `Bearer ${readOnly}` })
  assert.equal(known.headers.get('cache-control'), 'private, no-cache')
  assert.match(known.headers.get('vary') ?? '', /Authorization/)
  const unknown = await home({ authorization: 'Bearer plt_unknown' })
  assert.deepEqual([unknown.status, JSON.parse(await unknown.text()).error], [401, 40102])
  // A proxy may add a token of its own to the requests of a browser.
  const page = await home({ authorization: 'Bearer plt_unknown', accept: 'text/html' })
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html'])
})
