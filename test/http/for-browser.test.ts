// HTML error pages for browsers that open an API URL, and the choice of a media type by Accept.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { startPlantStore } from '../../src/embed/start.ts'
import { prefers } from '../../src/http/negotiation.ts'

test('an error page links to the same plant or search on the home page, below any path', async () => {
  await using store = await startPlantStore()
  const open = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${store.url}${path}`, { headers: { accept: 'text/html', ...headers } })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  for (const [path, status, link] of [
    ['/plants', 401, './'],
    ['/plants?tag=a%22%3Cb%3E&name=x', 401, './?tag=a%22%3Cb%3E&amp;name=x'],
    ['/plants/7', 401, '../?plant=7'],
    ['/plants/-9', 401, '../?plant=-9'],
    ['/plants/x', 401, '../'],
    ['/changes', 401, './'],
    ['/a/b/c', 404, '../../'],
    ['/plants/7/', 404, '../../'],
    ['/site/none.css', 404, '../'],
    ['/%3Cscript%3E"<b>', 404, './'],
  ] as const) {
    const { status: got, type, text } = await open(path)
    assert.deepEqual([got, type], [status, 'text/html'], path)
    assert.ok(text.includes(`<a class="button" href="${link}">`), `${path}: ${text}`)
    assert.doesNotMatch(text.replace('<b>Plant Store</b>', ''), /<script|<b>/)
  }
  assert.match((await open('/plants/7', { authorization: 'Bearer x' })).text, /^\{"error":40/)
})

test('a target that is not a path also gets a page', async () => {
  await using store = await startPlantStore()
  const socket = connect(Number(new URL(store.url).port), '127.0.0.1')
  socket.end('GET * HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n')
  assert.match(`${await socket.toArray()}`, /^HTTP\/1\.1 404 .*<a class="button" href="\.\/">/s)
})

test('GET / refuses a token that the server does not know, but shows a browser its page', async () => {
  await using store = await startPlantStore()
  // A proxy may add a token of its own to the requests of a browser.
  for (const [accept, status] of [
    ['application/json', 401],
    ['text/html', 200],
  ] as const) {
    const response = await fetch(`${store.url}/`, { headers: { authorization: 'Bearer plt_unknown', accept } })
    assert.deepEqual([response.status, response.headers.get('content-type')], [status, accept])
  }
})

test('a media type is chosen if it is named, acceptable, and weighs as much as JSON', () => {
  const chosen = ['application/xml, TEXT/HTML;q=0.1', 'text/html;level=1;q=0.5, */*', 'text/html, application/json']
  const others = [
    ...['', '*/*', 'text/*', 'text/html;q=0', 'text/html; q=0.000', 'text/htmlx', 'application/json, text/html;q=0.9'],
    ...['text/html;q=x', 'application/json', undefined],
  ]
  for (const accept of chosen) assert.ok(prefers('text/html', accept), accept)
  for (const accept of others) assert.ok(!prefers('text/html', accept), `${accept}`)
})
