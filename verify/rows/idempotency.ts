// Idempotency-Key: a repeated create makes one plant.

import { field, refusal, sameField, status } from '../checks.ts'
import { plantJson } from '../plant.ts'
import type { Circumstances, OneStep, Row } from '../row.ts'
import {
  atOnce,
  clientsAtOnce,
  create,
  createdChecks,
  forProxies,
  type Headers,
  isMissing,
  keptWith,
  needing,
  put,
  read,
  refused,
  remove,
  row,
  type Source,
} from './building.ts'

const says: Source = {
  document:
    'for 24 hours a request with the same key, token and plant gets the same response, with Idempotency-Replayed: ' +
    'true; with another plant it is refused with 422; a refused request does not use up its key',
  where: 'the parameter Idempotency-Key',
}
const form: Source = {
  document: 'the key has 1 to 255 visible ASCII characters, and is sent once',
  where: 'the parameter Idempotency-Key',
}

export function repeatRows(circumstances: Circumstances): readonly Row[] {
  return [
    repeatedRow(circumstances),
    ...otherRows(circumstances),
    ...rememberedRows(circumstances),
    ...sameKeyRows(circumstances),
  ]
}

export function keyRows({ ids, nonce }: Circumstances): readonly Row[] {
  const accepted = (title: string, key: string): Row =>
    keptWith(`Idempotency-Key ${title}`, form, ids.next(), { headers: { 'Idempotency-Key': key } })
  const bad = (title: string, key: string): Row =>
    refused(`Idempotency-Key ${title}`, form, 'invalidHeader', { headers: { 'Idempotency-Key': key } }, ids.next())
  const twice = { headers: { 'Idempotency-Key': nonce }, lines: [`Idempotency-Key: ${nonce}`] }
  return [
    accepted('of 36 characters', nonce),
    accepted('of 255 characters', nonce.padEnd(255, 'k')),
    accepted('in quotes', `"${nonce}"`),
    bad('empty', ''),
    bad('of 256 characters', 'k'.repeat(256)),
    bad('with a space', 'a b'),
    bad('outside ASCII', 'schl\xfcssel'),
    forProxies(refused('Idempotency-Key twice', form, 'repeatedHeader', twice, ids.next())),
  ]
}

function repeatedRow({ ids, nonce }: Circumstances): Row {
  const plant = { id: ids.next(), name: 'Clivia miniata', tag: 'bulb' }
  const headers = { 'Idempotency-Key': `repeated-${nonce}` }
  const first = create(plant, headers)
  const repeats = [...createdChecks(plant), replayed, sameField('Location', 0)]
  const written = `{ "tag": "bulb", "name": "Clivia miniata", "colour": "orange", "id": ${plant.id}.0 }`
  const repeated = row(
    'a repeated create with its key gets the first answer again, and says so',
    says,
    [plant.id],
    { ...first, checks: [...first.checks, field('Idempotency-Replayed', undefined)] },
    { request: first.request, checks: repeats },
    { request: { body: written, headers }, checks: repeats },
    read(plant),
  )
  return { ...repeated, kept: plant }
}

function otherRows({ ids, nonce }: Circumstances): Row[] {
  const [used, other, taken] = [ids.next(), ids.next(), ids.next()]
  const [free, plain, mortal] = [ids.next(), ids.next(), ids.next()]
  const [occupied, untagged, born] = [ids.next(), ids.next(), ids.next()]
  const key = (name: string) => ({ 'Idempotency-Key': `${name}-${nonce}` })
  return [
    row(
      'another plant under a key that was used is refused',
      says,
      [used, other, occupied, untagged],
      create({ id: used, name: 'n' }, key('used')),
      create({ id: occupied, name: 'n' }),
      reused(key('used'), occupied, 'm'),
      reused(key('used'), occupied, 'n'),
      reused(key('used'), other, 'n'),
      reused(key('used'), used, 'n', 't'),
      reused(key('used'), used, 'm'),
      reused(key('used'), used, 'n', ''),
      create({ id: untagged, name: 'n', tag: '' }, key('empty')),
      reused(key('empty'), untagged, 'n'),
      reused(key('empty'), untagged, '', 'n'),
      read({ id: used, name: 'n' }),
      isMissing(other),
      { request: { body: plantJson(used, 'n'), headers: key('used') }, checks: [status(200), replayed] },
    ),
    row(
      'the key of a refused create is free',
      says,
      [taken, free],
      create({ id: taken, name: 'n' }),
      { request: { body: plantJson(taken, 'taken'), headers: key('free') }, checks: refusal('idTaken') },
      { request: { body: `{"id":${free}}`, headers: key('free') }, checks: refusal('invalidPlant') },
      create({ id: free, name: 'free' }, key('free')),
      // Also for the same create, once its id is free.
      { request: { body: plantJson(taken, 'late'), headers: key('late') }, checks: refusal('idTaken') },
      remove(taken, [status(204)]),
      create({ id: taken, name: 'late' }, key('late')),
    ),
    row('a repeated create without a key is refused', says, [plain], create({ id: plain, name: 'n' }), {
      request: { body: plantJson(plain, 'n') },
      checks: refusal('idTaken'),
    }),
    row(
      'a deleted id is free again, and an old key does not bring the plant back',
      says,
      [mortal, born],
      create({ id: mortal, name: 'mortal' }, key('mortal')),
      remove(mortal, [status(204)]),
      {
        request: { body: plantJson(mortal, 'mortal'), headers: key('mortal') },
        checks: [...createdChecks({ id: mortal, name: 'mortal' }), replayed],
      },
      isMissing(mortal),
      reused(key('mortal'), born, 'n'),
      reused(key('mortal'), mortal, 'n'),
      isMissing(born),
      create({ id: mortal, name: 'again' }),
    ),
  ]
}

