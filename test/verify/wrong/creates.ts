// Sentences about creates, and about what a plant is, each before the servers that break it.

import {
  type AnswerChange,
  accepting,
  also,
  answering,
  bare,
  drop,
  type Edit,
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
  refusing,
  rememberingDeleted,
  remembers,
  rounded,
  says,
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
const exact = 'neighbouring ids beyond 2^53 are kept apart, exact to the last digit'
const taken = 'an id that is taken is refused, and its plant stays as it is'
const repeated = 'a repeated create with its key gets the first answer again, and says so'
const keyUsed = 'another plant under a key that was used is refused'
const keyFree = 'the key of a refused create is free'
const deleted = 'a deleted id is free again, and an old key does not bring the plant back'
const saysByte = 'the refusal of invalid JSON says at which byte'
const both = (what: string): readonly string[] => [`name ${what}`, `tag ${what}`]
const types = (...whats: readonly string[]): readonly string[] => whats.map((what) => `Content-Type ${what}`)
const keys = (...whats: readonly string[]): readonly string[] => whats.map((what) => `Idempotency-Key ${what}`)

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

/** A key lives as long as its plant. */
function forgetsKeysOfDeleted(): Behaviour {
  const places = new Map<string, string>()
  return async (received, forward) => {
    const answered = await forward(received)
    if (answered.status === 200) places.set(keyOf(received), fieldOf(answered, 'location'))
    if (answered.status !== 422) return answered
    const there = await read(received, forward, places.get(keyOf(received)))
    return there.status === 404 ? forward({ ...received, ...keyless(received) }) : answered
  }
}

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
const roundsIds: Behaviour = (received, forward) => {
  const { body } = text(/(?<="id":)-?[1-9]\d*(?=[,}])/, rounded)(received)
  const target = received.target.replace(/(?<=^\/plants\/)-?[1-9]\d{0,18}$/, rounded)
  return forward({ ...received, target, body })
}

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
const inNfkc = (text: string): number => [...text.normalize('NFKC')].length

