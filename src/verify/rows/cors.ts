// Pages of other origins may call, and read what the document describes.

import { field, status } from '../checks.ts'
import { type Answer, fieldOf, type RowRequest } from '../message.ts'
import type { Check, Circumstances, Row } from '../row.ts'
import { row, type Source, unless } from './building.ts'

const origin = 'https://garden.example'
const exposed = ['Location', 'ETag', 'Link', 'Retry-After', 'X-Request-Id']
const allowed = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match']
const preflightHeaders = {
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

const anyOrigin: Check = (answer, before) =>
  fieldOf(answer, 'access-control-allow-origin') === origin
    ? undefined
    : field('Access-Control-Allow-Origin', '*')(answer, before)

/** Requests that show whether pages of any origin may call. */
export const corsProbes: readonly RowRequest[] = [
  { method: 'GET', target: '/plants?limit=1', headers: { Origin: origin } },
  { method: 'OPTIONS', target: '/plants', headers: preflightHeaders },
]

/** Whether no answer allows another origin: the server may have been started with `--cors-origin`. */
export function isCorsRestricted(answers: readonly Answer[]): boolean {
  return answers.every((answer) => anyOrigin(answer, []) !== undefined)
}

export function corsRows({ ids, isCorsRestricted }: Circumstances): readonly Row[] {
  const id = ids.next()
  const seen = (title: string, request: RowRequest): Row =>
    row(`a page of another origin sees ${title}`, says, [id], {
      request: { ...request, headers: { ...request.headers, Origin: origin } },
      checks: [anyOrigin, ...exposed.map((name) => lists('Access-Control-Expose-Headers', name))],
    })
  const rows: readonly Row[] = [
    seen('a list', { method: 'GET', target: '/plants?limit=1' }),
    seen('that a plant is not there', { method: 'GET', target: `/plants/${id}` }),
    seen('that a path is unknown', { method: 'GET', target: '/nowhere' }),
    seen('that a method is not allowed', { method: 'TRACE', target: '/plants' }),
    seen('that a create is refused', { body: `{"id":${id}}` }),
    seen('that a token is missing', { method: 'GET', target: '/plants', headers: { Authorization: undefined } }),
    row('a preflight needs no token and says what may be sent', says, [id], {
      request: { method: 'OPTIONS', target: `/plants/${id}`, headers: preflightHeaders },
      checks: [
        status(204),
        anyOrigin,
        lists('Access-Control-Allow-Methods', 'PUT'),
        lists('Access-Control-Allow-Methods', 'DELETE'),
        ...allowed.map((name) => lists('Access-Control-Allow-Headers', name)),
      ],
    }),
  ]
  return rows.map((each) => unless(isCorsRestricted && restricted, each))
}

/** A list in a header field contains a name, ignoring case. */
function lists(name: string, wanted: string): Check {
  return (answer) => {
    const names = (fieldOf(answer, name) ?? '').split(',').map((each) => each.trim().toLowerCase())
    return names.includes(wanted.toLowerCase()) ? undefined : `${name} does not name ${wanted}`
  }
}
