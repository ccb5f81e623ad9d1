// Reading and deleting plants, their ids in paths, and several clients at once.

import { int64Max, int64Min } from '../../src/domain/plant.ts'
import { field, hasNoBody, isPlant, locates, newField, refusal, sameField, status } from '../checks.ts'
import { fieldOf, type RowRequest } from '../message.ts'
import { type NewPlant, plantJson } from '../plant.ts'
import type { Check, Circumstances, Row, Step } from '../row.ts'
import {
  atOnce,
  call,
  clientsAtOnce,
  create,
  forProxies,
  get,
  isMissing,
  put,
  read,
  remove,
  row,
  type Source,
} from './building.ts'
import { etagForm, etagRows, withEtagOf } from './etags.ts'
import { replaceRows } from './replacing.ts'

const jsonType = /^application\/json/i

export function plantRows(circumstances: Circumstances): readonly Row[] {
  return [
    ...readRows(circumstances),
    ...etagRows(circumstances),
    ...replaceRows(circumstances),
    ...deletedRows(circumstances),
    ...atOnceRows(circumstances),
    ...pathIdRows(circumstances),
    everyIdRow(),
  ]
}

function readRows({ ids }: Circumstances): Row[] {
  const plant: NewPlant = { id: ids.next() + 1n, name: 'Monstera "deliciosa" 🌿', tag: 'aroid' }
  const [headed, unknown] = [ids.next() + 1n, ids.next()]
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
      'a request id is that of the server, whatever the client sends',
      { document: "the id of this request, which is also in the server's log", where: 'the header RequestId' },
      [headed + 2n],
      ...[1, 2].map(() =>
        get(
          headed + 2n,
          [...refusal('unknownPlant'), field('X-Request-Id', /^[0-9A-Za-z-]+$/), newField('X-Request-Id')],
          {
            'X-Request-Id': 'a_b@c',
          },
        ),
      ),
    ),
    row(
      'HEAD returns the header fields of GET, without a body',
      reading,
      [headed],
      create({ id: headed, name: 'n' }),
      read({ id: headed, name: 'n' }),
      {
        request: head,
        checks: [status(200), hasNoBody, sameField('ETag', 1), sameField('Content-Type', 1), hasLengthOf(1)],
      },
      withEtagOf(1, { request: head, checks: [status(304), hasNoBody] }, 'If-None-Match'),
      { request: { ...head, target: `/plants/${headed + 1n}` }, checks: [...refusal('unknownPlant'), hasNoBody] },
      { request: { ...head, headers: { Authorization: undefined } }, checks: [...refusal('missingToken'), hasNoBody] },
      ...['/plants?limit=1', '/summary'].flatMap((target): Step[] => [
        call('HEAD', target, [status(200), hasNoBody, field('Content-Type', jsonType)]),
        call('HEAD', target, [status(401), hasNoBody], { Authorization: undefined }),
      ]),
      call('HEAD', '/plants?limit=0', [...refusal('invalidParameter'), hasNoBody]),
    ),
    row(
      'every operation on a missing plant answers 404',
      { document: 'there is no plant with this id: 404, and replacing never creates one', where: 'UnknownPlant' },
      [unknown],
      isMissing(unknown),
      put(unknown, '{"name":"n"}', refusal('unknownPlant')),
      put(unknown, '{"name":"n"}', refusal('unknownPlant'), { 'If-None-Match': '*' }),
      remove(unknown, refusal('unknownPlant')),
      get(unknown, refusal('unknownPlant'), { 'If-None-Match': '*' }),
      isMissing(unknown),
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
    const steps = methods.map((method) => call(method, target, refusal('invalidParameter')))
    return row(`the id ${what} in a path`, says, [id], ...steps)
  }
  return [
    bad('in words', () => 'seven'),
    bad('with a fraction of zero', (id) => `${id}.0`),
    bad('with an exponent', (id) => `${id}e0`),
    bad('with a leading zero', (id) => `${id}`.replace(/(\d)/, '0$1')),
    bad('with a plus sign', (id) => `+${id}`),
    bad('with an underscore', (id) => String(id).replace(/(\d)(\d{3})$/, '$1_$2')),
    bad('with a space behind it', (id) => `${id}%20`),
    ...['n', 'L', '.', ',0', ';', '-', '%27'].map((end) => bad(`with ${end} behind it`, (id) => `${id}${end}`)),
    bad('in full width', (id) =>
      encodeURIComponent(`${id}`.replaceAll(/\d/g, (digit) => '０１２３４５６７８９'.charAt(Number(digit)))),
    ),
    bad('with a line break behind it', (id) => `${id}%0A`),
    bad('with a line break in front', (id) => `%0A${id}`),
    bad('with a tab behind it', (id) => `${id}%09`),
    forProxies(bad('with NUL behind it', (id) => `${id}%00`)),
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

/** The length in an answer to HEAD, if any, is that of the answer to GET (RFC 9110, section 8.6). */
function hasLengthOf(step: number): Check {
  return (answer, before) => {
    const length = fieldOf(answer, 'content-length')
    const wanted = String(before[step]?.body.length)
    return length === undefined || length === wanted ? undefined : `Content-Length is ${length}, that of GET ${wanted}`
  }
}

function deletedRows({ ids }: Circumstances): Row[] {
  const gone = ids.next()
  return [
    row(
      'a plant is deleted',
      { document: 'deletePlant answers with 204', where: 'deletePlant' },
      [gone],
      create({ id: gone, name: 'n', tag: 't' }),
      read({ id: gone, name: 'n', tag: 't' }),
      remove(gone, [status(204), hasNoBody, field('Content-Length', undefined), field('Transfer-Encoding', undefined)]),
      isMissing(gone),
      remove(gone, refusal('unknownPlant')),
      put(gone, '{"name":"n"}', refusal('unknownPlant')),
      isMissing(gone),
      withEtagOf(1, get(gone, refusal('unknownPlant')), 'If-None-Match'),
      create({ id: gone, name: 'again' }),
      read({ id: gone, name: 'again' }),
    ),
  ]
}

function atOnceRows({ ids }: Circumstances): Row[] {
  const [created, deleted, replaced] = [ids.next() + 1n, ids.next(), ids.next()]
  const together = Array.from({ length: clientsAtOnce }, () => ids.next())
  return [
    row(
      'of creates of one id at once, one succeeds',
      { document: 'an id that is taken is refused with 409', where: 'createPlant, 409' },
      [created],
      atOnce({ body: plantJson(created, 'n') }, 'created the plant', [409]),
      read({ id: created, name: 'n' }),
    ),
    row(
      'each of many creates at once is answered with its own plant and Location',
      { document: 'createPlant answers with the Plant and its Location', where: 'createPlant, 200' },
      together,
      {
        atOnce: () => together.map((id) => ({ body: plantJson(id, `n${id}`) })),
        together: (answers, plants) =>
          answers
            .map(
              (answer, client) =>
                status(200)(answer) ??
                isPlant({ name: `n${together[client]}` })(answer, [], plants) ??
                locates(together[client] as bigint)(answer),
            )
            .find((why) => why !== undefined),
      },
      ...together.map((id) => read({ id, name: `n${id}` })),
    ),
    row(
      'each of many replaces at once is answered with its own plant and ETag',
      { document: 'replacePlant answers with the Plant and its ETag', where: 'replacePlant' },
      [replaced],
      create({ id: replaced, name: 'n' }),
      {
        atOnce: () =>
          Array.from({ length: clientsAtOnce }, (_, client) => ({
            method: 'PUT',
            target: `/plants/${replaced}`,
            body: JSON.stringify({ name: `m${client}` }),
          })),
        together: (answers, plants) => {
          const wrongs = answers.map(
            (answer, client) => status(200)(answer) ?? isPlant({ name: `m${client}` })(answer, [], plants),
          )
          const etags = new Set(answers.map((answer) => fieldOf(answer, 'etag')))
          const repeated = etags.size < answers.length ? 'two of them have one ETag' : undefined
          return wrongs.find((why) => why !== undefined) ?? repeated
        },
      },
    ),
    row(
      'of deletes of one plant at once, one succeeds',
      { document: 'there is no plant with this id: 404', where: 'deletePlant, 404' },
      [deleted],
      create({ id: deleted, name: 'n' }),
      atOnce({ method: 'DELETE', target: `/plants/${deleted}` }, 'deleted the plant', [404]),
      isMissing(deleted),
    ),
  ]
}
