// Sentences about creates, and about what a plant is, each before the servers that break it.

import {
  type AnswerChange,
  accepting,
  also,
  answering,
  bare,
  caughtBy,
  drop,
  type Edit,
  edit,
  empty,
  type Forward,
  fieldOf,
  having,
  instead,
  type Made,
  nullTags,
  plants,
  receiving,
  refusal,
  refusing,
  rememberingDeleted,
  remembers,
  rounded,
  set,
  status,
  text,
  texts,
  unfit,
  untagged,
  type Wrong,
} from '../operators.ts'
import { type Answered, type Behaviour, overwrites, type Received } from '../wrong-servers.ts'

const create = 'POST /plants'
const created = 'POST /plants 200'
const invalid = 'POST /plants 400|413|415|422|431|501'

const isCreate = ({ method }: Received): boolean => method === 'POST'
const keyOf = (received: Received): string => (isCreate(received) ? fieldOf(received, 'idempotency-key') : '')
const isReplay = (answered: Answered): boolean => fieldOf(answered, 'idempotency-replayed') !== ''
const idIn = ({ body }: Received): string => /"id":\s*(-?\d+)/.exec(body.toString())?.[1] ?? ''
const place = (received: Received): string => `/plants/${idIn(received)}`
const keyless = drop('Idempotency-Key')
const key = (...change: Edit) => edit('Idempotency-Key', ...change)
const read = (received: Received, forward: Forward, target = place(received)): Promise<Answered> =>
  forward({ ...received, ...empty, method: 'GET', target })
/** Changes an answer if a read of the plant has this status, to what is made of the read. */
const ifRead = (status: number, change: (read: Answered) => Partial<Answered>): AnswerChange => {
  return async (_, received, forward) => {
    const there = await read(received, forward)
    return there.status === status ? change(there) : {}
  }
}
const taking = () => refusal(40901)
const isRefusal = (status: number): boolean => status >= 400

interface Plant {
  readonly id: string
  readonly name: string
  readonly tag: string | undefined
}

function plantIn(received: Received): Plant {
  try {
    const { name, tag } = JSON.parse(received.body.toString()) as Plant
    return { id: idIn(received), name: String(name), tag }
  } catch {
    return { id: '', name: '', tag: '' }
  }
}

/** Takes an equal plant for the one that is there. */
const takesSame: AnswerChange = async (_, received, forward) => {
  const is = JSON.parse((await read(received, forward)).body.toString()) as Plant
  const { name, tag } = plantIn(received)
  return is.name === name && is.tag === tag ? createdAnyway(received) : {}
}

function createdAnyway(received: Received): Answered {
  const { name, tag } = plantIn(received)
  return instead(200, { name, tag }, ['Location', place(received)])
}

/** Answers a key that was used with an equal plant as if that were the first one. */
function replaysFor(equal: (plant: Plant) => string): Behaviour {
  const known = new Map<string, Answered>()
  return async (received, forward) => {
    const key = `${keyOf(received)} ${equal(plantIn(received))}`
    const answered = await forward(received)
    if (keyOf(received) !== '' && answered.status === 200) known.set(key, answered)
    const first = answered.status === 422 ? known.get(key) : undefined
    return first === undefined ? answered : { ...first, ...set('Idempotency-Replayed', 'true')(first) }
  }
}

const keyed = (received: Received): string | undefined => keyOf(received) || undefined
const wholeOf = (received: Received): string | undefined =>
  keyed(received) && `${keyOf(received)} ${received.body.toString()}`

function remembersFewKeys(): Behaviour {
  let recent: readonly string[] = []
  return async (received, forward) => {
    const key = keyOf(received)
    const answered = await forward(received)
    if (key === '') return answered
    const isForgotten = isReplay(answered) && !recent.includes(key)
    recent = [...recent, key].slice(-64)
    return isForgotten ? refusal(40901) : answered
  }
}

/** Marks plants as deleted, and keeps their rows. */
function keepsDeletedTags(): Behaviour {
  const gone = new Map<string, string>()
  return async (received, forward) => {
    const before = received.method === 'DELETE' ? await read(received, forward, received.target) : undefined
    const answered = await forward(received)
    if (before?.status === 200) gone.set(received.target, before.body.toString())
    const old = isCreate(received) && answered.status === 200 ? gone.get(place(received)) : undefined
    if (old === undefined) return answered
    const { name, tag = (JSON.parse(old) as Plant).tag } = plantIn(received)
    const body = Buffer.from(JSON.stringify({ name, tag }))
    await forward({ ...received, method: 'PUT', target: place(received), body })
    return answered
  }
}

function replaysOnce(): Behaviour {
  const seen = new Map<string, number>()
  return (received, forward) => {
    const times = (seen.get(keyOf(received)) ?? 0) + 1
    seen.set(keyOf(received), times)
    return forward(times > 2 ? { ...received, ...keyless(received) } : received)
  }
}

