// Idempotency-Key: a repeated create makes one plant.

import { field, isCreated, sameField } from '../checks.ts'
import type { Answer } from '../message.ts'
import { hardText, plantJson } from '../plant.ts'
import { clientsAtOnce, type Headers, near, type Row, row, take } from '../row.ts'

const place = 'parameters/IdempotencyKey'
const contested = { place, ids: take(clientsAtOnce) }
const replayed = field('Idempotency-Replayed', 'true')
const isFirst = field('Idempotency-Replayed', undefined)

function keyed(key: string): Headers {
  return { 'Idempotency-Key': key }
}

const visible = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('')

export const keyRows: readonly Row[] = [
  row('keys of every allowed form are taken, and compared whole', { place, ids: take(6) }, async (store, ...own) => {
    const begun = `a-${store.nonce}`
    const long = begun.padEnd(254, 'k')
    const keys = [begun, `A-${store.nonce}`, `"${begun}"`, `${visible}${begun}`, `${long}a`, `${long}b`]
    for (const [at, id] of own.entries()) await store.create({ id, name: 'n' }, keyed(keys[at] ?? ''), [isFirst])
  }),
  row('a repeated create with its key gets the first answer again, and says so', place, async (store, id) => {
    const plant = { id, name: hardText, tag: 'bulb' }
    const headers = keyed(`repeated-${store.nonce}`)
    const first = await store.create(plant, headers, [isFirst])
    const isSame = [replayed, sameField('Location', first)]
    await store.create(plant, headers, isSame)
    const body = `{ "tag": "bulb", "name": ${JSON.stringify(hardText)}, "colour": "orange", "id": ${id}.0 }`
    await store.send({ body, headers }, [...isCreated(plant), ...isSame])
    await store.read(plant)
  }),
  row('a key is remembered, however many come after it', { place, ids: near(101) }, async (store, id, ...others) => {
    const key = keyed(`remembered-${store.nonce}`)
    const plants = others.map((other) => ({ id: other, name: 'n' }))
    await store.create({ id, name: 'n' }, key)
    await store.createAll(plants, (plant) => keyed(`other-${plant.id}-${store.nonce}`))
    await store.create({ id, name: 'n' }, key, [replayed])
  }),
  row(
    'another plant under a key that was used is refused',
    { place, ids: (range) => [...range.near(2), ...range.take(4)] },
    async (store, used, beside, other, occupied, untagged, composed) => {
      const keyOf = (key: string) => keyed(`${key}-${store.nonce}`)
      const reused = (key: string, id: bigint, name: string, tag?: string) =>
        store.refuses('idempotencyKeyReused', { id, name, ...(tag !== undefined && { tag }) }, keyOf(key))
      await store.create({ id: used, name: 'n' }, keyOf('used'))
      await store.create({ id: occupied, name: 'n' })
      for (const name of ['m', 'n']) await reused('used', occupied, name)
      // No double tells the first two ids apart.
      for (const id of [beside, other]) await reused('used', id, 'n')
      await reused('used', used, 'n', 't')
      await reused('used', used, 'm')
      await reused('used', used, 'n', '')
      await store.create({ id: untagged, name: 'n', tag: '' }, keyOf('empty'))
      await reused('empty', untagged, 'n')
      await reused('empty', untagged, '', 'n')
      await store.create({ id: composed, name: 'e\u0301' }, keyOf('composed'))
      for (const name of ['\u00e9', 'E\u0301', 'e\u0301 ']) await reused('composed', composed, name)
      await store.read({ id: used, name: 'n' })
      await store.isMissing(other)
      await store.create({ id: used, name: 'n' }, keyOf('used'), [replayed])
    },
  ),
  row('the key of a refused create is free for the same create', place, async (store, id) => {
    const late = keyed(`late-${store.nonce}`)
    await store.create({ id, name: 'n' })
    await store.refuses('idTaken', { id, name: 'late' }, late)
    await store.remove(id)
    await store.create({ id, name: 'late' }, late, [isFirst])
  }),
  row('a deleted id is free again, and its old key creates nothing', place, async (store, mortal, born) => {
    const key = keyed(`mortal-${store.nonce}`)
    const plant = { id: mortal, name: 'mortal' }
    await store.create(plant, key)
    await store.remove(mortal)
    await store.create(plant, key, [replayed])
    await store.isMissing(mortal)
    for (const id of [born, mortal]) await store.refuses('idempotencyKeyReused', { id, name: 'n' }, key)
    await store.isMissing(born)
    await store.create({ id: mortal, name: 'again' }, {}, [isFirst])
  }),
  row('a key that is sent several times at once makes one plant', place, async (store, id) => {
    const request = { body: plantJson(id, 'n'), headers: keyed(`raced-${store.nonce}`) }
    const isTheFirst = (answer: Answer): boolean => isFirst(answer) === undefined
    await store.oneOf(() => request, 'were the first', [200], isTheFirst)
    await store.read({ id, name: 'n' })
  }),
  row('of different plants under one key at once, one is created', contested, async (store, ...own) => {
    const headers = keyed(`contested-${store.nonce}`)
    await store.oneOf((client) => ({ body: plantJson(own[client] ?? 0n, 'n'), headers }), 'created a plant', [200, 422])
  }),
  row('a key belongs to its token', place, async (store, ours, theirs) => {
    const shared = keyed(`shared-${store.nonce}`)
    await store.create({ id: ours, name: 'n' }, shared)
    await store.create({ id: theirs, name: 'm' }, { ...shared, Authorization: 'Bearer $SECOND_TOKEN' })
    await store.read({ id: theirs, name: 'm' })
  }),
]
