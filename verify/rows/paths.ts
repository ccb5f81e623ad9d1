// Paths and methods inside and outside the document. None of these requests could make a faulty server change anything
// outside the range.

import type { Contract } from '../../src/contract/contract.ts'
import { int64Max } from '../../src/domain/plant.ts'
import { field, hasNoBody, isError, members, membersOf, refusal, sameField, status } from '../checks.ts'
import { fieldOf, jsonOf, type RowRequest } from '../message.ts'
import type { AnswerCheck, Check, Circumstances, OneStep, Row } from '../row.ts'
import { call, forProxies, keptWith, refused, row, type Source } from './building.ts'
import { withEtagOf } from './etags.ts'

const where = 'the description of the document'
const unknownPath: Source = { document: 'an unknown path gets 404', where }
const anError: Source = { document: 'every error on every path has the same body, an Error', where }
const notAllowed: Source = { document: 'a method that the path does not have gets 405 with Allow', where }
const unknownMethod: Source = { document: 'an unknown method gets 501', where }
const options: Source = { document: 'OPTIONS gets 204 with Allow and needs no token', where }
const onPlants = 'GET, HEAD, OPTIONS, POST'
const onPlant = 'DELETE, GET, HEAD, OPTIONS, PUT'
const onPages = 'GET, HEAD, OPTIONS'

export function pathRows(circumstances: Circumstances): readonly Row[] {
  return [...targetRows(circumstances), ...methodRows(circumstances), ...pageRows(circumstances)]
}

function targetRows({ ids }: Circumstances): Row[] {
  const found: Source = { document: 'createPlant is at /plants, and ignores a query', where: 'createPlant' }
  const unknown = (target: string): Row =>
    refused(`target ${target.slice(0, 40)}`, unknownPath, 'unknownPath', { target }, ids.next())
  return [
    keptWith('target /plants?unknown=1', found, ids.next(), { target: '/plants?unknown=1' }),
    keptWith('target /plants?', found, ids.next(), { target: '/plants?' }),
    unknown('/plants/'),
    unknown('/summary/'),
    unknown('/plants/1/leaves'),
    unknown('/Plants'),
    unknown('/plants;v=1'),
    unknown('/plants%2F'),
    unknown('/favicon.ico'),
    forProxies(unknown(`/${'a'.repeat(5_000)}`)),
  ]
}

function methodRows({ ids }: Circumstances): Row[] {
  const id = ids.next()
  const at = (method: string, path: string, says: Source, checks: readonly Check[]): Row => {
    const request = { method, target: path.replace('{id}', String(id)), headers: withoutToken(method) }
    const described = row(`${method} ${path}`, says, [id], { request, checks })
    return ['TRACE', 'QUERY', 'PROPFIND'].includes(method) ? forProxies(described) : described
  }
  const refusedWith405 = (allow: string): readonly Check[] => [
    ...refusal('methodNotAllowed'),
    members('Allow', ...membersOf(allow)),
  ]
  const allows = (allow: string): readonly Check[] => [status(204), members('Allow', ...membersOf(allow)), hasNoBody]
  return [
    ...['TRACE', 'QUERY'].map((method) => at(method, '/plants', notAllowed, refusedWith405(onPlants))),
    ...['POST', 'PATCH', 'TRACE', 'QUERY'].map((method) =>
      at(method, '/plants/{id}', notAllowed, refusedWith405(onPlant)),
    ),
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'].map((method) =>
      at(method, '/livez', notAllowed, refusedWith405(onPages)),
    ),
    at('TRACE', '/', notAllowed, refusedWith405(onPages)),
    ...['POST', 'PUT', 'DELETE', 'PATCH'].map((method) => at(method, '/summary', notAllowed, refusedWith405(onPages))),
    ...['/', '/docs', '/readyz', '/openapi.json', '/openapi.yaml', '/site/style.css'].map((path) =>
      at('POST', path, notAllowed, refusedWith405(onPages)),
    ),
    at('PROPFIND', '/plants', unknownMethod, refusal('unknownMethod')),
    at('PROPFIND', '/nowhere', unknownMethod, refusal('unknownMethod')),
    at('GET', '/nowhere', unknownPath, refusal('unknownPath')),
    at('GET', '/plants/{id}/', unknownPath, refusal('unknownPath')),
    row(
      'an error is an Error also for a client that prefers HTML',
      anError,
      [],
      call('GET', '/nowhere', [...refusal('unknownPath'), isError], { Accept: 'text/html,*/*;q=0.1' }),
    ),
    row(
      'a person who opens an address gets a page in place of a refusal, and a program an Error',
      { document: 'a GET without Authorization that accepts text/html gets a page with a 401 or 404', where: 'info' },
      [id],
      ...(['/plants', `/plants/${id}`, '/summary', '/nowhere'] as const).flatMap((target) => [
        opened('GET', target, 'text/html,application/xhtml+xml,*/*;q=0.8', [isPage, loadsFromHere]),
        opened('HEAD', target, 'text/html', [isPage, hasNoBody]),
        opened('GET', target, 'application/json', [isError]),
        opened('GET', target, '*/*', [isError]),
      ]),
      opened('DELETE', `/plants/${id}`, 'text/html', [isError]),
    ),
    at('HEAD', '/nowhere', unknownPath, [...refusal('unknownPath'), hasNoBody]),
    at('OPTIONS', '/nowhere', unknownPath, refusal('unknownPath')),
    at('OPTIONS', '/plants', options, allows(onPlants)),
    at('OPTIONS', '/plants/{id}', options, allows(onPlant)),
    at('OPTIONS', '/summary', options, allows(onPages)),
    ...['/', '/docs', '/livez', '/readyz', '/openapi.json', '/openapi.yaml', '/site/style.css'].map((path) =>
      at('OPTIONS', path, options, allows(onPages)),
    ),
    row(
      'OPTIONS reads no token',
      options,
      [id],
      ...['Bearer $UNKNOWN_TOKEN', 'Bearer', 'Basic cGx0Og==', ''].flatMap((Authorization) => [
        optionsOf('/plants', Authorization, allows(onPlants)),
        optionsOf(`/plants/${id}`, Authorization, allows(onPlant)),
        optionsOf('/summary', Authorization, allows(onPages)),
        optionsOf('/', Authorization, allows(onPages)),
      ]),
    ),
  ]
}

