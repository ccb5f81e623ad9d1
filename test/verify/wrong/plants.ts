// Sentences about reading, replacing and deleting plants.

import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { accepts, answers, type Forward, fieldOf, instead, plants, receives, set, text, texts } from '../changes.ts'
import type { Answered, Behaviour, Received } from '../wrong-servers.ts'
import type { Entry, Wrong } from './table.ts'

const plant = '/plants/{id}'
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
const oneReplace = 'of replaces with one ETag at once, one succeeds'
const deleteFirst = 'of changes, deletes first, with one ETag at once, one succeeds'
const oneDelete = 'of deletes of one plant at once, one succeeds'

/** Longer than eight requests take on a busy machine. */
const raceMs = 300
const nothing = { body: Buffer.alloc(0) }
const read = (received: Received, forward: Forward): Promise<Answered> =>
  forward({
    ...received,
    ...set('If-Match', undefined)({ ...received, ...set('If-None-Match', undefined)(received) }),
    ...nothing,
    method: 'GET',
  })

/** Takes a replace that it should refuse, after a change of its body or fields. */
const takes = (
  does: string,
  change: (received: Received) => Partial<Received>,
  ...rows: [string, ...string[]]
): Wrong => [does, accepts(`PUT ${plant} 400|413|415`, change), ...rows]
const keepsAs = (does: string, change: (text: string) => string, ...rows: [string, ...string[]]): Wrong => [
  does,
  receives(`PUT ${plant}`, texts(change)),
  ...rows,
]
const changesNothing = (what: string): string => `a replace ${what} changes nothing`

/** Answers reads with what the first one got. */
function caches(): Behaviour {
  const known = new Map<string, Answered>()
  return async (received, forward) => {
    const isRead = received.method === 'GET' && /^\/plants\/\d+$/.test(received.target)
    const cached = isRead ? known.get(received.target) : undefined
    if (cached !== undefined && fieldOf(received, 'if-match') === '') return cached
    const answered = await forward(received)
    if (isRead && answered.status === 200) known.set(received.target, answered)
    return answered
  }
}

/** Compares with one line of a field alone. */
const readsOneLine = (name: string, which: (values: readonly string[]) => string | undefined): Behaviour =>
  receives('*', (received) => {
    const values = received.fields.filter(
      (_, at) => at % 2 === 1 && received.fields[at - 1]?.toLowerCase() === name.toLowerCase(),
    )
    return values.length > 1 ? set(name, which(values))(received) : {}
  })

/** Makes an ETag of something else than the plant. */
const etagOf = (make: (plant: { readonly name?: string; readonly tag?: string }) => string): Behaviour =>
  answers(`GET|HEAD|PUT ${plant} 200`, async (answered, received, forward) => {
    const now = await read(received, forward)
    const made = make(JSON.parse(now.body.toString()) as { readonly name?: string; readonly tag?: string })
    return set('ETag', `"${createHash('sha256').update(made).digest('base64url').slice(0, 22)}"`)(answered)
  })

const neverTheSame = answers(`GET|HEAD|PUT ${plant} 200`, (answered) =>
  set('ETag', `"${randomBytes(11).toString('hex')}"`)(answered),
)

/** Does not send a condition on, or another one. */
const conditions = (method: string, name: string, change: (value: string) => string | undefined): Behaviour =>
  receives(`${method} ${plant}`, (received) => {
    const value = fieldOf(received, name.toLowerCase())
    return value === '' ? {} : set(name, change(value))(received)
  })
const malformed = (method: string, name: string): Behaviour =>
  accepts(`${method} ${plant} 400`, (received) =>
    fieldOf(received, name.toLowerCase()) === '' ? {} : set(name, undefined)(received),
  )