/** Everyone's keys are in one place. */
function sharesKeys(): (received: Received) => Partial<Received> {
  let first: string | undefined
  return (received) => {
    const token = fieldOf(received, 'authorization')
    if (keyOf(received) === '' || !token.startsWith('Bearer plt_')) return {}
    first ??= token
    return set('Authorization', first)(received)
  }
}

/** Two requests at once do not see each other. */
function races(isMeant: (answered: Answered) => boolean, change: (received: Received) => Answered): Behaviour {
  let underWay = 0
  return async (received, forward) => {
    if (!isCreate(received)) return forward(received)
    underWay += 1
    const isAlone = underWay === 1
    try {
      const answered = await forward(received)
      return (isAlone && underWay === 1) || !isMeant(answered) ? answered : change(received)
    } finally {
      underWay -= 1
    }
  }
}

const buriesIds = rememberingDeleted(async (gone, received, forward) =>
  isCreate(received) && gone.has(place(received)) && keyOf(received) === '' ? refusal(40901) : forward(received),
)

/** Keeps ids as numbers of JavaScript. */
const roundsIds =
  (round = rounded): Behaviour =>
  (received, forward) => {
    const { body } = text(/(?<="id":)-?[1-9]\d*(?=[,}])/, round)(received)
    const target = received.target.replace(/(?<=^\/plants\/)-?[1-9]\d{0,18}$/, round)
    return forward({ ...received, target, body })
  }
/** Exact up to 10^18, as a decimal of 18 digits is. */
export const roundsLargeIds = 'rounds ids beyond 10^18'

/** Says another place of an error than how many bytes are before it. */
const saysPlace = (count: (before: string) => number): AnswerChange => {
  return (answered, { body }) =>
    text(/(?<=byte )\d+/, (place) => `${count(body.subarray(0, Number(place)).toString())}`)(answered)
}
const oddlyLong = (received: Received): Partial<Received> =>
  received.body.toString().length > 65_536 ? {} : text(/é/g, '')(received)

const latin1 = (from: RegExp, to: string) => (received: Received) => ({
  body: Buffer.from(received.body.toString('latin1').replace(from, to), 'latin1'),
})
/** Takes a media type of this form for that of JSON. */
const asJson = (form: RegExp) => having('Content-Type', form, set('Content-Type', 'application/json'))
const tooLong = (of: 'name' | 'tag', most: number, lengthOf: (text: string) => number) => (received: Received) =>
  lengthOf(plantIn(received)[of] ?? '') > most ? 40002 : undefined
const units = (text: string): number => text.length

/** What changes texts, or takes what is none, in the bodies of an operation. */
export function ofTexts(when: string): readonly Wrong[] {
  const made = [
    ...receiving(when)(
      ['loses characters outside the BMP', texts(/[^\0-\uffff]/u, '?')],
      ['trims texts', texts((each) => each.trim())],
      ['composes texts', texts((each) => each.normalize('NFC'))],
      ['cuts texts', texts((each) => each.slice(0, 200))],
      ['loses backslashes', texts(/\\/, '')],
      ['keeps empty tags as none', text(/,"tag":""/, '')],
    ),
    ...accepting(`${when} 400|413|415`)(
      ['takes a plant without a name', plants((each) => ({ name: '', ...each }))],
      ['takes numbers for names', text(/"name":7/, '"name":"7"')],
      ['takes null for no tag', text(/,"tag":null/, '')],
      ['cuts long texts', texts((each) => each.slice(0, 256))],
      ['takes NUL away', texts(/\0/, '')],
      ['takes lone surrogates', texts((each) => each.toWellFormed())],
    ),
  ]
  return caughtBy('names and tags')(...made.map(([does, behave]): Made => [`${does} (${when})`, behave]))
}

