// Sentences about reading, replacing and deleting plants, each before the servers that break it.

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import {
  type AnswerChange,
  type AnyPlant,
  accepting,
  also,
  answering,
  answers,
  asked,
  bare,
  caughtBy,
  drop,
  edit,
  empty,
  type Forward,
  fieldOf,
  having,
  instead,
  nullTags,
  plants,
  receiving,
  refusal,
  refuse,
  refusing,
  rememberingDeleted,
  remembers,
  rounded,
  set,
  status,
  surplus,
  target,
  text,
  unfit,
  untagged,
  type Wrong,
  weakEtag,
} from '../operators.ts'
import type { Answered, Behaviour, Received } from '../wrong-servers.ts'
import { ofTexts } from './creates.ts'

const plant = '/plants/{id}'
const got = `GET ${plant} 200`
const put = `PUT ${plant}`

/** Longer than eight requests take on a busy machine. */
const raceMs = 300
const unconditional = (received: Received): Received => {
  const { fields } = drop('If-None-Match')(received)
  return { ...received, ...drop('If-Match')({ fields }) }
}
const read = (received: Received, forward: Forward): Promise<Answered> =>
  forward({ ...unconditional(received), ...empty, method: 'GET' })

const readOf = (received: Received): string | undefined =>
  received.method === 'GET' && fieldOf(received, 'if-match') === '' ? received.target : undefined

const keyOfPut = (received: Received): string | undefined =>
  received.method === 'PUT' ? fieldOf(received, 'idempotency-key') || undefined : undefined

/** Makes an ETag of something else than the plant. */
const etagOf = (make: (name: string, tag: string | undefined) => string | Buffer): Behaviour =>
  answers(`GET|HEAD|PUT ${plant} 200`, async (answered, received, forward) => {
    const now = await read(received, forward)
    const { name, tag } = JSON.parse(now.body.toString()) as { readonly name: string; readonly tag?: string }
    return set('ETag', `"${createHash('sha256').update(make(name, tag)).digest('base64url').slice(0, 22)}"`)(answered)
  })

/** Takes a comma inside an ETag for the end of it. */
const split = (value: string): string =>
  value === '*' || value.split(',').every((each) => /^\s*(?:(?:W\/)?"[^"]*")?\s*$/.test(each)) ? value : 'x'
const firstOf = (value: string): string => /"[^"]*"/.exec(value)?.[0] ?? value
const answersByBody = ({ target, body }: Received): Partial<Received> => ({
  target: target.replace(/\d+$/, (id) => /"id":(\d+)/.exec(body.toString())?.[1] ?? id),
})

/** Compares If-Match, and does the change a moment later. */
const races = (method: string, ms = raceMs): Behaviour => {
  return async (received, forward) => {
    if (received.method !== method || fieldOf(received, 'if-match').length < 20) return forward(received)
    const now = await forward({ ...received, ...empty, method: 'GET' })
    if (now.status !== 200) return forward(received)
    await sleep(ms)
    return forward({ ...received, ...drop('If-Match')(received) })
  }
}

const forgetsSame: Behaviour = async (received, forward) => {
  const before = received.method === 'PUT' ? await read(received, forward) : undefined
  const answered = await forward(received)
  const isSame = before?.status === 200 && fieldOf(before, 'etag') === fieldOf(answered, 'etag')
  return isSame ? { ...answered, ...drop('ETag')(answered) } : answered
}

const ignoresCase: AnswerChange = async (_, received, forward) => {
  const etag = fieldOf(await read(received, forward), 'etag')
  const isAlike = etag.toLowerCase() === fieldOf(received, 'if-match').toLowerCase()
  return isAlike ? forward({ ...received, ...set('If-Match', etag)(received) }) : {}
}

const remembersEtags = rememberingDeleted(async (gone, received, forward) => {
  const answered = await forward(received)
  const isAsked = gone.has(received.target) && fieldOf(received, 'if-none-match') !== ''
  return isAsked ? { ...answered, ...empty, status: 304 } : answered
})

/** Replaces deleted plants back into life. */
const undeletes = rememberingDeleted(async (gone, received, forward) => {
  const answered = await forward(received)
  const isBack = received.method === 'PUT' && answered.status === 404 && gone.has(received.target)
  return isBack ? upserts(received, forward) : answered
})

