// Sentences about creates, and about what a plant is.

import { accepts, answers, fieldOf, instead, plants, receives, set, text, texts } from '../changes.ts'
import { type Answered, type Behaviour, overwrites, type Received, roundsIds } from '../wrong-servers.ts'
import type { Entry, Wrong } from './table.ts'

const create = 'POST /plants'
const exact = 'neighbouring ids beyond 2^53 are kept apart, exact to the last digit'
const taken = 'an id that is taken is refused, and its plant stays as it is'
const repeated = 'a repeated create with its key gets the first answer again, and says so'
const keyUsed = 'another plant under a key that was used is refused'
const deleted = 'a deleted id is free again, and an old key does not bring the plant back'

const keyOf = (received: Received): string => fieldOf(received, 'idempotency-key')
const idIn = ({ body }: Received): string => /"id":\s*(-?\d+)/.exec(body.toString())?.[1] ?? ''
const idTaken = { error: 40901, message: 'id: is already taken' }

/** Changes keys, so that the right server takes different ones for the same, or the same for different ones. */
function changesKeys(change: (key: string) => string): Behaviour {
  return receives(create, (received) => {
    const key = keyOf(received)
    return key === '' ? {} : set('Idempotency-Key', change(key))(received)
  })
}

/** Answers a key that was used with another plant as if it were the first one. */
function replays(isAlike: (first: Plant, second: Plant) => boolean): Behaviour {
  const known = new Map<string, { readonly plant: Plant; readonly answered: Answered }>()
  return async (received, forward) => {
    const key = keyOf(received)
    const answered = await forward(received)
    if (received.method !== 'POST' || key === '') return answered
    if (answered.status === 200) known.set(key, { plant: plantIn(received), answered })
    const first = known.get(key)
    if (answered.status !== 422 || first === undefined || !isAlike(first.plant, plantIn(received))) return answered
    return { ...first.answered, ...set('Idempotency-Replayed', 'true')(first.answered) }
  }
}

/** A key lives as long as its plant. */
function forgetsKeysOfDeleted(): Behaviour {
  const places = new Map<string, string>()
  return async (received, forward) => {
    const key = keyOf(received)
    const answered = await forward(received)
    if (received.method !== 'POST' || key === '') return answered
    if (answered.status === 200 && !places.has(key)) places.set(key, fieldOf(answered, 'location'))
    if (answered.status !== 422) return answered
    const target = places.get(key) ?? '/'
    const there = await forward({ ...received, method: 'GET', target, body: Buffer.alloc(0) })
    if (there.status !== 404) return answered
    return forward({ ...received, ...set('Idempotency-Key', undefined)(received) })
  }
}

interface Plant {
  readonly id: string
  readonly name: unknown
  readonly tag: unknown
}

function plantIn(received: Received): Plant {
  try {
    const { name, tag } = JSON.parse(received.body.toString()) as Plant
    return { id: idIn(received), name, tag }
  } catch {
    return { id: '', name: '', tag: '' }
  }
}

const showsThePlantAsItIs = answers(`${create} 200`, async (answered, received, forward) => {
  if (fieldOf(answered, 'idempotency-replayed') === '') return {}
  const read = await forward({
    ...received,
    method: 'GET',
    target: fieldOf(answered, 'location'),
    body: Buffer.alloc(0),
  })
  return read.status === 200 ? text(/"id":-?\d+,/, '')(read) : {}
})

const restoresThePlant = answers(`${create} 200`, async (answered, received, forward) => {
  const isReplay = fieldOf(answered, 'idempotency-replayed') !== ''
  if (isReplay) await forward({ ...received, ...set('Idempotency-Key', undefined)(received) })
  return {}
})

const replaysNothingDeleted = answers(`${create} 200`, async (answered, received, forward) => {
  if (fieldOf(answered, 'idempotency-replayed') === '') return {}
  const read = await forward({
    ...received,
    method: 'GET',
    target: fieldOf(answered, 'location'),
    body: Buffer.alloc(0),
  })
  return read.status === 404 ? instead(409, idTaken) : {}
})

/** Uses up a key with whatever is sent with it. */
function usesUpKeys(): Behaviour {
  const used = new Set<string>()
  return async (received, forward) => {
    const key = received.method === 'POST' ? keyOf(received) : ''
    if (used.has(key)) return instead(422, { error: 42201, message: 'Idempotency-Key: was used' })
    const answered = await forward(received)
    if (key !== '' && answered.status >= 400) used.add(key)
    return answered
  }
}

/** Remembers a refusal for a key, whatever comes next. */
function usesUpKeysOfOthers(): Behaviour {
  const refused = new Map<string, Answered>()
  return async (received, forward) => {
    const key = received.method === 'POST' ? keyOf(received) : ''
    const answered = refused.get(key) ?? (await forward(received))
    if (key !== '' && answered.status === 422) refused.set(key, answered)
    return answered
  }
}

