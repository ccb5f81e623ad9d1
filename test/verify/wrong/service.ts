// Sentences about every answer, tokens, other origins and the pages, each before the servers that break it.

import {
  type AnswerChange,
  answering,
  asked,
  caughtBy,
  drop,
  edit,
  empty,
  fieldOf,
  having,
  instead,
  isMeant,
  later,
  type Made,
  receiving,
  refusal,
  refuse,
  refusing,
  set,
  status,
  surplus,
  target,
  text,
  titled,
  unfit,
  type Wrong,
} from '../operators.ts'
import type { Answered, Behaviour, Received } from '../wrong-servers.ts'

const challenge = 'WWW-Authenticate'
const bearer = 'Bearer realm="plantstore"'
const insufficient = `${bearer}, error="insufficient_scope"`

/** Lets in who has the wrong credential: sends the first one that was served. */
const lettingIn = (...lines: readonly (readonly [does: string, when: string, credential: RegExp])[]): readonly Made[] =>
  lines.map(([does, when, form]) => {
    let known = ''
    const behave: Behaviour = async (received, forward) => {
      const credential = fieldOf(received, 'authorization')
      const answered = await forward(received)
      if (answered.status < 300 && credential !== '' && received.target.startsWith('/plants')) known ||= credential
      if (!isMeant(`${when} 401|403`, received, answered.status) || !form.test(credential)) return answered
      return forward({ ...received, ...set('Authorization', known)(received) })
    }
    return [does, behave]
  })
const aToken = /^Bearer /
const none = /^$/

/** Removes a member of a list in a header field. */
const remove = (name: string, member: string) =>
  edit(name, new RegExp(`, ?${member}(?=,|$)|^${member}(?:, ?|$)`, 'i'), '')
const hides = (name: string): readonly Made[] => answering('*')(remove('Access-Control-Expose-Headers', name))
const closes = (when: string): readonly Made[] => answering(when)(drop('Access-Control-Allow-Origin'))

/** As browsers and others send a user and a password. */
const takesPassword = (credential: string): string => {
  const [, password] = /^Basic .*$/.test(credential) ? atob(credential.slice(6)).split(':') : []
  return password ? `Bearer ${password}` : credential
}

/** Refuses a token once. Only tokens that were valid come in several runs. */
function takesSomeForNone(): AnswerChange {
  const refused = new Set<string>()
  return (_, received, forward) => {
    const credential = fieldOf(received, 'authorization')
    if (refused.has(credential)) return forward({ ...received, ...drop('Authorization')(received) })
    refused.add(credential)
    return {}
  }
}

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

/** Refuses some bodies before what it should refuse them for. */
const looksFirst = (when: string, error: number, ...bodies: readonly string[]): readonly Made[] => {
  const looks: AnswerChange = (_, { body }) => (bodies.includes(body.toString()) ? refusal(error) : {})
  return answering(when)([`looks at the body before ${when}`, looks])
}
const idOfClient: AnswerChange = (answered, received) =>
  edit('X-Request-Id', (own) => fieldOf(received, 'x-request-id') || own)(answered)
const policy = 'Content-Security-Policy'
const html = titled('as HTML', (answered: Answered) => ({
  ...set('Content-Type', 'text/html')(answered),
  body: Buffer.from('<html><body>\u001b[31mNot found\u001b[0m</body></html>'),
}))

