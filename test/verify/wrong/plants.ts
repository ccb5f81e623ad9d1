// Sentences about reading, replacing and deleting plants, each before the servers that break it.

import { createHash, randomBytes } from 'node:crypto'
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
  refuse,
  refusing,
  rememberingDeleted,
  remembers,
  rounded,
  says,
  set,
  status,
  target,
  text,
  texts,
  unfit,
  untagged,
  type Wrong,
  weakEtag,
} from '../operators.ts'
import type { Answered, Behaviour, Received } from '../wrong-servers.ts'

const plant = '/plants/{id}'
const got = `GET ${plant} 200`
const put = `PUT ${plant}`
const reading = 'a plant is read with every digit of its id, and with a strong ETag'
const head = 'HEAD returns the header fields of GET, without a body'
const missing = 'every operation on a missing plant answers 404'
const ifNoneMatch = 'If-None-Match gets 304 when it names the current ETag'
const ifMatchOnReads = 'If-Match on a read succeeds only while the plant is unchanged'
const preventsChanges = 'If-None-Match prevents a change when it names the current ETag'
const etag = 'an ETag changes with the name and with the tag, and comes back with them'
const replacing = 'replacing a plant answers like createPlant'
const deleting = 'a plant is deleted'
const lostUpdates = 'If-Match prevents lost updates'
const everyId = 'the least and the greatest int64, and ids around 0, are ids in a path'
const inPath = (what: string): string => `the id ${what} in a path`
const nothing = (what: string): string => `a replace ${what} changes nothing`
const keeps = (what: string): string => `a replace keeps ${what}`

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

/** Compares with one line of a field alone. */
const oneLine = (name: string, at: number) => (received: Received) => {
  const { fields } = received
  const values = fields.filter((_, index) => index % 2 === 1 && fields[index - 1]?.toLowerCase() === name.toLowerCase())
  return values.length > 1 ? set(name, values.at(at))(received) : {}
}

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
const randomTag = (): string => `"${randomBytes(11).toString('hex')}"`
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