const isPage = field('Content-Type', /^text\/html\b/i)

/** A request without a token, as a browser sends it for an address. */
function opened(method: string, target: string, accept: string, checks: readonly Check[]): OneStep {
  const varies = method === 'DELETE' ? [] : [field('Vary', /\baccept\b(?!-).*\bauthorization\b|\*/i)]
  return call(method, target, [status(target === '/nowhere' ? 404 : 401), ...checks, ...varies], {
    Accept: accept,
    Authorization: undefined,
  })
}

function optionsOf(target: string, authorization: string, checks: readonly Check[]): OneStep {
  return call('OPTIONS', target, checks, { Authorization: authorization })
}

/** OPTIONS needs no token. */
function withoutToken(method: string): NonNullable<RowRequest['headers']> {
  return method === 'OPTIONS' ? { Authorization: undefined } : {}
}

function pageRows(circumstances: Circumstances): Row[] {
  const { contract } = circumstances
  const says: Source = {
    document: 'defines this path, and HEAD wherever it defines GET',
    where: 'the paths of the document',
  }
  const pages = ['/', '/docs', '/livez', '/readyz', '/openapi.json', '/openapi.yaml', '/site/style.css']
  return [
    ...pages.flatMap((target) => [
      row(`GET ${target}`, says, [], call('GET', target, [status(200)])),
      row(`HEAD ${target}`, says, [], call('HEAD', target, [status(200), hasNoBody])),
    ]),
    ...['/', '/docs'].map((target) =>
      row(
        `the page ${target} loads only from this server`,
        { document: 'Content-Security-Policy: the page may load resources only from this server', where: target },
        [],
        ...['GET', 'HEAD'].map((method) => call(method, target, [status(200), loadsFromHere], { Accept: 'text/html' })),
      ),
    ),
    serversRow(circumstances),
    row(
      'the document that is served has every operation',
      says,
      [],
      call('GET', '/openapi.json', [status(200), hasOperations(contract), hasInt64(contract)]),
    ),
    row(
      'the document is served as YAML, too',
      says,
      [],
      call('GET', '/openapi.yaml', [status(200), namesOperations(contract), hasComments(contract), hasInt64(contract)]),
    ),
    row(
      'the home page is for browsers, its links for other clients',
      home,
      [],
      page('text/html', 'text/html'),
      page('TEXT/HTML', 'text/html'),
      {
        ...page('application/json', 'application/json'),
        checks: [status(200), field('Content-Type', /^application\/json/i), linksToPlants],
      },
    ),
    ...fileRows(),
  ]
}

