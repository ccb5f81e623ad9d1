// ETags of plants, and the conditions that name them.

import { etagForm, field, hasNoBody, ok, otherField, refusal, sameField, status } from '../checks.ts'
import { fieldOf, type RowRequest } from '../message.ts'
import { type Circumstances, forProxies, type Row, row } from '../row.ts'
import { clientsAtOnce, type Store } from '../store.ts'

const etags =
  'ETag is a strong validator; If-Match and If-None-Match follow RFC 9110, section 13 (the parameters ' +
  'If-Match and If-None-Match)'
const equal = 'ETag is equal for equal content and different for different content (the header ETag)'
const failed = refusal('preconditionFailed')

/** Creates a plant with the name n. Returns its ETag. */
async function begin(store: Store, id: bigint): Promise<string> {
  await store.create({ id, name: 'n' })
  return fieldOf(await store.read({ id, name: 'n' }), 'etag') ?? ''
}

export function etagRows(circumstances: Circumstances): readonly Row[] {
  const { ids } = circumstances
  return [
    ...readRows(circumstances),
    ...changeRows(circumstances),
    ...linesRows(circumstances),
    ...contentRows(circumstances),
    oneOf('replaces', ids, [412], () => true),
    oneOf('changes', ids, [404, 412], (client) => client % 2 === 0),
    oneOf('changes, a delete first,', ids, [404, 412], (client) => client % 2 === 1),
    oneOf('changes, deletes first,', ids, [404, 412], (client) => client >= clientsAtOnce / 2),
  ]
}

function readRows({ ids }: Circumstances): Row[] {
  return [
    row('If-None-Match gets 304 when it names the current ETag', etags, ids.take(1), async (store, id) => {
      const etag = await begin(store, id)
      const unchanged = [status(304), hasNoBody, field('ETag', etag)]
      const same = [etag, `W/${etag}`, `"x", ${etag}`, `"a,b", ${etag}`, `${etag},"y",`, `, ,"x" ,\t,${etag}, ,`, '*']
      for (const value of same) await store.get(id, unchanged, { 'If-None-Match': value })
      for (const value of ['"x"', '"*"', 'W/"*"']) await store.get(id, ok, { 'If-None-Match': value })
    }),
    row('If-Match on a read succeeds only while the plant is unchanged', etags, ids.take(1), async (store, id) => {
      const etag = await begin(store, id)
      await store.get(id, ok, { 'If-Match': etag })
      await store.get(id, ok, { 'If-Match': '*' })
      for (const value of ['"x"', '"*"', `W/${etag}`]) await store.get(id, failed, { 'If-Match': value })
      await store.get(id, failed, { 'If-Match': '"x"', 'If-None-Match': etag })
      await store.get(id, [status(304)], { 'If-Match': etag, 'If-None-Match': etag })
    }),
  ]
}

function changeRows({ ids }: Circumstances): Row[] {
  return [
    row('If-None-Match prevents a change when it names the current ETag', etags, ids.take(1), async (store, id) => {
      const etag = await begin(store, id)
      for (const value of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        await store.put(id, '{"name":"m"}', failed, { 'If-None-Match': value })
        await store.remove(id, failed, { 'If-None-Match': value })
      }
      await store.read({ id, name: 'n' })
      await store.put(id, '{"name":"m"}', ok, { 'If-None-Match': '"x"' })
      await store.remove(id, [status(204)], { 'If-None-Match': etag })
      await store.remove(id, refusal('unknownPlant'), { 'If-None-Match': '*' })
    }),
    row('If-Match prevents lost updates', etags, ids.take(1), async (store, id) => {
      const etag = await begin(store, id)
      const put = (name: string, checks: Parameters<Store['put']>[2], value: string) =>
        store.put(id, JSON.stringify({ name }), checks, { 'If-Match': value })
      for (const value of ['"x"', '"*"', `W/${etag}`, inOtherCase(etag), ',']) {
        await put('m', failed, value)
        await store.remove(id, failed, { 'If-Match': value })
      }
      await put('first', ok, `"a,b", "x", ${etag}`)
      await put('second', failed, etag)
      await store.remove(id, failed, { 'If-Match': `"x", ${etag}` })
      await store.read({ id, name: 'first' })
      await put('third', ok, '*')
      await store.remove(id, [status(204)], { 'If-Match': '*' })
      for (const method of ['GET', 'DELETE']) {
        await store.call(method, `/plants/${id}`, refusal('unknownPlant'), { 'If-Match': '*' })
      }
    }),
  ]
}

