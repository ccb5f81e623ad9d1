// Idempotency-Key: a repeated create makes one plant.

import { field, isCreated, refusal, sameField } from '../checks.ts'
import { type NewPlant, plantJson } from '../plant.ts'
import { type Circumstances, needing, type Row, row } from '../row.ts'
import { clientsAtOnce, type Headers, type Store } from '../store.ts'

const says =
  'for 24 hours a request with the same key, token and plant gets the same response, with ' +
  'Idempotency-Replayed: true; with another plant it is refused with 422; a refused request does not use up ' +
  'its key (the parameter Idempotency-Key)'
const form = 'the key has 1 to 255 visible ASCII characters, and is sent once (the parameter Idempotency-Key)'
const replayed = field('Idempotency-Replayed', 'true')
const isFirst = field('Idempotency-Replayed', undefined)

function keyed(key: string): Headers {
  return { 'Idempotency-Key': key }
}

export function keyRows({ ids, nonce }: Circumstances): readonly Row[] {
  return [
    row('keys of every allowed form are taken', form, ids.near(3), async (store, ...own) => {
      const keys = [nonce, nonce.padEnd(255, 'k'), `"${nonce}"`]
      for (const [at, key] of keys.entries())
        await store.create({ id: own[at] as bigint, name: 'n' }, keyed(key), [isFirst])
    }),
  ]
}

export function repeatRows(circumstances: Circumstances): readonly Row[] {
  return [
    ...repeatedRows(circumstances),
    usedRow(circumstances),
    ...freeRows(circumstances),
    ...wholeRows(circumstances),
    ...atOnceRows(circumstances),
    tokenRow(circumstances),
  ]
}

function repeatedRows({ ids, nonce }: Circumstances): Row[] {
  return [
    row(
      'a repeated create with its key gets the first answer again, and says so',
      says,
      ids.take(1),
      async (store, id) => {
        const plant = { id, name: 'Clivia miniata', tag: 'bulb' }
        const headers = keyed(`repeated-${nonce}`)
        const first = await store.create(plant, headers, [isFirst])
        const isSame = [replayed, sameField('Location', first)]
        await store.create(plant, headers, isSame)
        const written = `{ "tag": "bulb", "name": "Clivia miniata", "colour": "orange", "id": ${id}.0 }`
        await store.send({ body: written, headers }, [...isCreated(plant), ...isSame])
        await store.read(plant)
      },
    ),
    row(
      'a repeated create gets the first answer, also when the plant was replaced',
      says,
      ids.take(1),
      async (store, id) => {
        const plant = { id, name: 'first', tag: 't' }
        const headers = keyed(`replaced-${nonce}`)
        await store.create(plant, headers)
        await store.put(id, '{"name":"second"}')
        await store.create(plant, headers, [replayed])
        await store.read({ id, name: 'second' })
      },
    ),
    row('a repeated create without a key is refused', says, ids.take(1), async (store, id) => {
      await store.create({ id, name: 'n' })
      await store.refuses('idTaken', { id, name: 'n' })
    }),
    row('a key is remembered, however many come after it', says, ids.near(101), async (store, first, ...others) => {
      const plants = others.map((id) => ({ id, name: 'n' }))
      await store.create({ id: first as bigint, name: 'n' }, keyed(`remembered-${nonce}`))
      await store.createAll(plants, ({ id }) => keyed(`other-${id}-${nonce}`))
      await store.create({ id: first as bigint, name: 'n' }, keyed(`remembered-${nonce}`), [replayed])
    }),
  ]
}

function usedRow({ ids, nonce }: Circumstances): Row {
  const title = 'another plant under a key that was used is refused'
  const own = [...ids.near(2), ...ids.take(4)]
  return row(title, says, own, async (store, used, beside, other, occupied, untagged, composed) => {
    const reused = (key: string, id: bigint, name: string, tag?: string) =>
      store.refuses(
        'idempotencyKeyReused',
        tag === undefined ? { id, name } : { id, name, tag },
        keyed(`${key}-${nonce}`),
      )
    await store.create({ id: used, name: 'n' }, keyed(`used-${nonce}`))
    await store.create({ id: occupied, name: 'n' })
    for (const name of ['m', 'n']) await reused('used', occupied, name)
    // No double tells the first two ids apart.
    for (const id of [beside, other]) await reused('used', id, 'n')
    await reused('used', used, 'n', 't')
    await reused('used', used, 'm')
    await reused('used', used, 'n', '')
    await store.create({ id: untagged, name: 'n', tag: '' }, keyed(`empty-${nonce}`))
    await reused('empty', untagged, 'n')
    await reused('empty', untagged, '', 'n')
    await store.create({ id: composed, name: 'e\u0301' }, keyed(`composed-${nonce}`))
    for (const name of ['\u00e9', 'E\u0301', 'e\u0301 ']) await reused('composed', composed, name)
    await store.read({ id: used, name: 'n' })
    await store.isMissing(other)
    await store.create({ id: used, name: 'n' }, keyed(`used-${nonce}`), [replayed])
  })
}

