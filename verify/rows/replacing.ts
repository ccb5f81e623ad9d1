// Replacing plants.

import { gzipSync } from 'node:zlib'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { field, isPlant, refusal, sameField, status } from '../checks.ts'
import type { Plant } from '../plant.ts'
import type { Circumstances, Row, Step } from '../row.ts'
import { create, get, isMissing, put, read, refusedPut, remove, row, type Source } from './building.ts'
import { etagForm } from './etags.ts'

export function replaceRows(circumstances: Circumstances): readonly Row[] {
  return [...replacedRows(circumstances), ...refusedRows(circumstances), ...keptRows(circumstances)]
}

function replacedRows({ ids }: Circumstances): Row[] {
  const [id, other] = [ids.next(), ids.next()]
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
    ),
  ]
}

const says: Source = {
  document: 'the body of replacePlant is a Plant, under the rules of createPlant',
  where: 'replacePlant and the schema Plant',
}
const was = { name: 'n', tag: 't' }

/** Each refused body leaves the plant as it is. */
function refusedRows({ ids, plants }: Circumstances): Row[] {
  const [name, tag] = [plants.lengthsOf('name'), plants.lengthsOf('tag')]
  const asBefore = (title: string, steps: (id: bigint) => readonly Step[]): Row => {
    const id = ids.next()
    return row(
      `a replace ${title} changes nothing`,
      says,
      [id],
      create({ id, ...was }),
      ...steps(id),
      read({ id, ...was }),
    )
  }
  const bad = (title: string, code: ErrorCode, ...bodies: readonly (string | Buffer)[]): Row =>
    asBefore(title, (id) => bodies.map((body) => refusedPut(id, body, code)))
  const types = ['text/plain', 'text/json', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', '']
  return [
    bad('with no JSON', 'invalidJson', '{', '', '{"name":"m"}}', "{'name':'m'}"),
    bad('with a repeated key', 'invalidJson', '{"name":"m","name":"m"}', '{"name":"m","x":{"y":1,"y":1}}'),
    bad('that is no object', 'invalidPlant', '[]', 'null', '"m"', '7'),
    bad('without a name', 'invalidPlant', '{}', '{"tag":"t"}', '{"Name":"m"}', '{"NAME":"m","name ":"m"}'),
    bad('with a name that is no string', 'invalidPlant', '{"name":7}', '{"name":null}', '{"name":["m"]}'),
    bad('with a tag that is no string', 'invalidPlant', '{"name":"m","tag":null}', '{"name":"m","tag":7}'),
    bad(
      'with too long a text',
      'invalidPlant',
      JSON.stringify({ name: 'a'.repeat(name.max + 1) }),
      JSON.stringify({ name: 'm', tag: 'a'.repeat(tag.max + 1) }),
    ),
    bad('with NUL', 'invalidPlant', '{"name":"a\\u0000b"}', '{"name":"m","tag":"\\u0000"}'),
    bad('with an unpaired surrogate', 'invalidPlant', '{"name":"\\ud83c"}', '{"name":"m","tag":"\\udf3f"}'),
    bad('not in UTF-8', 'invalidJson', Buffer.from('{"name":"\xff"}', 'latin1')),
    bad('of 65,537 bytes', 'bodyTooLarge', plants.fill('{"name":"m"}').padEnd(65_537)),
    bad('of 65,537 bytes, mostly é', 'bodyTooLarge', `{"name":"m","x":"${'é'.repeat(32_759)}"}`),
    asBefore('of another media type', (id) =>
      types.map((type) => put(id, '{"name":"m"}', refusal('unsupportedMediaType'), { 'Content-Type': type })),
    ),
    asBefore('in another coding', (id) => [
      put(id, gzipSync('{"name":"m"}'), refusal('unsupportedContentEncoding'), { 'Content-Encoding': 'gzip' }),
    ]),
    asBefore('without a token', (id) => [
      ...['{"name":"m"}', '{}', 'no json'].map((body) =>
        put(id, body, refusal('missingToken'), { Authorization: undefined }),
      ),
      remove(id, refusal('missingToken'), { Authorization: undefined }),
    ]),
  ]
}

function keptRows({ ids, plants }: Circumstances): Row[] {
  const [name, tag] = [plants.lengthsOf('name'), plants.lengthsOf('tag')]
  const long = ids.next()
  const keeps = (title: string, plant: Plant): Row => {
    const id = ids.next()
    const checks = [status(200), isPlant(plant), field('ETag', etagForm)]
    return row(
      `a replace keeps ${title}`,
      says,
      [id],
      create({ id, ...was }),
      put(id, JSON.stringify(plant), checks),
      read({ id, ...plant }),
    )
  }
  return [
    row(
      'a replace of 65,536 bytes is kept',
      says,
      [long],
      create({ id: long, ...was }),
      put(long, plants.fill('{"name":"m"}').padEnd(65_536), [status(200), isPlant({ name: 'm' })]),
      read({ id: long, name: 'm' }),
    ),
    keeps('characters outside the BMP', { name: '🌿𝒜', tag: '🌿' }),
    keeps('texts of full length', { name: '🌿'.repeat(name.max), tag: '🌿'.repeat(tag.max) }),
    keeps('texts that NFKC makes longer', { name: '\ufdfa'.repeat(name.max), tag: '\ufdfa'.repeat(tag.max) }),
    keeps('empty texts', { name: '', tag: '' }),
    keeps('white space', { name: ' \t a  b\r\n ', tag: ' x  y ' }),
    keeps('texts as they are composed', { name: 'e\u0301 \ufb01', tag: 'e\u0301' }),
    keeps('quotes, backslashes and control characters', { name: '"\\\u0001\u007f', tag: "'" }),
  ]
}