/** Remembers what a create was answered, be it a refusal. */
function repeatsRefusals(): Behaviour {
  const refused = new Map<string, Answered>()
  return async (received, forward) => {
    const key = received.method === 'POST' ? keyOf(received) : ''
    const request = `${key}\n${received.body.toString()}`
    const answered = refused.get(request) ?? (await forward(received))
    if (key !== '' && answered.status === 409) refused.set(request, answered)
    return answered
  }
}

function remembersFewKeys(): Behaviour {
  const recent = new Set<string>()
  return async (received, forward) => {
    const key = received.method === 'POST' ? keyOf(received) : ''
    const answered = await forward(received)
    if (key === '') return answered
    const isForgotten = fieldOf(answered, 'idempotency-replayed') !== '' && !recent.has(key)
    recent.delete(key)
    recent.add(key)
    if (recent.size > 64) for (const oldest of [...recent].slice(0, recent.size - 64)) recent.delete(oldest)
    return isForgotten ? instead(409, idTaken) : answered
  }
}

/** Marks plants as deleted, and keeps their rows. */
function keepsDeletedTags(): Behaviour {
  const gone = new Map<string, string>()
  return async (received, forward) => {
    const before = received.method === 'DELETE' ? await forward({ ...received, method: 'GET' }) : undefined
    const answered = await forward(received)
    if (answered.status === 204 && before?.status === 200) gone.set(received.target, before.body.toString())
    const path = fieldOf(answered, 'location')
    const old = received.method === 'POST' && answered.status === 200 ? gone.get(path) : undefined
    if (old !== undefined && plantIn(received).tag === undefined) {
      const { tag } = JSON.parse(old) as { readonly tag?: string }
      const body = Buffer.from(JSON.stringify({ name: plantIn(received).name, tag }))
      await forward({ ...received, method: 'PUT', target: path, body })
    }
    return answered
  }
}

function replaysOnce(): Behaviour {
  const seen = new Map<string, number>()
  return (received, forward) => {
    const key = received.method === 'POST' ? keyOf(received) : ''
    const times = (seen.get(key) ?? 0) + 1
    seen.set(key, times)
    return forward(key !== '' && times > 2 ? { ...received, ...set('Idempotency-Key', undefined)(received) } : received)
  }
}

function comparesBytes(): Behaviour {
  const bodies = new Map<string, string>()
  return async (received, forward) => {
    const key = received.method === 'POST' ? keyOf(received) : ''
    const body = received.body.toString()
    if (key !== '' && (bodies.get(key) ?? body) !== body) return instead(422, { error: 42201, message: 'was used' })
    const answered = await forward(received)
    if (key !== '' && answered.status === 200) bodies.set(key, body)
    return answered
  }
}

/** Everyone's keys are in one place. */
function sharesKeys(): Behaviour {
  let first: string | undefined
  return receives(create, (received) => {
    const token = fieldOf(received, 'authorization')
    if (keyOf(received) === '' || !token.startsWith('Bearer plt_')) return {}
    first ??= token
    return set('Authorization', first)(received)
  })
}

/** Two requests at once do not see each other. */
function races(isMeant: (answered: Answered) => boolean, change: (received: Received) => Partial<Answered>): Behaviour {
  let underWay = 0
  return async (received, forward) => {
    if (received.method !== 'POST') return forward(received)
    underWay += 1
    const isAlone = underWay === 1
    try {
      const answered = await forward(received)
      return (isAlone && underWay === 1) || !isMeant(answered) ? answered : { ...answered, ...change(received) }
    } finally {
      underWay -= 1
    }
  }
}

function createdAnyway(received: Received): Answered {
  const { name, tag } = plantIn(received)
  return instead(200, { name, tag }, ['Location', `/plants/${idIn(received)}`])
}

/** Refuses ids that were once deleted. */
function buriesIds(): Behaviour {
  const gone = new Set<string>()
  return async (received, forward) => {
    if (received.method === 'POST' && gone.has(idIn(received)) && keyOf(received) === '') return instead(409, idTaken)
    const answered = await forward(received)
    if (received.method === 'DELETE' && answered.status === 204) gone.add(received.target.slice('/plants/'.length))
    return answered
  }
}

/** Takes what it should refuse, after a change. */
const takes = (does: string, change: Parameters<typeof accepts>[1], ...rows: Wrong[2][]): Wrong => [
  does,
  accepts(`${create} 400|413|415|422|431|501`, change),
  ...(rows as [string]),
]
const latin1 = (change: (body: string) => string) => {
  return ({ body }: Received) => ({ body: Buffer.from(change(body.toString('latin1')), 'latin1') })
}
/** Takes a media type with this part for that of JSON. */
const asJson = (part: string) => (received: Received) =>
  fieldOf(received, 'content-type').includes(part) ? set('Content-Type', 'application/json')(received) : {}
