// Reading, replacing and deleting plants, with ETags.

import { int64Max, int64Min, type NewPlant } from '../../domain/plant.ts'
import { field, hasNoBody, isPlant, refusal, sameField, status } from '../checks.ts'
import { fieldOf, type RowRequest } from '../message.ts'
import type { Circumstances, Row, Step } from '../row.ts'
import { create, get, isMissing, put, read, remove, row, type Source } from './building.ts'

const etagForm = /^"[\w-]{22}"$/
const etags: Source = {
  document: 'ETag is a strong validator; If-Match and If-None-Match follow RFC 9110, section 13',
  where: 'the parameters If-Match and If-None-Match',
}

export function plantRows(circumstances: Circumstances): readonly Row[] {
  return [
    ...readRows(circumstances),
    ...ifNoneMatchRows(circumstances),
    ...replaceRows(circumstances),
    ...ifMatchRows(circumstances),
    ...pathIdRows(circumstances),
    everyIdRow(),
  ]
}

/** Sends the ETag of an earlier answer in place of `{}` in a field's value. */
function withEtagOf(step: number, { request, checks }: Step, name: string, value = '{}'): Step {
  return {
    checks,
    request: (before) => {
      const parts = typeof request === 'function' ? request(before) : request
      const answer = before[step]
      const etag = (answer && fieldOf(answer, 'etag')) ?? ''
      return { ...parts, headers: { ...parts.headers, [name]: value.replace('{}', etag) } }
    },
  }
}

function readRows({ ids }: Circumstances): Row[] {
  const plant: NewPlant = { id: ids.next() + 1n, name: 'Monstera "deliciosa" 🌿', tag: 'aroid' }
  const [headed, unknown] = [ids.next(), ids.next()]
  const reading: Source = { document: 'getPlant answers with the plant, its id and an ETag', where: 'getPlant, 200' }
  const head: RowRequest = { method: 'HEAD', target: `/plants/${headed}` }
  return [
    row(
      'a plant is read with every digit of its id, and with a strong ETag',
      reading,
      [plant.id],
      create(plant),
      get(plant.id, [status(200), isPlant(plant), field('ETag', etagForm)]),
    ),
    row(
      'HEAD returns the header fields of GET, without a body',
      reading,
      [headed],
      create({ id: headed, name: 'n' }),
      read({ id: headed, name: 'n' }),
      { request: head, checks: [status(200), hasNoBody, sameField('ETag', 1)] },
      withEtagOf(
        1,
        { request: head, checks: [status(304), hasNoBody, field('Content-Length', undefined)] },
        'If-None-Match',
      ),
    ),
    row(
      'every operation on a missing plant answers 404',
      { document: 'there is no plant with this id: 404, and replacing never creates one', where: 'UnknownPlant' },
      [unknown],
      isMissing(unknown),
      put(unknown, '{"name":"n"}', refusal('unknownPlant')),
      remove(unknown, refusal('unknownPlant')),
      get(unknown, refusal('unknownPlant'), { 'If-None-Match': '*' }),
      isMissing(unknown),
    ),
  ]
}

function ifNoneMatchRows({ ids }: Circumstances): Row[] {
  const [plain, matched, kept] = [ids.next(), ids.next(), ids.next()]
  const unchanged: Step = get(plain, [status(304), hasNoBody, sameField('ETag', 1)])
  const same = ['{}', 'W/{}', '"x", {}', '{},"y",', ', ,"x" ,\t,{}, ,']
  return [
    row(
      'If-None-Match gets 304 when it names the current ETag',
      etags,
      [plain],
      create({ id: plain, name: 'n' }),
      read({ id: plain, name: 'n' }),
      ...same.map((value) => withEtagOf(1, unchanged, 'If-None-Match', value)),
      get(plain, [status(304)], { 'If-None-Match': '*' }),
      get(plain, [status(200)], { 'If-None-Match': '"x"' }),
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
      put(kept, '{"name":"m"}', refusal('invalidHeader'), { 'If-None-Match': 'x' }),
      read({ id: kept, name: 'n' }),
      put(kept, '{"name":"m"}', [status(200)], { 'If-None-Match': '"x"' }),
      withEtagOf(1, remove(kept, [status(204)]), 'If-None-Match'),
      remove(kept, refusal('unknownPlant'), { 'If-None-Match': '*' }),
    ),
  ]
}

