// Servers that do everything right in a way of their own, which must pass every row.

import { randomInt } from 'node:crypto'
import {
  type AnswerChange,
  all,
  answering,
  answers,
  asking,
  drop,
  edit,
  fieldOf,
  having,
  instead,
  isMeant,
  json,
  type Made,
  queryOf,
  receives,
  set,
  text,
  without,
} from './operators.ts'
import type { Behaviour, Received } from './wrong-servers.ts'

const challenge = 'WWW-Authenticate'
const cache = 'Cache-Control'
const described = [
  'Location',
  'ETag',
  'Link',
  'X-Request-Id',
  'Idempotency-Replayed',
  challenge,
  'Accept',
  'Accept-Encoding',
]

/** Refuses every so many requests for the time being, as a busy server does. */
function isBusy(method: string, every: number, status: number, error: number): Behaviour {
  let count = 0
  return async (received, forward) => {
    // The document limits no health checks.
    if (received.method !== method || /^\/(?:livez|readyz)/.test(received.target)) return forward(received)
    count += 1
    return count % every === 1
      ? instead(status, { error, message: 'busy' }, [
          ...['Retry-After', '1', 'RateLimit-Policy', '"default";q=1;w=1', 'RateLimit', '"default";r=0;t=1'],
        ])
      : forward(received)
  }
}

/** Answers by itself, as a proxy does. */
const answersItself = (status: number, isOwn: (received: Received) => boolean): Behaviour => {
  return async (received, forward) =>
    isOwn(received)
      ? { status, fields: ['Content-Type', 'text/html', 'Server', 'nginx'], body: Buffer.from('<html></html>') }
      : forward(received)
}
const isTwice = ({ fields }: Received): boolean =>
  ['authorization', 'idempotency-key'].some((name) => without(fields, name).length < fields.length - 2)
const isLong = ({ fields }: Received): boolean => fields.some((each) => each.length > 6_000)
const unusual = ['PROPFIND', 'QUERY', 'TRACE']

const turned = (tags: string): string =>
  tags.replaceAll(/"([\w-]{22})"/g, (_, tag: string) => `"${[...tag].reverse().join('')}"`)
/** Turns all values of a condition, which may be on several lines. */
const turning = (name: string): Behaviour =>
  receives('* /plants/{id}', ({ fields }) => ({
    fields: fields.map((value, at) => (at % 2 === 1 && fields[at - 1]?.toLowerCase() === name ? turned(value) : value)),
  }))

/** One plant a page, and an empty last page: right, although a page could have more. */
const hasShortPages: Behaviour = async (received, forward) => {
  const asked = queryOf(received)
  const isList = isMeant('GET|HEAD /plants *', received, 0) && asked.get('tag')?.includes(' ') === true
  if (!isList || !/^[1-9]\d{0,2}$/.test(asked.get('limit') ?? '100')) return forward(received)
  const answered = await forward({ ...received, ...asking('limit', '1')(received) })
  const id = /"id":(-?\d+)/.exec(answered.body.toString())?.[1]
  if (answered.status !== 200 || id === undefined) return answered
  return { ...answered, ...set('Link', `<${asking('after', id)(received).target}>; rel="next"`)(answered) }
}

/** Lists begin with an empty page. */
const beginsEmpty: Behaviour = async (received, forward) => {
  const asked = queryOf(received)
  const isList = isMeant('GET|HEAD /plants *', received, 0)
  const whole = await forward(received)
  if (!isList || !asked.has('tag') || asked.has('after') || whole.status >= 400) return whole
  const answered = await forward({ ...received, ...asking('after', '9223372036854775807')(received) })
  const next = asking('after', '-9223372036854775808')(received).target
  return answered.status === 200 ? { ...answered, ...set('Link', `<${next}>; rel="next"`)(answered) } : answered
}

const crowd = Array.from({ length: 100 }, (_, index) => ({ tag: `t${index}`, plants: 200 - index }))
const named =
  (change: (name: string) => string): AnswerChange =>
  ({ fields }) => ({ fields: fields.map((each, at) => (at % 2 === 0 ? change(each) : each)) })