function inOtherCase(etag: string): string {
  return etag.replaceAll(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
}

/** Lists in a header field on two lines (RFC 9110, section 5.3), each in a row of its own: a proxy may refuse it. */
function linesRows({ ids }: Circumstances): Row[] {
  const on = (name: string, etag: string): readonly RowRequest[] => [
    { headers: { [name]: '"x"' }, lines: [`${name}: ${etag}`] },
    { headers: { [name]: etag }, lines: [`${name}: "x"`] },
  ]
  const put = { method: 'PUT', body: '{"name":"n"}' }
  return [
    row('If-None-Match may be on two lines', etags, ids.take(1), async (store, id) => {
      const target = `/plants/${id}`
      for (const lines of on('If-None-Match', await begin(store, id))) {
        await store.send({ method: 'GET', target, ...lines }, [status(304), hasNoBody])
        await store.send({ ...put, target, ...lines }, failed)
        await store.send({ method: 'DELETE', target, ...lines }, failed)
      }
    }),
    row('If-Match may be on two lines', etags, ids.take(1), async (store, id) => {
      const target = `/plants/${id}`
      const all = on('If-Match', await begin(store, id))
      for (const lines of all) {
        await store.send({ method: 'GET', target, ...lines }, ok)
        await store.send({ ...put, target, ...lines }, ok)
      }
      await store.send({ method: 'DELETE', target, ...all[0] }, [status(204)])
    }),
  ].map(forProxies)
}

type Texts = readonly [name: string, tag?: string]

/** Plants that get equal ETags from programs that hash too little of them. */
const contents: readonly (readonly Texts[])[] = [
  [
    ...([['m', 't'], ['n', 'u'], ['n'], ['n', ''], ['nt'], ['n\u0301', 't'], ['\u0144', 't'], ['A', 't']] as const),
    ...([
      ['\u0141', 't'],
      ['a', 'bc'],
      ['ab', 'c'],
      ['a","b', 'c'],
      ['a', 'b","c'],
    ] as const),
  ],
  ...[
    ['\n', '\t', ' ', ',', '|'],
    [':', ';', '/', '-', '\u001f'],
    ['\u0001', '":"', 'undefined', 'null'],
  ].map((joints) =>
    joints.flatMap((joint): readonly Texts[] => [[`a${joint}b`], [`a${joint}`, 'b'], ['a', `${joint}b`]]),
  ),
]

function contentRows({ ids }: Circumstances): Row[] {
  return contents.map((texts, at) =>
    row(
      `an ETag changes with the name and with the tag, and comes back with them, ${at + 1}`,
      equal,
      ids.take(1),
      async (store, id) => {
        const plant = { id, name: 'n', tag: 't' }
        await store.create(plant)
        const first = await store.read(plant, [field('ETag', etagForm)])
        const etag = fieldOf(first, 'etag') ?? ''
        await store.read(plant, [sameField('ETag', first)])
        const earlier = [first]
        for (const [name, tag] of texts) {
          const changed = await store.put(id, JSON.stringify({ name, tag }), [...ok, otherField('ETag', ...earlier)])
          earlier.push(changed)
          await store.get(id, [...ok, sameField('ETag', changed)], { 'If-None-Match': etag })
        }
        await store.get(id, failed, { 'If-Match': etag })
        for (const _ of [1, 2]) await store.put(id, '{"name":"n","tag":"t"}', [...ok, sameField('ETag', first)])
        await store.read(plant, [sameField('ETag', first)])
      },
    ),
  )
}

/** Replaces, and deletes by other clients, with the ETag of the plant before. */
function oneOf(
  what: string,
  ids: Circumstances['ids'],
  others: readonly number[],
  isReplace: (client: number) => boolean,
): Row {
  return row(`of ${what} with one ETag at once, one succeeds`, etags, ids.take(1), async (store, id) => {
    const headers = { 'If-Match': await begin(store, id) }
    const requestOf = (client: number): RowRequest => ({
      ...(isReplace(client) ? { method: 'PUT', body: `{"name":"m${client}"}` } : { method: 'DELETE' }),
      target: `/plants/${id}`,
      headers,
    })
    await store.oneOf(requestOf, 'succeeded', others)
  })
}
