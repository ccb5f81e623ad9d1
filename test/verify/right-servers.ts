// Servers that do everything right in a way of their own, each with the subjects of the rows that could mistake it.

import { rowsOf } from '../../verify/verify.ts'
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
  queryOf,
  receives,
  set,
  text,
  type Wrong,
  without,
} from './operators.ts'
import type { Behaviour, Received } from './wrong-servers.ts'

const subjects = [...new Set(rowsOf().map(({ subject }) => subject))]
const challenge = 'WWW-Authenticate'
const cache = 'Cache-Control'
const ofPlants = 'plants and ETags'
const tokens = ['credentials', ofPlants, 'order of refusals']
const paths = 'paths and methods'
const others = ['CORS', paths]
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
    if (received.method !== method) return forward(received)
    count += 1
    return count % every === 1
      ? instead(status, { error, message: 'busy' }, [
          ...['Retry-After', '1', 'RateLimit-Policy', '"default";q=1;w=1', 'RateLimit', '"default";r=0;t=1'],
          ...['Access-Control-Expose-Headers', 'Retry-After, X-Request-Id'],
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
  const isList = isMeant('GET /plants *', received, 0) && asked.get('tag')?.includes(' ') === true
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
  answers('GET /plants 200', set('Link', '</plants?after=0&limit=1000>; rel="next"')),
)
const repeatsPublic: AnswerChange = (answered, { target }) =>
  /^\/(?:plants|summary)/.test(target) ? {} : set('X-Request-Id', 'abc-1')(answered)
const hasMore = answers('GET|PUT|POST * 200', text(/\{(?="(?:id|name)":)/g, '{"href":null,"leaves":[1.5],'))
const writesLines = answers('*', text(/(?<=^\{)|(?=\}$)/g, '\n '))
const inChunks: AnswerChange = ({ fields }) => ({
  fields: [...without(fields, 'content-length'), 'Transfer-Encoding', 'chunked'],
})
const hasOwnEtags = all(answers('* /plants/{id}', edit('ETag', turned)), turning('if-match'), turning('if-none-match'))
const trees = '"/trees":{"get":{"operationId":"listTrees","responses":{}}},'

export const rightServers: readonly Wrong[] = [
  ...subjects.map((name): Wrong => [`passes all ${name} on`, (received, forward) => forward(received), name]),
  ...answering('*')(
    ['has Allow in another order', edit('Allow', (allow) => allow.split(', ').reverse().join(', ')), ...others],
    ['has Allow without spaces', edit('Allow', / /, ''), ...others],
    ['exposes all header fields', set('Access-Control-Expose-Headers', '*'), ...others],
    ['exposes the header fields that it has', exposesOwn, ...others],
    ['allows the origin that asks', allowsOrigin, ...others],
    ['has further header fields', ({ fields }) => ({ fields: [...fields, ...further] }), ...others, ...tokens],
    ['has header fields in lower case', named((name) => name.toLowerCase()), ...others, ofPlants],
    ['has header fields in upper case', named((name) => name.toUpperCase()), ...others, ofPlants],
    ['has further properties of errors', text(/^\{(?="error":)/, '{"type":"about:blank",'), 'credentials', 'names'],
    ['has other messages', text(/"message":".*?(\d*)[^\d]*"\}$/, '"message":"Nein. $1"}'), 'credentials', paths],
    ['says the charset', edit('Content-Type', /json$/, 'json; charset=utf-8'), 'lists', 'summary', ofPlants],
    ['has another order', having(cache, /private/, set(cache, 'No-Cache,max-age=0, Private')), ofPlants],
    ['never stores anything', having(cache, /private/, set(cache, 'private, no-cache, no-store')), ofPlants],
    ['closes its connections', set('Connection', 'close'), ofPlants],
    ['has request ids of its own', edit('X-Request-Id', (id) => `0-${reversed(id)}`), ofPlants],
    ['has a public URL with a path', isBelowPath, 'lists', 'int64', 'Idempotency-Key'],
  ),
  ...answering('* * 401')(
    ['names a scope in every challenge', edit(challenge, /$/, ', scope="plants:read plants:write"'), ...tokens],
    ['has further challenges', edit(challenge, /$/, ', DPoP algs="ES256"'), ...tokens],
  ),
  ...answering('* * 401|403')(['describes errors', edit(challenge, /$/, ', error_description="no, sorry"'), ...tokens]),
  ...answering('* * 403')(['names more scopes', edit(challenge, /scope="(.*?)"/, 'scope="openid $1"'), ...tokens]),
  ...answering('OPTIONS')(
    ['allows all methods by a star', set('Access-Control-Allow-Methods', '*'), ...others],
    ['allows header fields by a star', set('Access-Control-Allow-Headers', 'Authorization, *'), ...others],
    ['allows what is asked for', allowsAsked, ...others],
  ),
  ...answering('HEAD * 304')(['heads what is unchanged with its length', set('Content-Length', '46'), ofPlants]),
  ['heads without a length', headsWithoutLength, ofPlants, 'paths and methods'],
  ['refuses a create now and then', isBusy('POST', 40, 503, 50301), 'names', 'int64'],
  ['refuses a create now and then, in its own words', isBusy('POST', 40, 503, 0), 'names'],
  ['refuses a delete now and then', isBusy('DELETE', 40, 503, 50305), ofPlants],
  ['limits reads', isBusy('GET', 60, 429, 42901), 'lists'],
  ['has pages that are shorter than they may be', hasShortPages, 'lists'],
  ['begins lists with an empty page', beginsEmpty, 'lists'],
  ...answering('GET /summary 200')(['estimates', json(() => ({ plants: 0, tags: [], isExact: false })), 'summary']),
  ['has many tags with many plants', isCrowded, 'summary'],
  ...answering('GET|HEAD')(['has a cache in front, which repeats what needs no token', repeatsPublic, ...others]),
  ['has further properties of plants', all(headsWithoutLength, hasMore), ofPlants, 'lists', 'the document itself'],
  ...answering('* /plants/{id}')(['has JSON in upper case', edit('Content-Type', (it) => it.toUpperCase()), ofPlants]),
  ['writes JSON with white space', all(headsWithoutLength, writesLines), ofPlants, 'credentials'],
  ...answering('GET /plants/{id} 200')(['turns plants', text(/^\{("id":-?\d+),(.*)\}$/s, '{$2,$1}'), ofPlants]),
  ...answering('GET|POST|PUT * 200')(['writes JSON in ASCII', inAscii, 'names', 'tags', 'lists']),
  ...answering('GET')(['sends answers in chunks', inChunks, 'lists', ofPlants]),
  ['has ETags of its own', hasOwnEtags, ofPlants],
  ['is behind a proxy that answers TRACE', answersItself(405, ({ method }) => method === 'TRACE'), 'paths and methods'],
  ['is behind a proxy with a few methods', answersItself(405, ({ method }) => unusual.includes(method)), ...others],
  ['is behind a proxy that refuses two tokens', answersItself(400, isTwice), 'credentials', 'Idempotency-Key'],
  ['is behind a proxy that refuses long header fields', answersItself(400, isLong), 'credentials', 'limits of HTTP'],
  ...answering('GET /openapi.json 200')(['has further operations', text(/"paths":\s*\{/, `$&${trees}`), paths]),
  ...answering('GET / 200')(['has another title', text(/"title":"[^"]*"/, '"title":"Trees"'), 'paths and methods']),
]