async function upserts(received: Received, forward: Forward): Promise<Answered> {
  const id = received.target.slice('/plants/'.length)
  const { body } = text(/\{/, `{"id":${id},`)(received)
  await forward({ ...received, method: 'POST', target: '/plants', body })
  return forward(received)
}

const keepsTag: Behaviour = async (received, forward) => {
  if (received.method !== 'PUT') return forward(received)
  const now = await read(received, forward)
  const { tag } = JSON.parse(now.body.toString() || '{}') as AnyPlant
  return forward({ ...received, ...(tag !== undefined && plants((each) => ({ tag, ...each }))(received)) })
}

const readsLate: AnswerChange = async (answered, received, forward) => {
  await sleep(raceMs)
  const now = await read(received, forward)
  return { ...text(/"id":\d+,/, '')(now), ...set('ETag', fieldOf(now, 'etag'))(answered) }
}
const decompressed = (received: Received): Partial<Received> => ({
  ...drop('Content-Encoding')(received),
  body: gunzipSync(received.body),
})
const overridden = (received: Received): Partial<Received> => ({
  method: fieldOf(received, 'x-http-method-override') || received.method,
})

const deletesNothing: Behaviour = async (received, forward) => {
  const there = received.method === 'DELETE' ? await read(received, forward) : undefined
  return there?.status === 200 ? instead(204) : forward(received)
}

/** A deleted plant is gone for a while. */
function forgetsDeletions(): Behaviour {
  const gone = new Map<string, { readonly before: Answered; readonly sinceMs: number }>()
  return async (received, forward) => {
    const old = gone.get(received.target)
    if (received.method === 'GET' && old !== undefined && Date.now() - old.sinceMs > raceMs) return old.before
    const before = received.method === 'DELETE' ? await read(received, forward) : undefined
    const answered = await forward(received)
    if (before?.status === 200 && answered.status === 204) gone.set(received.target, { before, sinceMs: Date.now() })
    return answered
  }
}

/** The ETag of a plant is that of the first one under its id, until it is replaced. */
function keepsEtags(): Behaviour {
  const known = new Map<string, string>()
  return async (received, forward) => {
    const answered = await forward(received)
    if (received.method === 'PUT' && answered.status === 200) known.delete(received.target)
    const etag = known.get(received.target) ?? fieldOf(answered, 'etag')
    if (received.method !== 'GET' || answered.status !== 200 || etag === '') return answered
    known.set(received.target, etag)
    return { ...answered, ...set('ETag', etag)(answered) }
  }
}

function countsReplaces(): Behaviour {
  const counts = new Map<string, number>()
  return async (received, forward) => {
    const count = (counts.get(received.target) ?? 0) + Number(received.method === 'PUT')
    counts.set(received.target, count)
    const answered = await forward(received)
    return count < 20 ? answered : { ...answered, ...edit('ETag', /"$/, `${Math.floor(count / 20)}"`)(answered) }
  }
}

/** A plant is there only for the token that created it. */
function hasOwners(): Behaviour {
  const owners = new Map<string, string>()
  return async (received, forward) => {
    const owner = owners.get(received.target)
    const token = fieldOf(received, 'authorization')
    if (owner !== undefined && token !== '' && owner !== token) return refusal(40402)
    const answered = await forward(received)
    if (received.method === 'POST' && answered.status === 200) owners.set(fieldOf(answered, 'location'), token)
    return answered
  }
}

export const ofPlants: readonly Wrong[] = [
  ...caughtBy('credentials')(['answers reads of all from a cache', remembers(readOf, (status) => status === 200)]),
  ...caughtBy('random requests')(
    ['has ETags of tags alone', etagOf((_, tag = '') => tag)],
    ...answering(`${put} 412`)(['refuses with 412, but replaces', also(unconditional)]),
    ['has ETags of Latin-1', etagOf((...all) => Buffer.from(JSON.stringify(all), 'latin1'))],
    ['has ETags that do not tell an empty tag from none', etagOf((name, tag = '') => `${name}/${tag}`)],
  ),
  ...caughtBy('parameters')(
    ...accepting(`* ${plant} 400`)(drop('If-None-Match')),
    ...['DELETE', 'PUT', 'GET'].flatMap((method) => accepting(`${method} ${plant} 400`)(drop('If-Match'))),
  ),
  ...caughtBy('plants and ETags')(
    ['answers reads from a cache', remembers(readOf, (status) => status === 200)],
    ['deletes plants for a while', forgetsDeletions()],
    ['keeps the ETag of a deleted plant for the next one', keepsEtags()],
    ['has plants of each token', hasOwners()],
    ...receiving(`GET ${plant}`)(['reads no escaped digits', target(/%3\d$/, 'x')]),
    ...receiving(`PUT ${plant}`)(having('If-Match', /^,$/, drop('If-Match'))),
    ...receiving(`GET ${plant}`)(['rounds ids in paths', target((it) => it.replace(/\d{17,}/, rounded))]),
    ...answering(got)(
      ['answers with rounded ids', text(/(?<="id":)\d+/, rounded)],
      ['answers with ids in quotes', text(/(?<="id":)\d+/, '"$&"')],
      untagged,
      nullTags,
    ),
    ...receiving(`* ${plant}`)(
      ['takes negative ids for none', target(/-\d+$/, 'x')],
      ['takes the greatest int64 for none', target(/9223372036854775807$/, 'x')],
    ),
    ...answering(`GET ${plant} 404`)(['reads an empty plant', () => instead(200, { name: '' })]),
    ...answering(`* ${plant} 404`)(['calls a missing plant an unknown path', text(/40402/, '40401')]),
    ...answering(`DELETE ${plant} 404`)(
      ['deletes what is missing', () => instead(204)],
      ['deletes several times at once', asked('If-Match', /^$/, () => instead(204))],
    ),
    ['has ETags without a border', etagOf((name, tag) => name + (tag === undefined ? '-' : `${tag}+`))],
    ['has ETags of name and tag in one', etagOf((name, tag = '') => `${name}${tag}`)],
    ...answering(`* ${plant} 200`)(asked('Accept-Encoding', /./, weakEtag)),
    ...answering(got)(weakEtag),
    ...answering(`${put} 200`)([
      'answers a replace with the ETag of another plant',
      set('ETag', `"${'A'.repeat(22)}"`),
    ]),
    ['answers 304 for a deleted plant', remembersEtags],
    ...receiving(`* ${plant}`)(
      ['takes a star in quotes for a star in If-None-Match', edit('If-None-Match', /"\*"/, '*')],
      ['reads the first line of If-None-Match', edit('If-None-Match', (first) => first)],
      ['splits If-None-Match at every comma', edit('If-None-Match', split)],
      having('Cache-Control', /^no-cache$/, drop('If-None-Match')),
      drop('If-None-Match'),
    ),
    ...receiving(`PUT|DELETE ${plant}`)(drop('If-None-Match'), having('If-Match', /./, drop('If-None-Match'))),
    ...receiving('GET /site/{file}')(
      drop('If-None-Match'),
      having('If-None-Match', /^\*$/, drop('If-None-Match')),
      edit('If-None-Match', /,.*/, ''),
    ),
    ...receiving(`HEAD ${plant}`)(drop('If-None-Match')),
    ...answering(`* ${plant} 404`)(asked('If-Match', /x/, refuse(41201))),
    ...refusing('GET')(unfit(40004, /xml$/, 'Accept')),
    ...answering(got)(asked('Range', /./, status(206))),
    ...receiving(`GET ${plant}`)(
      ['ignores If-None-Match: *', edit('If-None-Match', /^\*$/, '')],
      ['compares If-None-Match strongly', edit('If-None-Match', /^W.*/, '"x"')],
    ),
    ...answering(`GET ${plant} 304`)(surplus, status(200), refuse(41201)),
    ['compares If-Match, then replaces', races('PUT')],
    ['compares If-Match, and deletes soon', races('DELETE', 20)],
    ...receiving(`* ${plant}`)(
      ['takes a star in quotes for a star in If-Match', edit('If-Match', /"\*"/, '*')],
      ['reads the first line of If-Match', edit('If-Match', (first) => first)],
      ['splits If-Match at every comma', edit('If-Match', split)],
    ),
    ...receiving(`HEAD ${plant}`)(drop('If-Match')),
    ...receiving(`GET ${plant}`)(drop('If-Match'), edit('If-Match', /W\//, '')),
    ...receiving(put)(
      drop('If-Match'),
      ['takes the first ETag of If-Match', edit('If-Match', firstOf)],
      ['compares If-Match weakly', edit('If-Match', /W\//, '')],
    ),
    ...receiving(`DELETE ${plant}`)(edit('If-Match', /^\*$/, '"*"'), drop('If-Match')),
    ...answering(`* ${plant} 412`)(['compares ETags without case', ignoresCase], status(409), text(/41201/, '41200')),
    ['answers a replace that changes nothing without an ETag', forgetsSame],
    ['keeps the tag that a replace does not have', keepsTag],
    ...answering(`${put} 200`)(
      ['answers a replace with what is there then', readsLate],
      ['answers a replace with 204', () => ({ ...empty, status: 204 })],
      ['answers a replace without the tag', untagged],
    ),
    ...receiving(put)(
      ['keeps another name of a replace', plants((each) => ({ ...each, name: 'Ficus' }))],
      ['takes the id of the body', answersByBody],
    ),
    ['brings deleted plants back when they are replaced', undeletes],
    ...answering(`${put} 404`)(
      ['creates what it should replace', (_, received, forward) => upserts(received, forward)],
      ['creates for *', asked('If-None-Match', /^\*$/, (_, it, to) => upserts(unconditional(it), to))],
    ),
    ['answers a delete, but deletes nothing', deletesNothing],
    ...refusing('DELETE')(unfit(40001, /./, 'Content-Type')),
    ...receiving('*')(['lets a field have another method', overridden]),
    ...receiving('POST')(
      ['lets a field of a POST have another method', overridden],
      ['lets a parameter have another method', (it) => ({ method: /_method=(\w+)/.exec(it.target)?.[1] ?? it.method })],
    ),
    ['replays replaces', remembers(keyOfPut, (status) => status === 200)],
    ...refusing(put)(unfit(40002, /"id":"/)),
    ...answering(`PUT ${plant} 404`)(asked('Accept', /html/, set('Content-Type', 'text/html'))),
    ...receiving('DELETE')(['takes an empty If-Match for none', having('If-Match', /^$/, drop('If-Match'))]),
    ...refusing('GET|PUT|DELETE')(unfit(40004, /./, 'Idempotency-Key')),
    ...answering(`DELETE ${plant} 204`)(['answers a delete with a body', set('Content-Length', '2')]),
    ['has another ETag for each twenty replaces', countsReplaces()],
  ),
  ...caughtBy('parameters')(
    ...answering(`GET ${plant} 400`)(refuse(40402)),
    ...receiving(`* ${plant}`)(
      ['takes a line break behind an id', target(/%0A$/, '')],
      ['takes NUL behind an id', target(/%00$/, '')],
      ['takes an exponent', target(/(\d)e0$/, '$1')],
      ['takes words for an id', target(/seven$/, '7')],
      ['takes too large an id in a path', target(/9223372036854775808$/, '9223372036854775807')],
    ),
  ),
  ...caughtBy('paths and methods')(
    ...answering(`HEAD ${plant} 404`)(['heads a missing plant', () => instead(200)]),
    ...receiving('GET')(having('Accept', /q=0,/, set('Accept', 'text/html'))),
  ),
  ...ofTexts(put),
  ...caughtBy('bodies')(
    ...accepting(`${put} 400|413|415`)(
      ['takes repeated keys of a replace', bare],
      ['takes no JSON for an empty name', text(/^$/, '{"name":""}')],
      ['takes the first of a body too many', text(/\}\}$/, '}')],
      ['takes invalid UTF-8 of a replace for U+FFFD', text(/^/, '')],
      ['takes a replace of any length', plants((each) => each)],
      ['takes a replace of any media type', set('Content-Type', 'application/json')],
      ['takes a replace in any coding', drop('Content-Encoding')],
      ['decompresses a replace', having('Content-Encoding', /^gzip$/, decompressed)],
      ['takes any value of a replace for an object', text(/^[[n"7].*/, '{"name":"m"}')],
    ),
    ...refusing(put)(unfit(41301, /.{65001}/s)),
    ...answering(`${put} 415`)(also(set('Content-Type', 'application/json'))),
  ),
]
