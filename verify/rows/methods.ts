// Paths and methods inside and outside the document, limits of HTTP, and requests with two errors. None of these requests could make a faulty server change anything
// outside the range.

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
import type { Operation } from '../document.ts'
import { type Answer, fieldOf, type RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, type Row, row } from '../row.ts'
import { hasPlant, pathOf, prepare, requestOf, steadyTarget } from './operations.ts'
import { loadsFromHere } from './pages.ts'

const unknown = 'info: An unknown path gets 404'
const allMethods = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY']
const changing = ['PUT', 'PATCH', 'DELETE']
const proxied = ['TRACE', 'QUERY']
/** Path and method come before the token. */
const callers = ['Bearer $TOKEN', undefined]

export function methodRows(circumstances: Circumstances): readonly Row[] {
  const { operations } = circumstances.plants.document
  const paths = [...Map.groupBy(operations, ({ path }) => path)]
  return [
    ...paths.flatMap(([path, own]) => pathRows(circumstances, path, own)),
    ...operations.filter(({ method }) => method === 'GET').flatMap(headRows),
    ...operations.flatMap((operation) => nearbyRows(operation)),
    unknownMethodRow(operations),
    ...unknownRows,
    personRow(operations),
  ]
}

function pathRows({ plants: { document } }: Circumstances, path: string, own: readonly Operation[]): Row[] {
  const operation = own[0] as Operation
  const methods = own.map(({ method }) => method)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
  // A wrong server might apply them to all that is below the path.
  const isAbove = document.operations.some((other) => other.path !== path && other.path.startsWith(path))
  const others = allMethods.filter((method) => !allow.includes(method) && !(isAbove && changing.includes(method)))
  const refused = others.map((method) => {
    const rule = { place: unknown, isForProxies: proxied.includes(method) }
    return row(`${method} ${path}`, rule, async (store, id) => {
      const checks = [...refusal('methodNotAllowed'), members('Allow', ...allow)]
      for (const Authorization of callers) await store.call(method, pathOf(operation, id), checks, { Authorization })
    })
  })
  const asked = row(`OPTIONS ${path}`, 'info: OPTIONS gets 204', async (store, id) => {
    for (const Authorization of [undefined, 'Bearer $UNKNOWN_TOKEN', 'Bearer', 'Basic cGx0Og==', '']) {
      const checks = [status(204), members('Allow', ...allow), hasNoBody]
      await store.call('OPTIONS', pathOf(operation, id), checks, { Authorization })
    }
  })
  return [...refused, asked]
}

/** The header fields of GET, without a body: a row for each media type. */
function headRows(operation: Operation): Row[] {
  const { path, scopes, parameters, responses } = operation
  // Other clients may change a count.
  const isSteady = scopes === undefined || parameters.length > 0
  const types = [...(responses.get(200)?.content.keys() ?? [])]
  return types.map((Accept) => {
    const title = types.length === 1 ? `HEAD ${path}` : `HEAD ${path} for ${Accept}`
    return row(title, 'info: also supports HEAD', async (store, id) => {
      await prepare(store, operation, id)
      const target = steadyTarget(operation, id)
      const asked = { target, headers: { Accept }, isEnough: () => Accept === 'text/event-stream' }
      const got = await store.send({ ...asked, method: 'GET' }, ok)
      const isSame = [...ok, hasNoBody, sameField('Content-Type', got)]
      const isWhole = isSteady ? [hasLengthOf(got), sameField('ETag', got)] : []
      await store.send({ ...asked, method: 'HEAD' }, [...isSame, ...isWhole])
      if (!hasPlant(operation)) return
      await store.remove(id)
      await store.call('HEAD', target, [...refusal('unknownPlant'), hasNoBody])
    })
  })
}

/** The length in an answer to HEAD, if any, is that of the answer to GET (RFC 9110, section 8.6). */
function hasLengthOf({ body }: Answer): AnswerCheck {
  return (answer) => {
    const length = fieldOf(answer, 'content-length')
    const isSame = length === undefined || length === String(body.length)
    return isSame ? undefined : `Content-Length is ${length}, that of GET ${body.length}`
  }
}

/** Paths that some programs confuse with one of the document. */
function nearbyRows(operation: Operation): Row[] {
  if (operation.path === '/') return []
  const isLiteral = !operation.path.endsWith('}')
  return [
    row(`${operation.id} is at no path like its own`, unknown, async (store, id) => {
      const { target = '', ...request } = requestOf(operation, id, store.plants)
      const others = [
        `${target}/`,
        ...(isLiteral ? [`${target};v=1`, `${target}.json`, `${target}%2F`, target.toUpperCase()] : []),
      ]
      for (const other of others) await store.send({ ...request, target: other }, refusal('unknownPath'))
      await store.send({ target: `${target}/`, body: plantJson(id, 'n') }, refusal('unknownPath'))
    }),
  ]
}

