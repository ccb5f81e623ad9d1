// Paths and methods inside and outside the document, the pages and what they load, limits of HTTP, and requests with
// two errors. None of these requests could make a faulty server change anything outside the range.

import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import {
  type AnswerCheck,
  type Check,
  field,
  hasNoBody,
  includes,
  isError,
  members,
  ok,
  refusal,
  sameField,
  status,
} from '../checks.ts'
import type { Document, Operation } from '../document.ts'
import { int64Max } from '../ids.ts'
import { decodeJson, type JsonValue, toJson } from '../json.ts'
import { type Answer, fieldOf, jsonOf, objectOf, type RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import { pathOf, prepare, requestOf, steadyTarget } from './operations.ts'

const unknown = 'info: An unknown path gets 404'
/** Path and method come before the token. */
const callers = ['Bearer $TOKEN', undefined]

export function methodRows({ plants: { document } }: Circumstances): readonly Row[] {
  const { operations } = document
  const paths = [...Map.groupBy(operations, ({ path }) => path)]
  return [
    ...paths.flatMap(([path, own]) => pathRows(operations, path, own)),
    ...operations.filter(({ method }) => method === 'GET').flatMap(headRows),
    ...operations.filter(({ path }) => path !== '/').map(nearbyRow),
    row('an unknown method is refused on every path', { place: unknown, isForProxies: true }, async (store, id) => {
      const targets = [...paths.map(([, [operation]]) => pathOf(operation as Operation, id)), '/nowhere']
      for (const target of targets) await store.call('PROPFIND', target, refusal('unknownMethod'))
    }),
    ...['/nowhere', '/favicon.ico', '/plants/1/leaves', `/${'a'.repeat(5_000)}`].map(unknownRow),
    personRow(operations),
  ]
}

function pathRows(operations: readonly Operation[], path: string, own: readonly Operation[]): readonly Row[] {
  const operation = own[0] as Operation
  const methods = own.map(({ method }) => method)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
  // A wrong server might apply changes to all that is below the path.
  const isAbove = operations.some((other) => other.path !== path && other.path.startsWith(path))
  const others = ['POST', ...(isAbove ? [] : ['PUT', 'PATCH', 'DELETE']), 'TRACE', 'QUERY']
  const refused = others.filter((method) => !allow.includes(method))
  return [
    ...refused.map((method) => {
      const rule = { place: unknown, isForProxies: ['TRACE', 'QUERY'].includes(method) }
      return row(`${method} ${path}`, rule, async (store, id) => {
        const checks = [...refusal('methodNotAllowed'), members('Allow', ...allow)]
        for (const Authorization of callers) await store.call(method, pathOf(operation, id), checks, { Authorization })
      })
    }),
    row(`OPTIONS ${path}`, 'info: OPTIONS gets 204', async (store, id) => {
      for (const Authorization of [undefined, 'Bearer $UNKNOWN_TOKEN', 'Bearer', 'Basic cGx0Og==', '']) {
        const checks = [status(204), members('Allow', ...allow), hasNoBody]
        await store.call('OPTIONS', pathOf(operation, id), checks, { Authorization })
      }
    }),
  ]
}

/** The header fields of GET, without a body: a row for each media type. */
function headRows(operation: Operation): readonly Row[] {
  const { path, scopes, parameters, types } = operation
  // Other clients may change a count.
  const isSteady = scopes === undefined || parameters.length > 0
  return types.map((Accept) => {
    const title = types.length === 1 ? `HEAD ${path}` : `HEAD ${path} for ${Accept}`
    return row(title, 'info: also supports HEAD', async (store, id) => {
      await prepare(store, operation, id)
      const target = steadyTarget(operation, id)
      const asked = { target, headers: { Accept }, isEnough: () => Accept === 'text/event-stream' }
      const got = await store.send({ ...asked, method: 'GET' }, ok)
      const isSame = [...ok, hasNoBody, sameField('Content-Type', got)]
      const isWhole = isSteady ? [sameField('ETag', got)] : []
      const head = await store.send({ ...asked, method: 'HEAD' }, [...isSame, ...isWhole])
      // The length in an answer to HEAD, if any, is that of the answer to GET (RFC 9110, section 8.6).
      const [length = '', whole] = [fieldOf(head, 'content-length'), String(got.body.length)]
      const isOther = isSteady && length !== '' && length !== whole
      store.assert(isOther ? `Content-Length is ${length}, that of GET ${whole}` : undefined)
      if (!operation.hasPlant) return
      await store.remove(id)
      await store.call('HEAD', target, [...refusal('unknownPlant'), hasNoBody])
    })
  })
}

/** Paths that some programs confuse with one of the document. */
function nearbyRow(operation: Operation): Row {
  return row(`${operation.id} is at no path like its own`, unknown, async (store, id) => {
    const { target = '', ...request } = requestOf(operation, id, store.plants)
    const ofLiteral = [`${target};v=1`, `${target}.json`, `${target}%2F`, target.toUpperCase()]
    const others = [`${target}/`, ...(operation.path.endsWith('}') ? [] : ofLiteral)]
    for (const other of others) await store.send({ ...request, target: other }, refusal('unknownPath'))
    await store.send({ target: `${target}/`, body: plantJson(id, 'n') }, refusal('unknownPath'))
  })
}

function unknownRow(target: string): Row {
  const isForProxies = target.length > 1_000
  const title = `nothing is at ${isForProxies ? 'a path of 5,000 characters' : target}`
  return row(title, { place: unknown, isForProxies }, async (store) => {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      for (const Authorization of callers) await store.call(method, target, refusal('unknownPath'), { Authorization })
    await store.call('HEAD', target, [...refusal('unknownPath'), hasNoBody])
    await store.call('GET', target, [...refusal('unknownPath'), isError], { Accept: 'text/html,*/*;q=0.1' })
  })
}

function personRow(operations: readonly Operation[]): Row {
  const title = 'a person who opens an address gets a page in place of a refusal, and a program an Error'
  const isPage = field('Content-Type', /^text\/html\b/i)
  return row(title, 'info: that accepts `text/html`', async (store, id) => {
    const opened = async (target: string, code: string): Promise<void> => {
      const varies = includes('Vary', 'Accept', 'Authorization')
      const open = (method: string, Accept: string, checks: readonly Check[]): Promise<Answer> =>
        store.call(method, target, [...checks, varies], { Accept, Authorization: undefined })
      const wanted = status(code === 'unknownPath' ? 404 : 401)
      await open('GET', 'text/html,application/xhtml+xml,*/*;q=0.8', [wanted, isPage, loadsFromHere])
      await open('HEAD', 'text/html', [wanted, isPage, hasNoBody])
      for (const accept of ['application/json', '*/*', 'text/html;q=0, */*'])
        await open('GET', accept, [...refusal(code), isError])
    }
    await opened('/nowhere', 'unknownPath')
    for (const operation of operations.filter(({ scopes }) => scopes !== undefined)) {
      const headers = { Accept: 'text/html', Authorization: undefined }
      const request = requestOf(operation, id, store.plants, { headers })
      if (operation.method === 'GET') await opened(pathOf(operation, id), 'missingToken')
      else await store.send(request, [...refusal('missingToken'), isError])
    }
  })
}

export function pageRows({ plants: { document } }: Circumstances): readonly Row[] {
  const pages = document.operations.filter(({ scopes, types }) => scopes === undefined && types.includes('text/html'))
  return [
    ...pages.map((operation) => {
      const target = pathOf(operation, 0n)
      return row(`the page ${target} loads only from this server`, 'headers/ContentSecurityPolicy', async (store) => {
        const html = { Accept: 'text/html' }
        for (const method of ['GET', 'HEAD']) await store.call(method, target, [...ok, loadsFromHere], html)
      })
    }),
    row('the links of the home page lead to paths', 'getHome: links in JSON', async (store) => {
      const home = objectOf(await store.call('GET', '/', ok, { Accept: 'application/json' }))
      const paths = document.operations.filter(({ method }) => method === 'GET').map(({ path }) => path)
      for (const [name, link] of Object.entries((home['links'] ?? {}) as Record<string, JsonValue>)) {
        // Each leads to what has its name.
        const wanted = paths.includes(`/${name}`) ? [`/${name}`] : paths.filter((path) => path.length > 1)
        const isRight = wanted.some((path) => String(link).endsWith(path))
        store.assert(isRight ? undefined : `links.${name} is ${String(link)}, which is no path of the document`)
      }
    }),
    ...document.operations.flatMap(formRows),
    row('the document that is served has every operation', 'getOpenapiYaml', async (store) => {
      const json = await store.call('GET', '/openapi.json', [...ok, isWhole(document)])
      const isSame: AnswerCheck = ({ body }) => {
        if (!isDeepStrictEqual(parseYaml(body.toString()), jsonOf(json))) return 'it is not /openapi.json'
        const isBare = document.isBundled && !/^ *# /m.test(body.toString())
        return isBare ? 'the comments of the document are missing' : undefined
      }
      await store.call('GET', '/openapi.yaml', [...ok, isSame])
    }),
    row('the document names no host of an earlier request', 'getOpenapiJson', async (store) => {
      // A server may have one public URL for all. If it names the requested host, it does so each time.
      const host = `${store.nonce}.example:81`
      await store.call('GET', '/openapi.json', [], { Host: host })
      const isOther: AnswerCheck = ({ body }) => (body.includes(host) ? `the document names ${host}` : undefined)
      await store.call('GET', '/openapi.json', [...ok, isOther])
    }),
    row('a file of the pages is sent again only when it has changed', 'getSiteFile 304', async (store) => {
      const first = await store.call('GET', '/site/style.css', ok)
      await store.call('GET', '/site/client.js', ok, { 'If-None-Match': fieldOf(first, 'etag') })
      await store.call('GET', '/site/none.css', refusal('unknownPath'))
    }),
  ]
}

/** JSON, unless the client accepts the other form of an answer (RFC 9110, section 12.5.1). */
function formRows(operation: Operation): readonly Row[] {
  const others = operation.types.filter((type) => type !== 'application/json')
  const place = `${operation.id}: Clients that accept`
  if (others.length === operation.types.length) return []
  return others.map((type) =>
    row(`${operation.id} is ${type} for clients that accept it, and JSON for others`, place, async (store) => {
      const get = async (Accept: string, wanted: string): Promise<void> => {
        const request = { method: 'GET', target: steadyTarget(operation, 0n), headers: { Accept } }
        const isWanted = field('Content-Type', new RegExp(`^${wanted}`, 'i'))
        await store.send({ ...request, isEnough: () => true }, [...ok, isWanted])
      }
      for (const accept of [type, type.toUpperCase(), `text/plain, ${type};q=0.9`]) await get(accept, type)
      for (const accept of ['application/json', `${type};q=0, */*`]) await get(accept, 'application/json')
    }),
  )
}

/** The directives for which default-src is the default (CSP, section 6.1). */
const fetchDirectives = ['script', 'style', 'img', 'connect', 'font', 'frame', 'media', 'object', 'worker', 'manifest']

/** A policy, if there is one, names no other server, and leaves no kind of resource open. */
const loadsFromHere: AnswerCheck = (answer) => {
  const policy = fieldOf(answer, 'content-security-policy')
  if (policy === undefined) return undefined
  const directives = policy.split(/[;,]/).map((directive) => directive.trim().split(/\s+/))
  const other = directives.flatMap(([, ...sources]) => sources).find((source) => !/^(?:'.*'|data:|blob:)$/.test(source))
  if (other !== undefined) return `Content-Security-Policy is ${policy}, which allows ${other}`
  const names = directives.map(([name]) => name?.toLowerCase())
  const open = fetchDirectives.find((kind) => !names.includes('default-src') && !names.includes(`${kind}-src`))
  return open && `Content-Security-Policy is ${policy}, without default-src and ${open}-src`
}

function parseYaml(text: string): JsonValue | undefined {
  try {
    // A number such as 1e+300 is an integer in JSON, but a double in YAML.
    return decodeJson(Buffer.from(toJson(parse(text, { logLevel: 'error', intAsBigInt: true }))))
  } catch {
    return undefined
  }
}

interface Served {
  readonly info?: { readonly version?: string }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
}

/** Every operation is at its path and method, and ids have all their digits. There may be more. */
function isWhole({ operations, isBundled, root }: Document): AnswerCheck {
  return (answer) => {
    const { paths, info } = objectOf(answer) as Served
    const missing = operations.find(({ id, method, path }) => paths?.[path]?.[method.toLowerCase()]?.operationId !== id)
    if (missing !== undefined) return `the operation ${missing.id} is not at ${missing.method} ${missing.path}`
    const { version } = root['info'] as NonNullable<Served['info']>
    if (isBundled && info?.version !== version) return `the version is ${info?.version}, not ${version}`
    // An example of an id, which is the last of its list.
    const isExact = new RegExp(`[[,]\\s*${int64Max}\\s*\\]`).test(answer.body.toString())
    return isBundled && !isExact ? `the example ${int64Max} is missing or rounded` : undefined
  }
}

/** Creates that proxies have limits of their own for. */
const refusedCreates: readonly (readonly [title: string, code: string, parts: Partial<RowRequest>])[] = [
  twice('Authorization', 'Bearer $TOKEN'),
  twice('Content-Type', 'application/json'),
  twice('Idempotency-Key', 'twice'),
  ['header fields of 20,000 bytes', 'headerFieldsTooLarge', { headers: { 'X-Long': 'a'.repeat(20_000) } }],
  [
    'a transfer coding that is not known',
    'unknownTransferCoding',
    { headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'gzip, chunked' } },
  ],
]

function twice(name: string, value: string): (typeof refusedCreates)[number] {
  return [`${name} twice`, 'repeatedHeader', { headers: { [name]: value }, lines: [`${name.toLowerCase()}: ${value}`] }]
}

/** Limits and features of HTTP, and requests with two errors that no other row has. */
export const limitRows: readonly Row[] = [
  ...refusedCreates.map(([title, code, parts]) =>
    row(title, { place: `schemas/Error: ${code}`, isForProxies: true }, async (store, id) => {
      await store.send({ body: plantJson(id, 'n'), ...parts }, refusal(code))
      await store.isMissing(id)
    }),
  ),
  row('the path is judged before the expectation', { place: 'info: in this order', isForProxies: true }, (store) =>
    store.send({ target: '/nowhere', headers: { Expect: 'tea' } }, refusal('unknownPath')),
  ),
  row('the key and the body are judged before a taken id', 'info: in this order', async (store, id) => {
    await store.create({ id, name: 'n' })
    await store.refuses('invalidHeader', { id, name: 'n' }, { 'Idempotency-Key': 'a b' })
    await store.send({ body: `{"id":${id},"name":1}`, isInvalid: true }, refusal('invalidPlant'))
  }),
]
