// Pages of other origins may call, and read what the document describes. Each request of a run comes from such a page:
// a row about all answers shows whether it may read them.

import { type AnswerCheck, field, includes, ok, status } from '../checks.ts'
import type { Document, Operation } from '../document.ts'
import { type Answer, fieldOf, type RowRequest } from '../message.ts'
import { NoAnswer } from '../results.ts'
import { type Ask, type Circumstances, type Row, row } from '../row.ts'
import { pathOf } from './operations.ts'

/** Of no page of the world: a server that lets only its own pages call does not name it. */
const origin = 'https://verify.invalid'
export const corsPlace = 'info: Pages of any origin'
/** Pages can read these without permission (Fetch standard, section 3.3.3), or never. */
const safe = ['cache-control', 'content-security-policy', 'referrer-policy', 'vary', 'x-accel-buffering']

const anyOrigin: AnswerCheck = (answer) =>
  fieldOf(answer, 'access-control-allow-origin') === origin
    ? undefined
    : field('Access-Control-Allow-Origin', '*')(answer)

/**
 * Whether a server allows no other origin: it may have been started with `--cors-origin`. One that does not answer is
 * treated as unrestricted.
 */
export async function seesCorsRestricted(ask: Ask): Promise<boolean> {
  const headers = { 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'authorization' }
  const probes: readonly RowRequest[] = [
    { method: 'GET', target: '/plants?limit=1' },
    { method: 'OPTIONS', target: '/plants', headers: { Authorization: undefined, ...headers } },
  ]
  const answers = await Promise.all(probes.map((request) => ask(fromPage(request))))
  return answers.every((answer) => !(answer instanceof NoAnswer) && anyOrigin(answer) !== undefined)
}

/** The request as a page of another origin sends it, unless it says where it is from. */
export function fromPage(request: RowRequest): RowRequest {
  return { ...request, headers: { Origin: origin, ...request.headers } }
}

/** The page may read an answer, and every described header field that it has. */
export function readableByPages({ operations }: Document): (request: RowRequest, answer: Answer) => string | undefined {
  const responses = operations.flatMap((operation) => [...operation.responses.values()])
  const all = new Set(responses.flatMap(({ headers }) => headers.map(({ name }) => name)))
  const described = [...all].filter((name) => !safe.includes(name.toLowerCase()))
  return ({ method, headers }, answer) => {
    if (headers?.['Origin'] !== origin) return undefined
    // Browsers show no page what they ask before a request.
    const present = method === 'OPTIONS' ? [] : described.filter((name) => fieldOf(answer, name) !== undefined)
    return anyOrigin(answer) ?? includes('Access-Control-Expose-Headers', ...present)(answer)
  }
}

/** Why the rows of other origins cannot be run. */
export function whyRestricted({ isCorsRestricted }: Circumstances): string | false {
  return isCorsRestricted && `the server lets no page of ${origin} call, which is right only with --cors-origin`
}

export function corsRows(run: Circumstances): readonly Row[] {
  const secured = run.plants.document.operations.filter(({ scopes }) => scopes !== undefined)
  const hasAnyOrNull = field('Access-Control-Allow-Origin', /^(?:\*|null)$/)
  return [
    row('a page without an origin of its own sees a list', corsPlace, async (store) => {
      store.skipIf(whyRestricted(run))
      await store.call('GET', '/plants?limit=1', [...ok, hasAnyOrNull], { Origin: 'null' })
    }),
    ...secured.map((operation) => preflightRow(run, operation)),
  ]
}

/** What a browser asks before a request, and needs to send it (Fetch standard, section 4.8). */
function preflightRow(run: Circumstances, operation: Operation): Row {
  const { id, method, parameters, body } = operation
  const fields = parameters.filter(({ place }) => place === 'header').map(({ name }) => name)
  const names = ['Authorization', ...(body === undefined ? [] : ['Content-Type']), ...fields]
  const headers = {
    Origin: origin,
    Authorization: undefined,
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': names.join().toLowerCase(),
  }
  // These need no permission.
  const methods = ['GET', 'POST'].includes(method) ? [] : [includes('Access-Control-Allow-Methods', method)]
  const allows = [status(204), anyOrigin, ...methods, includes('Access-Control-Allow-Headers', ...names)]
  return row(`a preflight of ${id} needs no token and says what may be sent`, corsPlace, async (store) => {
    store.skipIf(whyRestricted(run))
    await store.call('OPTIONS', pathOf(operation, 1n), allows, headers)
  })
}
