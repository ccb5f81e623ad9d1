// Builds the most common rows: a create that is kept, and one that is refused.

import type { ErrorCode } from '../../src/domain/errors.ts'
import { isPlant, locates, refusal, status } from '../checks.ts'
import { type Answer, hasSucceeded, type RowRequest } from '../message.ts'
import { type NewPlant, plantJson } from '../plant.ts'
import type { Check, Circumstances, ManyStep, OneStep, Row, Step } from '../row.ts'

/** The document's rule and its place. */
export type Source = Pick<Row, 'document' | 'where'>

/** A row of what openapi.yaml says, about some ids. */
export function row(
  title: string,
  { document, where }: Source,
  ids: readonly bigint[],
  ...steps: readonly Step[]
): Row {
  return { title, level: 'complete', document, where, ids, steps }
}

export const notJson: Source = { document: 'a body that is not JSON is refused with 400', where: 'createPlant, 400' }

/** Why the digits of ids cannot be tested; false if they can. */
export function isExactAnyway(ids: Circumstances['ids']): string | false {
  return !ids.isBeyondDoubles && 'the given range has ids that JavaScript numbers hold exactly'
}

/** The row, or why it cannot be run. */
export function unless(why: string | false, row: Row): Row {
  return why === false ? row : { ...row, skipped: why }
}

/** The row, if there is the token that it needs, such as `$SECOND_TOKEN`. */
export function needing(token: string, { credentials }: Circumstances, row: Row): Row {
  const flag = `--${token.slice(1).toLowerCase().replaceAll('_', '-')}`
  return unless(!credentials.has(token) && `it needs ${flag}`, row)
}

/** The row, whose requests proxies often answer themselves. */
export function forProxies(row: Row): Row {
  return { ...row, isForProxies: true }
}

/** A valid create, whose plant can be read afterwards. */
export function kept(title: string, says: Source, plant: NewPlant, request: RowRequest): Row {
  return { ...row(title, says, [plant.id], { request, checks: createdChecks(plant) }, read(plant)), kept: plant }
}

/** The same for a plant with only a name. */
export function keptWith(title: string, says: Source, id: bigint, request: RowRequest): Row {
  return kept(title, says, { id, name: 'n' }, { body: plantJson(id, 'n'), ...request })
}

/** A create that is refused and creates nothing. */
export function refused(title: string, says: Source, code: ErrorCode, request: RowRequest, id: bigint): Row {
  const isInvalid = code === 'invalidPlant'
  return row(title, says, [id], { request: { body: plantJson(id, 'n'), ...request, isInvalid }, checks: refusal(code) })
}

/** Makes rows of bodies that are refused, each with an id of its own. */
export function refusing(
  ids: Circumstances['ids'],
  says: Source,
  code: ErrorCode,
  subject = '',
): (title: string, write: (id: bigint) => string | Buffer) => Row {
  return (title, write) => {
    const id = ids.next()
    return refused(`${subject}${title}`, says, code, { body: write(id) }, id)
  }
}

export function createdChecks({ id, ...plant }: NewPlant): readonly Check[] {
  return [status(200), isPlant(plant), locates(id)]
}

export function create(plant: NewPlant, headers?: Headers): OneStep {
  const body = plantJson(plant.id, plant.name, plant.tag)
  return { request: { body, ...(headers !== undefined && { headers }) }, checks: createdChecks(plant) }
}

export function read(plant: NewPlant): OneStep {
  return get(plant.id, [status(200), isPlant(plant)])
}

export const clientsAtOnce = 8

/**
 * Several clients at once: exactly one request takes effect.
 *
 * @param request the same for all, or by the number of the client.
 * @param effect what the one did, such as `created the plant`.
 * @param others the statuses of all others.
 * @param isIt whether an answer says that it took effect; by default, a 2xx.
 */
export function atOnce(
  request: RowRequest | ((before: readonly Answer[], client: number) => RowRequest),
  effect: string,
  others: readonly number[],
  isIt = hasSucceeded,
): ManyStep {
  return {
    atOnce: (before) =>
      Array.from({ length: clientsAtOnce }, (_, client) =>
        typeof request === 'function' ? request(before, client) : request,
      ),
    together: (answers) => {
      const odd = answers.find((answer) => !isIt(answer) && !others.includes(answer.status))
      if (odd !== undefined) return `one of ${clientsAtOnce} at once got ${odd.status}, not ${others.join(' or ')}`
      const count = answers.filter(isIt).length
      return count === 1 ? undefined : `of ${clientsAtOnce} at once, ${count} ${effect}; exactly one must`
    },
  }
}

export function isMissing(id: bigint): OneStep {
  return get(id, refusal('unknownPlant'))
}

/** A request without a body. */
export function call(method: string, target: string, checks: readonly Check[], headers: Headers = {}): OneStep {
  return { request: { method, target, headers }, checks }
}

export function get(id: bigint, checks: readonly Check[], headers: Headers = {}): OneStep {
  return call('GET', `/plants/${id}`, checks, headers)
}

/** A replace that is refused. */
export function refusedPut(id: bigint, body: string | Buffer, code: ErrorCode): OneStep {
  const request = { method: 'PUT', target: `/plants/${id}`, body, isInvalid: code === 'invalidPlant' }
  return { request, checks: refusal(code) }
}

export function put(id: bigint, body: string | Buffer, checks: readonly Check[], headers: Headers = {}): OneStep {
  return { request: { method: 'PUT', target: `/plants/${id}`, body, headers }, checks }
}

export function remove(id: bigint, checks: readonly Check[], headers: Headers = {}): OneStep {
  return call('DELETE', `/plants/${id}`, checks, headers)
}

export type Headers = NonNullable<RowRequest['headers']>
