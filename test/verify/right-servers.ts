// Servers that do everything right in a way of their own, each with the subjects of the rows that could mistake it.

import { all, answers, fieldOf, instead, query, receives, set, text, without } from './changes.ts'
import { hasShortPages } from './wrong-lists.ts'
import type { Behaviour, Received } from './wrong-servers.ts'

export type Right = readonly [does: string, behave: Behaviour, ...subjects: readonly string[]]

const challenge = 'WWW-Authenticate'
const tokens = ['credentials', 'plants and ETags', 'order of refusals']
const others = ['CORS', 'paths and methods']

const listIn = (value: string): readonly string[] => value.split(/, */)
const appends = (when: string, more: string): Behaviour =>
  answers(when, (answered) => set(challenge, `${fieldOf(answered, 'www-authenticate')}, ${more}`)(answered))

/** Refuses every so many requests for the time being, as a busy server does. */
function isBusy(method: string, every: number, status: number, error: number, retryAfter: string): Behaviour {
  let count = 0
  return async (received, forward) => {
    if (received.method !== method) return forward(received)
    count += 1
    return count % every === 1
      ? instead(status, { error, message: 'busy' }, [
          ...['Retry-After', retryAfter, 'RateLimit-Policy', '"default";q=1;w=1', 'RateLimit', '"default";r=0;t=1'],
          ...['Access-Control-Expose-Headers', 'Retry-After, X-Request-Id'],
        ])
      : forward(received)
  }
}

/** Answers by itself, as a proxy does. */
const answersItself =
  (status: number, isMeant: (fields: readonly string[], method: string) => boolean): Behaviour =>
  async (received, forward) =>
    isMeant(received.fields, received.method)
      ? { status, fields: ['Content-Type', 'text/html', 'Server', 'nginx'], body: Buffer.from('<html></html>') }
      : forward(received)

const isTwice = (fields: readonly string[], name: string): boolean =>
  fields.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length > 1

const turned = (tags: string): string =>
  tags.replaceAll(/"([\w-]{22})"/g, (_, tag: string) => `"${[...tag].reverse().join('')}"`)
/** Makes ETags in a way of its own. */
const otherEtags: Behaviour = all(
  answers('* /plants/{id}', (answered) => set('ETag', turned(fieldOf(answered, 'etag')) || undefined)(answered)),
  receives('* /plants/{id}', withEtags('If-Match')),
  receives('* /plants/{id}', withEtags('If-None-Match')),
)

function withEtags(name: string): (received: Received) => Partial<Received> {
  return ({ fields }) => ({
    fields: fields.map((value, at) =>
      at % 2 === 1 && fields[at - 1]?.toLowerCase() === name.toLowerCase() ? turned(value) : value,
    ),
  })
}

/** Lists begin with an empty page. */
const beginsEmpty: Behaviour = async (received, forward) => {
  const asked = new URLSearchParams(received.target.split('?')[1] ?? '')
  const isList = /^(?:GET|HEAD)$/.test(received.method) && received.target.startsWith('/plants?')
  if (!isList || !asked.has('tag') || asked.has('after')) return forward(received)
  const startingAt = (after: string) => query((parameters) => parameters.set('after', after))(received)
  const whole = await forward(received)
  if (whole.status >= 400) return whole
  const answered = await forward({ ...received, ...startingAt('9223372036854775807') })
  const next = startingAt('-9223372036854775808').target
  return answered.status === 200 ? { ...answered, ...set('Link', `<${next}>; rel="next"`)(answered) } : answered
}

const sums = (change: (summary: object) => object): Behaviour =>
  answers('GET /summary 200', ({ body }) => ({
    body: Buffer.from(JSON.stringify(change(JSON.parse(body.toString()) as object))),
  }))
const crowd = Array.from({ length: 100 }, (_, index) => ({ tag: `t${index}`, plants: 200 - index }))

const headsWithoutLength = answers('HEAD', set('Content-Length', undefined))