function fileRows(): Row[] {
  return [
    row(
      'a file of the pages is sent again only when it has changed',
      { document: 'the file still has the ETag in If-None-Match: 304', where: 'getSiteFile, 304' },
      [],
      { request: file, checks: [status(200)] },
      withEtagOf(0, { request: file, checks: [status(304), hasNoBody, sameField('ETag', 0)] }, 'If-None-Match'),
      { request: { ...file, headers: { 'If-None-Match': '"x"' } }, checks: [status(200)] },
      withEtagOf(0, { request: otherFile, checks: [status(200)] }, 'If-None-Match'),
    ),
    row(
      'an unknown file of the pages is missing',
      { document: 'there is no file with this name', where: 'UnknownFile' },
      [],
      call('GET', '/site/none.css', refusal('unknownPath')),
    ),
  ]
}

/** A server may have one public URL for all. If it names the host that it was asked for, it does so each time. */
function serversRow({ nonce }: Circumstances): Row {
  const host = `${nonce}.example:81`
  const asked: RowRequest = { method: 'GET', target: '/openapi.json' }
  return row(
    'the document names the server that received the request, not that of another request',
    {
      document: "the first server is the server's public URL or the one that received the request",
      where: 'getOpenapiJson',
    },
    [],
    { request: { ...asked, headers: { Host: host } }, checks: [] },
    {
      request: asked,
      checks: [
        status(200),
        ({ body }) => (body.includes(host) ? `the document names ${host}, the host of an earlier request` : undefined),
      ],
    },
  )
}

const file: RowRequest = { method: 'GET', target: '/site/style.css' }
const otherFile: RowRequest = { ...file, target: '/site/client.js' }
const home: Source = {
  document: 'clients that accept text/html get a page, others links in JSON',
  where: 'getHome',
}

function page(accepted: string, type: string): OneStep {
  return call('GET', '/', [status(200), field('Content-Type', new RegExp(`^${type}`, 'i'))], { Accept: accepted })
}

/** The directives that default-src stands for (CSP, section 6.1). */
const fetchDirectives = ['script', 'style', 'img', 'connect', 'font', 'frame', 'media', 'object', 'worker', 'manifest']

/** A policy, if there is one, names no other server, and leaves no kind of resource open. */
const loadsFromHere: Check = (answer) => {
  const policy = fieldOf(answer, 'content-security-policy')
  if (policy === undefined) return undefined
  const directives = policy.split(/[;,]/).map((directive) => directive.trim().split(/\s+/))
  const other = directives.flatMap(([, ...sources]) => sources).find((source) => !/^(?:'.*'|data:|blob:)$/.test(source))
  if (other !== undefined) return `Content-Security-Policy is ${policy}, which allows ${other}`
  const names = directives.map(([name]) => name?.toLowerCase())
  const open = fetchDirectives.find((kind) => !names.includes('default-src') && !names.includes(`${kind}-src`))
  return open && `Content-Security-Policy is ${policy}, without default-src and ${open}-src`
}

const linksToPlants: Check = (answer) => {
  const { links } = (jsonOf(answer) ?? {}) as { readonly links?: { readonly plants?: unknown } }
  return String(links?.plants).endsWith('/plants') ? undefined : 'links.plants is not the path of the plants'
}

interface Served {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
}

/** Every operation is at its path and method. There may be more. */
function hasOperations({ operations }: Contract): AnswerCheck {
  return (answer) => {
    const { paths } = (jsonOf(answer) ?? {}) as Partial<Served>
    const missing = operations.find(({ id, method, path }) => paths?.[path]?.[method.toLowerCase()]?.operationId !== id)
    return missing && `the operation ${missing.id} is not at ${missing.method} ${missing.path}`
  }
}

function namesOperations({ operations }: Contract): AnswerCheck {
  return ({ body }) => {
    const missing = operations.find(({ id }) => !new RegExp(`operationId: ["']?${id}\\b`).test(body.toString()))
    return missing && `the operation ${missing.id} is missing`
  }
}

/** An example of an id, which is the last of its list. */
const int64Example = new RegExp(`[[,]\\s*${int64Max}\\s*\\]`)

function hasInt64({ json }: Contract): AnswerCheck {
  return ({ body }) =>
    int64Example.test(json) && !int64Example.test(body.toString())
      ? `the example ${int64Max} is missing or rounded`
      : undefined
}

const comment = /^ *# /m

function hasComments({ yaml }: Contract): AnswerCheck {
  return ({ body }) =>
    comment.test(yaml) && !comment.test(body.toString()) ? 'the comments of the document are missing' : undefined
}