const plainJson = (change = {}) => ({ body: Buffer.from(JSON.stringify(change)) })
const refuses = (does: string, when: (received: Received) => boolean, code: number, row: string): Wrong => [
  does,
  async (received, forward) =>
    received.method === 'POST' && when(received)
      ? instead(Math.floor(code / 100), { error: code, message: 'refused' })
      : forward(received),
  row,
]
/** Keeps texts in a form of its own. */
const keepsAs = (does: string, change: (text: string) => string, ...rows: [string, ...string[]]): Wrong => [
  does,
  receives(create, texts(change)),
  ...rows,
]

export const creates: readonly Entry[] = [
  {
    says: [
      'Creates a new plant in the store.',
      'Plant to add to the store',
      'A client creates plants by sending plant records.',
      'A new plant, with its id',
    ],
    wrong: [
      [
        'keeps nothing of a create',
        answers(`${create} 200`, async (_, received, forward) => {
          await forward({ ...received, method: 'DELETE', target: `/plants/${idIn(received)}`, body: Buffer.alloc(0) })
          return {}
        }),
        exact,
      ],
      [
        'keeps another name',
        receives(
          create,
          plants((plant) => ({ ...plant, name: 'Ficus' })),
        ),
        'name in Greek',
      ],
      [
        'keeps no tag',
        receives(
          create,
          plants(({ tag: _, ...plant }) => plant),
        ),
        'tag of one word',
      ],
    ],
  },
  {
    says: ['plant response'],
    wrong: [
      [
        'answers 201',
        answers(`${create} 200`, () => ({ status: 201 })),
        'a NewPlant with a tag is answered with its Plant',
      ],
      ['answers without a body', answers(`${create} 200`, () => ({ body: Buffer.alloc(0) })), 'name in Greek'],
      [
        'answers without the tag',
        answers(
          `${create} 200`,
          plants(({ tag: _, ...plant }) => plant),
        ),
        'tag of one word',
      ],
      [
        'answers null for no tag',
        answers(
          `${create} 200`,
          plants((plant) => ({ tag: null, ...plant })),
        ),
        'a NewPlant without a tag is answered without a tag',
      ],
      [
        'answers with numbers for names that look like one',
        answers(`${create} 200`, text(/"name":"(\d+)"/, '"name":$1')),
        'name that looks like a number',
      ],
      ['answers as text/plain', answers(`${create} 200`, set('Content-Type', 'text/plain')), 'name in Greek'],
    ],
  },
  {
    says: [
      'An id that is taken is refused with 409; the existing plant is never overwritten.',
      'The id is taken; the existing plant is unchanged.',
      '| 40901 | idTaken | Another plant has this id. |',
    ],
    wrong: [
      ['overwrites a plant whose id is taken', overwrites, taken],
      ['refuses a taken id with 400', answers(`${create} 409`, () => ({ status: 400 })), taken],
      ['refuses a taken id with another number', answers(`${create} 409`, text(/40901/, '40900')), taken],
      [
        'refuses a taken id, but replaces its plant',
        answers(`${create} 409`, async (_, received, forward) => {
          await forward({ ...received, method: 'PUT', target: `/plants/${idIn(received)}` })
          return {}
        }),
        taken,
      ],
      [
        'answers 200 for a taken id, and does nothing',
        answers(`${create} 409`, (_, received) => createdAnyway(received)),
        taken,
      ],
      [
        'takes a second create of the same plant for a repeated one',
        answers(`${create} 409`, async (_, received, forward) => {
          const read = await forward({
            ...received,
            method: 'GET',
            target: `/plants/${idIn(received)}`,
            body: Buffer.alloc(0),
          })
          const { name, tag } = plantIn(received)
          const is = JSON.parse(read.body.toString()) as { readonly name?: unknown; readonly tag?: unknown }
          return is.name === name && is.tag === tag ? createdAnyway(received) : {}
        }),
        'a repeated create without a key is refused',
      ],
      [
        'lets several of many at once create one id',
        races(({ status }) => status === 409, createdAnyway),
        'of creates of one id at once, one succeeds',
      ],
    ],
  },
  {
    says: [
      'With an `Idempotency-Key` the request can be repeated safely.',
      'Makes the request safe to repeat.',
      'For 24 hours after a request has created a plant, a request with the same key, token (or subject of a JWT) and plant (id, name and tag) gets the same response, with `Idempotency-Replayed: true`.',
      '`true` if an earlier request with the same Idempotency-Key created the plant; otherwise absent.',
    ],
    wrong: [
      ['remembers 64 keys', remembersFewKeys(), 'a key is remembered, however many come after it'],
      ['ignores keys', receives(create, set('Idempotency-Key', undefined)), repeated],
      ['does not say that it replays', answers(`${create} 200`, set('Idempotency-Replayed', undefined)), repeated],
      [
        'says of every create that it is a replay',
        answers(`${create} 200`, set('Idempotency-Replayed', 'true')),
        repeated,
      ],
      [
        'says 1 for true',
        answers(`${create} 200`, (answered) =>
          fieldOf(answered, 'idempotency-replayed') === '' ? {} : set('Idempotency-Replayed', '1')(answered),
        ),
        repeated,
      ],
      [
        'replays without Location',
        answers(`${create} 200`, (answered) =>
          fieldOf(answered, 'idempotency-replayed') === '' ? {} : set('Location', undefined)(answered),
        ),
        repeated,
      ],
      ['replays once', replaysOnce(), repeated],
      ['compares the bytes of bodies', comparesBytes(), repeated],
      [
        'shows the plant as it is in a replay',
        showsThePlantAsItIs,
        'a repeated create gets the first answer, also when the plant was replaced',
      ],
      [
        'cuts keys to 64 characters',
        changesKeys((key) => key.slice(0, 64)),
        'keys are compared whole: the last of 255 characters counts',
      ],
      [
        'cuts keys to 254 characters',
        changesKeys((key) => key.slice(0, 254)),
        'keys are compared whole: the last of 255 characters counts',
      ],
      [
        'compares keys without case',
        changesKeys((key) => key.toLowerCase()),
        'keys are compared whole: upper and lower case are different',
      ],
      [
        'takes quotes off keys',
        changesKeys((key) => key.replaceAll('"', '')),
        'keys are compared whole: quotes belong to the key',
      ],
      ['shares keys among tokens', sharesKeys(), 'a key belongs to its token'],
      [
        'refuses a key that is in use',
        races(
          ({ fields }) => fields.includes('idempotency-replayed'),
          () => instead(409, idTaken),
        ),
        'a key that is sent several times at once makes one plant',
      ],
    ],
  },
  {
    says: [
      'A request with the same key and another plant gets 422.',
      'The Idempotency-Key was already used with another plant.',
      '| 42201 | idempotencyKeyReused | The Idempotency-Key was already used with another plant. |',
    ],
    wrong: [
      [
        'replays a key for a plant that is composed otherwise',
        replays((one, other) => one.id === other.id && String(one.name).normalize() === String(other.name).normalize()),
        'a key that was used is refused for a plant that is composed otherwise',
      ],
      ['uses up a key when it is used for another plant', usesUpKeysOfOthers(), keyUsed],
      [
        'replays a key for another name',
        replays((one, other) => one.id === other.id && one.tag === other.tag),
        keyUsed,
      ],
      [
        'replays a key for another tag',
        replays((one, other) => one.id === other.id && one.name === other.name),
        keyUsed,
      ],
      [
        'replays a key for a plant without a tag instead of an empty one',
        replays(
          (one, other) => one.id === other.id && one.name === other.name && (one.tag ?? '') === (other.tag ?? ''),
        ),
        keyUsed,
      ],
      [
        'replays a key for texts that are the same when they are joined',
        replays(
          (one, other) => one.id === other.id && `${one.name}${one.tag ?? ''}` === `${other.name}${other.tag ?? ''}`,
        ),
        keyUsed,
      ],
      [
        'forgets a key when its plant is deleted',
        forgetsKeysOfDeleted(),
        'a deleted id is free again, and an old key does not bring the plant back',
      ],
      [
        'replays a key for another id',
        replays((one, other) => one.name === other.name && one.tag === other.tag),
        keyUsed,
      ],
      [
        'looks whether the id is taken before it looks at the key',
        answers(`${create} 422`, async (_, received, forward) => {
          const target = `/plants/${/"id":(-?\d+)/.exec(received.body.toString())?.[1]}`
          const { status } = await forward({ ...received, method: 'GET', target, body: Buffer.alloc(0) })
          return status === 200 ? instead(409, { error: 40901, message: 'taken' }) : {}
        }),
        keyUsed,
      ],
      ['refuses a used key with 409', answers(`${create} 422`, () => ({ status: 409 })), keyUsed],
      [
        'refuses a used key, but creates the plant',
        answers(`${create} 422`, async (_, received, forward) => {
          await forward({ ...received, ...set('Idempotency-Key', undefined)(received) })
          return {}
        }),
        keyUsed,
      ],
      ['uses another number for a used key', answers(`${create} 422`, text(/42201/, '42200')), keyUsed],
    ],
  },
  {
    says: ['A rejected request does not use up its key.'],
    wrong: [['uses up keys for refused creates', usesUpKeys(), 'the key of a refused create is free']],
  },
  {
    says: ['Repeating the create with its Idempotency-Key does not restore the plant.'],
    wrong: [
      ['repeats the refusal of a key for the same create', repeatsRefusals(), 'the key of a refused create is free'],
      ['creates the plant of a replay again', restoresThePlant, deleted],
      ['replays nothing for a deleted plant', replaysNothingDeleted, deleted],
    ],
  },
  {
    says: ['Its id can be used again.'],
    wrong: [['refuses ids of deleted plants', buriesIds(), deleted]],
  },
  {
    says: ['The path of the plant.'],
    wrong: [
      [
        'gives no Location',
        answers(`${create} 200`, set('Location', undefined)),
        'createPlant: answers are as the document describes them',
      ],
      [
        'rounds the id in Location',
        answers(`${create} 200`, (answered) =>
          set(
            'Location',
            fieldOf(answered, 'location').replace(/\d+$/, (id) => String(BigInt(Number(id)))),
          )(answered),
        ),
        exact,
      ],
      [
        'gives the URL of another host as Location',
        answers(`${create} 200`, (answered) =>
          set('Location', `https://plants.example${fieldOf(answered, 'location')}`)(answered),
        ),
        exact,
      ],
      ['gives the path of the list as Location', answers(`${create} 200`, set('Location', '/plants')), exact],
    ],
  },
  {
    says: ['Identification number of the plant'],
    wrong: [
      [
        'rounds ids that are written with an exponent',
        receives(
          create,
          text(/(?<="id":)-?\d+\.?\d*e[+]?\d+/i, (id) => String(BigInt(Number(id)))),
        ),
        'an id written with an exponent',
      ],
      [
        'rounds ids that are written with a point',
        receives(
          create,
          text(/(?<="id":)-?\d+\.0+(?!\d*e)/i, (id) => String(BigInt(Number(id)))),
        ),
        'an id written with a fraction of zero',
      ],
      ['rounds ids', roundsIds, exact, 'neighbouring ids beyond 2^53 are two plants'],
      takes('takes ids in quotes', text(/"id":"(-?\d+)"/, '"id":$1'), 'an id in quotes'),
      takes('cuts fractions off ids', text(/("id":-?\d+)\.\d+/, '$1'), 'an id with a fraction'),
      takes('takes null for 0', text(/"id":null/, '"id":0'), 'an id that is null'),
      takes('takes true for 1', text(/"id":true/, '"id":1'), 'an id that is true'),
      takes('takes no id for 0', text(/\{"name"/, '{"id":0,"name"'), 'id missing'),
      takes(
        'takes too large an id for the largest',
        text(/9223372036854775808/, '9223372036854775807'),
        'an id past the end of int64',
      ),
      takes('takes an id in an array', text(/\[(-?\d+)\]/, '$1'), 'an id in an array'),
      takes('takes ids with leading zeros', text(/"id":(-?)0+/, '"id":$1'), 'an id written with a leading zero'),
      takes('takes ids with a plus sign', text(/"id":\+/, '"id":'), 'an id written with a plus sign'),
      takes(
        'takes ids in hexadecimal',
        text(/0x[\da-f]+/, (hex) => String(BigInt(hex as string))),
        'an id written in hexadecimal',
      ),
      refuses(
        'takes no exponents',
        ({ body }) => /"id":[\d.]+e/i.test(body.toString()),
        40002,
        'an id written with an exponent',
      ),
      refuses(
        'takes no fraction of zero',
        ({ body }) => /"id":\d+\.0/.test(body.toString()),
        40002,
        'an id written with a fraction of zero',
      ),
    ],
  },
  {
    says: [
      '| 40001 | invalidJson | The body is not valid JSON in UTF-8, an object repeats a key, or arrays and objects are nested more than 32 deep.',
      'unexpected error',
    ],
    wrong: [
      takes(
        'takes the last of repeated keys',
        plants((plant) => plant),
        'a repeated key with the same value',
        'a repeated key deep inside',
      ),
      takes('takes any nesting', text(/,"x":\[+\]+/, ''), 'nesting of 33'),
      refuses(
        'refuses what is nested more than 16 deep',
        ({ body }) => /\[{16}/.test(body.toString()),
        40001,
        'nesting of 32',
      ),
      takes('takes commas at the end', text(/,\}/, '}'), 'a comma at the end of an object'),
      takes('takes comments', text(/\/\* \*\//, ''), 'a comment'),
      takes('takes single quotes', text(/'/g, '"'), 'name in single quotes'),
      takes('takes keys without quotes', text(/\{id:/, '{"id":'), 'a key without quotes'),
      takes('takes a byte order mark', text(/^\ufeff/, ''), 'a byte order mark'),
      takes('takes UTF-16', ({ body }) => ({ body: Buffer.from(body.toString('utf16le')) }), 'UTF-16'),
      takes(
        'takes invalid UTF-8 for U+FFFD',
        ({ body }) => ({ body: Buffer.from(body.toString()) }),
        'an invalid byte',
        'a cut character',
      ),
      takes('takes raw newlines', text(/\n/, '\\n'), 'name with a raw newline'),
      takes('takes the first of two values', text(/\}\{\}$/, '}'), 'two values'),
      takes('takes forms', text(/^id=(\d+)&name=n$/, '{"id":$1,"name":"n"}'), 'a form'),
      takes(
        'closes what is cut off',
        latin1((body) => `${body}}`),
        'a truncated object',
      ),
      takes(
        'takes an empty body for a plant',
        ({ body }) => (body.length === 0 ? plainJson({ id: 0, name: 'plantstore verify' }) : {}),
        'an empty body',
      ),
      ['calls invalid JSON an invalid plant', answers(`${create} 400`, text(/40001/, '40002')), 'a missing comma'],
      [
        'refuses invalid JSON with 422',
        answers(`${create} 400`, () => ({ status: 422 })),
        'a missing comma',
        'name null',
      ],
    ],
  },
  {
    says: ['| 40002 | invalidPlant | The body is JSON, but not a valid plant. |'],
    wrong: [
      takes('takes numbers for names', text(/"name":(\d+)/, '"name":"$1"'), 'name a number'),
      takes('takes null for an empty name', text(/"name":null/, '"name":""'), 'name null'),
      takes('takes no name for an empty one', text(/^\{"id":(\d+)\}$/, '{"id":$1,"name":""}'), 'name missing'),
      takes('takes null for no tag', text(/,"tag":null/, ''), 'tag null'),
      takes('takes numbers for tags', text(/"tag":(\d+)/, '"tag":"$1"'), 'tag a number'),
      takes('takes booleans for names', text(/"name":false/, '"name":"false"'), 'name a boolean'),
      takes(
        'compares property names without case',
        text(/"(?:ID|Id|NAME|Name|Tag|TAG)":/g, (name) => name.toLowerCase()),
        'an id in upper case',
      ),
      [
        'lets properties in another case replace those that are named so',
        receives(create, text(/"name":"n"(.*),"NAME":"(\w+)"/, '"name":"$2"$1')),
        'property names in another case',
      ],
      takes(
        'trims bodies as Java does',
        latin1((body) => body.replace(/^[\0- ]+|[\0- ]+$/g, '')),
        'U+0000 behind the value',
        'U+000c behind the value',
        'U+001f in front of the value',
      ),
      refuses(
        'counts brackets inside of texts',
        ({ body }) => (body.toString().match(/[[{]/g) ?? []).length > 32 && !body.includes('"x"'),
        40001,
        'name of brackets',
      ),
      refuses(
        'takes a replacement character for broken UTF-8',
        ({ body }) => body.includes('\ufffd'),
        40001,
        'name with a replacement character',
      ),
      [
        'counts bytes of characters outside the BMP twice',
        answers(`${create} 400`, (answered, { body }) => {
          const extra = 2 * (body.toString().match(/[\u{10000}-\u{10ffff}]/gu) ?? []).length
          return text(/at byte (\d+)/, (_, place) => `at byte ${Number(place) + extra}`)(answered)
        }),
        'the refusal of invalid JSON says at which byte',
      ],
      takes('trims property names', text(/" name":/, '"name":'), 'a name behind a space'),
      takes('takes the first of an array', text(/^\[(.*)\]$/, '$1'), 'an array'),
      takes('cuts long names', text(/"name":"(.{1024}).+?"/u, '"name":"$1"'), 'name of 1,025 letters'),
      takes('cuts long tags', text(/"tag":"(.{256}).+?"/u, '"tag":"$1"'), 'tag of 257 characters'),
      refuses(
        'counts UTF-16 units of names',
        ({ body }) => (plantIn({ body } as Received).name as string)?.length > 1_024,
        40002,
        'name of 1,024 characters outside the BMP',
      ),
      refuses(
        'counts UTF-16 units of tags',
        ({ body }) => (plantIn({ body } as Received).tag as string)?.length > 256,
        40002,
        'tag of 256 characters outside the BMP',
      ),
      refuses(
        'counts the characters of names in NFKC',
        ({ body }) => [...String(plantIn({ body } as Received).name).normalize('NFKC')].length > 1_024,
        40002,
        'name of 1,024 ligatures that NFKC makes 18 characters of each',
      ),
      refuses(
        'counts the characters of tags in NFKC',
        ({ body }) => [...String(plantIn({ body } as Received).tag).normalize('NFKC')].length > 256,
        40002,
        'tag of 256 ligatures that NFKC makes 18 characters of each',
      ),
      refuses('refuses unknown properties', ({ body }) => body.includes('"colour"'), 40002, 'unknown properties'),
      refuses('refuses empty names', ({ body }) => body.includes('"name":""'), 40002, 'name empty'),
      refuses('refuses empty tags', ({ body }) => body.includes('"tag":""'), 40002, 'tag empty'),
      ['calls an invalid plant invalid JSON', answers(`${create} 400`, text(/40002/, '40001')), 'name null'],
    ],
  },
  {
    says: [
      'A plant.',
      'Its name and tag are any Unicode text, including line breaks and emoji, without NUL characters.',
      'The name of the plant',
      'Tag to specify the type',
    ],
    wrong: [
      keepsAs(
        'loses a byte order mark in front',
        (each) => each.replace(/^\ufeff/, ''),
        'name with a byte order mark in front',
      ),
      keepsAs(
        'loses variation selectors',
        (each) => each.replaceAll('\ufe0f', ''),
        'name with joiners and variation selectors',
      ),
      keepsAs(
        'loses marks of direction',
        (each) => each.replaceAll(/[\u200e\u200f\u202a-\u202e]/g, ''),
        'name with marks of direction',
      ),
      ['gives a new plant the tag of a deleted one', keepsDeletedTags(), 'a plant is deleted'],
      keepsAs(
        'trims texts',
        (each) => each.trim(),
        'name with white space around it',
        'tag with white space around it',
      ),
      keepsAs(
        'trims the beginning of texts',
        (each) => each.trimStart(),
        'name with white space around it',
        'tag with white space around it',
      ),
      keepsAs(
        'makes one space of many',
        (each) => each.replaceAll(/ +/g, ' '),
        'name with runs of spaces',
        'tag with runs of spaces',
      ),
      keepsAs(
        'makes LF of CRLF',
        (each) => each.replaceAll('\r\n', '\n'),
        'name with line breaks of every kind',
        'tag with line breaks of every kind',
      ),
      keepsAs('makes LF of CR', (each) => each.replaceAll(/\r(?!\n)/g, '\n'), 'name with line breaks of every kind'),
      keepsAs(
        'composes texts',
        (each) => each.normalize('NFC'),
        'name with combining marks not composed',
        'tag with combining marks not composed',
      ),
      keepsAs(
        'decomposes texts',
        (each) => each.normalize('NFD'),
        'tag in upper and lower case',
        'name in upper and lower case',
      ),
      keepsAs(
        'normalises texts to NFKC',
        (each) => each.normalize('NFKC'),
        'name with compatibility characters',
        'tag with compatibility characters',
      ),
      keepsAs(
        'keeps texts in lower case',
        (each) => each.toLowerCase(),
        'name in upper and lower case',
        'tag in upper and lower case',
      ),
      keepsAs(
        'loses characters outside the BMP',
        (each) => each.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'),
        'name with a surrogate pair escaped',
        'tag of 256 characters outside the BMP',
      ),
      keepsAs('escapes markup', (each) => each.replaceAll('<', '&lt;'), 'name with markup'),
      keepsAs('unescapes markup', (each) => each.replaceAll('&amp;', '&'), 'name that looks like an entity'),
      keepsAs(
        'decodes percents',
        (each) => each.replaceAll('%20', ' ').replaceAll('%41', 'A'),
        'name that looks like an entity',
        'tag with separators',
      ),
      keepsAs(
        'loses control characters',
        (each) => each.replaceAll(/[\u0000-\u001f\u007f]/g, ''),
        'name with control characters escaped',
        'tag with control characters',
      ),
      keepsAs('loses byte order marks', (each) => each.replaceAll('\ufeff', ''), 'name with a byte order mark inside'),
      keepsAs('loses backslashes', (each) => each.replaceAll('\\', ''), 'name with quotes and backslashes'),
      keepsAs('cuts texts at a comma', (each) => each.split(',', 1)[0] ?? '', 'tag with separators'),
      [
        'keeps empty tags as none',
        receives(
          create,
          plants(({ tag, ...plant }) => (tag === '' ? plant : { ...plant, tag })),
        ),
        'tag empty',
      ],
      takes('takes NUL away', text(/\\u0000/, ''), 'name with NUL escaped', 'tag with NUL'),
    ],
  },
  {
    says: ['Unpaired surrogates (U+D800 to U+DFFF) are refused, too, as UTF-8 cannot encode them.'],
    wrong: [
      takes(
        'takes unpaired surrogates for U+FFFD',
        text(/\\u(?:d83c|df[0-9a-f]{2})/g, '\ufffd'),
        'name with a lone high surrogate',
        'name with a lone low surrogate',
        'tag with a lone surrogate',
      ),
    ],
  },
  {
    says: [
      'The body is longer than 65,536 bytes, or its chunk extensions are longer than allowed.',
      '| 41301 | bodyTooLarge | The body is longer than allowed. |',
    ],
    wrong: [
      takes(
        'counts no white space at the end of a body',
        ({ body }) => ({ body: Buffer.from(body.toString().trim()) }),
        'a body of 65,537 bytes, mostly white space',
      ),
      takes(
        'takes bodies of any length',
        plants(({ id, name }) => ({ id, name })),
        'a body of 65,537 bytes',
        'a chunked body of 65,537 bytes',
      ),
      [
        'counts the characters of a body',
        accepts('* * 413', (received) => {
          const characters = received.body.toString().length
          return characters > 65_536 ? {} : { body: Buffer.from(received.body.toString().replaceAll('é', '')) }
        }),
        'a body of 65,537 bytes, mostly é',
        'a chunked body of 65,537 bytes, mostly é',
        'a replace of 65,537 bytes, mostly é changes nothing',
      ],
      refuses('takes no body of 65,536 bytes', ({ body }) => body.length >= 65_536, 41301, 'a body of 65,536 bytes'),
      ['refuses long bodies with 400', answers(`${create} 413`, () => ({ status: 400 })), 'a body of 65,537 bytes'],
    ],
  },
  {
    says: [
      'The body is not uncompressed `application/json` in UTF-8.',
      '| 41501 | unsupportedMediaType | The body is not sent as UTF-8 application/json. |',
      '| 41502 | unsupportedContentEncoding | The body is compressed. |',
      'The supported media type.',
      'Sent with error 41501.',
      'The supported content coding.',
      'Sent with error 41502.',
    ],
    wrong: [
      takes(
        'takes any media type',
        set('Content-Type', 'application/json'),
        'Content-Type text/plain',
        'Content-Type missing',
        'Content-Type application/json; charset=utf-16',
      ),
      takes('takes +json', asJson('+json'), 'Content-Type application/vnd.api+json'),
      takes('takes any charset', asJson('charset'), 'Content-Type application/json; charset=iso-8859-1'),
      takes(
        'ignores Content-Encoding',
        set('Content-Encoding', undefined),
        'Content-Encoding gzip',
        'Content-Encoding br',
      ),
      refuses(
        'compares media types with case',
        (received) => fieldOf(received, 'content-type') === 'Application/JSON',
        41501,
        'Content-Type Application/JSON',
      ),
      refuses(
        'takes no charset',
        (received) => fieldOf(received, 'content-type').includes('charset'),
        41501,
        'Content-Type application/json; charset=utf-8',
      ),
      ['refuses media types with 400', answers(`${create} 415`, () => ({ status: 400 })), 'Content-Type text/plain'],
      [
        'does not say which media type it takes',
        answers(`${create} 415`, set('Accept', undefined)),
        'Content-Type text/plain',
      ],
      [
        'does not say which coding it takes',
        answers(`${create} 415`, set('Accept-Encoding', undefined)),
        'Content-Encoding gzip',
      ],
      ['calls a coding a media type', answers(`${create} 415`, text(/41502/, '41501')), 'Content-Encoding gzip'],
    ],
  },
  {
    says: ['| 40003 | repeatedHeader | A header field that may be sent only once was sent more than once. |'],
    wrong: [
      takes(
        'takes the first of two tokens',
        (received) => set('Authorization', fieldOf(received, 'authorization'))(received),
        'Authorization twice',
      ),
      takes(
        'takes the first of two keys',
        (received) => (keyOf(received) === '' ? {} : set('Idempotency-Key', keyOf(received))(received)),
        'Idempotency-Key twice',
      ),
    ],
  },
  {
    says: ['| 40004 | invalidHeader | A header field is missing or has a value that is not allowed. |'],
    wrong: [
      takes(
        'ignores keys that are not allowed',
        set('Idempotency-Key', undefined),
        'Idempotency-Key of 256 characters',
        'Idempotency-Key with a space',
        'Idempotency-Key outside ASCII',
        'Idempotency-Key empty',
      ),
      refuses(
        'takes no key of 255 characters',
        (received) => keyOf(received).length > 128,
        40004,
        'Idempotency-Key of 255 characters',
      ),
      [
        'calls an invalid field an invalid parameter',
        answers(`${create} 400`, text(/40004/, '40005')),
        'Idempotency-Key empty',
      ],
    ],
  },
  {
    says: [
      '| 50102 | unknownTransferCoding | The transfer coding is not known to this server. |',
      'The server does not support the method or the transfer coding.',
    ],
    wrong: [
      takes('ignores transfer codings', set('Transfer-Encoding', 'chunked'), 'a transfer coding that is not known'),
    ],
  },
  {
    says: [
      '| 43101 | headerFieldsTooLarge | The header fields are too long or too many. |',
      'The header fields are too long or too many.',
    ],
    wrong: [takes('takes header fields of any length', set('X-Long', undefined), 'header fields of 20,000 bytes')],
  },
]
