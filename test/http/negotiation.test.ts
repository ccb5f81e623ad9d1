// The choice of a media type by Accept.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prefers } from '../../src/http/negotiation.ts'

test('a media type is chosen if it is named, acceptable, and weighs as much as JSON', () => {
  const chosen = [
    'text/html',
    'application/xml, TEXT/HTML;q=0.1',
    'text/html;level=1;q=0.5, */*',
    'text/html, application/json',
  ]
  const others = [
    ...['', '*/*', 'text/*', 'text/html;q=0', 'text/html; q=0.000', 'text/htmlx', 'application/json, text/html;q=0.9'],
    ...['text/html;q=x', 'application/json'],
  ]
  for (const accept of chosen) assert.ok(prefers('text/html', accept), accept)
  for (const accept of others) assert.ok(!prefers('text/html', accept), accept)
  assert.ok(!prefers('text/html', undefined))
})
