// The requests that benches send.

import type { RequestTemplate } from './load.ts'

const plantBody = '{"id":{id},"name":"Monstera deliciosa","tag":"aroid"}'

/** Creates a plant with a new id. */
export function createPlant(token: string): RequestTemplate {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return { method: 'POST', path: '/plants', body: plantBody, headers, ids: 'next' }
}

/** Reads one of the plants 1, 2, 3, ... */
export function getPlant(token: string): RequestTemplate {
  return { method: 'GET', path: '/plants/{id}', headers: { Authorization: `Bearer ${token}` }, ids: 'stored' }
}

/** Reads a page. `{id}` in the query is the number of the page. */
export function listPlants(token: string, query: string): RequestTemplate {
  return { method: 'GET', path: `/plants?${query}`, headers: { Authorization: `Bearer ${token}` }, ids: 'turn' }
}