export const creates: readonly Wrong[] = [
  ...caughtBy('parameters')(
    ...accepting(invalid)(['ignores keys that are not allowed', keyless]),
    ...answering('POST /plants 400')(['calls a field a parameter', text(/40004/, '40005')]),
  ),
  ...caughtBy('plants and ETags')(['gives a new plant the tag of a deleted one', keepsDeletedTags()]),
  ...caughtBy('int64')(
    ...answering(created)(
      ['keeps nothing', also((it) => ({ ...empty, method: 'DELETE', target: place(it) }))],
      ['rounds the id in Location', edit('Location', (path) => path.replace(/\d+$/, rounded))],
      ['gives the URL of another host as Location', edit('Location', /^/, 'https://plants.example')],
    ),
    ['overwrites a plant whose id is taken', overwrites],
    ...answering('POST /plants 409')(
      status(400),
      ['refuses a taken id with another number', text(/40901/, '40900')],
      ['refuses a taken id, but replaces its plant', also((it) => ({ method: 'PUT', target: place(it) }))],
    ),
    ['rounds ids', roundsIds()],
    [roundsLargeIds, roundsIds((digits) => (digits.length > 18 ? rounded(digits) : digits))],
    ...receiving(create)(['rounds ids with a point', text(/(?<="id":)-?\d+\.0+(?!\d*e)/i, rounded)]),
    ...accepting(invalid)(
      ['takes ids in quotes', text(/"id":"(-?\d+)"/, '"id":$1')],
      ['rounds fractions off ids', text(/("id":-?\d+)\.0{8}\d*/, '$1')],
      ['takes no id for 0', text(/\{"name"/, '{"id":0,"name"')],
      ['takes null for 0', text(/"id":null/, '"id":0')],
      ['takes true for 1', text(/"id":true/, '"id":1')],
      ['takes too large an id for the largest', text(/775808/, '775807')],
      ['takes ids with leading zeros', text(/"id":(-?)0+/, '"id":$1')],
    ),
    ...refusing(create)(['takes no fraction of zero', unfit(40002, /"id":\d+\.0/)]),
  ),
  ...caughtBy('names and tags')(
    ...receiving(create)(
      ['keeps another name', plants((plant) => ({ ...plant, name: 'Ficus' }))],
      ['keeps no tag', untagged],
    ),
    ...answering(created)(
      ['answers without a body', () => empty],
      ['answers with numbers for names', text(/"name":"(\d+)"/, '"name":$1')],
    ),
    ...accepting(invalid)(
      ['cuts long names', text(/"name":"(.{1024}).+?"/u, '"name":"$1"')],
      ['cuts long tags', text(/"tag":"(.{256}).+?"/u, '"tag":"$1"')],
    ),
    ...refusing(create)(
      ['counts brackets inside of texts', unfit(40001, /^(?!.*"x")(?:[^[{]*[[{]){33}/)],
      ['takes U+FFFD for broken UTF-8', unfit(40001, /\ufffd/)],
      ['counts UTF-16 units of names', tooLong('name', 1_024, units)],
      ['counts UTF-16 units of tags', tooLong('tag', 256, units)],
      ['refuses empty names', unfit(40002, /"name":""/)],
      ['refuses empty tags', unfit(40002, /"tag":""/)],
    ),
    ...answering('POST /plants 400')(['calls an invalid plant invalid JSON', text(/40002/, '40001')]),
    ...receiving(create)(
      ['loses marks of direction', texts(/[\u200e\u200f\u202a-\u202e]/, '')],
      ['makes LF of CRLF', texts(/\r\n/, '\n')],
      ['normalises texts to NFKC', texts((each) => each.normalize('NFKC'))],
      ['escapes markup', texts(/</, '&lt;')],
      ['decodes percents', texts(decodeURIComponent)],
      ['loses control characters', texts(/[\0-\x1f\x7f]/, '')],
      ['loses control characters of Latin-1', texts(/[\x80-\x9f]/, '')],
      ['loses byte order marks', texts(/\ufeff/, '')],
    ),
  ),
  ...ofTexts(create),
  ...caughtBy('random requests')(
    ...answering(created)(['replays the plant as it is', ofReplays(ifRead(200, text(/"id":-?\d+,/, '')))]),
    ['uses up keys for refused creates', remembers(keyed, isRefusal, taking)],
  ),
  ...caughtBy('the document itself')(...answering(created)(['answers 201', status(201)], nullTags)),
  ...caughtBy('plants and ETags')([
    'creates one id several times at once',
    races(({ status }) => status === 409, createdAnyway),
  ]),
  ...caughtBy('Idempotency-Key')(
    ...answering('POST /plants 409')(['takes a second create for a repeated one', takesSame]),
    ['remembers 64 keys', remembersFewKeys()],
    ['replays once', replaysOnce()],
    ['compares the bytes of bodies', comparesBytes()],
    ['compares ids of one key as doubles', replaysFor(({ id, name, tag }) => `${Number(id)} ${name} ${tag}`)],
    ['refuses a key that is in use', races(isReplay, taking)],
    ...answering(created)(
      ['does not say that it replays', drop('Idempotency-Replayed')],
      ['says of every create that it is a replay', set('Idempotency-Replayed', 'true')],
      ['says 1 for true', edit('Idempotency-Replayed', /^.*$/, '1')],
      ['replays without Location', having('Idempotency-Replayed', /./, drop('Location'))],
    ),
    ...receiving(create)(
      ['ignores keys', keyless],
      ['cuts keys to 254 characters', key(/(?<=.{254}).+/, '')],
      ['compares keys without case', key((each) => each.toLowerCase())],
      ['shares keys among tokens', sharesKeys()],
    ),
    ['replays a key for another name', replaysFor(({ id, tag }) => `${id} ${tag}`)],
    ['replays a key for another id', replaysFor(({ name, tag }) => `${name} ${tag}`)],
    ['replays a key for joined texts', replaysFor(({ id, name, tag = '' }) => `${id} ${name}${tag}`)],
    ['uses up a key when it is used for another plant', remembers(keyed, (status) => status === 422)],
    ...answering('POST /plants 422')(
      ['looks at the id before it looks at the key', ifRead(200, taking)],
      ['refuses a used key, but creates the plant', also(keyless)],
      ['uses another number for a used key', text(/42201/, '42200')],
    ),
    ['repeats the refusal of a key for the same create', remembers(wholeOf, (status) => status === 409)],
    ...answering(created)(
      ['creates the plant of a replay again', ofReplays(also(keyless))],
      ['replays nothing for a deleted plant', ofReplays(ifRead(404, taking))],
    ),
    ['refuses ids of deleted plants', buriesIds],
    ...refusing(create)(unfit(40004, /.{129}/, 'Idempotency-Key'), unfit(40004, /,/, 'Idempotency-Key')),
    ...answering(created)(['escapes markup of replays', ofReplays(text(/</, '&lt;'))]),
  ),
  ...caughtBy('bodies')(
    ['uses up keys for other media types', remembers(keyed, (status) => status === 415, taking)],
    ...accepting(invalid)(
      ['takes property names in upper case', text(/"ID":/, '"id":')],
      ['takes keys without quotes', text(/name:/, '"name":')],
      ['takes repeated keys', bare],
      ['takes any nesting', text(/,"x":\[+\]+/, '')],
      ['takes commas at the end', text(/,\}/, '}')],
      ['takes invalid UTF-8 for U+FFFD', text(/^/, '')],
      ['closes what is cut off', latin1(/$/, '}')],
      ['takes an empty body for a plant', text(/^$/, '{"id":0,"name":"plantstore verify"}')],
    ),
    ...refusing(create)(unfit(40002, /"x":"\\ud800/)),
    ...refusing(create)(['refuses what is nested more than 16 deep', unfit(40001, /\[{16}/)]),
    ...answering('POST /plants 400')(
      ['calls invalid JSON an invalid plant', text(/40001/, '40002')],
      ['refuses invalid JSON with 422', status(422)],
    ),
    ...accepting(invalid)(
      ['trims like Java', latin1(/^[\0- ]+|[\0- ]+$/g, '')],
      ['trims property names', text(/" name":/, '"name":')],
    ),
    ...receiving(create)(text(/"name":"n"(.*),"NAME":"(\w+)"/, '"name":"$2"$1')),
    ...refusing(create)(['refuses unknown properties', unfit(40002, /"colour"/)]),
    ...answering('POST /plants 400')([
      'counts characters to the place of an error',
      saysPlace((before) => before.length),
    ]),
    ...accepting(invalid)(['counts no white space at the end', text(/ +$/, '')], ['takes bodies of any length', bare]),
    ...accepting('* * 413')(['counts characters', oddlyLong]),
    ...refusing(create)(['takes no body of 65,536 bytes', unfit(41301, /.{65536}/s)]),
    ...accepting(invalid)(
      ['takes any media type', asJson(/^/)],
      ['takes +json', asJson(/\+json/)],
      ['ignores Content-Encoding', drop('Content-Encoding')],
    ),
    ...refusing(create)(
      ['compares media types with case', unfit(41501, /^A/, 'Content-Type')],
      unfit(41501, /charset/, 'Content-Type'),
    ),
    ...answering('POST /plants 415')(
      ['does not say which media type it takes', drop('Accept')],
      ['does not say which coding it takes', drop('Accept-Encoding')],
      ['calls a coding a media type', text(/41502/, '41501')],
    ),
  ),
  ...caughtBy('limits of HTTP')(
    ...accepting(invalid)(
      ['takes the first of two keys', key((first) => first)],
      ['takes the first of two tokens', edit('Authorization', (first) => first)],
      ['ignores transfer codings', set('Transfer-Encoding', 'chunked')],
      ['takes header fields of any length', drop('X-Long')],
      set('Content-Type', 'application/json'),
    ),
  ),
]

function ofReplays(change: AnswerChange): AnswerChange {
  return (answered, received, forward) => (isReplay(answered) ? change(answered, received, forward) : {})
}

function comparesBytes(): Behaviour {
  const bodies = new Map<string, string>()
  return async (received, forward) => {
    const body = received.body.toString()
    const first = bodies.get(keyOf(received)) ?? body
    const answered = first === body ? await forward(received) : refusal(42201)
    if (keyOf(received) !== '' && answered.status === 200) bodies.set(keyOf(received), body)
    return answered
  }
}