function unknownMethodRow(operations: readonly Operation[]): Row {
  const paths = new Map(operations.map((operation) => [operation.path, operation]))
  const rule = { place: unknown, isForProxies: true }
  return row('an unknown method is refused on every path', rule, async (store, id) => {
    const targets = [...[...paths.values()].map((operation) => pathOf(operation, id)), '/nowhere']
    for (const target of targets) await store.call('PROPFIND', target, refusal('unknownMethod'))
  })
}

const tooLong = `/${'a'.repeat(5_000)}`

const unknownRows = ['/nowhere', '/favicon.ico', '/plants/1/leaves', tooLong].map((target): Row => {
  const isLong = target === tooLong
  const title = `nothing is at ${isLong ? 'a path of 5,000 characters' : target}`
  return row(title, { place: unknown, isForProxies: isLong }, async (store) => {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      for (const Authorization of callers) await store.call(method, target, refusal('unknownPath'), { Authorization })
    await store.call('HEAD', target, [...refusal('unknownPath'), hasNoBody])
    await store.call('GET', target, [...refusal('unknownPath'), isError], { Accept: 'text/html,*/*;q=0.1' })
  })
})

const isPage = field('Content-Type', /^text\/html\b/i)

function personRow(operations: readonly Operation[]): Row {
  const title = 'a person who opens an address gets a page in place of a refusal, and a program an Error'
  return row(title, 'info: that accepts `text/html`', async (store, id) => {
    const opened = async (target: string, code: string): Promise<void> => {
      const open = (method: string, Accept: string, checks: readonly Check[]): Promise<Answer> =>
        store.call(method, target, [...checks, includes('Vary', 'Accept', 'Authorization')], {
          Accept,
          Authorization: undefined,
        })
      const wanted = status(code === 'unknownPath' ? 404 : 401)
      await open('GET', 'text/html,application/xhtml+xml,*/*;q=0.8', [wanted, isPage, loadsFromHere])
      await open('HEAD', 'text/html', [wanted, isPage, hasNoBody])
      for (const accept of ['application/json', '*/*', 'text/html;q=0, */*'])
        await open('GET', accept, [...refusal(code), isError])
    }
    const secured = operations.filter(({ scopes }) => scopes !== undefined)
    for (const operation of secured.filter(({ method }) => method === 'GET')) {
      await opened(pathOf(operation, id), 'missingToken')
    }
    await opened('/nowhere', 'unknownPath')
    const html = { Accept: 'text/html', Authorization: undefined }
    for (const operation of secured.filter(({ method }) => method !== 'GET')) {
      const request = requestOf(operation, id, store.plants, { headers: html })
      await store.send(request, [...refusal('missingToken'), isError])
    }
  })
}

const inOrder = 'info: in this order'
const single = [
  ['Authorization', 'Bearer $TOKEN'],
  ['Content-Type', 'application/json'],
  ['Idempotency-Key', 'twice'],
] as const

type Refused = readonly [title: string, code: string, parts: Partial<RowRequest>]

/** Creates that proxies have limits of their own for. */
const refusedCreates: readonly Refused[] = [
  ...single.map(([name, value]): Refused => {
    const parts = { headers: { [name]: value }, lines: [`${name.toLowerCase()}: ${value}`] }
    return [`${name} twice`, 'repeatedHeader', parts]
  }),
  ['header fields of 20,000 bytes', 'headerFieldsTooLarge', { headers: { 'X-Long': 'a'.repeat(20_000) } }],
  [
    'a transfer coding that is not known',
    'unknownTransferCoding',
    { headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'gzip, chunked' } },
  ],
]

/** Limits and features of HTTP, and requests with two errors that no other row has. */
export const limitRows: readonly Row[] = [
  ...refusedCreates.map(([title, code, parts]) =>
    row(title, { place: `schemas/Error: ${code}`, isForProxies: true }, async (store, id) => {
      await store.send({ body: plantJson(id, 'n'), ...parts }, refusal(code))
      await store.isMissing(id)
    }),
  ),
  row('the path is judged before the expectation', { place: inOrder, isForProxies: true }, (store) =>
    store.send({ target: '/nowhere', headers: { Expect: 'tea' } }, refusal('unknownPath')),
  ),
  row('the key and the body are judged before a taken id', inOrder, async (store, id) => {
    await store.create({ id, name: 'n' })
    await store.refuses('invalidHeader', { id, name: 'n' }, { 'Idempotency-Key': 'a b' })
    await store.send({ body: `{"id":${id},"name":1}` }, refusal('invalidPlant'))
  }),
]
