// Sentences about every answer, tokens, other origins and the pages, each before the servers that break it.

import { loadContract } from '../../../src/contract/contract.ts'
import type { Operation } from '../../../src/contract/document.ts'
import {
  type AnswerChange,
  answering,
  asked,
  drop,
  edit,
  empty,
  fieldOf,
  having,
  instead,
  isMeant,
  receiving,
  refusal,
  refuse,
  refusing,
  says,
  set,
  status,
  target,
  text,
  titled,
  unfit,
  type Wrong,
} from '../operators.ts'
import type { Answered, Behaviour, Received } from '../wrong-servers.ts'

const { operations } = loadContract()
const answersOf = (operation: string): string => `${operation}: answers are as the document describes them`
const ofPlant = answersOf('getPlant')
const elsewhere = 'failures on other paths, and of other methods, are Errors'
const nosniff = 'every answer tells browsers not to guess its type'
const caching = 'no shared cache keeps an answer that depends on a token'
const seen = (what: string): string => `a page of another origin sees ${what}`
const preflight = 'a preflight needs no token and says what may be sent'
const head = 'HEAD returns the header fields of GET, without a body'
const onPatch = 'PATCH /plants/{id}'
const noToken = 'OPTIONS reads no token'
const challenge = 'WWW-Authenticate'
const bearer = 'Bearer realm="plantstore"'
const insufficient = `${bearer}, error="insufficient_scope"`
const readsOnly = 'a token that may only read lists, but neither replaces nor deletes'
const writesOnly = 'a token that may only write creates, replaces and deletes, but reads nothing'
const mayDoEverything = 'a token that may do everything finds out what it may'
const isNoToken = 'a token anywhere but in Authorization is none'
const forPeople = 'a person who opens an address gets a page in place of a refusal, and a program an Error'
const home = 'the home page is for browsers, its links for other clients'
const againOnlyChanged = 'a file of the pages is sent again only when it has changed'
const servedDocument = 'the document that is served has every operation'
const asYaml = 'the document is served as YAML, too'
const loadsFromHere = (page: string): string => `the page ${page} loads only from this server`
const authorization = (...whats: readonly string[]): readonly string[] => whats.map((what) => `Authorization ${what}`)
const needsToken = (operation: string): string => `${operation} needs a token that the server knows`

/** Lets in who has the wrong credential: sends the first one that was served. */
const lettingIn = (
  ...lines: readonly (readonly [does: string, when: string, credential: RegExp, ...rows: readonly string[]])[]
): readonly Wrong[] =>
  lines.map(([does, when, form, ...rows]) => {
    let known = ''
    const behave: Behaviour = async (received, forward) => {
      const credential = fieldOf(received, 'authorization')
      const answered = await forward(received)
      if (answered.status < 300 && credential !== '' && received.target.startsWith('/plants')) known ||= credential
      if (!isMeant(`${when} 401|403`, received, answered.status) || !form.test(credential)) return answered
      return forward({ ...received, ...set('Authorization', known)(received) })
    }
    return [does, behave, ...rows]
  })
const aToken = /^Bearer /
const none = /^$/

/** Removes a member of a list in a header field. */
const remove = (name: string, member: string) =>
  edit(name, new RegExp(`, ?${member}(?=,|$)|^${member}(?:, ?|$)`, 'i'), '')
const hides = (name: string, what: string): readonly Wrong[] =>
  answering('*')([remove('Access-Control-Expose-Headers', name), seen(what)])
const closes = (when: string, ...whats: readonly string[]): readonly Wrong[] =>
  answering(when)([drop('Access-Control-Allow-Origin'), ...whats.map(seen)])

/** Takes a token from the query, as RFC 6750, section 2.3 describes. */
const takesTokenOfQuery = (received: Received): Partial<Received> => {
  const token = /[?&]access_token=([^&]+)/.exec(received.target)?.[1]
  if (token === undefined || fieldOf(received, 'authorization') !== '') return {}
  return { ...target(/[?&]access_token=[^&]+/, '')(received), ...set('Authorization', `Bearer ${token}`)(received) }
}
const takesTokenOfCookie = (received: Received): Partial<Received> => {
  const token = /token=([^;]+)/.exec(fieldOf(received, 'cookie'))?.[1]
  return token === undefined ? {} : set('Authorization', `Bearer ${token}`)(received)
}

