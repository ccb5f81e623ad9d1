// Pages of other origins may call, and read what the document describes.

import { type AnswerCheck, type Check, field, ok, status } from '../checks.ts'
import type { Document } from '../document.ts'
import { type Answer, fieldOf, membersOf, type RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import { type Circumstances, forProxies, type Row, row, type Source, unless } from '../row.ts'
import type { Store } from '../store.ts'
import { pathOf } from './requests.ts'

const origin = 'https://garden.example'
const asking = { Origin: origin, Authorization: undefined }
const restricted = `the server lets no page of ${origin} call, which is right only with --cors-origin`
const says: Source = {
  document:
    'pages of any origin may call the service and read its header fields, unless the server was started with ' +
    '--cors-origin',
  where: 'the description of the document',
}
/** Pages can read these without permission (Fetch standard, section 3.3.3), or never. */
const safe = ['cache-control', 'content-security-policy', 'referrer-policy', 'vary', 'x-accel-buffering']

const anyOrigin: AnswerCheck = (answer) =>
  fieldOf(answer, 'access-control-allow-origin') === origin
    ? undefined
    : field('Access-Control-Allow-Origin', '*')(answer)

/** Requests that show whether pages of any origin may call. */
export const corsProbes: readonly RowRequest[] = [
  { method: 'GET', target: '/plants?limit=1', headers: { Origin: origin } },
  {
    method: 'OPTIONS',
    target: '/plants',
    headers: { ...asking, 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'authorization' },
  },
]

/** Whether no answer allows another origin: the server may have been started with `--cors-origin`. */
export function isCorsRestricted(answers: readonly Answer[]): boolean {
  return answers.every((answer) => anyOrigin(answer) !== undefined)
}

export function corsRows(circumstances: Circumstances): readonly Row[] {
  const { document, isCorsRestricted } = circumstances
  const exposesAll = exposing(document)
  const rows = [
    ...seenRows(circumstances, exposesAll),
    row('a page without an origin of its own sees a list', says, [], (store) =>
      store.call('GET', '/plants?limit=1', [...ok, field('Access-Control-Allow-Origin', /^(?:\*|null)$/)], {
        Origin: 'null',
      }),
    ),
    ...document.operations
      .filter(({ scopes }) => scopes !== undefined)
      .map((operation) => {
        const fields = operation.parameters.filter(({ place }) => place === 'header').map(({ name }) => name)
        const names = ['Authorization', ...(operation.body === undefined ? [] : ['Content-Type']), ...fields]
        return row(`a preflight of ${operation.id} needs no token and says what may be sent`, says, [], (store) =>
          preflight(store, operation.method, pathOf(operation, 1n), names),
        )
      }),
  ]
  return rows.map((each) => unless(isCorsRestricted && restricted, each))
}

/** A request of a page, the status of its answer, and whether a plant is created before it. */
type Seen = readonly [what: string, status: number, write: (id: bigint, key: string) => RowRequest, before?: 'created']

const at = (method: string, more: RowRequest = {}) => {
  return (id: bigint): RowRequest => ({ method, target: `/plants/${id}`, ...more })
}
const get = (target: string, headers = {}) => {
  return (): RowRequest => ({ method: 'GET', target, headers })
}
const creating = (name: string) => (id: bigint, key: string) => ({
  body: plantJson(id, name),
  headers: { 'Idempotency-Key': key },
})
const body = '{"name":"m"}'

const seen: readonly Seen[] = [
  ['a list', 200, get('/plants?limit=1')],
  ['the summary', 200, get('/summary')],
  ['that a plant is not there', 404, at('GET')],
  ['that a path is unknown', 404, get('/nowhere')],
  ['that a method is not allowed', 405, at('PATCH')],
  ['that a method is unknown', 501, at('PROPFIND')],
  ['that a create is refused', 400, (id) => ({ body: `{"id":${id}}`, isInvalid: true })],
  ['that a body is too long', 413, () => ({ body: ' '.repeat(65_537) })],
  ['that a media type is refused', 415, at('PUT', { body, headers: { 'Content-Type': 'text/plain' } }), 'created'],
  ['that a coding is refused', 415, at('PUT', { body, headers: { 'Content-Encoding': 'gzip' } }), 'created'],
  ['that a token is missing', 401, get('/plants', { Authorization: undefined })],
  ['that a plant was created', 200, creating('n')],
  ['that a create was repeated', 200, creating('n'), 'created'],
  ['that an id is taken', 409, (id) => ({ body: plantJson(id, 'n') }), 'created'],
  ['that a key was used', 422, creating('m'), 'created'],
  ['a plant', 200, at('GET'), 'created'],
  ['that a plant is unchanged', 304, at('GET', { headers: { 'If-None-Match': '*' } }), 'created'],
  ['that a plant was replaced', 200, at('PUT', { body }), 'created'],
  ['that a plant has changed', 412, at('PUT', { body, headers: { 'If-Match': '"x"' } }), 'created'],
  ['that a plant was deleted', 204, at('DELETE'), 'created'],
]

function seenRows({ ids, nonce }: Circumstances, exposesAll: AnswerCheck): Row[] {
  return seen.map(([what, wanted, write, before]) => {
    const each = row(`a page of another origin sees ${what}`, says, ids.near(1), async (store, id) => {
      const key = `cors-${id}-${nonce}`
      if (before !== undefined) await store.create({ id, name: 'n' }, { 'Idempotency-Key': key })
      const request = write(id, key)
      const checks: readonly Check[] = [status(wanted), anyOrigin, exposesAll]
      await store.send({ ...request, headers: { ...request.headers, Origin: origin } }, checks)
    })
    return wanted === 501 ? forProxies(each) : each
  })
}

/** The preflight of a request, and the answer that a browser needs to send it (Fetch standard, section 4.8). */
function preflight(store: Store, method: string, target: string, names: readonly string[]): Promise<Answer> {
  const headers = {
    ...asking,
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': names.join().toLowerCase(),
  }
  // These need no permission.
  const methods = ['GET', 'POST'].includes(method) ? [] : [lists('Access-Control-Allow-Methods', method)]
  const fields = names.map((name) => lists('Access-Control-Allow-Headers', name))
  return store.call('OPTIONS', target, [status(204), anyOrigin, ...methods, ...fields], headers)
}

/** A list in a header field contains a name, ignoring case, or `*`, which does not include Authorization. */
function lists(name: string, wanted: string): AnswerCheck {
  return (answer) => {
    const names = membersOf(fieldOf(answer, name)?.toLowerCase())
    const isListed = names.includes(wanted.toLowerCase()) || (names.includes('*') && wanted !== 'Authorization')
    return isListed ? undefined : `${name} does not name ${wanted}`
  }
}

/** The page may read every described header field that the answer has. */
function exposing({ operations }: Document): AnswerCheck {
  const responses = operations.flatMap((operation) => [...operation.responses.values()])
  const all = new Set(responses.flatMap(({ headers }) => headers.map(({ name }) => name)))
  const described = [...all].filter((name) => !safe.includes(name.toLowerCase()))
  return (answer) => {
    const present = described.filter((name) => fieldOf(answer, name) !== undefined)
    return present.map((name) => lists('Access-Control-Expose-Headers', name)(answer)).find((why) => why)
  }
}
