// ETags of plants, and the conditions that name them.

import { field, hasNoBody, newField, refusal, sameField, status } from '../checks.ts'
import { type Answer, fieldOf, type RowRequest } from '../message.ts'
import type { Circumstances, OneStep, Row, Step } from '../row.ts'
import { atOnce, clientsAtOnce, create, forProxies, get, put, read, remove, row, type Source } from './building.ts'

export const etagForm = /^"[\w-]{22}"$/
const etags: Source = {
  document: 'ETag is a strong validator; If-Match and If-None-Match follow RFC 9110, section 13',
  where: 'the parameters If-Match and If-None-Match',
}

export function etagRows(circumstances: Circumstances): readonly Row[] {
  return [
    ...ifNoneMatchRows(circumstances),
    ...linesRows(circumstances),
    changingRow(circumstances),
    ...ifMatchRows(circumstances),
  ]
}

/** The ETag of an answer to an earlier step. */
function etagIn(before: readonly Answer[], step: number): string {
  return (before[step] && fieldOf(before[step], 'etag')) ?? ''
}

function changed({ request, checks }: OneStep, change: (before: readonly Answer[]) => Partial<RowRequest>): OneStep {
  return {
    checks,
    request: (before) => {
      const parts = typeof request === 'function' ? request(before) : request
      const { headers, ...others } = change(before)
      return { ...parts, ...others, headers: { ...parts.headers, ...headers } }
    },
  }
}

/** Sends the ETag of an earlier answer in place of `{}` in a field's value. */
export function withEtagOf(
  step: number,
  one: OneStep,
  name: string,
  value = '{}',
  change = (etag: string): string => etag,
): OneStep {
  return changed(one, (before) => ({ headers: { [name]: value.replace('{}', change(etagIn(before, step))) } }))
}

/** Sends a list in a header field on two lines (RFC 9110, section 5.3), of which the second has an ETag. */
function onTwoLines(step: number, one: OneStep, name: string): OneStep {
  return changed(one, (before) => ({ headers: { [name]: '"x"' }, lines: [`${name}: ${etagIn(before, step)}`] }))
}

/** Sends an ETag on the first of two lines. */
function beforeALine(step: number, one: OneStep, name: string): OneStep {
  return changed(withEtagOf(step, one, name), () => ({ lines: [`${name}: "x"`] }))
}