/** Names the host of a first request with an unusual one. */
function remembersHost(): (received: Received) => Partial<Received> {
  let host = ''
  return (received) => {
    if (fieldOf(received, 'host').endsWith(':81')) host = fieldOf(received, 'host')
    return host === '' ? {} : set('Host', host)(received)
  }
}

const takesHeadForChange: Behaviour = async (received, forward) => {
  if (received.method !== 'HEAD' || !received.target.startsWith('/plants')) return forward(received)
  const { fields } = set('Content-Type', 'application/json')(received)
  const asked = await forward({ method: 'PUT', target: '/plants/0', fields, body: Buffer.from('{}') })
  return asked.status === 403 ? { ...asked, ...empty } : forward(received)
}

const readsToReplay: AnswerChange = async (answered, received, forward) => {
  if (fieldOf(answered, 'idempotency-replayed') === '') return {}
  const read = await forward({ ...received, ...empty, method: 'GET', target: '/summary' })
  return read.status === 403 ? read : {}
}

/** Compares with the ETags of all files. */
function mixesFiles(): AnswerChange {
  const known = new Set<string>()
  return (answered, received) => {
    const isKnown = known.has(fieldOf(received, 'if-none-match'))
    known.add(fieldOf(answered, 'etag'))
    return isKnown ? { ...empty, status: 304 } : {}
  }
}

/** Refuses some bodies before what it should refuse them for. */
const looksFirst = (when: string, error: number, row: string, ...bodies: readonly string[]): readonly Wrong[] => {
  const looks: AnswerChange = (_, { body }) => (bodies.includes(body.toString()) ? refusal(error) : {})
  return answering(when)([`looks at the body before ${when}`, looks, row])
}
const idOfClient: AnswerChange = (answered, received) =>
  edit('X-Request-Id', (own) => fieldOf(received, 'x-request-id') || own)(answered)
const policy = 'Content-Security-Policy'
const html = titled('as HTML', (answered: Answered) => ({
  ...set('Content-Type', 'text/html')(answered),
  body: Buffer.from('<html><body>\u001b[31mNot found\u001b[0m</body></html>'),
}))

/** What the document says of an operation's first answer, each part broken. */
function undescribed({ id, method, path, responses }: Operation): readonly Wrong[] {
  const [[done, { headers, content }] = [200, { headers: new Map(), content: new Map() }]] = responses
  const required = [...headers].filter(([, { required }]) => required).map(([name]) => drop(name))
  const types = content.size === 0 ? [] : [set('Content-Type', 'text/plain')]
  const broken = [...required, ...types, status(202)].map((change) => [change, answersOf(id)] as const)
  return answering(`${method} ${path} ${done}`)(...broken).map(([does, behave, row = '']) => [
    `${does}, as described`,
    behave,
    row,
  ])
}