export const ofPlants: readonly (string | Wrong)[] = [
  ...says('Returns the plant with this id.', 'The plant.'),
  ['answers reads from a cache', remembers(readOf, (status) => status === 200), replacing],
  ...receiving(`GET ${plant}`)(['rounds ids in paths', target((it) => it.replace(/\d{17,}/, rounded)), reading]),
  ...answering(got)(
    ['answers with rounded ids', text(/(?<="id":)\d+/, rounded), reading],
    ['answers with ids in quotes', text(/(?<="id":)\d+/, '"$&"'), reading],
    ['answers without ids', text(/"id":\d+,/, ''), reading],
    [untagged, reading],
    [nullTags, replacing],
    [set('Content-Type', 'text/html'), reading],
  ),
  'Identification number of the plant, in decimal digits without leading zeros',
  ...answering(`GET ${plant} 400`)([refuse(40402), inPath('in words')]),
  ...receiving(`* ${plant}`)(
    ['takes a line break behind an id', target(/%0A$/, ''), inPath('with a line break behind it')],
    ['takes a line break in front of an id', target(/%0A/, ''), inPath('with a line break in front')],
    ['takes a tab behind an id', target(/%09$/, ''), inPath('with a tab behind it')],
    ['takes NUL behind an id', target(/%00$/, ''), inPath('with NUL behind it')],
    ['takes underscores in an id', target(/(\d)_(\d+)$/, '$1$2'), inPath('with an underscore')],
    ['takes leading zeros', target(/\/0+(\d+)$/, '/$1'), inPath('with a leading zero')],
    ['takes a plus sign', target(/\+(\d+)$/, '$1'), inPath('with a plus sign')],
    ['takes a fraction of zero', target(/\.0$/, ''), inPath('with a fraction of zero')],
    ['takes an exponent', target(/(\d)e0$/, '$1'), inPath('with an exponent')],
    ['takes a space behind the id', target(/%20$/, ''), inPath('with a space behind it')],
    ['takes words for an id', target(/seven$/, '7'), inPath('in words')],
    ['takes too large an id in a path', target(/9{26}$/, '9223372036854775807'), inPath('of 26 digits')],
    ['takes negative ids for none', target(/-\d+$/, 'x'), everyId],
    ['takes the id 0 for none', target(/\/0$/, '/x'), everyId],
    ['takes the greatest int64 for none', target(/9223372036854775807$/, 'x'), everyId],
  ),
  ...says('There is no plant with this id.', '| 40402 | unknownPlant | There is no plant with this id. |'),
  ...answering(`GET ${plant} 404`)(['reads an empty plant', () => instead(200, { name: '' }), missing]),
  ...answering(`HEAD ${plant} 404`)(['heads a missing plant', () => instead(200), head]),
  ...answering(`* ${plant} 404`)(
    ['answers 410 for a missing plant', status(410), missing],
    ['calls a missing plant an unknown path', text(/40402/, '40401'), missing],
  ),
  ...answering(`DELETE ${plant} 404`)(
    ['deletes what is missing', () => instead(204), missing, deleting],
    ['deletes several times at once', asked('If-Match', /^$/, () => instead(204)), 'of deletes of one plant …'],
  ),
  'A strong validator, equal for equal content and different for different content.',
  ['has ETags of lines', etagOf((name, tag) => [name, tag ?? []].flat().join('\n')), etag, 'random … round 1'],
  ['has ETags without a border', etagOf((name, tag) => name + (tag === undefined ? '-' : `${tag}+`)), etag],
  ['has ETags of Latin-1', etagOf((...all) => Buffer.from(JSON.stringify(all), 'latin1')), etag],
  ['has ETags of what is composed', etagOf((...all) => JSON.stringify(all).normalize('NFC')), etag],
  ['has ETags of names alone', etagOf((name) => name), etag],
  ['has ETags of tags alone', etagOf((_, tag = '') => tag), etag],
  ['has ETags that do not tell an empty tag from none', etagOf((name, tag = '') => `${name}/${tag}`), etag],
  ['has ETags of name and tag in one', etagOf((name, tag = '') => `${name}${tag}`), etag],
  ...answering(`* ${plant} 200`)([asked('Accept-Encoding', /./, weakEtag), 'a client that accepts compressed …']),
  ...answering(got)([weakEtag, reading], [drop('ETag'), reading]),
  ...answering(`GET|HEAD|PUT ${plant} 200`)(['has another ETag each time', edit('ETag', randomTag), etag, head]),
  ...answering(`${put} 200`)(
    [drop('ETag'), replacing],
    ['answers a replace with the ETag of another plant', set('ETag', `"${'A'.repeat(22)}"`), replacing, etag],
  ),
  'With `If-None-Match`, only if the plant has changed; with `If-Match`, only if it has not.',
  ...says('The plant still has one of the ETags in If-None-Match.', 'ETags (RFC 9110, section 13.1.2).'),
  'The plant, page or file must have none of them; `*` matches any.',
  ['answers 304 for a deleted plant', remembersEtags, deleting],
  ...receiving(`* ${plant}`)(
    ['takes a star in quotes for a star in If-None-Match', edit('If-None-Match', /"\*"/, '*'), ifNoneMatch],
    ['reads the first line of If-None-Match', oneLine('If-None-Match', 0), 'If-None-Match may be on two lines'],
    ['reads the last line of If-None-Match', oneLine('If-None-Match', -1), 'If-None-Match may be on two lines'],
    ['splits If-None-Match at every comma', edit('If-None-Match', split), ifNoneMatch],
    [having('Cache-Control', /^no-cache$/, drop('If-None-Match')), 'nothing changes with what asks for a fresh answer'],
    [drop('If-None-Match'), ifNoneMatch, preventsChanges],
  ),
  ...receiving(`PUT|DELETE ${plant}`)([drop('If-None-Match'), preventsChanges]),
  ...receiving(`HEAD ${plant}`)([drop('If-None-Match'), head]),
  ...receiving(`GET ${plant}`)(
    ['ignores If-None-Match: *', edit('If-None-Match', /^\*$/, ''), ifNoneMatch],
    ['takes the first ETag of If-None-Match', edit('If-None-Match', firstOf), ifNoneMatch],
    ['compares If-None-Match strongly', edit('If-None-Match', /^W.*/, '"x"'), ifNoneMatch],
    ['takes any If-None-Match for the current one', edit('If-None-Match', /^"x"$/, '*'), ifNoneMatch],
  ),
  ...accepting(`* ${plant} 400`)([drop('If-None-Match'), ifNoneMatch, preventsChanges]),
  ...answering(`GET ${plant} 304`)(
    [status(200), ifNoneMatch],
    [drop('ETag'), ifNoneMatch],
    [refuse(41201), ifNoneMatch],
  ),
  ...says('ETags (RFC 9110, section 13.1.1).', 'The plant must have one of them; `*` matches any plant.'),
  'With `If-Match`, replaces the plant only if it has not changed since the client read it, so no update is lost.',
  'With `If-Match`, deletes the plant only if it has not changed since the client read it.',
  ...says('The plant does not meet If-Match or If-None-Match.', 'Nothing was changed.'),
  '| 41201 | preconditionFailed | The plant does not meet If-Match or If-None-Match; nothing was changed. |',
  ['compares If-Match, then replaces', races('PUT'), 'of replaces with one ETag at once, one succeeds'],
  ['compares If-Match, then deletes', races('DELETE'), 'of changes, deletes first, …'],
  ['compares If-Match, and deletes soon', races('DELETE', 20), 'of changes, deletes first, …'],
  ...receiving(`* ${plant}`)(
    ['takes a star in quotes for a star in If-Match', edit('If-Match', /"\*"/, '*'), lostUpdates],
    ['reads the first line of If-Match', oneLine('If-Match', 0), 'If-Match may be on two lines'],
    ['reads the last line of If-Match', oneLine('If-Match', -1), 'If-Match may be on two lines'],
    ['splits If-Match at every comma', edit('If-Match', split), lostUpdates],
  ),
  ...receiving(`GET ${plant}`)([drop('If-Match'), ifMatchOnReads], [edit('If-Match', /W\//, ''), ifMatchOnReads]),
  ...receiving(put)(
    [drop('If-Match'), lostUpdates],
    ['takes no * in If-Match of a replace', edit('If-Match', /^\*$/, '"*"'), lostUpdates],
    ['takes the first ETag of If-Match', edit('If-Match', firstOf), lostUpdates],
    ['compares If-Match weakly', edit('If-Match', /W\//, ''), lostUpdates],
  ),
  ...receiving(`DELETE ${plant}`)([edit('If-Match', /^\*$/, '"*"'), lostUpdates], [drop('If-Match'), lostUpdates]),
  ...['DELETE', 'PUT', 'GET'].flatMap((method) => accepting(`${method} ${plant} 400`)([drop('If-Match'), lostUpdates])),
  ...answering(`* ${plant} 412`)(
    ['compares ETags without case', ignoresCase, lostUpdates],
    [status(409), lostUpdates, preventsChanges],
    [text(/41201/, '41200'), lostUpdates],
  ),
  ...answering(`${put} 412`)(['refuses with 412, but replaces', also(unconditional), lostUpdates, preventsChanges]),
  ...says("Sets the plant's name and tag.", 'The new name and tag', 'The plant was replaced.'),
  'Without a tag in the request, the tag is removed.',
  ['answers a replace that changes nothing without an ETag', forgetsSame, etag],
  ['keeps the tag that a replace does not have', keepsTag, replacing],
  ...answering(`${put} 200`)(
    ['answers a replace with what is there then', readsLate, 'each of many replaces at once is answered …'],
    ['answers a replace with 204', () => ({ ...empty, status: 204 }), replacing],
    ['answers a replace without the tag', untagged, replacing],
  ),
  ...receiving(put)(
    ['keeps another name of a replace', plants((each) => ({ ...each, name: 'Ficus' })), replacing],
    ['takes the id of the body', answersByBody, replacing],
    ['loses characters outside the BMP of a replace', texts(/[^\0-\uffff]/u, '?'), keeps('characters outside the BMP')],
    ['trims texts of a replace', texts((each) => each.trim()), keeps('white space')],
    ['composes texts of a replace', texts((each) => each.normalize('NFC')), keeps('texts as they are composed')],
    ['cuts texts of a replace', texts((each) => each.slice(0, 200)), keeps('texts of full length')],
    ['loses backslashes of a replace', texts(/\\/, ''), keeps('quotes, backslashes and control characters')],
    ['keeps empty tags of a replace as none', text(/,"tag":""/, ''), keeps('empty texts')],
  ),
  ...accepting(`${put} 400|413|415`)(
    ['takes repeated keys of a replace', bare, nothing('with a repeated key')],
    ['takes no JSON for an empty name', text(/^$/, '{"name":""}'), nothing('with no JSON')],
    ['takes the first of a body too many', text(/\}\}$/, '}'), nothing('with no JSON')],
    ['takes a replace without a name', plants((each) => ({ name: '', ...each })), nothing('without a name')],
    ['takes numbers for names of a replace', text(/"name":7/, '"name":"7"'), nothing('with a name that is no string')],
    ['takes null for no tag of a replace', text(/,"tag":null/, ''), nothing('with a tag that is no string')],
    ['cuts long texts of a replace', texts((each) => each.slice(0, 256)), nothing('with too long a text')],
    ['takes NUL from a replace away', texts(/\0/, ''), nothing('with NUL')],
    ['takes lone surrogates of a replace', texts((each) => each.toWellFormed()), nothing('with an unpaired …')],
    ['takes invalid UTF-8 of a replace for U+FFFD', text(/^/, ''), nothing('not in UTF-8')],
    ['takes a replace of any length', plants((each) => each), nothing('of 65,537 bytes')],
    ['takes a replace of any media type', set('Content-Type', 'application/json'), nothing('of another media type')],
    ['takes a replace in any coding', drop('Content-Encoding'), nothing('in another coding')],
    ['decompresses a replace', having('Content-Encoding', /^gzip$/, decompressed), nothing('in another coding')],
    ['takes any value of a replace for an object', text(/^[[n"7].*/, '{"name":"m"}'), nothing('that is no object')],
  ),
  ...refusing(put)([unfit(41301, /.{65001}/s), 'a replace of 65,536 bytes is kept']),
  ...answering(`${put} 415`)([also(set('Content-Type', 'application/json')), nothing('of another media type')]),
  'Never creates a plant.',
  ['brings deleted plants back when they are replaced', undeletes, deleting],
  ...answering(`${put} 404`)(
    ['creates what it should replace', (_, received, forward) => upserts(received, forward), missing, deleting],
    ['creates for *', asked('If-None-Match', /^\*$/, (_, it, to) => upserts(unconditional(it), to)), missing],
  ),
  ...says('Deletes the plant.', 'The plant was deleted.'),
  ['answers a delete, but deletes nothing', deletesNothing, deleting],
  ...refusing('DELETE')([unfit(40001, /./, 'Content-Type'), 'nothing changes with the Content-Type of a body …']),
  ...receiving('*')(['lets a field have another method', overridden, 'nothing changes with another method …']),
  ...refusing('GET|PUT|DELETE')([unfit(40004, /./, 'Idempotency-Key'), 'nothing changes with an Idem…']),
  ...answering(`DELETE ${plant} 204`)(
    ['answers a delete with 200', () => instead(200, {}), deleting],
    ['answers a delete with a body', set('Content-Length', '2'), deleting],
  ),
]
