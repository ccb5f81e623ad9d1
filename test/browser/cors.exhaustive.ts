// A page of another origin creates, reads and deletes a plant in a real browser, and can read errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAnswering } from '../support/answering.ts'
import { noBrowser } from '../support/browser.ts'
import { open, store } from './visits.ts'

/** What the page does: each request's status, body and the header fields that a script can see. */
async function script({ url, token }: { url: string; token: string }) {
  const call = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
    const init = {
      method,
      headers: { Authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body }),
    }
    const response = await fetch(url + path, init)
    return { status: response.status, body: await response.text(), headers: Object.fromEntries(response.headers) }
  }
  const json = { 'Content-Type': 'application/json', 'Idempotency-Key': 'browser' }
  return {
    created: await call('POST', '/plants', json, '{"id":9007199254740993,"name":"Ficus"}'),
    refused: await call('POST', '/plants', json, '{"id":1.5}'),
    read: await call('GET', '/plants/9007199254740993'),
    listed: await call('GET', '/plants?limit=1'),
    unknown: await call('GET', '/plants/1', { 'If-None-Match': '"x"' }),
    unauthorised: await call('GET', '/plants', { Authorization: 'Bearer nonsense' }),
    deleted: await call('DELETE', '/plants/9007199254740993', { 'If-Match': '*' }),
  }
}

test('a browser lets a page of another origin use the service', { skip: noBrowser }, async () => {
  await using garden = await startAnswering((_, response) => {
    response.setHeader('Content-Type', 'text/html').end('<title>garden</title>')
  })
  await using opened = await open(garden.url)
  const seen = await opened.page.evaluate(script, { url: store.url, token: store.token })
  assert.equal(seen.created.status, 200)
  assert.equal(seen.created.headers['location'], '/plants/9007199254740993')
  assert.match(seen.created.headers['x-request-id'] ?? '', /-/)
  assert.equal(seen.refused.status, 400)
  assert.match(seen.refused.body, /"error":40002,"message":"name: is missing; id: must be an integer/)
  assert.equal(seen.read.body, '{"id":9007199254740993,"name":"Ficus"}')
  assert.match(seen.read.headers['etag'] ?? '', /^"/)
  assert.equal(seen.listed.status, 200)
  assert.equal(JSON.parse(seen.unknown.body).error, 40402)
  assert.equal(JSON.parse(seen.unauthorised.body).error, 40102)
  assert.match(seen.unauthorised.headers['www-authenticate'] ?? '', /invalid_token/)
  assert.equal(seen.deleted.status, 204)
})