function inOtherCase(etag: string): string {
  return etag.replaceAll(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
}

function ifNoneMatchRows({ ids }: Circumstances): Row[] {
  const [plain, matched, kept] = [ids.next(), ids.next(), ids.next()]
  const unchanged = get(plain, [status(304), hasNoBody, sameField('ETag', 1)])
  const same = ['{}', 'W/{}', '"x", {}', '"a,b", {}', '{},"y",', ', ,"x" ,\t,{}, ,']
  return [
    row(
      'If-None-Match gets 304 when it names the current ETag',
      etags,
      [plain],
      create({ id: plain, name: 'n' }),
      read({ id: plain, name: 'n' }),
      ...same.map((value) => withEtagOf(1, unchanged, 'If-None-Match', value)),
      get(plain, [status(304)], { 'If-None-Match': '*' }),
      ...['"x"', '"*"', 'W/"*"'].map((value) => get(plain, [status(200)], { 'If-None-Match': value })),
      get(plain, refusal('invalidHeader'), { 'If-None-Match': 'x' }),
    ),
    row(
      'If-Match on a read succeeds only while the plant is unchanged',
      etags,
      [matched],
      create({ id: matched, name: 'n' }),
      read({ id: matched, name: 'n' }),
      withEtagOf(1, get(matched, [status(200)]), 'If-Match'),
      get(matched, refusal('preconditionFailed'), { 'If-Match': '"x"' }),
      withEtagOf(1, get(matched, refusal('preconditionFailed')), 'If-Match', 'W/{}'),
      withEtagOf(1, get(matched, refusal('preconditionFailed'), { 'If-Match': '"x"' }), 'If-None-Match'),
      withEtagOf(1, withEtagOf(1, get(matched, [status(304)]), 'If-Match'), 'If-None-Match'),
    ),
    row(
      'If-None-Match prevents a change when it names the current ETag',
      etags,
      [kept],
      create({ id: kept, name: 'n' }),
      read({ id: kept, name: 'n' }),
      ...['{}', 'W/{}', '"x", {}', '*'].flatMap((value) => [
        withEtagOf(1, put(kept, '{"name":"m"}', refusal('preconditionFailed')), 'If-None-Match', value),
        withEtagOf(1, remove(kept, refusal('preconditionFailed')), 'If-None-Match', value),
      ]),
      ...['x', '"n', '*, "x"'].flatMap((value) => [
        put(kept, '{"name":"m"}', refusal('invalidHeader'), { 'If-None-Match': value }),
        remove(kept, refusal('invalidHeader'), { 'If-None-Match': value }),
      ]),
      read({ id: kept, name: 'n' }),
      put(kept, '{"name":"m"}', [status(200)], { 'If-None-Match': '"x"' }),
      withEtagOf(1, remove(kept, [status(204)]), 'If-None-Match'),
      remove(kept, refusal('unknownPlant'), { 'If-None-Match': '*' }),
    ),
  ]
}

/** Each field in a row of its own: a proxy may refuse it. */
function linesRows({ ids }: Circumstances): Row[] {
  const [unmatched, matched] = [ids.next(), ids.next()]
  const plant = { name: 'n' }
  return [
    forProxies(
      row(
        'If-None-Match may be on two lines',
        etags,
        [unmatched],
        create({ id: unmatched, ...plant }),
        read({ id: unmatched, ...plant }),
        ...[onTwoLines, beforeALine].flatMap((on) => [
          on(1, get(unmatched, [status(304), hasNoBody]), 'If-None-Match'),
          on(1, put(unmatched, '{"name":"m"}', refusal('preconditionFailed')), 'If-None-Match'),
          on(1, remove(unmatched, refusal('preconditionFailed')), 'If-None-Match'),
        ]),
      ),
    ),
    forProxies(
      row(
        'If-Match may be on two lines',
        etags,
        [matched],
        create({ id: matched, ...plant }),
        read({ id: matched, ...plant }),
        ...[onTwoLines, beforeALine].flatMap((on) => [
          on(1, get(matched, [status(200)]), 'If-Match'),
          on(1, put(matched, '{"name":"n"}', [status(200)]), 'If-Match'),
        ]),
        onTwoLines(1, remove(matched, [status(204)]), 'If-Match'),
      ),
    ),
  ]
}

function changingRow({ ids }: Circumstances): Row {
  const id = ids.next()
  const changed = (name: string, tag?: string): Step[] => [
    put(id, JSON.stringify({ name, tag }), [status(200), newField('ETag')]),
    withEtagOf(1, get(id, [status(200), field('ETag', etagForm)]), 'If-None-Match'),
    withEtagOf(1, get(id, refusal('preconditionFailed')), 'If-Match'),
  ]
  return row(
    'an ETag changes with the name and with the tag, and comes back with them',
    { document: 'ETag is equal for equal content and different for different content', where: 'the header ETag' },
    [id],
    create({ id, name: 'n', tag: 't' }),
    get(id, [status(200)]),
    get(id, [status(200), sameField('ETag', 1)]),
    ...changed('m', 't'),
    ...changed('n', 'u'),
    ...changed('n'),
    ...changed('n', ''),
    ...changed('nt'),
    ...changed('n\u0301', 't'),
    ...changed('\u0144', 't'),
    ...changed('\u0041', 't'),
    ...changed('\u0141', 't'),
    ...['\n', '\t', ' ', ',', '|', ':', ';', '/', '-', '\u001f', '\u0001', '":"', 'undefined', 'null'].flatMap(
      (joint) => [...changed(`a${joint}b`), ...changed(`a${joint}`, 'b'), ...changed('a', `${joint}b`)],
    ),
    ...changed('a', 'bc'),
    ...changed('ab', 'c'),
    ...changed('a","b', 'c'),
    ...changed('a', 'b","c'),
    put(id, '{"name":"n","tag":"t"}', [status(200), sameField('ETag', 1)]),
    put(id, '{"name":"n","tag":"t"}', [status(200), sameField('ETag', 1)]),
    get(id, [status(200), sameField('ETag', 1)]),
  )
}

function ifMatchRows({ ids }: Circumstances): Row[] {
  const [id, replaced, changed, deleted, removed] = [ids.next(), ids.next(), ids.next(), ids.next(), ids.next()]
  return [
    oneOf('replaces', replaced, [412], () => true),
    oneOf('changes', changed, [404, 412], (client) => client % 2 === 0),
    oneOf('changes, a delete first,', deleted, [404, 412], (client) => client % 2 === 1),
    oneOf('changes, deletes first,', removed, [404, 412], (client) => client >= clientsAtOnce / 2),
    row(
      'If-Match prevents lost updates',
      etags,
      [id],
      create({ id, name: 'n' }),
      read({ id, name: 'n' }),
      ...['"x"', '"*"'].flatMap((value) => [
        put(id, '{"name":"m"}', refusal('preconditionFailed'), { 'If-Match': value }),
        remove(id, refusal('preconditionFailed'), { 'If-Match': value }),
        get(id, refusal('preconditionFailed'), { 'If-Match': value }),
      ]),
      withEtagOf(1, put(id, '{"name":"m"}', refusal('preconditionFailed')), 'If-Match', 'W/{}'),
      withEtagOf(1, put(id, '{"name":"m"}', refusal('preconditionFailed')), 'If-Match', '{}', inOtherCase),
      withEtagOf(1, put(id, '{"name":"first"}', [status(200)]), 'If-Match', '"a,b", "x", {}'),
      withEtagOf(1, put(id, '{"name":"second"}', refusal('preconditionFailed')), 'If-Match'),
      withEtagOf(1, remove(id, refusal('preconditionFailed')), 'If-Match'),
      put(id, '{"name":"m"}', refusal('invalidHeader'), { 'If-Match': 'x' }),
      read({ id, name: 'first' }),
      ...['x', '"first', 'first"', 'W/x', '*, "x"', '"a" "b"'].flatMap((value) => [
        put(id, '{"name":"m"}', refusal('invalidHeader'), { 'If-Match': value }),
        remove(id, refusal('invalidHeader'), { 'If-Match': value }),
        get(id, refusal('invalidHeader'), { 'If-Match': value }),
      ]),
      read({ id, name: 'first' }),
      get(id, [status(200)], { 'If-Match': '*' }),
      put(id, '{"name":"third"}', [status(200)], { 'If-Match': '*' }),
      withEtagOf(1, remove(id, refusal('preconditionFailed')), 'If-Match', '"x", {}'),
      remove(id, [status(204)], { 'If-Match': '*' }),
      get(id, refusal('unknownPlant'), { 'If-Match': '*' }),
      remove(id, refusal('unknownPlant'), { 'If-Match': '*' }),
    ),
  ]
}

/** Replaces, and deletes by other clients, with the ETag of the plant before. */
function oneOf(what: string, id: bigint, others: readonly number[], isReplace: (client: number) => boolean): Row {
  return row(
    `of ${what} with one ETag at once, one succeeds`,
    etags,
    [id],
    create({ id, name: 'n' }),
    read({ id, name: 'n' }),
    atOnce(
      (before, client) => ({
        ...(isReplace(client) ? { method: 'PUT', body: `{"name":"m${client}"}` } : { method: 'DELETE' }),
        target: `/plants/${id}`,
        headers: { 'If-Match': etagIn(before, 1) },
      }),
      'succeeded',
      others,
    ),
  )
}