function replaceRows({ ids }: Circumstances): Row[] {
  const [id, other, gone] = [ids.next(), ids.next(), ids.next()]
  const replacing: Source = {
    document:
      'replacePlant sets name and tag, and answers with the Plant and its ETag; without a tag the tag is removed',
    where: 'replacePlant',
  }
  const body = `{"name":"Nephrolepis","tag":"fern","id":${other},"colour":"green"}`
  const replaced = { name: 'Nephrolepis', tag: 'fern' }
  return [
    row(
      'replacing a plant answers like createPlant',
      replacing,
      [id, other],
      create({ id, name: 'n' }),
      put(id, body, [status(200), isPlant(replaced), field('ETag', etagForm)]),
      get(id, [status(200), isPlant({ id, ...replaced }), sameField('ETag', 1)]),
      isMissing(other),
      put(id, '{"name":"Nephrolepis"}', [status(200), isPlant({ name: 'Nephrolepis' })]),
      read({ id, name: 'Nephrolepis' }),
      put(id, '{"tag":"x"}', refusal('invalidPlant')),
      put(id, '{', refusal('invalidJson')),
      put(id, '{"name":"m"}', refusal('unsupportedMediaType'), { 'Content-Type': 'text/plain' }),
      read({ id, name: 'Nephrolepis' }),
    ),
    row(
      'a plant is deleted',
      { document: 'deletePlant answers with 204', where: 'deletePlant' },
      [gone],
      create({ id: gone, name: 'n' }),
      remove(gone, [status(204), hasNoBody]),
      isMissing(gone),
      remove(gone, refusal('unknownPlant')),
      create({ id: gone, name: 'again' }),
    ),
  ]
}

function ifMatchRows({ ids }: Circumstances): Row[] {
  const id = ids.next()
  return [
    row(
      'If-Match prevents lost updates',
      etags,
      [id],
      create({ id, name: 'n' }),
      read({ id, name: 'n' }),
      put(id, '{"name":"m"}', refusal('preconditionFailed'), { 'If-Match': '"x"' }),
      withEtagOf(1, put(id, '{"name":"m"}', refusal('preconditionFailed')), 'If-Match', 'W/{}'),
      withEtagOf(1, put(id, '{"name":"first"}', [status(200)]), 'If-Match', '"x", {}'),
      withEtagOf(1, put(id, '{"name":"second"}', refusal('preconditionFailed')), 'If-Match'),
      withEtagOf(1, remove(id, refusal('preconditionFailed')), 'If-Match'),
      put(id, '{"name":"m"}', refusal('invalidHeader'), { 'If-Match': 'x' }),
      read({ id, name: 'first' }),
      remove(id, [status(204)], { 'If-Match': '*' }),
      remove(id, refusal('unknownPlant'), { 'If-Match': '*' }),
    ),
  ]
}

/** Any id that a faulty server could derive is in the range. */
function pathIdRows({ ids }: Circumstances): Row[] {
  const says: Source = {
    document: 'the id in a path is an int64 in decimal digits without leading zeros',
    where: 'the parameter id',
  }
  const bad = (what: string, write: (id: bigint) => string, methods = ['GET', 'DELETE']): Row => {
    const id = ids.next()
    const target = `/plants/${write(id)}`
    const steps = methods.map((method) => ({ request: { method, target }, checks: refusal('invalidParameter') }))
    return row(`the id ${what} in a path`, says, [id], ...steps)
  }
  return [
    bad('in words', () => 'seven'),
    bad('with a fraction of zero', (id) => `${id}.0`),
    bad('with an exponent', (id) => `${id}e0`),
    bad('with a leading zero', (id) => `${id}`.replace(/(\d)/, '0$1')),
    bad('with a plus sign', (id) => `+${id}`),
    bad('with a space behind it', (id) => `${id}%20`),
    bad('in Arabic digits', (id) =>
      encodeURIComponent(`${id}`.replaceAll(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'.charAt(Number(digit)))),
    ),
    // Clamped to int64, it would be the greatest id.
    bad('of 26 digits', () => '9'.repeat(26), ['GET']),
    bad('of 5,000 digits', () => '9'.repeat(5_000), ['GET']),
  ]
}

/** Reads only: other plants may have these ids. */
function everyIdRow(): Row {
  const says: Source = { document: 'an id is any int64', where: 'the parameter id' }
  const ids = [int64Min, -1n, 0n, 1n, int64Max]
  return row(
    'the least and the greatest int64, and ids around 0, are ids in a path',
    says,
    [],
    ...ids.map((id) => get(id, [status(200, 404)])),
  )
}