export const creates: readonly (string | Wrong)[] = [
  ...says('Creates a new plant in the store.', 'Plant to add to the store'),
  ...says('A client creates plants by sending plant records.', 'A new plant, with its id'),
  ...answering(created)(['keeps nothing', also((it) => ({ ...empty, method: 'DELETE', target: place(it) })), exact]),
  ...receiving(create)(
    ['keeps another name', plants((plant) => ({ ...plant, name: 'Ficus' })), 'name in Greek'],
    ['keeps no tag', untagged, 'tag of one word'],
  ),
  ...says('plant response', 'The path of the plant.'),
  ...answering(created)(
    ['answers 201', status(201), 'a NewPlant with a tag is answered with its Plant'],
    ['answers without a body', () => empty, 'name in Greek'],
    ['answers without the tag', untagged, 'tag of one word'],
    [nullTags, 'a NewPlant without a tag is answered without a tag'],
    ['answers with numbers for names', text(/"name":"(\d+)"/, '"name":$1'), 'name that looks like a number'],
    ['answers as text/plain', set('Content-Type', 'text/plain'), 'name in Greek'],
    ['rounds the id in Location', edit('Location', (path) => path.replace(/\d+$/, rounded)), exact],
    ['gives the URL of another host as Location', edit('Location', /^/, 'https://plants.example'), exact],
    ['gives the path of the list as Location', set('Location', '/plants'), exact],
  ),
  'An id that is taken is refused with 409; the existing plant is never overwritten.',
  ...says('The id is taken; the existing plant is unchanged.', '| 40901 | idTaken | Another plant has this id. |'),
  ['overwrites a plant whose id is taken', overwrites, taken],
  ['creates one id several times at once', races(({ status }) => status === 409, createdAnyway), 'of creates of one …'],
  ...answering('POST /plants 409')(
    [status(400), taken],
    ['refuses a taken id with another number', text(/40901/, '40900'), taken],
    ['refuses a taken id, but replaces its plant', also((it) => ({ method: 'PUT', target: place(it) })), taken],
    ['answers 200 for a taken id, and does nothing', (_, received) => createdAnyway(received), taken],
    ['takes a second create for a repeated one', takesSame, 'a repeated create without a key is refused'],
  ),
  ...says('With an `Idempotency-Key` the request can be repeated safely.', 'Makes the request safe to repeat.'),
  'For 24 hours after a request has created a plant, a request with the same key, token (or subject of a JWT) and plant (id, name and tag) gets the same response, with `Idempotency-Replayed: true`.',
  '`true` if an earlier request with the same Idempotency-Key created the plant; otherwise absent.',
  ['remembers 64 keys', remembersFewKeys(), 'a key is remembered, however many come after it'],
  ['replays once', replaysOnce(), repeated],
  ['compares the bytes of bodies', comparesBytes(), repeated],
  ['refuses a key that is in use', races(isReplay, taking), 'a key that is sent several times at once makes one plant'],
  ...answering(created)(
    ['does not say that it replays', drop('Idempotency-Replayed'), repeated],
    ['says of every create that it is a replay', set('Idempotency-Replayed', 'true'), repeated],
    ['says 1 for true', edit('Idempotency-Replayed', /^.*$/, '1'), repeated],
    ['replays without Location', having('Idempotency-Replayed', /./, drop('Location')), repeated],
    ['replays the plant as it is', ofReplays(ifRead(200, text(/"id":-?\d+,/, ''))), 'a repeated create gets …'],
  ),
  ...receiving(create)(
    ['ignores keys', keyless, repeated],
    ['cuts keys to 64 characters', key(/(?<=.{64}).+/, ''), 'keys are compared whole: the last …'],
    ['cuts keys to 254 characters', key(/(?<=.{254}).+/, ''), 'keys are compared whole: the last …'],
    ['compares keys without case', key((each) => each.toLowerCase()), 'keys are compared whole: upper and …'],
    ['takes quotes off keys', key(/"/, ''), 'keys are compared whole: quotes …'],
    ['shares keys among tokens', sharesKeys(), 'a key belongs to its token'],
  ),
  'A request with the same key and another plant gets 422.',
  'The Idempotency-Key was already used with another plant.',
  '| 42201 | idempotencyKeyReused | The Idempotency-Key was already used with another plant. |',
  ['replays a key for another name', replaysFor(({ id, tag }) => `${id} ${tag}`), keyUsed],
  ['replays a key for another tag', replaysFor(({ id, name }) => `${id} ${name}`), keyUsed],
  ['replays a key for another id', replaysFor(({ name, tag }) => `${name} ${tag}`), keyUsed],
  ['replays a key for a composed name', replaysFor(({ id, name }) => id + name.normalize()), 'a key that was used …'],
  ['replays a key for no tag', replaysFor(({ id, name, tag = '' }) => `${id} ${name} ${tag}`), keyUsed],
  ['replays a key for joined texts', replaysFor(({ id, name, tag = '' }) => `${id} ${name}${tag}`), keyUsed],
  ['uses up a key when it is used for another plant', remembers(keyed, (status) => status === 422), keyUsed],
  ['forgets a key when its plant is deleted', forgetsKeysOfDeleted(), deleted],
  ...answering('POST /plants 422')(
    ['looks at the id before it looks at the key', ifRead(200, taking), keyUsed],
    ['refuses a used key with 409', status(409), keyUsed],
    ['refuses a used key, but creates the plant', also(keyless), keyUsed],
    ['uses another number for a used key', text(/42201/, '42200'), keyUsed],
  ),
  'A rejected request does not use up its key.',
  ['uses up keys for refused creates', remembers(keyed, isRefusal, taking), keyFree],
  'Repeating the create with its Idempotency-Key does not restore the plant.',
  ['repeats the refusal of a key for the same create', remembers(wholeOf, (status) => status === 409), keyFree],
  ...answering(created)(
    ['creates the plant of a replay again', ofReplays(also(keyless)), deleted],
    ['replays nothing for a deleted plant', ofReplays(ifRead(404, taking)), deleted],
  ),
  'Its id can be used again.',
  ['refuses ids of deleted plants', buriesIds, deleted],
  'Identification number of the plant',
  ['rounds ids', roundsIds, exact, 'neighbouring ids beyond 2^53 are two plants'],
  ...receiving(create)(
    ['rounds ids with an exponent', text(/(?<="id":)-?\d+\.?\d*e[+]?\d+/i, rounded), 'an id written with an exponent'],
    ['rounds ids with a point', text(/(?<="id":)-?\d+\.0+(?!\d*e)/i, rounded), 'an id written with a fraction of zero'],
  ),
  ...accepting(invalid)(
    ['takes ids in quotes', text(/"id":"(-?\d+)"/, '"id":$1'), 'an id in quotes'],
    ['cuts fractions off ids', text(/("id":-?\d+)\.\d+/, '$1'), 'an id with a fraction'],
    ['takes null for 0', text(/"id":null/, '"id":0'), 'an id that is null'],
    ['takes true for 1', text(/"id":true/, '"id":1'), 'an id that is true'],
    ['takes no id for 0', text(/\{"name"/, '{"id":0,"name"'), 'id missing'],
    ['takes too large an id for the largest', text(/775808/, '775807'), 'an id past the end of int64'],
    ['takes an id in an array', text(/\[(-?\d+)\]/, '$1'), 'an id in an array'],
    ['takes ids with leading zeros', text(/"id":(-?)0+/, '"id":$1'), 'an id written with a leading zero'],
    ['takes ids with a plus sign', text(/"id":\+/, '"id":'), 'an id written with a plus sign'],
    ['takes ids in hexadecimal', text(/0x[\da-f]+/, (hex) => `${BigInt(hex)}`), 'an id written in hexadecimal'],
  ),
  ...refusing(create)(
    ['takes no exponents', unfit(40002, /"id":[\d.]+e/i), 'an id written with an exponent'],
    ['takes no fraction of zero', unfit(40002, /"id":\d+\.0/), 'an id written with a fraction of zero'],
  ),
  '| 40001 | invalidJson | The body is not valid JSON in UTF-8, an object repeats a key, or arrays and objects are nested more than 32 deep.',
  'unexpected error',
  ...accepting(invalid)(
    ['takes repeated keys', bare, 'a repeated key with the same value', 'a repeated key deep inside'],
    ['takes any nesting', text(/,"x":\[+\]+/, ''), 'nesting of 33'],
    ['takes commas at the end', text(/,\}/, '}'), 'a comma at the end of an object'],
    ['takes comments', text(/\/\* \*\//, ''), 'a comment'],
    ['takes single quotes', text(/'/g, '"'), 'name in single quotes'],
    ['takes keys without quotes', text(/\{id:/, '{"id":'), 'a key without quotes'],
    ['takes a byte order mark', text(/^\ufeff/, ''), 'a byte order mark'],
    ['takes UTF-16', ({ body }) => ({ body: Buffer.from(body.toString('utf16le')) }), 'UTF-16'],
    ['takes invalid UTF-8 for U+FFFD', text(/^/, ''), 'an invalid byte', 'a cut character'],
    ['takes raw newlines', text(/\n/, '\\n'), 'name with a raw newline'],
    ['takes the first of two values', text(/\}\{\}$/, '}'), 'two values'],
    ['takes forms', text(/^id=(\d+)&name=n$/, '{"id":$1,"name":"n"}'), 'a form'],
    ['closes what is cut off', latin1(/$/, '}'), 'a truncated object'],
    ['takes an empty body for a plant', text(/^$/, '{"id":0,"name":"plantstore verify"}'), 'an empty body'],
  ),
  ...refusing(create)(['refuses what is nested more than 16 deep', unfit(40001, /\[{16}/), 'nesting of 32']),
  ...answering('POST /plants 400')(
    ['calls invalid JSON an invalid plant', text(/40001/, '40002'), 'a missing comma'],
    ['refuses invalid JSON with 422', status(422), 'a missing comma', 'name null'],
  ),
  '| 40002 | invalidPlant | The body is JSON, but not a valid plant. |',
  ...accepting(invalid)(
    ['takes numbers for names', text(/"name":(\d+)/, '"name":"$1"'), 'name a number'],
    ['takes null for an empty name', text(/"name":null/, '"name":""'), 'name null'],
    ['takes no name for an empty one', text(/^\{"id":(\d+)\}$/, '{"id":$1,"name":""}'), 'name missing'],
    ['takes null for no tag', text(/,"tag":null/, ''), 'tag null'],
    ['takes numbers for tags', text(/"tag":(\d+)/, '"tag":"$1"'), 'tag a number'],
    ['takes booleans for names', text(/"name":false/, '"name":"false"'), 'name a boolean'],
    ['takes property names in upper case', text(/"ID":/, '"id":'), 'an id in upper case'],
    ['trims like Java', latin1(/^[\0- ]+|[\0- ]+$/g, ''), 'U+0000 behind …', 'U+000c behind …', 'U+001f in …'],
    ['trims property names', text(/" name":/, '"name":'), 'a name behind a space'],
    ['takes the first of an array', text(/^\[(.*)\]$/, '$1'), 'an array'],
    ['cuts long names', text(/"name":"(.{1024}).+?"/u, '"name":"$1"'), 'name of 1,025 letters'],
    ['cuts long tags', text(/"tag":"(.{256}).+?"/u, '"tag":"$1"'), 'tag of 257 characters'],
  ),
  ...receiving(create)([text(/"name":"n"(.*),"NAME":"(\w+)"/, '"name":"$2"$1'), 'property names in another case']),
  ...refusing(create)(
    ['counts brackets inside of texts', unfit(40001, /^(?!.*"x")(?:[^[{]*[[{]){33}/), 'name of brackets'],
    ['takes U+FFFD for broken UTF-8', unfit(40001, /\ufffd/), 'name with a replacement character'],
    ['counts UTF-16 units of names', tooLong('name', 1_024, units), 'name of 1,024 characters outside the BMP'],
    ['counts UTF-16 units of tags', tooLong('tag', 256, units), 'tag of 256 characters outside the BMP'],
    ['counts the characters of names in NFKC', tooLong('name', 1_024, inNfkc), 'name of 1,024 ligatures …'],
    ['counts the characters of tags in NFKC', tooLong('tag', 256, inNfkc), 'tag of 256 ligatures …'],
    ['refuses unknown properties', unfit(40002, /"colour"/), 'unknown properties'],
    ['refuses empty names', unfit(40002, /"name":""/), 'name empty'],
    ['refuses empty tags', unfit(40002, /"tag":""/), 'tag empty'],
  ),
  'The message gives the byte offset, from 0. |',
  ...answering('POST /plants 400')(
    ['counts long characters twice', saysPlace((before) => Buffer.byteLength(before) + before.length), saysByte],
    ['counts characters to the place of an error', saysPlace((before) => before.length), saysByte],
    ['calls an invalid plant invalid JSON', text(/40002/, '40001'), 'name null'],
  ),
  'A plant.',
  'Its name and tag are any Unicode text, including line breaks and emoji, without NUL characters.',
  ...says('The name of the plant', 'Tag to specify the type'),
  ['gives a new plant the tag of a deleted one', keepsDeletedTags(), 'a plant is deleted'],
  ...receiving(create)(
    ['loses a byte order mark in front', texts(/^\ufeff/, ''), 'name with a byte order mark in front'],
    ['loses variation selectors', texts(/\ufe0f/, ''), 'name with joiners and variation selectors'],
    ['loses marks of direction', texts(/[\u200e\u200f\u202a-\u202e]/, ''), 'name with marks of direction'],
    ['trims texts', texts((each) => each.trim()), ...both('with white space around it')],
    ['trims the beginning of texts', texts((each) => each.trimStart()), ...both('with white space around it')],
    ['makes one space of many', texts(/ +/, ' '), ...both('with runs of spaces')],
    ['makes LF of CRLF', texts(/\r\n/, '\n'), ...both('with line breaks of every kind')],
    ['makes LF of CR', texts(/\r(?!\n)/, '\n'), 'name with line breaks of every kind'],
    ['composes texts', texts((each) => each.normalize('NFC')), ...both('with combining marks not composed')],
    ['decomposes texts', texts((each) => each.normalize('NFD')), ...both('in upper and lower case')],
    ['normalises texts to NFKC', texts((each) => each.normalize('NFKC')), ...both('with compatibility characters')],
    ['keeps texts in lower case', texts((each) => each.toLowerCase()), ...both('in upper and lower case')],
    ['loses all outside the BMP', texts(/[^\0-\uffff]/u, '?'), 'name with a surrogate …', 'tag of 256 characters …'],
    ['escapes markup', texts(/</, '&lt;'), 'name with markup'],
    ['unescapes markup', texts(/&amp;/, '&'), 'name that looks like an entity'],
    ['decodes percents', texts(decodeURIComponent), 'name that looks like an entity', 'tag with separators'],
    ['loses control characters', texts(/[\0-\x1f\x7f]/, ''), 'name with control …', 'tag with control characters'],
    ['loses byte order marks', texts(/\ufeff/, ''), 'name with a byte order mark inside'],
    ['loses backslashes', texts(/\\/, ''), 'name with quotes and backslashes'],
    ['cuts texts at a comma', texts(/,.*/, ''), 'tag with separators'],
    ['keeps empty tags as none', text(/,"tag":""/, ''), 'tag empty'],
  ),
  ...accepting(invalid)(['takes NUL away', text(/\\u0000/, ''), 'name with NUL escaped', 'tag with NUL']),
  'Unpaired surrogates (U+D800 to U+DFFF) are refused, too, as UTF-8 cannot encode them.',
  ...accepting(invalid)([text(/\\u(?:d83c|df..)/g, '\ufffd'), 'name …lone high …', 'name …lone low …', 'tag …lone …']),
  'The body is longer than 65,536 bytes, or its chunk extensions are longer than allowed.',
  '| 41301 | bodyTooLarge | The body is longer than allowed. |',
  ...accepting(invalid)(
    ['counts no white space at the end', text(/ +$/, ''), 'a body of 65,537 bytes, mostly white space'],
    ['takes bodies of any length', bare, 'a body of 65,537 bytes', 'a chunked body of 65,537 bytes'],
  ),
  ...accepting('* * 413')(['counts characters', oddlyLong, 'a body …37 …é', 'a chunked …é', 'a replace …é changes …']),
  ...refusing(create)(['takes no body of 65,536 bytes', unfit(41301, /.{65536}/s), 'a body of 65,536 bytes']),
  ...answering('POST /plants 413')(['refuses long bodies with 400', status(400), 'a body of 65,537 bytes']),
  'The body is not uncompressed `application/json` in UTF-8.',
  '| 41501 | unsupportedMediaType | The body is not sent as UTF-8 application/json. |',
  ...says('| 41502 | unsupportedContentEncoding | The body is compressed. |', 'The supported media type.'),
  ...says('Sent with error 41501.', 'The supported content coding.', 'Sent with error 41502.'),
  ...accepting(invalid)(
    ['takes any media type', asJson(/^/), ...types('text/plain', 'missing', 'application/json; charset=utf-16')],
    ['takes +json', asJson(/\+json/), ...types('application/vnd.api+json')],
    ['takes any charset', asJson(/charset/), ...types('application/json; charset=iso-8859-1')],
    ['ignores Content-Encoding', drop('Content-Encoding'), 'Content-Encoding gzip', 'Content-Encoding br'],
  ),
  ...refusing(create)(
    ['compares media types with case', unfit(41501, /^A/, 'Content-Type'), ...types('Application/JSON')],
    [unfit(41501, /charset/, 'Content-Type'), ...types('application/json; charset=utf-8')],
  ),
  ...answering('POST /plants 415')(
    ['refuses media types with 400', status(400), ...types('text/plain')],
    ['does not say which media type it takes', drop('Accept'), ...types('text/plain')],
    ['does not say which coding it takes', drop('Accept-Encoding'), 'Content-Encoding gzip'],
    ['calls a coding a media type', text(/41502/, '41501'), 'Content-Encoding gzip'],
  ),
  '| 40003 | repeatedHeader | A header field that may be sent only once was sent more than once. |',
  '| 40004 | invalidHeader | A header field is missing or has a value that is not allowed. |',
  ...accepting(invalid)(
    ['takes the first of two tokens', edit('Authorization', (first) => first), 'Authorization twice'],
    ['takes the first of two keys', key((first) => first), ...keys('twice')],
    ['ignores keys that are not allowed', keyless, ...keys('of 256 characters', 'with a …', 'outside ASCII', 'empty')],
  ),
  ...refusing(create)([unfit(40004, /.{129}/, 'Idempotency-Key'), ...keys('of 255 characters')]),
  ...answering('POST /plants 400')(['calls a field a parameter', text(/40004/, '40005'), ...keys('empty')]),
  '| 50102 | unknownTransferCoding | The transfer coding is not known to this server. |',
  'The server does not support the method or the transfer coding.',
  '| 43101 | headerFieldsTooLarge | The header fields are too long or too many. |',
  'The header fields are too long or too many.',
  ...accepting(invalid)(
    ['ignores transfer codings', set('Transfer-Encoding', 'chunked'), 'a transfer coding that is not known'],
    ['takes header fields of any length', drop('X-Long'), 'header fields of 20,000 bytes'],
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