function rememberedRows({ ids, nonce }: Circumstances): Row[] {
  const [composed, remembered] = [ids.next(), ids.next()]
  const others = Array.from({ length: 100 }, (_, at) => remembered + BigInt(at) + 1n)
  const key = (name: string) => ({ 'Idempotency-Key': `${name}-${nonce}` })
  return [
    row(
      'a key that was used is refused for a plant that is composed otherwise',
      says,
      [composed],
      create({ id: composed, name: 'e\u0301' }, key('composed')),
      reused(key('composed'), composed, '\u00e9'),
      reused(key('composed'), composed, 'E\u0301'),
      reused(key('composed'), composed, 'e\u0301 '),
    ),
    row(
      'a key is remembered, however many come after it',
      says,
      [remembered, ...others],
      create({ id: remembered, name: 'n' }, key('remembered')),
      ...others.map((id) => create({ id, name: 'n' }, key(`other-${id}`))),
      { request: { body: plantJson(remembered, 'n'), headers: key('remembered') }, checks: [status(200), replayed] },
    ),
  ]
}

function apartRow(ids: Circumstances['ids'], title: string, one: string, other: string): Row {
  const [first, second] = [ids.next(), ids.next()]
  return row(
    `keys are compared whole: ${title}`,
    says,
    [first, second],
    create({ id: first, name: 'n' }, { 'Idempotency-Key': one }),
    create({ id: second, name: 'n' }, { 'Idempotency-Key': other }),
    read({ id: second, name: 'n' }),
  )
}

/** Whether two keys are the same, and whose they are. */
function sameKeyRows(circumstances: Circumstances): Row[] {
  const { ids, nonce } = circumstances
  const [replaced, raced, ours, theirs] = [ids.next(), ids.next(), ids.next(), ids.next()]
  const contested = Array.from({ length: clientsAtOnce }, () => ids.next())
  const long = `long-${nonce}`.padEnd(254, 'k')
  const key = { 'Idempotency-Key': `replaced-${nonce}` }
  const shared = { 'Idempotency-Key': `shared-${nonce}` }
  const first = create({ id: replaced, name: 'first', tag: 't' }, key)
  return [
    apartRow(ids, 'the last of 255 characters counts', `${long}a`, `${long}b`),
    apartRow(ids, 'upper and lower case are different', `case-${nonce}-a`, `case-${nonce}-A`),
    apartRow(ids, 'quotes belong to the key', `quotes-${nonce}`, `"quotes-${nonce}"`),
    row(
      'a repeated create gets the first answer, also when the plant was replaced',
      says,
      [replaced],
      first,
      put(replaced, '{"name":"second"}', [status(200)]),
      { ...first, checks: [...createdChecks({ id: replaced, name: 'first', tag: 't' }), replayed] },
      read({ id: replaced, name: 'second' }),
    ),
    row(
      'a key that is sent several times at once makes one plant',
      says,
      [raced],
      atOnce(
        { body: plantJson(raced, 'n'), headers: { 'Idempotency-Key': `raced-${nonce}` } },
        'were the first',
        [200],
        (answer) => answer.status === 200 && replayed(answer) !== undefined,
      ),
      read({ id: raced, name: 'n' }),
    ),
    row(
      'of different plants under one key at once, one is created',
      says,
      contested,
      atOnce(
        (_, client) => ({
          body: plantJson(contested[client] as bigint, 'n'),
          headers: { 'Idempotency-Key': `contested-${nonce}` },
        }),
        'created a plant',
        [422],
      ),
    ),
    needing(
      '$SECOND_TOKEN',
      circumstances,
      row(
        'a key belongs to its token',
        says,
        [ours, theirs],
        create({ id: ours, name: 'n' }, shared),
        create({ id: theirs, name: 'm' }, { ...shared, Authorization: 'Bearer $SECOND_TOKEN' }),
        read({ id: theirs, name: 'm' }),
      ),
    ),
  ]
}

/** Another plant under a key that was used. */
function reused(headers: Headers, ...plant: Parameters<typeof plantJson>): OneStep {
  return { request: { body: plantJson(...plant), headers }, checks: refusal('idempotencyKeyReused') }
}

const replayed = field('Idempotency-Replayed', 'true')