function freeRows({ ids, nonce }: Circumstances): Row[] {
  return [
    row('the key of a refused create is free', says, ids.take(2), async (store, taken, free) => {
      const [key, late] = [keyed(`free-${nonce}`), keyed(`late-${nonce}`)]
      await store.create({ id: taken, name: 'n' })
      await store.refuses('idTaken', { id: taken, name: 'taken' }, key)
      await store.send({ body: `{"id":${free}}`, headers: key }, refusal('invalidPlant'))
      await store.create({ id: free, name: 'free' }, key, [isFirst])
      // Also for the same create, once its id is free.
      await store.refuses('idTaken', { id: taken, name: 'late' }, late)
      await store.remove(taken)
      await store.create({ id: taken, name: 'late' }, late, [isFirst])
    }),
    row(
      'a deleted id is free again, and an old key does not bring the plant back',
      says,
      ids.take(2),
      async (store, mortal, born) => {
        const key = keyed(`mortal-${nonce}`)
        const plant = { id: mortal, name: 'mortal' }
        await store.create(plant, key)
        await store.remove(mortal)
        await store.create(plant, key, [replayed])
        await store.isMissing(mortal)
        for (const id of [born, mortal]) await store.refuses('idempotencyKeyReused', { id, name: 'n' }, key)
        await store.isMissing(born)
        await store.create({ id: mortal, name: 'again' }, undefined, [isFirst])
      },
    ),
  ]
}

/** Whether two keys are the same. */
function wholeRows({ ids, nonce }: Circumstances): Row[] {
  const long = `long-${nonce}`.padEnd(254, 'k')
  return [
    ['the last of 255 characters counts', `${long}a`, `${long}b`],
    ['upper and lower case are different', `case-${nonce}-a`, `case-${nonce}-A`],
    ['quotes belong to the key', `quotes-${nonce}`, `"quotes-${nonce}"`],
  ].map(([title, one = '', other = '']) =>
    row(`keys are compared whole: ${title}`, says, ids.take(2), async (store, first, second) => {
      await store.create({ id: first, name: 'n' }, keyed(one))
      await store.create({ id: second, name: 'n' }, keyed(other))
      await store.read({ id: second, name: 'n' })
    }),
  )
}

function atOnceRows({ ids, nonce }: Circumstances): Row[] {
  const bodyOf = ({ id, name }: NewPlant): string => plantJson(id, name)
  return [
    row('a key that is sent several times at once makes one plant', says, ids.take(1), async (store, id) => {
      const request = { body: bodyOf({ id, name: 'n' }), headers: keyed(`raced-${nonce}`) }
      await store.oneOf(
        () => request,
        'were the first',
        [200],
        (answer) => {
          return answer.status === 200 && replayed(answer) !== undefined
        },
      )
      await store.read({ id, name: 'n' })
    }),
    row(
      'of different plants under one key at once, one is created',
      says,
      ids.take(clientsAtOnce),
      async (store, ...own) => {
        const headers = keyed(`contested-${nonce}`)
        const requestOf = (client: number) => ({ body: bodyOf({ id: own[client] as bigint, name: 'n' }), headers })
        await store.oneOf(requestOf, 'created a plant', [422])
      },
    ),
  ]
}

function tokenRow(circumstances: Circumstances): Row {
  const { ids, nonce } = circumstances
  const shared = keyed(`shared-${nonce}`)
  const run = async (store: Store, ours: bigint, theirs: bigint): Promise<void> => {
    await store.create({ id: ours, name: 'n' }, shared)
    await store.create({ id: theirs, name: 'm' }, { ...shared, Authorization: 'Bearer $SECOND_TOKEN' })
    await store.read({ id: theirs, name: 'm' })
  }
  return needing('$SECOND_TOKEN', circumstances, row('a key belongs to its token', says, ids.take(2), run))
}