const inAscii: AnswerChange = ({ body }) => {
  const escaped = (each: string): string => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`
  return { body: Buffer.from(body.toString().replaceAll(/[\u0080-\uffff]/g, escaped)) }
}
const allowsAsked: AnswerChange = (answered, received) => {
  const method = fieldOf(received, 'access-control-request-method')
  if (method === '') return {}
  const { fields } = set('Access-Control-Allow-Methods', method)(answered)
  return set('Access-Control-Allow-Headers', fieldOf(received, 'access-control-request-headers'))({ fields })
}
const exposesOwn: AnswerChange = (answered) =>
  set('Access-Control-Expose-Headers', described.filter((name) => fieldOf(answered, name) !== '').join())(answered)
const reversed = (value: string): string => [...value].reverse().join('')
const headsWithoutLength = answers('HEAD', drop('Content-Length'))

const further = ['Server', 'trees/1.0', 'Via', '1.1 proxy', 'Strict-Transport-Security', 'max-age=1', 'Vary', 'Origin']
const allowsOrigin: AnswerChange = (answered, received) =>
  set('Access-Control-Allow-Origin', fieldOf(received, 'origin') || '*')(answered)
const isBelowPath: AnswerChange = (answered) => {
  const { fields = answered.fields } = edit('Location', /^\/plants/, '/api/v1/plants')(answered)
  return edit('Link', /\/plants/, '/api/v1/plants')({ fields })
}
const isCrowded = all(
  answers(
    'GET /summary 200',
    json((it: object) => ({ ...it, plants: 100_000, tags: crowd })),
  ),
  answers('GET /plants 200', (answered, { target }) =>
    target === '/plants?limit=1000' ? set('Link', '</plants?after=0&limit=1000>; rel="next"')(answered) : {},
  ),
)
const repeatsPublic: AnswerChange = (answered, { target }) =>
  /^\/(?:plants|summary|changes)/.test(target) ? {} : set('X-Request-Id', 'abc-1')(answered)
const hasMore = answers('GET|PUT|POST * 200', text(/\{(?="(?:id|name)":)/g, '{"href":null,"leaves":[1.5],'))
const writesLines = answers('*', text(/(?<=^\{)|(?=\}$)/g, '\n '))
const inChunks: AnswerChange = ({ fields }) => ({
  fields: [...without(fields, 'content-length'), 'Transfer-Encoding', 'chunked'],
})
const hasOwnEtags = all(answers('* /plants/{id}', edit('ETag', turned)), turning('if-match'), turning('if-none-match'))
const trees = '"/trees": {"get":{"operationId":"listTrees","responses":{}}}'

/** Refuses every so many requests as a proxy does that cannot reach the server. */
function isAway(method: string, every: number): Behaviour {
  let count = 0
  return async (received, forward) => {
    if (received.method !== method || ++count % every !== 1) return forward(received)
    return { status: 503, fields: ['Content-Type', 'text/plain', 'Retry-After', '1'], body: Buffer.from('away') }
  }
}
/** Another order of keys and other white space each time. */
const writesAnew: AnswerChange = (answered) => {
  if (!/json/.test(fieldOf(answered, 'content-type'))) return {}
  const turned = json((value: unknown) => turn(value))(answered).body.toString()
  return {
    body: Buffer.from(turned.replaceAll(/(?<=[{,])(?="(?:id|name|tag|error)":)/g, () => ' '.repeat(1 + randomInt(3)))),
  }
}
function turn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turn)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]) => [key, turn(each)])
  return Object.fromEntries(randomInt(2) === 0 ? entries : entries.reverse())
}
const shortChanges = receives('GET|HEAD /changes', (received) =>
  /^\/changes\?after=[\w-]+(?:&kind=[a-z]+)?(?:&limit=[1-9]\d{1,2})?$/.test(received.target)
    ? asking('limit', '50')(received)
    : {},
)
const inLines: AnswerChange = ({ fields }) => ({
  fields: fields.flatMap((each, at) =>
    at % 2 === 1 && /^(?:allow|vary|access-control-expose-headers)$/i.test(fields[at - 1] ?? '')
      ? each.split(', ').flatMap((member, index) => (index === 0 ? [member] : [fields[at - 1] as string, member]))
      : [each],
  ),
})
const dataInLines: AnswerChange = ({ body }) => ({
  body: Buffer.from(body.toString().replaceAll(/^(data: \{)/gm, '$1\ndata: ')),
})

export const rightServers: readonly Made[] = [
  ['passes all on', (received, forward) => forward(received)],
  ...answering('*')(
    ['has Allow in another order', edit('Allow', (allow) => allow.split(', ').reverse().join(', '))],
    ['has Allow without spaces', edit('Allow', / /, '')],
    ['exposes all header fields', set('Access-Control-Expose-Headers', '*')],
    ['exposes the header fields that it has', exposesOwn],
    ['allows the origin that asks', allowsOrigin],
    ['has further header fields', ({ fields }) => ({ fields: [...fields, ...further] })],
    ['has header fields in lower case', named((name) => name.toLowerCase())],
    ['has header fields in upper case', named((name) => name.toUpperCase())],
    ['has further properties of errors', text(/^\{(?="error":)/, '{"type":"about:blank",')],
    ['has other messages', text(/"message":".*?(\d*)[^\d]*"\}$/, '"message":"Nein. $1"}')],
    ['says the charset', edit('Content-Type', /json$/, 'json; charset=utf-8')],
    ['has another order', having(cache, /private/, set(cache, 'No-Cache,max-age=0, Private'))],
    ['never stores anything', having(cache, /private/, set(cache, 'private, no-cache, no-store'))],
    ['closes its connections', set('Connection', 'close')],
    ['keeps its connections open', set('Connection', 'keep-alive')],
    ['has request ids of its own', edit('X-Request-Id', (id) => `0-${reversed(id)}`)],
    ['has a public URL with a path', isBelowPath],
  ),
  ...answering('* * 401')(
    ['names a scope in every challenge', edit(challenge, /$/, ', scope="plants:read plants:write"')],
    ['has further challenges', edit(challenge, /$/, ', DPoP algs="ES256"')],
  ),
  ...answering('* * 401|403')(['describes errors', edit(challenge, /$/, ', error_description="no, error=none"')]),
  ...answering('* * 403')(['names more scopes', edit(challenge, /scope="(.*?)"/, 'scope="openid $1"')]),
  ...answering('OPTIONS')(
    ['allows all methods by a star', set('Access-Control-Allow-Methods', '*')],
    ['allows header fields by a star', set('Access-Control-Allow-Headers', 'Authorization, *')],
    ['allows what is asked for', allowsAsked],
  ),
  ...answering('HEAD * 304')(['heads what is unchanged with its length', set('Content-Length', '46')]),
  ['heads without a length', headsWithoutLength],
  ['refuses a create now and then', isBusy('POST', 40, 503, 50301)],
  ['refuses a create now and then, in its own words', isBusy('POST', 40, 503, 0)],
  ['refuses a delete now and then', isBusy('DELETE', 40, 503, 50305)],
  ['limits reads', isBusy('GET', 60, 429, 42901)],
  ['has pages that are shorter than they may be', hasShortPages],
  ['begins lists with an empty page', beginsEmpty],
  ...answering('GET /summary 200')(['estimates', json(() => ({ plants: 0, tags: [], isExact: false }))]),
  ['has many tags with many plants', isCrowded],
  ...answering('GET|HEAD')(['has a cache in front, which repeats what needs no token', repeatsPublic]),
  ['has further properties of plants', all(headsWithoutLength, hasMore)],
  ...answering('* /plants/{id}')(['has JSON in upper case', edit('Content-Type', (it) => it.toUpperCase())]),
  ['writes JSON with white space', all(headsWithoutLength, writesLines)],
  ...answering('GET /plants/{id} 200')(['turns plants', text(/^\{("id":-?\d+),(.*)\}$/s, '{$2,$1}')]),
  ...answering('GET|POST|PUT * 200')(['writes JSON in ASCII', inAscii]),
  ...answering('GET')(['sends answers in chunks', inChunks]),
  ['has ETags of its own', hasOwnEtags],
  ['is behind a proxy that answers TRACE', answersItself(405, ({ method }) => method === 'TRACE')],
  ['is behind a proxy with a few methods', answersItself(405, ({ method }) => unusual.includes(method))],
  ['is behind a proxy that refuses two tokens', answersItself(400, isTwice)],
  ['is behind a proxy that refuses long header fields', answersItself(400, isLong)],
  [
    'has further operations',
    all(
      headsWithoutLength,
      answers('GET /openapi.json 200', text(/"paths":\s*\{/, `$&${trees},`)),
      answers('GET /openapi.yaml 200', text(/^paths:\n/m, `$&  ${trees}\n`)),
    ),
  ],
  ['has another title', all(headsWithoutLength, answers('GET / 200', text(/"title":"[^"]*"/, '"title":"Trees"')))],
  ...answering('DELETE * 204')(['says that a 204 has no bytes', set('Content-Length', '0')]),
  ['is away for reads now and then', isBusy('GET', 80, 503, 50302)],
  [
    'is behind a proxy that cannot reach it now and then',
    all(isAway('POST', 60), isAway('GET', 90), isAway('PUT', 50)),
  ],
  ['has short pages of changes', shortChanges],
  ['writes JSON anew each time', all(headsWithoutLength, answers('GET|POST|PUT|DELETE|PATCH /plants.*', writesAnew))],
  [
    'writes ids with a fraction of zero',
    all(headsWithoutLength, answers('GET', text(/(?<="id":-?\d+)(?=[,}])/g, '.0'))),
  ],
  ...answering('*')(
    ['has Vary in another order', edit('Vary', (vary) => vary.split(', ').reverse().join(', '))],
    ['has lists in header fields on several lines', inLines],
  ),
  ...answering('GET /changes 200')([
    'has events with data in two lines',
    having('Content-Type', /stream/, dataInLines),
  ]),
]