export const service: readonly Wrong[] = [
  ...caughtBy('CORS')(
    ...answering('OPTIONS')(
      ...['put', 'delete'].map((name) => remove('Access-Control-Allow-Methods', name)),
      ...['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match'].map((name) =>
        remove('Access-Control-Allow-Headers', name),
      ),
    ),
  ),
  ...caughtBy('credentials')(
    ...looksFirst('PUT * 403', 40002, '{}', 'no json', ''),
    ...looksFirst('PUT * 401', 40002, '{}', 'no json'),
    ...looksFirst('POST /plants 401', 40001, 'no json'),
    ...looksFirst('POST /plants 403', 41501, 'no json'),
  ),
  ...caughtBy('parameters')(...answering('HEAD /plants 400')(['takes any parameter of HEAD', () => instead(200)])),
  ...caughtBy('the document itself')(...answering('*')(['has other errors', text(/^\{"error":.*/, '{"code":1}')])),
  ...caughtBy('answers')(
    ...['Accept', 'WWW-Authenticate', 'Location', 'Idempotency-Replayed'].flatMap(hides),
    ...['* * 409|422', '* * 401', 'DELETE * 204', 'GET * 304', '* * 413'].flatMap(closes),
    ...answering('* /plants/{id}')(set('Access-Control-Allow-Origin', 'null')),
    ...answering('*')(
      ['takes the request id of the client', idOfClient],
      ['has empty messages', text(/"message":".*"\}$/, '"message":""}')],
      ['has errors of lists of another form', text(/^\{"error":.*/, '{"detail":""}')],
      ['has errors in quotes', text(/"error":(\d+)/, '"error":"$1"')],
      ['has errors without a message', text(/,"message":".*"\}$/, '}')],
      ['has errors past int32', text(/"error":(\d+)/, '"error":99999$1')],
    ),
    ...answering('* * 400|404|405|409|412')(
      ['has problem details', set('Content-Type', 'application/problem+json')],
      ['answers some errors with HTML', html],
    ),
    ...answering('* * 404')(['answers errors with an empty body', () => empty]),
    ...answering('GET /plants/{id} 200')(set('Content-Type', 'application/json; charset=iso-8859-1')),
    ...answering('* /plants*')(['has another Date', edit('Date', later)]),
    ...answering('*')(drop('X-Content-Type-Options'), set('X-Content-Type-Options', 'no-sniff')),
    ...answering('* * 404')(drop('X-Content-Type-Options')),
    ...answering('* /plants/{id}')(drop('Cache-Control')),
    ...answering('GET /plants/{id} 200')(set('Cache-Control', 'public, max-age=60')),
    ...answering('GET /plants 200|400')(set('Cache-Control', 'public, private, no-cache')),
    ...answering('GET /plants/{id} 404')(set('Cache-Control', 'max-age=60')),
    ...answering('GET /summary 200')(set('Cache-Control', 'private, max-age=60')),
    ...answering('*')(set('X-Request-Id', 'abc-1'), drop('X-Request-Id'), set('X-Request-Id', 'a b')),
    ...answering('GET / 200')(
      ['forgets a link', text(/"docs":"[^"]*",/, '')],
      ['gives a token no id', text(/"caller":\{"id":"[^"]*",/, '"caller":{')],
    ),
    ...answering('GET /docs 200')(set('Content-Type', 'application/json')),
    ...answering('GET /site/{file} 200')(set('Cache-Control', 'max-age=31536000')),
    ...answering('GET /livez 200')(['is alive in another word', text(/"ok"/, '"UP"')]),
    ...answering('GET /readyz 200')(set('Cache-Control', 'max-age=5')),
    ...answering('GET /openapi.json 200')(['serves something else than a document', () => instead(200, [])]),
  ),
  ...caughtBy('names and tags')(...answering('*')(['has no ordinals', text(/"error":(\d{3})\d\d/, '"error":$100')])),
  ...caughtBy('plants and ETags')(...answering('* /plants/{id} 404')(status(200))),
  ...caughtBy('paths and methods')(
    ...answering('GET * 404')(asked('Authorization', /./, asked('Accept', /html/, html))),
    ...receiving('POST')(
      ['takes a slash at the end of the summary for none', target(/^\/summary\/$/, '/plants')],
      ['takes a slash at the end for none', target(/\/$/, '')],
      ['takes paths in any case', target((path) => path.toLowerCase())],
      ['takes what is behind a semicolon for parameters', target(/;.*/, '')],
      ['decodes slashes', target(/%2F/, '')],
      ['takes .json for a form of the answer', target(/^(\/(?:plants|summary))\.json$/, '$1')],
    ),
    ...receiving('*')(['takes a slash behind an id for none', target(/^(\/plants\/\d+)\/$/, '$1')]),
    ...receiving('PATCH')(['takes PATCH for PUT', () => ({ method: 'PUT', body: Buffer.from('{"name":"n"}') })]),
    ...receiving('POST /docs')(['takes POST of a page for GET', () => ({ method: 'GET' })]),
    ...receiving('POST /summary')(['takes POST of the summary for GET', () => ({ method: 'GET' })]),
    ...answering('GET /nowhere 404')(['answers unknown paths with 200', () => instead(200, {})]),
    ...answering('* * 404')(status(400)),
    ...answering('* * 405')(
      drop('Allow'),
      ['names methods in Allow that it does not have', edit('Allow', /$/, ', PATCH')],
      remove('Allow', 'PUT'),
      refuse(40401),
      refuse(50101),
    ),
    ...answering('* * 501')(refuse(40501)),
    ...answering('HEAD * 200')(
      ['has no HEAD', () => instead(405, undefined, ['Allow', 'GET'])],
      drop('Content-Type'),
      set('Content-Type', 'text/plain'),
    ),
    ...answering('HEAD * 200')(surplus),
    ...answering('HEAD /plants 200')(
      ['has no HEAD of lists', () => instead(405)],
      drop('Content-Type'),
      set('Content-Length', '0'),
    ),
    ...answering('HEAD /plants/{id} 200')(set('Content-Length', '0'), drop('ETag')),
    ...answering('HEAD /changes 200')(edit('Content-Type', /^text\/event-stream/, 'application/json')),
    ...answering('HEAD / 200')(['answers HEAD of pages with 404', () => instead(404)]),
    ...refusing('OPTIONS')(
      unfit(40102, aToken, 'Authorization'),
      unfit(40101, /^Basic /, 'Authorization'),
      unfit(40101, none, 'Authorization'),
    ),
    ...answering('OPTIONS * 204')(status(200), drop('Allow'), remove('Allow', 'DELETE')),
    ...answering('OPTIONS /summary 204')(['has no OPTIONS of it', () => instead(405)]),
    ...answering('OPTIONS /nowhere 404')(['answers OPTIONS of unknown paths', () => instead(204)]),
    ...receiving('GET|HEAD')(
      having('Authorization', none, set('Accept', '*/*')),
      having('Accept', /^\*\/\*$/, set('Accept', 'text/html')),
    ),
    ...answering('GET * 401|404')(set('Vary', 'Origin')),
    ...answering('GET /docs 200')(refuse(40401)),
    ...answering('GET /site/{file} 200')(refuse(40401)),
    ...answering('GET /livez 200')(['is not alive', () => refusal(50301, ['Retry-After', '3600'])]),
    ...answering('GET /openapi.yaml 200')(refuse(40401)),
  ),
  ...caughtBy('credentials')(
    ...answering('HEAD * 403')(drop(challenge)),
    ...receiving('*')(
      having('Authorization', /^(?:bearer|BEARER) /, drop('Authorization')),
      ['takes a token from the query', takesTokenOfQuery],
      ['takes a token from a cookie', takesTokenOfCookie],
      ['takes a token for a password', edit('Authorization', takesPassword)],
    ),
    ...lettingIn(
      ['takes any token', '* *', aToken],
      ['compares tokens without case', '* *', /^Bearer (?:[A-Z0-9_]+|[a-z0-9_]+)$/],
      ['takes HEAD without a token', 'HEAD *', none],
      ['takes the token of Basic', '* *', /^Basic /],
      ['takes the token of any scheme', '* *', /^Token /],
      ['takes a token without a scheme', '* *', /^plt_/],
      ['takes the first of two tokens on a line', '* *', /^Bearer \S+ \S+$/],
      ['takes quoted tokens', '* *', /"/],
      ['takes Bearer alone', '* *', /^Bearer$/],
      ['creates without a token', 'POST /plants', none],
    ),
    ...answering('* * 401')(
      status(403),
      set(challenge, 'Basic realm="plantstore"'),
      set(challenge, `${bearer}, error="invalid_token"`),
      set(challenge, bearer),
      ['has one number for all tokens', text(/4010\d/, '40102')],
      ['looks at the length before the token', (_, { body }) => (body.length > 65_536 ? refusal(41301) : {})],
    ),
    ['takes HEAD for a change', takesHeadForChange],
    ...answering('POST /plants 200')(['reads the summary to replay a create', readsToReplay]),
    ...lettingIn(
      ['lets readers create', 'POST /plants', aToken],
      ['lets readers replace', 'PUT /plants/{id}', aToken],
      ['lets readers delete', 'DELETE /plants/{id}', aToken],
      ['lets writers read', 'GET /plants/{id}', aToken],
      ['lets writers list', 'GET /plants', aToken],
      ['lets writers count', 'GET /summary', aToken],
    ),
    ...answering('* * 403')(
      status(401),
      set(challenge, insufficient),
      set(challenge, `${insufficient}, scope="plants:read"`),
    ),
    ...receiving('GET /')(drop('Authorization')),
    ...answering('GET / 401')(['takes some tokens for none', takesSomeForNone()]),
    ...answering('GET / 200')(
      ['says too little', text(/"scopes":\["plants:read"\]/, '"scopes":[]')],
      set('Cache-Control', 'public'),
      set('Vary', 'Accept'),
    ),
    ...refusing('* /')(unfit(40101, /^.{0,19}$|UNKNOWN/, 'Authorization')),
  ),
  ...caughtBy('paths and methods')(
    ...answering('* /nowhere 404')(asked('Authorization', none, refuse(40101))),
    ...answering('PATCH /plants/{id} 405')(asked('Authorization', none, refuse(40101))),
  ),
  ...caughtBy('CORS')(
    ...answering('*')(asked('Origin', /^null$/, drop('Access-Control-Allow-Origin'))),
    ...answering('OPTIONS')(
      ['refuses preflights', asked('Access-Control-Request-Method', /^POST$/, () => instead(403))],
      // Which stands for all but Authorization.
      set('Access-Control-Allow-Headers', '*'),
    ),
  ),
  ...caughtBy('pages')(
    ...receiving('GET /')(
      having('Accept', /[A-Z]/, set('Accept', '*/*')),
      set('Accept', 'application/json'),
      set('Accept', 'text/html'),
    ),
    ...receiving('GET /changes')(
      having('Accept', /q=0,/, set('Accept', 'text/event-stream')),
      having('Accept', /, text/, set('Accept', '*/*')),
    ),
    ...answering('GET / 200')(
      ['links to other paths', text(/"\/plants"/, '"/trees"')],
      ['links to no summary', text(/"\/summary"/, '"/stats"')],
    ),
    ...answering('GET /site/{file} 404')(['has every file', () => instead(200, {})]),
    ...answering('GET /site/{file} 200')([
      'never sends files again',
      asked('If-None-Match', /./, () => ({ ...empty, status: 304 })),
    ]),
    ...answering('GET /openapi.json 200')(
      ['rounds numbers', ({ body }) => ({ body: Buffer.from(JSON.stringify(JSON.parse(`${body}`))) })],
      ['serves another API', text(/^.*$/s, '{"openapi":"3.1.0","info":{"title":"T"},"paths":{}}')],
      ['serves a document without deletePlant', text(/deletePlant/g, 'removePlant')],
    ),
    ...answering('GET /openapi.(?:json|yaml) 200')([
      'serves a document of another version',
      text(/(?<=version"?:\s*"?)1\./, '2.'),
    ]),
    ...receiving('GET /openapi.json')(['names the server of the first request', remembersHost()]),
    ...answering('GET /openapi.yaml 200')(
      ['names another server in YAML', text(/(?<=url: )http\S+/, 'http://127.0.0.1:1')],
      ['serves YAML without its comments', text(/^ *# .*\n/gm, '')],
    ),
    ...answering('GET|HEAD / 200')(
      edit(policy, /img-src 'self' data:/, 'img-src *'),
      edit(policy, /.*/, "script-src 'self'; style-src 'self'; base-uri 'none'"),
    ),
    ...answering('GET|HEAD /docs 200')(edit(policy, /script-src/, '$& https://a.example')),
  ),
]
