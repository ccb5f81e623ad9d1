// Paths and methods inside and outside the document. None of these requests could make a faulty server change anything
// outside the range.

import { field, hasNoBody, refusal, status } from '../checks.ts'
import type { Check, Circumstances, Row } from '../row.ts'
import { keptWith, refused, row, type Source } from './building.ts'

const where = 'the description of the document'
const unknownPath: Source = { document: 'an unknown path gets 404', where }
const notAllowed: Source = { document: 'a method that the path does not have gets 405 with Allow', where }
const unknownMethod: Source = { document: 'an unknown method gets 501', where }
const options: Source = { document: 'OPTIONS gets 204 with Allow and needs no token', where }
const onPlants = 'GET, HEAD, OPTIONS, POST'
const onPlant = 'DELETE, GET, HEAD, OPTIONS, PUT'
const onPages = 'GET, HEAD, OPTIONS'

export function pathRows(circumstances: Circumstances): readonly Row[] {
  return [...targetRows(circumstances), ...methodRows(circumstances), ...pageRows()]
}

function targetRows({ ids }: Circumstances): Row[] {
  const found: Source = { document: 'createPlant is at /plants, and ignores a query', where: 'createPlant' }
  const unknown = (target: string): Row =>
    refused(`target ${target.slice(0, 40)}`, unknownPath, 'unknownPath', { target }, ids.next())
  return [
    keptWith('target /plants?unknown=1', found, ids.next(), { target: '/plants?unknown=1' }),
    keptWith('target /plants?', found, ids.next(), { target: '/plants?' }),
    unknown('/plants/'),
    unknown('/plants/1/leaves'),
    unknown('/Plants'),
    unknown('/plants;v=1'),
    unknown('/plants%2F'),
    unknown('/favicon.ico'),
    unknown(`/${'a'.repeat(5_000)}`),
  ]
}

function methodRows({ ids }: Circumstances): Row[] {
  const id = ids.next()
  const at = (method: string, path: string, says: Source, checks: readonly Check[]): Row =>
    row(`${method} ${path}`, says, [id], { request: { method, target: path.replace('{id}', String(id)) }, checks })
  const refusedWith405 = (allow: string): readonly Check[] => [...refusal('methodNotAllowed'), field('Allow', allow)]
  const allows = (allow: string): readonly Check[] => [status(204), field('Allow', allow), hasNoBody]
  return [
    ...['TRACE', 'QUERY'].map((method) => at(method, '/plants', notAllowed, refusedWith405(onPlants))),
    ...['POST', 'PATCH', 'TRACE', 'QUERY'].map((method) =>
      at(method, '/plants/{id}', notAllowed, refusedWith405(onPlant)),
    ),
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'].map((method) =>
      at(method, '/livez', notAllowed, refusedWith405(onPages)),
    ),
    at('TRACE', '/', notAllowed, refusedWith405(onPages)),
    at('PROPFIND', '/plants', unknownMethod, refusal('unknownMethod')),
    at('PROPFIND', '/nowhere', unknownMethod, refusal('unknownMethod')),
    at('GET', '/nowhere', unknownPath, refusal('unknownPath')),
    at('HEAD', '/nowhere', unknownPath, [...refusal('unknownPath'), hasNoBody]),
    at('OPTIONS', '/nowhere', unknownPath, refusal('unknownPath')),
    at('OPTIONS', '/plants', options, allows(onPlants)),
    at('OPTIONS', '/plants/{id}', options, allows(onPlant)),
    at('OPTIONS', '/readyz', options, allows(onPages)),
  ]
}

function pageRows(): Row[] {
  const says: Source = {
    document: 'defines this path, and HEAD wherever it defines GET',
    where: 'the paths of the document',
  }
  return ['/', '/livez', '/readyz', '/openapi.json', '/openapi.yaml', '/site/style.css'].flatMap((target) => [
    row(`GET ${target}`, says, [], { request: { method: 'GET', target }, checks: [status(200)] }),
    row(`HEAD ${target}`, says, [], { request: { method: 'HEAD', target }, checks: [status(200), hasNoBody] }),
  ])
}