export const service: readonly (string | Wrong)[] = [
  'Every error on every path has the same body, an Error.',
  '`error` is the HTTP status times 100 plus an ordinal; its meaning never changes.',
  ...says('`message` says what is wrong with this request.', 'What went wrong.', 'Error number', 'Error message text'),
  'The request is malformed or invalid.',
  ...operations.flatMap(undescribed),
  ...answering('*')(
    ['has other errors', text(/^\{"error":.*/, '{"code":1}'), 'the refusal of a body that is not JSON …', ofPlant],
    ['has errors of lists of another form', text(/^\{"error":.*/, '{"detail":""}'), answersOf('listPlants')],
    ['has errors in quotes', text(/"error":(\d+)/, '"error":"$1"'), ofPlant, elsewhere],
    ['has errors without a message', text(/,"message":".*"\}$/, '}'), ofPlant, elsewhere],
    ['has errors past int32', text(/"error":(\d+)/, '"error":99999$1'), ofPlant, elsewhere],
    ['has no ordinals', text(/"error":(\d{3})\d\d/, '"error":$100'), 'name null', 'name without its closing quote'],
  ),
  ...answering('* * 400|404|405|409|412')(
    ['has problem details', set('Content-Type', 'application/problem+json'), ofPlant, elsewhere],
    ['answers some errors with HTML', html, ofPlant, elsewhere],
  ),
  ...answering('* /plants/{id} 404')([status(200), 'every operation on a missing plant answers 404']),
  ...answering('* * 404')(['answers errors with an empty body', () => empty, ofPlant, elsewhere]),
  ...answering('GET * 404')([asked('Authorization', /./, asked('Accept', /html/, html)), 'an error is an Error …']),
  'An unknown path gets 404, an unsupported method 405 with `Allow`, an unknown method 501.',
  '| 40401 | unknownPath | There is nothing at this path. |',
  '| 40501 | methodNotAllowed | The path does not have this method. |',
  '| 50101 | unknownMethod | The method is not known to this server. |',
  ...receiving('POST')(
    ['takes a slash at the end of the summary for none', target(/^\/summary\/$/, '/plants'), 'target /summary/'],
    ['takes a slash at the end for none', target(/\/$/, ''), 'target /plants/'],
    ['takes paths in any case', target((path) => path.toLowerCase()), 'target /Plants'],
    ['takes what is behind a semicolon for parameters', target(/;.*/, ''), 'target /plants;v=1'],
    ['decodes slashes', target(/%2F/, ''), 'target /plants%2F'],
  ),
  ...receiving('*')(['takes a slash behind an id for none', target(/^(\/plants\/\d+)\/$/, '$1'), 'GET /plants/{id}/']),
  ...receiving('PATCH')(['takes PATCH for PUT', () => ({ method: 'PUT', body: Buffer.from('{"name":"n"}') }), onPatch]),
  ...receiving('POST /docs')(['takes POST of a page for GET', () => ({ method: 'GET' }), 'POST /docs']),
  ...receiving('POST /summary')(['takes POST of the summary for GET', () => ({ method: 'GET' }), 'POST /summary']),
  ...answering('GET /nowhere 404')(['answers unknown paths with 200', () => instead(200, {}), 'GET /nowhere']),
  ...answering('* * 404')([status(400), 'GET /nowhere', 'target /favicon.ico']),
  ...answering('* * 405')(
    [drop('Allow'), onPatch, 'POST /summary'],
    ['names methods in Allow that it does not have', edit('Allow', /$/, ', PATCH'), onPatch],
    [remove('Allow', 'PUT'), onPatch],
    [refuse(40401), onPatch, 'DELETE /livez'],
    [refuse(50101), onPatch],
  ),
  ...answering('* * 501')([refuse(40501), 'PROPFIND /plants']),
  'Every path with GET also supports HEAD.',
  ...lettingIn(['takes HEAD without a token', 'HEAD *', none, head]),
  ...answering('HEAD * 403')([drop(challenge), writesOnly]),
  ...answering('HEAD * 200')(
    ['has no HEAD', () => instead(405, undefined, ['Allow', 'GET']), head, 'HEAD /livez'],
    [drop('Content-Type'), head],
    [set('Content-Type', 'text/plain'), head],
  ),
  ...answering('HEAD /plants 200')(
    [drop('Link'), 'a list follows its links to the end, in the order of the ids, and keeps its filters'],
    ['has no HEAD of lists', () => instead(405), head],
    [drop('Content-Type'), head],
  ),
  ...answering('HEAD /plants/{id} 200')([set('Content-Length', '0'), head], [drop('ETag'), head]),
  ...answering('HEAD / 200')(['answers HEAD of pages with 404', () => instead(404), 'HEAD /']),
  ...answering('HEAD /plants 400')(['takes any parameter of HEAD', () => instead(200), head]),
  'OPTIONS gets 204 with `Allow` and needs no token.',
  ...refusing('OPTIONS')(
    [unfit(40102, aToken, 'Authorization'), noToken],
    [unfit(40101, /^Basic /, 'Authorization'), noToken],
    [unfit(40101, none, 'Authorization'), 'OPTIONS /plants', preflight],
  ),
  ...answering('OPTIONS * 204')(
    [status(200), 'OPTIONS /plants', preflight],
    [drop('Allow'), 'OPTIONS /plants/{id}', 'OPTIONS /readyz'],
    [remove('Allow', 'DELETE'), 'OPTIONS /plants/{id}'],
  ),
  ...answering('OPTIONS /summary 204')(['has no OPTIONS of it', () => instead(405), 'OPTIONS /summary', preflight]),
  ...answering('OPTIONS /nowhere 404')(['answers OPTIONS of unknown paths', () => instead(204), 'OPTIONS /nowhere']),
  'Every response has `X-Content-Type-Options: nosniff`.',
  ...answering('*')([drop('X-Content-Type-Options'), nosniff], [set('X-Content-Type-Options', 'no-sniff'), nosniff]),
  ...answering('* * 404')([drop('X-Content-Type-Options'), nosniff]),
  'Responses that depend on a token have `Cache-Control: private, no-cache`.',
  ...answering('* /plants/{id}')([drop('Cache-Control'), caching]),
  ...answering('GET /plants/{id} 200')([set('Cache-Control', 'public, max-age=60'), caching]),
  ...answering('GET /plants 200|400')([set('Cache-Control', 'public, private, no-cache'), caching]),
  ...answering('GET /plants/{id} 404')([set('Cache-Control', 'max-age=60'), caching]),
  ...answering('GET /summary 200')([set('Cache-Control', 'private, max-age=60'), caching]),
  'Pages of any origin can call the service (CORS) and read the header fields described here.',
  ...hides('Accept', 'that a media type is refused'),
  ...hides('Accept-Encoding', 'that a coding is refused'),
  ...hides('WWW-Authenticate', 'that a token is missing'),
  ...hides('ETag', 'a plant'),
  ...hides('Location', 'that a plant was created'),
  ...hides('Link', 'a list'),
  ...hides('X-Request-Id', 'that a plant is not there'),
  ...hides('Idempotency-Replayed', 'that a create was repeated'),
  ...closes('* * 409|422', 'that an id is taken', 'that a key was used'),
  ...closes('* * 412|501', 'that a plant has changed', 'that a method is unknown'),
  ...closes('* * 401', 'that a token is missing'),
  ...closes('POST /plants 200', 'that a plant was created'),
  ...closes('PUT * 200', 'that a plant was replaced'),
  ...closes('DELETE * 204', 'that a plant was deleted'),
  ...closes('GET /plants/{id} 200', 'a plant'),
  ...closes('GET /summary', 'the summary'),
  ...closes('GET * 304', 'that a plant is unchanged'),
  ...closes('* * 413', 'that a body is too long'),
  ...answering('*')([asked('Origin', /^null$/, drop('Access-Control-Allow-Origin')), 'a page without an origin …']),
  ...answering('* /plants/{id}')([set('Access-Control-Allow-Origin', 'null'), seen('a plant')]),
  ...answering('OPTIONS')(
    ...['put', 'delete'].map((name) => [remove('Access-Control-Allow-Methods', name), preflight] as const),
    ...['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match'].map(
      (name) => [remove('Access-Control-Allow-Headers', name), preflight] as const,
    ),
    ['refuses preflights', asked('Access-Control-Request-Method', /^POST$/, () => instead(403)), preflight],
  ),
  'No valid token was sent (RFC 6750, section 3).',
  'The challenge, with `error="invalid_token"` if the request has an invalid token.',
  '| 40101 | missingToken | No bearer token was sent. |',
  '| 40102 | invalidToken | The token is unknown, malformed, expired or revoked. |',
  ...receiving('*')(
    ['takes a token from the query', takesTokenOfQuery, isNoToken],
    ['takes a token from a cookie', takesTokenOfCookie, isNoToken],
    [having('Authorization', /^(?:bearer|BEARER) /, drop('Authorization')), 'Authorization with the scheme in lower …'],
  ),
  ...lettingIn(
    ['takes any token', '* *', aToken, ...authorization('unknown', 'expired', 'revoked'), needsToken('getPlant')],
    ['compares tokens without case', '* *', /^Bearer (?:[A-Z0-9_]+|[a-z0-9_]+)$/, ...authorization('a token in …')],
    ['takes the token of Basic', '* *', /^Basic /, ...authorization('Basic')],
    ['takes a token without a scheme', '* *', /^plt_/, ...authorization('the token without a scheme')],
    ['takes the first of two tokens on a line', '* *', /^Bearer \S+ \S+$/, ...authorization('two tokens on one line')],
    ['takes quoted tokens', '* *', /"/, ...authorization('a quoted token')],
    ['takes Bearer alone', '* *', /^Bearer$/, ...authorization('Bearer alone'), 'with Bearer and no credential …'],
    ['creates without a token', 'POST /plants', none, ...authorization('missing')],
    ...operations
      .filter(({ id, scopes }) => scopes !== undefined && id !== 'createPlant')
      .map(({ id, method, path }) => [`${id} without a token`, `${method} ${path}`, none, needsToken(id)] as const),
  ),
  ...answering('* * 401')(
    [status(403), ...authorization('missing', 'unknown')],
    [drop(challenge), ...authorization('missing'), needsToken('getPlant')],
    [set(challenge, 'Basic realm="plantstore"'), ...authorization('missing')],
    [set(challenge, `${bearer}, error="invalid_token"`), ...authorization('missing')],
    [set(challenge, bearer), ...authorization('unknown')],
    ['has one number for all tokens', text(/4010\d/, '40102'), ...authorization('missing')],
  ),
  'The roles of an operation are the scopes that its token must have:',
  '`plants:read` to read plants, `plants:write` to change them.',
  ...says('The token does not have the required scope.', 'The challenge.', 'Its `scope` names the required scope.'),
  '| 40301 | insufficientScope | The token does not have the scope that the operation needs. |',
  ['takes HEAD for a change', takesHeadForChange, readsOnly],
  ...answering('POST /plants 200')(['reads the summary to replay a create', readsToReplay, writesOnly]),
  ...lettingIn(
    ['lets readers create', 'POST /plants', aToken, ...authorization('without the scope')],
    ['lets readers replace', 'PUT /plants/{id}', aToken, readsOnly],
    ['lets readers delete', 'DELETE /plants/{id}', aToken, readsOnly],
    ['lets writers read', 'GET /plants/{id}', aToken, writesOnly],
    ['lets writers list', 'GET /plants', aToken, writesOnly],
    ['lets writers count', 'GET /summary', aToken, writesOnly],
  ),
  ...answering('* * 403')(
    [status(401), ...authorization('without the scope')],
    [set(challenge, insufficient), ...authorization('without the scope')],
    [set(challenge, `${insufficient}, scope="plants:read"`), ...authorization('without the scope')],
    [drop(challenge), ...authorization('without the scope')],
  ),
  "The id of this request, which is also in the server's log.",
  ...answering('*')(
    ['takes the request id of the client', idOfClient, 'a request id is that of the server, …'],
    [set('X-Request-Id', 'abc-1'), 'every answer has a unique X-Request-Id'],
    [drop('X-Request-Id'), ofPlant],
    [set('X-Request-Id', 'a b'), ofPlant],
  ),
  'Clients that accept `text/html`, such as browsers, get a page that shows and changes the plants.',
  ...says('Other clients get links in JSON.', "A client that sends a token also gets the token's name and scopes."),
  ...says('The token of the request', 'The id of the token; reveals nothing about its secret'),
  ...says('The name of the token, or the subject of a JWT', 'What the token may do'),
  ...says('When the token expires, by RFC 3339.', 'Absent if it does not.', 'The page or the links.'),
  ...says('The paths of the service', 'Paths by name', 'Pages, this document and health checks.', 'No token needed.'),
  ...receiving('GET /')(
    [having('Accept', /[A-Z]/, set('Accept', '*/*')), home],
    [set('Accept', 'application/json'), home],
    [set('Accept', 'text/html'), home],
    [drop('Authorization'), mayDoEverything, 'getHome is open to all'],
  ),
  ...answering('GET / 200')(
    ['links to other paths', text(/"\/plants"/, '"/trees"'), home],
    ['forgets a link', text(/"docs":"[^"]*",/, ''), answersOf('getHome')],
    ['says too little', text(/"scopes":\["plants:read"\]/, '"scopes":[]'), 'a token that may read finds …'],
    [set('Cache-Control', 'public'), mayDoEverything],
    [set('Vary', 'Accept'), mayDoEverything],
    ['gives a token no id', text(/"caller":\{"id":"[^"]*",/, '"caller":{'), answersOf('getHome')],
  ),
  ...refusing('* /')([unfit(40101, /^.{0,19}$|UNKNOWN/, 'Authorization'), 'getHome is open to all']),
  'One exception: a GET or HEAD without `Authorization` that accepts `text/html`, as a browser sends for an address, gets a page with a 401 or 404.',
  'A browser that opened the address gets a page.',
  'Names `Accept` and `Authorization`, which decide between the Error and the page.',
  ...receiving('GET|HEAD')(
    [having('Authorization', none, set('Accept', '*/*')), forPeople],
    [having('Accept', /^\*\/\*$/, set('Accept', 'text/html')), forPeople],
  ),
  ...answering('GET * 401|404')([set('Vary', 'Origin'), forPeople]),
  ...says('Shows every operation with its parameters, bodies and errors.', 'The page.'),
  ...answering('GET /docs 200')(
    [refuse(40401), 'GET /docs'],
    [set('Content-Type', 'application/json'), answersOf('getDocs')],
  ),
  ...says('Returns a style sheet, a script, the logo or the example plants.', 'The name of the file', 'The file.'),
  ...says('There is no file with this name.', 'Browsers may store the file, but must revalidate it before each use.'),
  'The file still has the ETag in If-None-Match.',
  ...receiving('GET /site/{file}')([drop('If-None-Match'), againOnlyChanged]),
  ...answering('GET /site/{file} 404')(['has every file', () => instead(200, {}), 'an unknown file …']),
  ...answering('GET /site/{file} 200')(
    [refuse(40401), 'GET /site/style.css'],
    [set('Content-Type', 'text/plain'), answersOf('getSiteFile')],
    [set('Cache-Control', 'max-age=31536000'), answersOf('getSiteFile')],
    ['answers 304 for the ETag of another file', mixesFiles(), againOnlyChanged],
    ['never sends files again', asked('If-None-Match', /./, () => ({ ...empty, status: 304 })), againOnlyChanged],
  ),
  ...says('Responds with 200 as long as the process can respond, regardless of its store.', 'The health check passed'),
  ...says('Always `ok`.', 'The check passed.', 'The response must not be stored.'),
  ...answering('GET /livez 200')(
    ['is not alive', () => refusal(50301, ['Retry-After', '3600']), 'GET /livez'],
    ['is alive in another word', text(/"ok"/, '"UP"'), answersOf('getLivez')],
  ),
  ...answering('GET /readyz 200')([set('Cache-Control', 'max-age=5'), answersOf('getReadyz')]),
  ...says('The OpenAPI document.', 'An OpenAPI document', 'The version of OpenAPI', 'About the service'),
  'Every operation, by path and method',
  ...answering('GET /openapi.json 200')(
    ['rounds numbers', ({ body }) => ({ body: Buffer.from(JSON.stringify(JSON.parse(`${body}`))) }), servedDocument],
    ['serves another API', text(/^.*$/s, '{"openapi":"3.1.0","info":{"title":"T"},"paths":{}}'), servedDocument],
    ['serves a document without deletePlant', text(/deletePlant/g, 'removePlant'), servedDocument],
    ['serves something else than a document', () => instead(200, []), answersOf('getOpenapiJson')],
  ),
  'The document as written, including comments, with the same `servers` as the JSON.',
  'An OpenAPI document, the same as the JSON',
  "The first server in the document is the server's public URL or, without one, the server that received the request.",
  ...receiving('GET /openapi.json')(['names the server of the first request', remembersHost(), 'the document names …']),
  ...answering('GET /openapi.yaml 200')(
    ['serves YAML without its comments', text(/^ *# .*\n/gm, ''), asYaml],
    [refuse(40401), 'GET /openapi.yaml'],
    ['serves the YAML of another API', text(/^.*$/s, 'openapi: 3.1.0\npaths: {}\n'), asYaml],
  ),
  'Allows the page to load resources only from this server.',
  ...answering('GET|HEAD / 200')(
    [edit(policy, /img-src 'self' data:/, 'img-src *'), loadsFromHere('/')],
    [edit(policy, /.*/, "script-src 'self'; style-src 'self'; base-uri 'none'"), loadsFromHere('/')],
  ),
  ...answering('GET|HEAD /docs 200')([edit(policy, /script-src/, '$& https://a.example'), loadsFromHere('/docs')]),
  'Of several errors in path, method, token and body, the response reports the first in this order.',
  ...looksFirst('PUT * 403', 40002, readsOnly, '{}', 'no json', ''),
  ...looksFirst('PUT * 401', 40002, 'a replace without a token changes nothing', '{}', 'no json'),
  ...looksFirst('POST /plants 401', 40001, 'order of refusals: the token before the body', 'no json'),
  ...answering('* /nowhere 404')([asked('Authorization', none, refuse(40101)), 'order …: the path before the token']),
  ...looksFirst('POST /plants 403', 41501, 'order of refusals: the scope before the media type', 'no json'),
]