export const rightServers: readonly Right[] = [
  ['passes everything on', (received, forward) => forward(received), 'the document itself', ...others],
  [
    'has Allow in another order',
    answers('*', (answered) =>
      set('Allow', listIn(fieldOf(answered, 'allow')).toReversed().join(', ') || undefined)(answered),
    ),
    ...others,
  ],
  [
    'has Allow without spaces',
    answers('*', (answered) => set('Allow', fieldOf(answered, 'allow').replaceAll(' ', '') || undefined)(answered)),
    ...others,
  ],
  ['describes errors in its challenge', appends('* * 401|403', 'error_description="no, sorry"'), ...tokens],
  ['names a scope in every challenge', appends('* * 401', 'scope="plants:read plants:write"'), ...tokens],
  [
    'names more scopes than one',
    answers('* * 403', (answered) =>
      set(challenge, fieldOf(answered, 'www-authenticate').replace(/scope="(.*?)"/, 'scope="openid $1"'))(answered),
    ),
    ...tokens,
  ],
  ['has further challenges', appends('* * 401', 'DPoP algs="ES256"'), ...tokens],
  ['exposes all header fields', answers('*', set('Access-Control-Expose-Headers', '*')), ...others],
  [
    'exposes the header fields that it has',
    answers('*', (answered) =>
      set(
        'Access-Control-Expose-Headers',
        [
          'Location',
          'ETag',
          'Link',
          'X-Request-Id',
          'Idempotency-Replayed',
          'WWW-Authenticate',
          'Accept',
          'Accept-Encoding',
        ]
          .filter((name) => fieldOf(answered, name.toLowerCase()) !== '')
          .join(','),
      )(answered),
    ),
    ...others,
  ],
  ['allows all methods by a star', answers('OPTIONS', set('Access-Control-Allow-Methods', '*')), ...others],
  [
    'allows header fields by a star, and Authorization',
    answers('OPTIONS', set('Access-Control-Allow-Headers', 'Authorization, *')),
    ...others,
  ],
  [
    'allows what is asked for',
    answers('OPTIONS', (answered, received) => {
      const method = fieldOf(received, 'access-control-request-method')
      if (method === '') return {}
      const allowed = { ...answered, ...set('Access-Control-Allow-Methods', method)(answered) }
      return set('Access-Control-Allow-Headers', fieldOf(received, 'access-control-request-headers'))(allowed)
    }),
    ...others,
  ],
  [
    'allows the origin that asks',
    answers('*', (answered, received) =>
      set('Access-Control-Allow-Origin', fieldOf(received, 'origin') || '*')(answered),
    ),
    ...others,
  ],
  ['heads what is unchanged with its length', answers('HEAD * 304', set('Content-Length', '46')), 'plants and ETags'],
  [
    'heads without a length',
    answers('HEAD', set('Content-Length', undefined)),
    'plants and ETags',
    'paths and methods',
  ],
  ['refuses a create now and then', isBusy('POST', 40, 503, 50301, '1'), 'names', 'int64'],
  ['refuses a create now and then, in its own words', isBusy('POST', 40, 503, 0, '1'), 'names'],
  ['refuses a delete now and then', isBusy('DELETE', 40, 503, 50305, '1'), 'plants and ETags'],
  ['limits reads', isBusy('GET', 60, 429, 42901, '1'), 'lists'],
  ['has pages that are shorter than they may be', hasShortPages, 'lists'],
  ['begins lists with an empty page', beginsEmpty, 'lists'],
  ['estimates its numbers', sums(() => ({ plants: 0, tags: [], isExact: false })), 'summary'],
  [
    'has many tags with many plants',
    all(
      sums((summary) => ({ ...summary, plants: 100_000, tags: crowd })),
      answers('GET /plants 200', set('Link', '</plants?after=0&limit=1000>; rel="next"')),
    ),
    'summary',
  ],
  [
    'has a cache in front, which repeats what needs no token',
    answers('GET|HEAD', (answered, { target }) =>
      /^\/(?:plants|summary)/.test(target) ? {} : set('X-Request-Id', 'abc-1')(answered),
    ),
    ...others,
  ],
  [
    'has further header fields',
    answers('*', (answered) => ({
      fields: [
        ...answered.fields,
        'Server',
        'trees/1.0',
        'Via',
        '1.1 proxy',
        'Strict-Transport-Security',
        'max-age=1',
        'Vary',
        'Origin',
      ],
    })),
    ...others,
    ...tokens,
  ],
  [
    'has header fields in lower case',
    answers('*', ({ fields }) => ({ fields: fields.map((each, at) => (at % 2 === 0 ? each.toLowerCase() : each)) })),
    ...others,
    'plants and ETags',
  ],
  [
    'has header fields in upper case',
    answers('*', ({ fields }) => ({ fields: fields.map((each, at) => (at % 2 === 0 ? each.toUpperCase() : each)) })),
    ...others,
    'plants and ETags',
  ],
  [
    'has further properties of plants',
    all(
      headsWithoutLength,
      answers('GET|PUT|POST * 200', text(/\{(?="(?:id|name)":)/g, '{"href":null,"leaves":[1.5],')),
    ),
    'plants and ETags',
    'lists',
    'the document itself',
  ],
  [
    'has further properties of errors',
    answers('*', text(/^\{(?="error":)/, '{"type":"about:blank",')),
    'credentials',
    'names',
  ],
  [
    'says errors in other words',
    answers('*', text(/"message":".*?(\d*)[^\d]*"\}$/, '"message":"Nein. $1"}')),
    'credentials',
    'paths and methods',
  ],
  [
    'says the charset of JSON',
    answers('*', (answered) =>
      fieldOf(answered, 'content-type') === ''
        ? {}
        : set(
            'Content-Type',
            fieldOf(answered, 'content-type').replace(/^application\/json.*/, 'application/json; charset=utf-8'),
          )(answered),
    ),
    'lists',
    'summary',
    'plants and ETags',
  ],
  [
    'has media types in upper case',
    answers('* /plants/{id}', (answered) =>
      fieldOf(answered, 'content-type') === '' ? {} : set('Content-Type', 'APPLICATION/JSON')(answered),
    ),
    'plants and ETags',
  ],
  [
    'writes JSON with white space',
    all(headsWithoutLength, answers('*', text(/(?<=^\{)|(?=\}$)/g, '\n '))),
    'plants and ETags',
    'credentials',
  ],
  [
    'writes the name before the id',
    answers('GET /plants/{id} 200', text(/^\{("id":-?\d+),(.*)\}$/s, '{$2,$1}')),
    'plants and ETags',
  ],
  [
    'writes JSON in ASCII',
    answers('GET|POST|PUT * 200', ({ body }) => ({
      body: Buffer.from(
        body
          .toString()
          .replaceAll(/[\u0080-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`),
      ),
    })),
    'names',
    'tags',
    'lists',
  ],
  [
    'has a public URL with a path',
    answers('*', (answered) => ({
      fields: answered.fields.map((each, at) =>
        at % 2 === 1 && ['location', 'link'].includes(answered.fields[at - 1]?.toLowerCase() ?? '')
          ? each.replace('/plants', '/api/v1/plants')
          : each,
      ),
    })),
    'lists',
    'int64',
    'Idempotency-Key',
  ],
  [
    'has Cache-Control in another order',
    answers('*', (answered) =>
      fieldOf(answered, 'cache-control').includes('private')
        ? set('Cache-Control', 'No-Cache,max-age=0, Private')(answered)
        : {},
    ),
    'plants and ETags',
  ],
  [
    'never stores what depends on a token',
    answers('*', (answered) =>
      fieldOf(answered, 'cache-control').includes('private')
        ? set('Cache-Control', 'private, no-cache, no-store')(answered)
        : {},
    ),
    'plants and ETags',
  ],
  [
    'sends answers in chunks',
    answers('GET', (answered) => ({
      fields: [...without(answered.fields, 'content-length'), 'Transfer-Encoding', 'chunked'],
    })),
    'lists',
    'plants and ETags',
  ],
  ['closes its connections', answers('*', set('Connection', 'close')), 'plants and ETags'],
  [
    'has request ids of its own',
    answers('*', (answered) =>
      set('X-Request-Id', `0-${fieldOf(answered, 'x-request-id').split('').reverse().join('')}`)(answered),
    ),
    'plants and ETags',
  ],
  ['has ETags of its own', otherEtags, 'plants and ETags'],
  ['is behind a proxy that answers TRACE', answersItself(405, (_, method) => method === 'TRACE'), 'paths and methods'],
  [
    'is behind a proxy that answers unknown methods',
    answersItself(405, (_, method) => ['PROPFIND', 'QUERY', 'TRACE'].includes(method)),
    ...others,
  ],
  [
    'is behind a proxy that refuses two tokens',
    answersItself(400, (fields) => isTwice(fields, 'authorization') || isTwice(fields, 'idempotency-key')),
    'credentials',
    'Idempotency-Key',
  ],
  [
    'is behind a proxy that refuses long header fields',
    answersItself(400, (fields) => fields.some((each) => each.length > 6_000)),
    'credentials',
    'limits of HTTP',
  ],
  [
    'has further operations',
    answers(
      'GET /openapi.json 200',
      text(/"paths":\s*\{/, '"paths":{"/trees":{"get":{"operationId":"listTrees","responses":{}}},'),
    ),
    'paths and methods',
  ],
  ['has another title', answers('GET / 200', text(/"title":"[^"]*"/, '"title":"Trees"')), 'paths and methods'],
]