/** Takes a comma inside an ETag for the end of it. */
const splits = (name: string): Behaviour =>
  conditions('*', name, (value) =>
    value === '*' || value.split(',').every((each) => /^\s*(?:(?:W\/)?"[^"]*")?\s*$/.test(each)) ? value : 'x',
  )

/** Compares If-Match, and does the change a moment later. */
const races = (method: string, ms = raceMs): Behaviour => {
  return async (received, forward) => {
    if (received.method !== method || fieldOf(received, 'if-match').length < 20) return forward(received)
    const now = await forward({ ...received, ...nothing, method: 'GET' })
    if (now.status !== 200) return forward(received)
    await sleep(ms)
    return forward({ ...received, ...set('If-Match', undefined)(received) })
  }
}

/** Answers with the plant as it is a moment later. */
const readsBack = answers(`PUT ${plant} 200`, async (answered, received, forward) => {
  await sleep(raceMs)
  const now = await read(received, forward)
  return { ...text(/"id":\d+,/, '')(now), ...set('ETag', fieldOf(now, 'etag'))(answered) }
})

const takesGzip = accepts(`PUT ${plant} 415`, (received) => {
  if (fieldOf(received, 'content-encoding') !== 'gzip') return {}
  return { ...set('Content-Encoding', undefined)(received), body: gunzipSync(received.body) }
})

const forgetsSame: Behaviour = async (received, forward) => {
  const before = received.method === 'PUT' ? await read(received, forward) : undefined
  const answered = await forward(received)
  const isSame = before !== undefined && fieldOf(before, 'etag') === fieldOf(answered, 'etag')
  return isSame && answered.status === 200 ? { ...answered, ...set('ETag', undefined)(answered) } : answered
}

function ignoresCase(): Behaviour {
  const known = new Map<string, string>()
  return async (received, forward) => {
    const wanted = fieldOf(received, 'if-match')
    const etag = known.get(wanted.toLowerCase())
    const answered = await forward(etag === undefined ? received : { ...received, ...set('If-Match', etag)(received) })
    const own = fieldOf(answered, 'etag')
    if (own !== '') known.set(own.toLowerCase(), own)
    return answered
  }
}

/** Answers a condition from a cache, be the plant there or not. */
function remembersTags(): Behaviour {
  const known = new Map<string, Answered>()
  return async (received, forward) => {
    const answered = await forward(received)
    if (received.method === 'GET' && answered.status === 200) known.set(received.target, answered)
    const cached = known.get(received.target)
    const isCached = cached !== undefined && fieldOf(received, 'if-none-match') === fieldOf(cached, 'etag')
    return answered.status === 404 && received.method === 'GET' && isCached
      ? { ...cached, status: 304, ...nothing }
      : answered
  }
}

/** Remembers deleted plants, and replaces them back into life. */
function undeletes(): Behaviour {
  const gone = new Set<string>()
  return async (received, forward) => {
    const answered = await forward(received)
    if (received.method === 'DELETE' && answered.status === 204) gone.add(received.target)
    if (received.method !== 'PUT' || answered.status !== 404 || !gone.has(received.target)) return answered
    return upserts(received, forward)
  }
}

async function upserts(received: Received, forward: Forward): Promise<Answered> {
  const id = received.target.slice('/plants/'.length)
  const body = Buffer.from(received.body.toString().replace('{', `{"id":${id},`))
  await forward({ ...received, method: 'POST', target: '/plants', body })
  return forward(received)
}

export const ofPlants: readonly Entry[] = [
  {
    says: ['Returns the plant with this id.', 'The plant.'],
    wrong: [
      [
        'rounds the ids that it is asked for',
        receives(`GET ${plant}`, ({ target }) => ({
          target: target.replace(/\d{17,}/, (id) => String(BigInt(Number(id)))),
        })),
        reading,
      ],
      [
        'answers with rounded ids',
        answers(
          `GET ${plant} 200`,
          text(/(?<="id":)\d+/, (id) => String(BigInt(Number(id)))),
        ),
        reading,
      ],
      [
        'answers with ids in quotes',
        answers(
          `GET ${plant} 200`,
          text(/(?<="id":)\d+/, (id) => `"${id}"`),
        ),
        reading,
      ],
      ['answers without ids', answers(`GET ${plant} 200`, text(/"id":\d+,/, '')), reading],
      [
        'reads without the tag',
        answers(
          `GET ${plant} 200`,
          plants(({ tag: _, ...rest }) => rest),
        ),
        reading,
      ],
      [
        'reads null for no tag',
        answers(
          `GET ${plant} 200`,
          plants((each) => ({ tag: null, ...each })),
        ),
        replacing,
      ],
      ['answers reads from a cache', caches(), replacing],
      ['reads as text/html', answers(`GET ${plant} 200`, set('Content-Type', 'text/html')), reading],
    ],
  },
  {
    says: ['Identification number of the plant, in decimal digits without leading zeros'],
    wrong: [
      [
        'takes a line break behind an id',
        receives('*', ({ target }) => ({ target: target.replace(/^(\/plants\/-?\d+)%0A$/, '$1') })),
        'the id with a line break behind it in a path',
      ],
      [
        'trims ids',
        receives('*', ({ target }) => ({
          target: target.replace(/^(\/plants\/)(?:%0A)?(-?\d+)(?:%0[09A]|%20)?$/, '$1$2'),
        })),
        'the id with a line break in front in a path',
        'the id with a tab behind it in a path',
        'the id with NUL behind it in a path',
      ],
      [
        'takes underscores in an id',
        receives('*', ({ target }) => ({ target: target.replace(/^(\/plants\/-?\d+)_(\d+)$/, '$1$2') })),
        'the id with an underscore in a path',
      ],
      ...(
        [
          ['takes leading zeros', /^\/plants\/0+(\d+)$/, '/plants/$1', 'the id with a leading zero in a path'],
          ['takes a plus sign', /^\/plants\/\+(\d+)$/, '/plants/$1', 'the id with a plus sign in a path'],
          [
            'takes a fraction of zero',
            /^\/plants\/(\d+)\.0$/,
            '/plants/$1',
            'the id with a fraction of zero in a path',
          ],
          ['takes an exponent', /^\/plants\/(\d+)e0$/, '/plants/$1', 'the id with an exponent in a path'],
          [
            'takes a space behind the id',
            /^\/plants\/(\d+)%20$/,
            '/plants/$1',
            'the id with a space behind it in a path',
          ],
          ['takes words for an id', /^\/plants\/seven$/, '/plants/7', 'the id in words in a path'],
          [
            'takes too large an id in a path for the largest',
            /^\/plants\/9{26}$/,
            '/plants/9223372036854775807',
            'the id of 26 digits in a path',
          ],
          [
            'takes negative ids for none',
            /^\/plants\/-\d+$/,
            '/plants/x',
            'the least and the greatest int64, and ids around 0, are ids in a path',
          ],
          [
            'takes the id 0 for none',
            /^\/plants\/0$/,
            '/plants/x',
            'the least and the greatest int64, and ids around 0, are ids in a path',
          ],
          [
            'takes the greatest int64 for none',
            /^\/plants\/9223372036854775807$/,
            '/plants/x',
            'the least and the greatest int64, and ids around 0, are ids in a path',
          ],
        ] as const
      ).map(
        ([does, from, to, row]): Wrong => [
          does,
          receives('*', ({ target }) => ({ target: target.replace(from, to) })),
          row,
        ],
      ),
      [
        'calls an invalid id a missing plant',
        answers(`GET ${plant} 400`, () => instead(404, { error: 40402, message: 'none' })),
        'the id in words in a path',
      ],
    ],
  },
  {
    says: ['There is no plant with this id.', '| 40402 | unknownPlant | There is no plant with this id. |'],
    wrong: [
      [
        'reads a missing plant as an empty one',
        answers(`GET ${plant} 404`, () => instead(200, { id: 1, name: '' })),
        missing,
      ],
      ['answers 410 for a missing plant', answers(`* ${plant} 404`, () => ({ status: 410 })), missing],
      ['calls a missing plant an unknown path', answers(`* ${plant} 404`, text(/40402/, '40401')), missing],
      ['deletes what is missing', answers(`DELETE ${plant} 404`, () => instead(204)), missing, deleting],
      [
        'lets several of many at once delete a plant',
        answers(`DELETE ${plant} 404`, (_, { fields }) => (fieldOf({ fields }, 'if-match') === '' ? instead(204) : {})),
        oneDelete,
      ],
      ['heads a missing plant', answers(`HEAD ${plant} 404`, () => instead(200)), head],
    ],
  },
  {
    says: ['A strong validator, equal for equal content and different for different content.'],
    wrong: [
      [
        'makes ETags weak for clients that accept compressed answers',
        answers(`* ${plant} 200`, (answered, received) =>
          fieldOf(received, 'accept-encoding') === '' ? {} : set('ETag', `W/${fieldOf(answered, 'etag')}`)(answered),
        ),
        'a client that accepts compressed answers gets strong ETags, with which it can change the plant',
      ],
      [
        'has ETags of name and tag on two lines',
        etagOf(({ name = '', tag }) => [name, ...(tag === undefined ? [] : [tag])].join('\n')),
        etag,
        'random requests are answered as the document says, round 1',
      ],
      [
        'has ETags of name and tag without a border',
        etagOf(({ name = '', tag }) => `${name}${tag ?? ''}${tag === undefined ? '-' : '+'}`),
        etag,
      ],
      [
        'has ETags of Latin-1',
        etagOf(({ name = '', tag = '-' }) => Buffer.from(JSON.stringify([name, tag]), 'latin1').toString('hex')),
        etag,
      ],
      [
        'has ETags of what is composed',
        etagOf(({ name = '', tag = '-' }) => JSON.stringify([name, tag]).normalize('NFC')),
        etag,
      ],
      [
        'has weak ETags',
        answers(`GET ${plant} 200`, (answered) => set('ETag', `W/${fieldOf(answered, 'etag')}`)(answered)),
        reading,
      ],
      ['has no ETag', answers(`GET ${plant} 200`, set('ETag', undefined)), reading],
      ['has ETags of names alone', etagOf(({ name = '' }) => name), etag],
      ['has ETags of tags alone', etagOf(({ tag = '' }) => tag), etag],
      [
        'has ETags that do not tell an empty tag from none',
        etagOf(({ name = '', tag = '' }) => `${name}/${tag}`),
        etag,
      ],
      ['has ETags of name and tag in one', etagOf(({ name = '', tag = '' }) => `${name}${tag}`), etag],
      ['has another ETag each time', neverTheSame, etag, head],
      ['answers a replace without an ETag', answers(`PUT ${plant} 200`, set('ETag', undefined)), replacing],
      [
        'answers a replace with the ETag of another plant',
        answers(`PUT ${plant} 200`, set('ETag', `"${'A'.repeat(22)}"`)),
        replacing,
        etag,
      ],
    ],
  },
  {
    says: [
      'With `If-None-Match`, only if the plant has changed; with `If-Match`, only if it has not.',
      'The plant still has one of the ETags in If-None-Match.',
      'ETags (RFC 9110, section 13.1.2).',
      'The plant, page or file must have none of them; `*` matches any.',
    ],
    wrong: [
      [
        'takes a star in quotes for a star in If-None-Match',
        conditions('*', 'If-None-Match', (value) => value.replace('"*"', '*')),
        ifNoneMatch,
      ],
      [
        'reads the first line of If-None-Match alone',
        readsOneLine('If-None-Match', (values) => values[0]),
        'If-None-Match may be on two lines',
      ],
      [
        'reads the last line of If-None-Match alone',
        readsOneLine('If-None-Match', (values) => values.at(-1)),
        'If-None-Match may be on two lines',
      ],
      [
        'takes Cache-Control: no-cache for a reason to send a plant again',
        receives('GET|HEAD', (received) =>
          fieldOf(received, 'cache-control') === 'no-cache' ? set('If-None-Match', undefined)(received) : {},
        ),
        'nothing changes with what asks for a fresh answer',
      ],
      ['splits If-None-Match at every comma', splits('If-None-Match'), ifNoneMatch],
      ['answers 304 for a deleted plant', remembersTags(), deleting],
      ['ignores If-None-Match', conditions('*', 'If-None-Match', () => undefined), ifNoneMatch, preventsChanges],
      ['ignores If-None-Match on changes', conditions('PUT|DELETE', 'If-None-Match', () => undefined), preventsChanges],
      ['ignores If-None-Match on HEAD', conditions('HEAD', 'If-None-Match', () => undefined), head],
      [
        'ignores If-None-Match: *',
        conditions('GET', 'If-None-Match', (value) => (value === '*' ? undefined : value)),
        ifNoneMatch,
      ],
      [
        'takes the first ETag of If-None-Match',
        conditions('GET', 'If-None-Match', (value) => /"[^"]*"/.exec(value)?.[0] ?? value),
        ifNoneMatch,
      ],
      [
        'compares If-None-Match strongly',
        conditions('GET', 'If-None-Match', (value) => (value.startsWith('W/') ? '"x"' : value)),
        ifNoneMatch,
      ],
      [
        'takes any If-None-Match for the current one',
        conditions('GET', 'If-None-Match', (value) => (value === '"x"' ? '*' : value)),
        ifNoneMatch,
      ],
      ['ignores an If-None-Match that is malformed', malformed('*', 'If-None-Match'), ifNoneMatch, preventsChanges],
      ['answers 304 with a body', answers(`GET ${plant} 304`, () => ({ status: 200 })), ifNoneMatch],
      ['answers 304 without an ETag', answers(`GET ${plant} 304`, set('ETag', undefined)), ifNoneMatch],
      [
        'answers 412 for 304',
        answers(`GET ${plant} 304`, () => instead(412, { error: 41201, message: 'unchanged' })),
        ifNoneMatch,
      ],
    ],
  },
  {
    says: ['ETags (RFC 9110, section 13.1.1).', 'The plant must have one of them; `*` matches any plant.'],
    wrong: [
      [
        'takes a star in quotes for a star in If-Match',
        conditions('*', 'If-Match', (value) => value.replace('"*"', '*')),
        lostUpdates,
      ],
      [
        'reads the first line of If-Match alone',
        readsOneLine('If-Match', (values) => values[0]),
        'If-Match may be on two lines',
      ],
      [
        'reads the last line of If-Match alone',
        readsOneLine('If-Match', (values) => values.at(-1)),
        'If-Match may be on two lines',
      ],
      ['splits If-Match at every comma', splits('If-Match'), lostUpdates],
      ['compares ETags without case', ignoresCase(), lostUpdates],
      ['ignores If-Match on reads', conditions('GET', 'If-Match', () => undefined), ifMatchOnReads],
      [
        'takes no * in If-Match of a replace',
        conditions('PUT', 'If-Match', (value) => (value === '*' ? '"*"' : value)),
        lostUpdates,
      ],
      [
        'takes no * in If-Match of a delete',
        conditions('DELETE', 'If-Match', (value) => (value === '*' ? '"*"' : value)),
        lostUpdates,
      ],
      [
        'takes the first ETag of If-Match',
        conditions('PUT', 'If-Match', (value) => /"[^"]*"/.exec(value)?.[0] ?? value),
        lostUpdates,
      ],
      ['compares If-Match weakly', conditions('PUT', 'If-Match', (value) => value.replace('W/', '')), lostUpdates],
      [
        'compares If-Match of reads weakly',
        conditions('GET', 'If-Match', (value) => value.replace('W/', '')),
        ifMatchOnReads,
      ],
      ['ignores a malformed If-Match of a delete', malformed('DELETE', 'If-Match'), lostUpdates],
      ['ignores a malformed If-Match of a replace', malformed('PUT', 'If-Match'), lostUpdates],
      ['ignores a malformed If-Match of a read', malformed('GET', 'If-Match'), lostUpdates],
    ],
  },
  {
    says: [
      'With `If-Match`, replaces the plant only if it has not changed since the client read it, so no update is lost.',
      'The plant does not meet If-Match or If-None-Match.',
      'Nothing was changed.',
      '| 41201 | preconditionFailed | The plant does not meet If-Match or If-None-Match; nothing was changed. |',
    ],
    wrong: [
      ['ignores If-Match of a replace', conditions('PUT', 'If-Match', () => undefined), lostUpdates],
      ['compares If-Match, then replaces', races('PUT'), oneReplace],
      ['refuses with 409 for 412', answers(`* ${plant} 412`, () => ({ status: 409 })), lostUpdates, preventsChanges],
      [
        'refuses with 412, but replaces',
        answers(`PUT ${plant} 412`, async (_, received, forward) => {
          await forward({
            ...received,
            ...set('If-Match', undefined)({ ...received, ...set('If-None-Match', undefined)(received) }),
          })
          return {}
        }),
        lostUpdates,
        preventsChanges,
      ],
      ['uses another number for 412', answers(`* ${plant} 412`, text(/41201/, '41200')), lostUpdates],
    ],
  },
  {
    says: ['With `If-Match`, deletes the plant only if it has not changed since the client read it.'],
    wrong: [['ignores If-Match of a delete', conditions('DELETE', 'If-Match', () => undefined), lostUpdates]],
  },
  {
    says: ["Sets the plant's name and tag.", 'The new name and tag', 'The plant was replaced.'],
    wrong: [
      [
        'answers a replace with what is there then',
        readsBack,
        'each of many replaces at once is answered with its own plant and ETag',
      ],
      ['decompresses a replace', takesGzip, changesNothing('in another coding')],
      ['answers a replace that changes nothing without an ETag', forgetsSame, etag],
      ['compares If-Match, then deletes', races('DELETE'), deleteFirst],
      ['compares If-Match, and deletes soon', races('DELETE', 20), deleteFirst],
      ['answers a replace with 204', answers(`PUT ${plant} 200`, () => ({ status: 204, ...nothing })), replacing],
      [
        'answers a replace without the tag',
        answers(
          `PUT ${plant} 200`,
          plants(({ tag: _, ...rest }) => rest),
        ),
        replacing,
      ],
      [
        'keeps another name of a replace',
        receives(
          `PUT ${plant}`,
          plants((each) => ({ ...each, ...('name' in each && { name: 'Ficus' }) })),
        ),
        replacing,
      ],
      [
        'takes the id of the body',
        receives(`PUT ${plant}`, (received) => ({
          target: `/plants/${/"id":(\d+)/.exec(received.body.toString())?.[1] ?? received.target.slice('/plants/'.length)}`,
        })),
        replacing,
      ],
      takes(
        'takes the last of repeated keys of a replace',
        plants((each) => each),
        changesNothing('with a repeated key'),
      ),
      takes(
        'takes no JSON for an empty name',
        ({ body }) => (body.length === 0 ? { body: Buffer.from('{"name":""}') } : {}),
        changesNothing('with no JSON'),
      ),
      takes('takes the first of a body too many', text(/\}\}$/, '}'), changesNothing('with no JSON')),
      takes(
        'takes no name of a replace for an empty one',
        plants((each) => ({ name: '', ...each })),
        changesNothing('without a name'),
      ),
      takes(
        'takes numbers for names of a replace',
        plants((each) => ({ ...each, name: String(each.name) })),
        changesNothing('with a name that is no string'),
      ),
      takes(
        'takes null for no tag of a replace',
        plants(({ tag, ...each }) => (tag === null ? each : { ...each, tag })),
        changesNothing('with a tag that is no string'),
      ),
      takes(
        'cuts long texts of a replace',
        texts((each) => each.slice(0, 256)),
        changesNothing('with too long a text'),
      ),
      takes(
        'takes NUL from a replace away',
        texts((each) => each.replaceAll('\0', '')),
        changesNothing('with NUL'),
      ),
      takes(
        'takes unpaired surrogates of a replace for U+FFFD',
        texts((each) => each.toWellFormed()),
        changesNothing('with an unpaired surrogate'),
      ),
      takes(
        'takes invalid UTF-8 of a replace for U+FFFD',
        ({ body }) => ({ body: Buffer.from(body.toString()) }),
        changesNothing('not in UTF-8'),
      ),
      takes(
        'takes a replace of any length',
        plants((each) => each),
        changesNothing('of 65,537 bytes'),
      ),
      [
        'takes replaces of 65,000 bytes at most',
        async (received, forward) =>
          received.method === 'PUT' && received.body.length > 65_000
            ? instead(413, { error: 41301, message: 'long' })
            : forward(received),
        'a replace of 65,536 bytes is kept',
      ],
      takes(
        'takes a replace of any media type',
        set('Content-Type', 'application/json'),
        changesNothing('of another media type'),
      ),
      takes('takes a replace in any coding', set('Content-Encoding', undefined), changesNothing('in another coding')),
      takes(
        'takes any value of a replace for an object',
        ({ body }) => (/^[[n"7]/.test(body.toString()) ? { body: Buffer.from('{"name":"m"}') } : {}),
        changesNothing('that is no object'),
      ),
      [
        'refuses a replace, but does it',
        answers(`PUT ${plant} 415`, async (_, received, forward) => {
          await forward({
            ...received,
            ...set(
              'Content-Type',
              'application/json',
            )({ ...received, ...set('Content-Encoding', undefined)(received) }),
          })
          return {}
        }),
        changesNothing('of another media type'),
      ],
      keepsAs(
        'loses characters outside the BMP of a replace',
        (each) => each.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'),
        'a replace keeps characters outside the BMP',
      ),
      keepsAs('trims texts of a replace', (each) => each.trim(), 'a replace keeps white space'),
      keepsAs(
        'composes texts of a replace',
        (each) => each.normalize('NFC'),
        'a replace keeps texts as they are composed',
      ),
      keepsAs('cuts texts of a replace', (each) => each.slice(0, 200), 'a replace keeps texts of full length'),
      keepsAs(
        'loses backslashes of a replace',
        (each) => each.replaceAll('\\', ''),
        'a replace keeps quotes, backslashes and control characters',
      ),
      [
        'keeps empty tags of a replace as none',
        receives(
          `PUT ${plant}`,
          plants(({ tag, ...each }) => (tag === '' || tag === undefined ? each : { ...each, tag })),
        ),
        'a replace keeps empty texts',
      ],
    ],
  },
  {
    says: ['Without a tag in the request, the tag is removed.'],
    wrong: [
      [
        'keeps the tag that a replace does not have',
        async (received, forward) => {
          if (received.method !== 'PUT') return forward(received)
          const now = await read(received, forward)
          const { tag } = JSON.parse(now.body.toString() || '{}') as { readonly tag?: string }
          return forward({ ...received, ...(tag !== undefined && plants((each) => ({ tag, ...each }))(received)) })
        },
        replacing,
      ],
    ],
  },
  {
    says: ['Never creates a plant.'],
    wrong: [
      [
        'creates what it should replace, with If-None-Match: *',
        answers(`PUT ${plant} 404`, (_, received, forward) =>
          fieldOf(received, 'if-none-match') === '*'
            ? upserts({ ...received, ...set('If-None-Match', undefined)(received) }, forward)
            : {},
        ),
        missing,
      ],
      [
        'creates what it should replace',
        answers(`PUT ${plant} 404`, (_, received, forward) => upserts(received, forward)),
        missing,
        deleting,
      ],
      ['brings deleted plants back when they are replaced', undeletes(), deleting],
    ],
  },
  {
    says: ['Deletes the plant.', 'The plant was deleted.'],
    wrong: [
      [
        'answers a delete, but deletes nothing',
        async (received, forward) => {
          if (received.method !== 'DELETE') return forward(received)
          const there = await read(received, forward)
          return there.status === 200 ? instead(204) : forward(received)
        },
        deleting,
      ],
      [
        'misses the body of a delete that has a Content-Type',
        async (received, forward) =>
          received.method === 'DELETE' && fieldOf(received, 'content-type') !== ''
            ? instead(400, { error: 40001, message: 'the body is empty' })
            : forward(received),
        'nothing changes with the Content-Type of a body that is not there',
      ],
      [
        'lets a field have another method',
        (received, forward) =>
          forward({ ...received, method: fieldOf(received, 'x-http-method-override') || received.method }),
        'nothing changes with another method in a field',
      ],
      [
        'takes an Idempotency-Key for creates alone',
        async (received, forward) =>
          received.method !== 'POST' && fieldOf(received, 'idempotency-key') !== ''
            ? instead(400, { error: 40004, message: 'Idempotency-Key: is for POST /plants' })
            : forward(received),
        'nothing changes with an Idempotency-Key where nothing is created',
      ],
      ['answers a delete with 200', answers(`DELETE ${plant} 204`, () => instead(200, {})), deleting],
      [
        'answers a delete with a body',
        answers(`DELETE ${plant} 204`, (answered) => set('Content-Length', '2')(answered)),
        deleting,
      ],
    ],
  },
]
