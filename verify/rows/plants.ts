// Reading, replacing and deleting plants, and several clients at once.

import { hasNoBody, isCreated, isPlant, ok, otherField, refusal, sameField, status } from '../checks.ts'
import { int64Max, int64Min } from '../ids.ts'
import { toJson } from '../json.ts'
import { type Answer, fieldOf } from '../message.ts'
import { hardText, plantJson } from '../plant.ts'
import { near, needs, none, type Row, row, take } from '../row.ts'
import { clientsAtOnce, type Headers, type Store } from '../store.ts'

const reading = 'getPlant answers with the plant, its id and an ETag (getPlant, 200)'
const replacing =
  'replacePlant sets name and tag, and answers with the Plant and its ETag; without a tag the tag is removed ' +
  '(replacePlant)'
const missing = 'there is no plant with this id: 404, and replacing never creates one (UnknownPlant)'
const deleting = 'deletePlant answers with 204 (deletePlant)'
const idSays = 'an id is any int64 (the parameter id)'
const taken = 'an id that is taken is refused with 409 (createPlant, 409)'

/** A message without a body may say that it has none. */
const hasNoLength = ({ fields }: Answer): string | undefined =>
  fields.some(([name, value]) => /^content-length$/i.test(name) && value !== '0') ? 'there is a body' : undefined

export const plantRows: readonly Row[] = [
  row('a plant is read with every digit of its id, and with a strong ETag', reading, near(1), async (store, id) => {
    const plant = { id, name: hardText, tag: hardText }
    await store.create(plant)
    await store.read(plant)
    // An escaped digit is the digit (RFC 3986, section 6.2.2.2).
    await store.call('GET', `/plants/${id}`.replace(/(\d)$/, '%3$1'), [...ok, isPlant(plant)])
  }),
  row('every operation on a missing plant answers 404', missing, take(1), async (store, id) => {
    // Conditions do not count where the answer is a refusal anyway (RFC 9110, section 13.2.1).
    await answersMissing(store, id, [{}, { 'If-None-Match': '*' }, { 'If-Match': '*' }, { 'If-Match': '"x"' }])
  }),
  row('replacing a plant answers like createPlant', replacing, take(2), async (store, id, other) => {
    const replaced = { name: 'Nephrolepis', tag: 'fern' }
    await store.create({ id, name: 'n' })
    await store.read({ id, name: 'n' })
    const bodyWith = (property: unknown): string => toJson({ ...replaced, id: property, colour: 'green' })
    await store.put(id, bodyWith('seven'))
    const put = await store.put(id, bodyWith(other), [...ok, isPlant(replaced)])
    await store.read({ id, ...replaced }, [sameField('ETag', put)])
    await store.isMissing(other)
    await store.put(id, { name: 'Nephrolepis' }, [...ok, isPlant({ name: 'Nephrolepis' })])
    await store.read({ id, name: 'Nephrolepis' })
  }),
  row('a plant is deleted', deleting, take(1), async (store, id) => {
    const plant = { id, name: 'n', tag: 't' }
    await store.create(plant)
    const before = await store.read(plant)
    await store.remove(id, [status(204), hasNoBody, hasNoLength])
    await answersMissing(store, id, [{}, { 'If-None-Match': fieldOf(before, 'etag') }])
    await store.create({ id, name: 'again' })
    await store.read({ id, name: 'again' }, [otherField('ETag', before)])
  }),
  // Reads only: other plants may have these ids.
  row('the least and the greatest int64, and ids around 0, are ids in a path', idSays, none, async (store) => {
    for (const id of [int64Min, -1n, 0n, 1n, int64Max]) await store.get(id, [status(200, 404)])
  }),
  row('of creates of one id at once, one succeeds', taken, near(1), async (store, id) => {
    await store.oneOf(() => ({ body: plantJson(id, 'n') }), 'created the plant', [200, 409])
    await store.read({ id, name: 'n' })
  }),
  row('each replace of many at once gets its own plant and ETag', replacing, take(1), async (store, id) => {
    await store.create({ id, name: 'n' })
    const plants = Array.from({ length: clientsAtOnce }, (_, client) => ({ name: `m${client}` }))
    const answers = await store.together(
      plants.map((plant) => {
        const request = { method: 'PUT', target: `/plants/${id}`, body: JSON.stringify(plant) }
        return [request, [...ok, isPlant(plant)]] as const
      }),
    )
    const etags = new Set(answers.map((answer) => fieldOf(answer, 'etag')))
    store.assert(etags.size < answers.length ? 'two of the answers have one ETag' : undefined)
  }),
  row('of deletes of one plant at once, one succeeds', missing, take(1), async (store, id) => {
    await store.send({ body: plantJson(id, 'n') }, isCreated({ id, name: 'n' }))
    await store.oneOf(() => ({ method: 'DELETE', target: `/plants/${id}` }), 'deleted the plant', [204, 404])
    await store.isMissing(id)
  }),
  // A token says what may be done, not with which plants.
  row(
    'a plant that was created with one token is read, listed, replaced and deleted with another',
    { document: reading, unless: needs('$SECOND_TOKEN') },
    take(1),
    async (store, id) => {
      await store.create({ id, name: 'n' }, { Authorization: 'Bearer $SECOND_TOKEN' })
      await store.read({ id, name: 'n' })
      await store.list(`after=${id - 1n}`, [{ id, name: 'n' }], 1, id)
      await store.put(id, { name: 'm' })
      await store.read({ id, name: 'm' })
      await store.remove(id)
      await store.isMissing(id)
    },
  ),
]

/** Every operation answers that there is no such plant, and creates none. */
async function answersMissing(store: Store, id: bigint, headers: readonly Headers[]): Promise<void> {
  for (const each of headers) {
    await store.get(id, refusal('unknownPlant'), each)
    await store.remove(id, refusal('unknownPlant'), each)
    await store.put(id, { name: 'n' }, refusal('unknownPlant'), each)
    await store.get(id, refusal('unknownPlant'), each)
  }
}
