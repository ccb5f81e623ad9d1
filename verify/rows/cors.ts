// Pages of other origins may call, and read what the document describes.

import { field, membersOf, status } from '../checks.ts'
import { type Answer, fieldOf, type RowRequest } from '../message.ts'
import { plantJson } from '../plant.ts'
import type { AnswerCheck, Circumstances, OneStep, Row } from '../row.ts'
import { call, create, forProxies, row, type Source, unless } from './building.ts'

const origin = 'https://garden.example'
/** The document's header fields that pages cannot read without permission (Fetch standard, section 3.3.3). */
const described = [
  ...['Location', 'ETag', 'Link', 'Retry-After', 'X-Request-Id', 'Idempotency-Replayed', 'WWW-Authenticate'],
  ...['Accept', 'Accept-Encoding', 'RateLimit', 'RateLimit-Policy'],
]
const probeHeaders = {
  Origin: origin,
  Authorization: undefined,
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'authorization',
}
const restricted = `the server lets no page of ${origin} call, which is right only with --cors-origin`
const says: Source = {
  document:
    'pages of any origin may call the service and read its header fields, unless the server was started with ' +
    '--cors-origin',
  where: 'the description of the document',
}

const anyOrigin: AnswerCheck = (answer) =>
  fieldOf(answer, 'access-control-allow-origin') === origin
    ? undefined
    : field('Access-Control-Allow-Origin', '*')(answer)

/** Requests that show whether pages of any origin may call. */
export const corsProbes: readonly RowRequest[] = [
  { method: 'GET', target: '/plants?limit=1', headers: { Origin: origin } },
  { method: 'OPTIONS', target: '/plants', headers: probeHeaders },
]

/** Whether no answer allows another origin: the server may have been started with `--cors-origin`. */
export function isCorsRestricted(answers: readonly Answer[]): boolean {
  return answers.every((answer) => anyOrigin(answer) !== undefined)
}

export function corsRows({ ids, nonce, isCorsRestricted }: Circumstances): readonly Row[] {
  const keyOf = (id: bigint) => ({ 'Idempotency-Key': `cors-${id}-${nonce}` })
  const seen = (title: string, wanted: number, write: (id: bigint) => RowRequest, ...before: Before[]): Row => {
    const id = ids.next() + 1n
    const request = write(id)
    return row(
      `a page of another origin sees ${title}`,
      says,
      [id],
      ...before.map((make) => make({ id, name: 'n' }, keyOf(id))),
      {
        request: { ...request, headers: { ...request.headers, Origin: origin } },
        checks: [status(wanted), anyOrigin, exposesAll],
      },
    )
  }
  const at = (method: string, more: RowRequest = {}) => {
    return (id: bigint): RowRequest => ({ method, target: `/plants/${id}`, ...more })
  }
  const get = (target: string, headers = {}) => {
    return (): RowRequest => ({ method: 'GET', target, headers })
  }
  const creating = (name: string) => (id: bigint) => ({ body: plantJson(id, name), headers: keyOf(id) })
  const body = '{"name":"m"}'
  const id = ids.next()
  const rows: readonly Row[] = [
    seen('a list', 200, get('/plants?limit=1')),
    seen('the summary', 200, get('/summary')),
    seen('that a plant is not there', 404, at('GET')),
    seen('that a path is unknown', 404, get('/nowhere')),
    seen('that a method is not allowed', 405, at('PATCH')),
    forProxies(seen('that a method is unknown', 501, at('PROPFIND'))),
    seen('that a create is refused', 400, (id) => ({ body: `{"id":${id}}` })),
    seen('that a body is too long', 413, () => ({ body: ' '.repeat(65_537) })),
    seen('that a media type is refused', 415, at('PUT', { body, headers: { 'Content-Type': 'text/plain' } }), create),
    seen('that a coding is refused', 415, at('PUT', { body, headers: { 'Content-Encoding': 'gzip' } }), create),
    seen('that a token is missing', 401, get('/plants', { Authorization: undefined })),
    seen('that a plant was created', 200, creating('n')),
    seen('that a create was repeated', 200, creating('n'), create),
    seen('that an id is taken', 409, (id) => ({ body: plantJson(id, 'n') }), create),
    seen('that a key was used', 422, creating('m'), create),
    seen('a plant', 200, at('GET'), create),
    seen('that a plant is unchanged', 304, at('GET', { headers: { 'If-None-Match': '*' } }), create),
    seen('that a plant was replaced', 200, at('PUT', { body }), create),
    seen('that a plant has changed', 412, at('PUT', { body, headers: { 'If-Match': '"x"' } }), create),
    seen('that a plant was deleted', 204, at('DELETE'), create),
    row(
      'a page without an origin of its own sees a list',
      says,
      [],
      call('GET', '/plants?limit=1', [status(200), field('Access-Control-Allow-Origin', /^(?:\*|null)$/)], {
        Origin: 'null',
      }),
    ),
    row(
      'a preflight needs no token and says what may be sent',
      says,
      [id],
      preflight('/plants', 'GET', 'authorization'),
      preflight('/plants', 'POST', 'authorization,content-type,idempotency-key'),
      preflight(`/plants/${id}`, 'GET', 'authorization,if-none-match'),
      preflight(`/plants/${id}`, 'PUT', 'authorization,content-type,if-match'),
      preflight(`/plants/${id}`, 'DELETE', 'authorization,if-match'),
      preflight('/summary', 'GET', 'authorization'),
    ),
  ]
  return rows.map((each) => unless(isCorsRestricted && restricted, each))
}

type Before = typeof create

/** What a browser asks before a request, and needs to send it (Fetch standard, section 4.8). */
function preflight(target: string, method: string, names: string): OneStep {
  return {
    request: {
      method: 'OPTIONS',
      target,
      headers: {
        Origin: origin,
        Authorization: undefined,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': names,
      },
    },
    checks: [
      status(204),
      anyOrigin,
      // These need no permission.
      ...(['GET', 'POST'].includes(method) ? [] : [lists('Access-Control-Allow-Methods', method)]),
      ...membersOf(names).map((name) => lists('Access-Control-Allow-Headers', name)),
    ],
  }
}

/** A list in a header field contains a name, ignoring case, or `*`, which does not include Authorization. */
function lists(name: string, wanted: string): AnswerCheck {
  return (answer) => {
    const names = membersOf((fieldOf(answer, name) ?? '').toLowerCase())
    const isListed = names.includes(wanted.toLowerCase()) || (names.includes('*') && wanted !== 'authorization')
    return isListed ? undefined : `${name} does not name ${wanted}`
  }
}

/** The page may read every described header field that the answer has. */
const exposesAll: AnswerCheck = (answer) => {
  const present = described.filter((name) => fieldOf(answer, name) !== undefined)
  return present.map((name) => lists('Access-Control-Expose-Headers', name)(answer)).find((why) => why)
}
