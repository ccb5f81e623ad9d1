// Sentences about every answer, tokens, other origins and the pages; and those that no row can test.

import { answers, fieldOf, instead, receives, set, text } from '../changes.ts'
import { answersHtml, type Behaviour, hasOtherErrors } from '../wrong-servers.ts'
import type { Entry, Wrong } from './table.ts'

const answersOf = (operation: string): string => `${operation}: answers are as the document describes them`
const elsewhere = 'failures on other paths, and of other methods, are Errors'
const nosniff = 'every answer tells browsers not to guess its type'
const caching = 'no shared cache keeps an answer that depends on a token'
const seen = (what: string): string => `a page of another origin sees ${what}`
const preflight = 'a preflight needs no token and says what may be sent'
const head = 'HEAD returns the header fields of GET, without a body'
const challenge = 'WWW-Authenticate'
const mayDoEverything = 'a token that may do everything finds out what it may'
const forPeople = 'a person who opens an address gets a page in place of a refusal, and a program an Error'

const notFound = { error: 40401, message: 'there is nothing here' }

/** Takes a token from the query, as RFC 6750, section 2.3 describes. */
const takesTokenOfQuery = receives('*', (received) => {
  const token = /[?&]access_token=([^&]+)/.exec(received.target)?.[1]
  if (token === undefined || fieldOf(received, 'authorization') !== '') return {}
  const target = received.target.replace(/[?&]access_token=[^&]+/, '')
  return { target, ...set('Authorization', `Bearer ${token}`)(received) }
})

/** Names the host of a first request with an unusual one. */
function remembersHost(): Behaviour {
  let host = ''
  return receives('GET /openapi.json', (received) => {
    if (fieldOf(received, 'host').endsWith(':81')) host = fieldOf(received, 'host')
    return host === '' ? {} : set('Host', host)(received)
  })
}

/** Lets in what has the wrong credential: sends the first one that was served. */
function letsIn(when: string, isMeant: (credential: string) => boolean = () => true): Behaviour {
  let known = ''
  return async (received, forward) => {
    const credential = fieldOf(received, 'authorization')
    const answered = await forward(received)
    if (answered.status < 300 && credential !== '' && received.target.startsWith('/plants')) known ||= credential
    const [methods = '', path = ''] = when.split(' ')
    const isHere =
      methods === '*' ||
      (methods.split('|').includes(received.method) &&
        new RegExp(`^${path}$`).test(received.target.split('?', 1)[0] ?? ''))
    if (![401, 403].includes(answered.status) || !isHere || !isMeant(credential)) return answered
    return forward({ ...received, ...set('Authorization', known)(received) })
  }
}
const isToken = (credential: string): boolean => credential.startsWith('Bearer ')
const open = (does: string, when: string, row: string): Wrong => [
  does,
  letsIn(when, (credential) => credential === ''),
  row,
]

const origin = (does: string, when: string, ...rows: [string, ...string[]]): Wrong => [
  does,
  answers(when, set('Access-Control-Allow-Origin', undefined)),
  ...rows,
]
const exposes = (does: string, name: string, row: string): Wrong => [
  does,
  answers('*', (answered) =>
    set(
      'Access-Control-Expose-Headers',
      fieldOf(answered, 'access-control-expose-headers')
        .split(/, */)
        .filter((each) => each !== name)
        .join(', ') || undefined,
    )(answered),
  ),
  row,
]
const allows = (does: string, field: string, name: string): Wrong => [
  does,
  answers('OPTIONS', (answered) =>
    set(
      field,
      fieldOf(answered, field.toLowerCase())
        .split(/, */)
        .filter((each) => each.toLowerCase() !== name)
        .join(', ') || undefined,
    )(answered),
  ),
  preflight,
]

/** Compares with the ETags of all files. */
function mixesFiles(): Behaviour {
  const known = new Set<string>()
  return answers('GET /site/{file} 200', (answered, received) => {
    const isKnown = known.has(fieldOf(received, 'if-none-match'))
    known.add(fieldOf(answered, 'etag'))
    return isKnown ? { status: 304, body: Buffer.alloc(0) } : {}
  })
}

export const service: readonly Entry[] = [
  {
    says: [
      'Every error on every path has the same body, an Error.',
      '`error` is the HTTP status times 100 plus an ordinal; its meaning never changes.',
      '`message` says what is wrong with this request.',
      'What went wrong.',
      'Error number',
      'Error message text',
      'The request is malformed or invalid.',
    ],
    wrong: [
      [
        'has a page for errors of browsers that send a token',
        answers('GET * 404', (_, received) =>
          fieldOf(received, 'accept').includes('text/html') && fieldOf(received, 'authorization') !== ''
            ? { ...set('Content-Type', 'text/html')({ fields: [] }), body: Buffer.from('<h1>') }
            : {},
        ),
        'an error is an Error also for a client that prefers HTML',
      ],
      [
        'has errors of another form',
        hasOtherErrors,
        'the refusal of a body that is not JSON is an Error',
        answersOf('listPlants'),
        answersOf('getPlant'),
        elsewhere,
      ],
      ['answers some errors with HTML', answersHtml, answersOf('getPlant'), elsewhere],
      [
        'has problem details',
        answers('* * 400|404|405|409|412', set('Content-Type', 'application/problem+json')),
        answersOf('getPlant'),
        elsewhere,
      ],
      ['has errors in quotes', answers('*', text(/"error":(\d+)/, '"error":"$1"')), answersOf('getPlant'), elsewhere],
      ['has errors without a message', answers('*', text(/,"message":".*"\}$/, '}')), answersOf('getPlant'), elsewhere],
      [
        'has errors past int32',
        answers('*', text(/"error":(\d+)/, '"error":99999$1')),
        answersOf('getPlant'),
        elsewhere,
      ],
      [
        'has errors without ordinals',
        answers('*', text(/"error":(\d{3})\d\d/, '"error":$100')),
        'name null',
        'name without its closing quote',
      ],
      [
        'answers errors with 200',
        answers('* /plants/{id} 404', () => ({ status: 200 })),
        'every operation on a missing plant answers 404',
      ],
      [
        'answers errors with an empty body',
        answers('* * 404', () => ({ body: Buffer.alloc(0) })),
        answersOf('getPlant'),
      ],
    ],
  },
  {
    says: [
      'An unknown path gets 404, an unsupported method 405 with `Allow`, an unknown method 501.',
      '| 40401 | unknownPath | There is nothing at this path. |',
      '| 40501 | methodNotAllowed | The path does not have this method. |',
      '| 50101 | unknownMethod | The method is not known to this server. |',
    ],
    wrong: [
      [
        'takes a slash at the end of the summary for none',
        receives('POST', ({ target }) => ({ target: target === '/summary/' ? '/plants' : target })),
        'target /summary/',
      ],
      [
        'takes a slash behind an id for none',
        receives('GET', ({ target }) => ({ target: target.replace(/^(\/plants\/\d+)\/$/, '$1') })),
        'GET /plants/{id}/',
      ],
      ['answers unknown paths with 200', answers('GET /nowhere 404', () => instead(200, {})), 'GET /nowhere'],
      [
        'answers unknown paths with 400',
        answers('* * 404', () => instead(400, notFound)),
        'GET /nowhere',
        'target /favicon.ico',
      ],
      [
        'takes a slash at the end for none',
        receives('POST', ({ target }) => ({ target: target.replace(/\/$/, '') })),
        'target /plants/',
      ],
      [
        'takes paths in any case',
        receives('POST', ({ target }) => ({ target: target.toLowerCase() })),
        'target /Plants',
      ],
      [
        'takes what is behind a semicolon for parameters',
        receives('POST', ({ target }) => ({ target: target.replace(/;.*/, '') })),
        'target /plants;v=1',
      ],
      [
        'decodes slashes',
        receives('POST', ({ target }) => ({ target: target.replace(/%2F/, '') })),
        'target /plants%2F',
      ],
      ['answers 405 without Allow', answers('* * 405', set('Allow', undefined)), 'PATCH /plants/{id}', 'POST /summary'],
      [
        'names methods in Allow that it does not have',
        answers('* * 405', (answered) => set('Allow', `${fieldOf(answered, 'allow')}, PATCH`)(answered)),
        'PATCH /plants/{id}',
      ],
      [
        'forgets PUT in Allow',
        answers('* /plants/{id} 405', (answered) =>
          set('Allow', fieldOf(answered, 'allow').replace(', PUT', ''))(answered),
        ),
        'PATCH /plants/{id}',
      ],
      [
        'takes PATCH for PUT',
        receives('PATCH', () => ({ method: 'PUT', body: Buffer.from('{"name":"n"}') })),
        'PATCH /plants/{id}',
      ],
      ['takes POST of a page for GET', receives('POST /docs', () => ({ method: 'GET' })), 'POST /docs'],
      ['takes POST of the summary for GET', receives('POST /summary', () => ({ method: 'GET' })), 'POST /summary'],
      [
        'answers unsupported methods with 404',
        answers('* * 405', () => instead(404, notFound)),
        'PATCH /plants/{id}',
        'DELETE /livez',
      ],
      [
        'answers unsupported methods with 501',
        answers('* * 405', () => instead(501, { error: 50101, message: 'unknown' })),
        'PATCH /plants/{id}',
      ],
      [
        'answers unknown methods with 405',
        answers('* * 501', () => instead(405, { error: 40501, message: 'not allowed' })),
        'PROPFIND /plants',
      ],
    ],
  },
  {
    says: ['Every path with GET also supports HEAD.'],
    wrong: [
      ['says that nothing is there to HEAD', answers('HEAD /plants/{id} 200', set('Content-Length', '0')), head],
      [
        'refuses HEAD without a challenge',
        answers('HEAD * 403', set(challenge, undefined)),
        'a token that may only write creates, replaces and deletes, but reads nothing',
      ],
      ['has no HEAD', answers('HEAD * 200', () => instead(405, undefined, ['Allow', 'GET'])), head, 'HEAD /livez'],
      [
        'answers HEAD of lists without Link',
        answers('HEAD /plants 200', set('Link', undefined)),
        'a list follows its links to the end, in the order of the ids, and keeps its filters',
      ],
      ['has no HEAD of lists', answers('HEAD /plants 200', () => instead(405)), head],
      ['answers HEAD without a type', answers('HEAD * 200', set('Content-Type', undefined)), head],
      ['answers HEAD of lists without a type', answers('HEAD /plants 200', set('Content-Type', undefined)), head],
      ['answers HEAD with another type', answers('HEAD * 200', set('Content-Type', 'text/plain')), head],
      ['answers HEAD without an ETag', answers('HEAD /plants/{id} 200', set('ETag', undefined)), head],
      ['answers HEAD of pages with 404', answers('HEAD / 200', () => instead(404)), 'HEAD /'],
      ['takes HEAD without a token', letsIn('HEAD .*', (credential) => credential === ''), head],
      ['takes any parameter of HEAD', answers('HEAD /plants 400', () => instead(200)), head],
    ],
  },
  {
    says: ['OPTIONS gets 204 with `Allow` and needs no token.'],
    wrong: [
      [
        'refuses OPTIONS with a wrong token',
        async (received, forward) =>
          received.method === 'OPTIONS' && fieldOf(received, 'authorization').startsWith('Bearer plt_')
            ? instead(401, { error: 40102, message: 'unknown' })
            : forward(received),
        'OPTIONS reads no token',
      ],
      [
        'refuses OPTIONS with another scheme',
        async (received, forward) =>
          received.method === 'OPTIONS' && fieldOf(received, 'authorization').startsWith('Basic ')
            ? instead(401, { error: 40101, message: 'missing' })
            : forward(received),
        'OPTIONS reads no token',
      ],
      ['answers OPTIONS with 200', answers('OPTIONS * 204', () => ({ status: 200 })), 'OPTIONS /plants', preflight],
      [
        'answers OPTIONS without Allow',
        answers('OPTIONS * 204', set('Allow', undefined)),
        'OPTIONS /plants/{id}',
        'OPTIONS /readyz',
      ],
      [
        'forgets DELETE in Allow of OPTIONS',
        answers('OPTIONS', (answered) => set('Allow', fieldOf(answered, 'allow').replace('DELETE, ', ''))(answered)),
        'OPTIONS /plants/{id}',
      ],
      [
        'needs a token for OPTIONS',
        answers('OPTIONS * 204', (_, received) =>
          fieldOf(received, 'authorization') === ''
            ? instead(401, { error: 40101, message: 'none' }, [challenge, 'Bearer realm="plantstore"'])
            : {},
        ),
        'OPTIONS /plants',
        preflight,
      ],
      [
        'has no OPTIONS of the summary',
        answers('OPTIONS /summary 204', () => instead(405)),
        'OPTIONS /summary',
        preflight,
      ],
      ['answers OPTIONS of unknown paths', answers('OPTIONS /nowhere 404', () => instead(204)), 'OPTIONS /nowhere'],
    ],
  },
  {
    says: ['Every response has `X-Content-Type-Options: nosniff`.'],
    wrong: [
      ['lets browsers guess types', answers('*', set('X-Content-Type-Options', undefined)), nosniff],
      ['lets browsers guess types of errors', answers('* * 404', set('X-Content-Type-Options', undefined)), nosniff],
      ['has another word for nosniff', answers('*', set('X-Content-Type-Options', 'no-sniff')), nosniff],
    ],
  },
  {
    says: ['Responses that depend on a token have `Cache-Control: private, no-cache`.'],
    wrong: [
      ['says nothing of caches', answers('* /plants/{id}', set('Cache-Control', undefined)), caching],
      [
        'lets all caches keep plants',
        answers('GET /plants/{id} 200', set('Cache-Control', 'public, max-age=60')),
        caching,
      ],
      [
        'lets all caches keep lists',
        answers('GET /plants 200', set('Cache-Control', 'public, private, no-cache')),
        caching,
      ],
      [
        'lets all caches keep what is missing',
        answers('GET /plants/{id} 404', set('Cache-Control', 'max-age=60')),
        caching,
      ],
      [
        'lets browsers keep the summary',
        answers('GET /summary 200', set('Cache-Control', 'private, max-age=60')),
        caching,
      ],
    ],
  },
  {
    says: ['Pages of any origin can call the service (CORS) and read the header fields described here.'],
    wrong: [
      [
        'lets no page without an origin of its own call',
        answers('*', (answered, received) =>
          fieldOf(received, 'origin') === 'null' ? set('Access-Control-Allow-Origin', undefined)(answered) : {},
        ),
        'a page without an origin of its own sees a list',
      ],
      exposes('hides which media type it takes from other origins', 'Accept', seen('that a media type is refused')),
      exposes('hides which coding it takes from other origins', 'Accept-Encoding', seen('that a coding is refused')),
      exposes('hides challenges from other origins', 'WWW-Authenticate', seen('that a token is missing')),
      origin(
        'hides errors from other origins',
        '* * 400|401|404|405|409|412|413|415|422|501',
        seen('that an id is taken'),
        seen('that a key was used'),
        seen('that a plant has changed'),
        seen('that a method is unknown'),
        seen('that a token is missing'),
      ),
      origin('hides creates from other origins', 'POST /plants 200', seen('that a plant was created')),
      origin('hides replaces from other origins', 'PUT * 200', seen('that a plant was replaced')),
      origin('hides deletes from other origins', 'DELETE * 204', seen('that a plant was deleted')),
      origin('hides plants from other origins', 'GET /plants/{id} 200', seen('a plant')),
      origin('hides the summary from other origins', 'GET /summary', seen('the summary')),
      origin('hides what is unchanged from other origins', 'GET * 304', seen('that a plant is unchanged')),
      origin('hides long bodies from other origins', '* * 413', seen('that a body is too long')),
      [
        'allows the origin null',
        answers('* /plants/{id}', set('Access-Control-Allow-Origin', 'null')),
        seen('a plant'),
      ],
      exposes('hides ETags from other origins', 'ETag', seen('a plant')),
      exposes('hides Location from other origins', 'Location', seen('that a plant was created')),
      exposes('hides links from other origins', 'Link', seen('a list')),
      exposes('hides request ids from other origins', 'X-Request-Id', seen('that a plant is not there')),
      exposes('hides replays from other origins', 'Idempotency-Replayed', seen('that a create was repeated')),
      allows('lets other origins not replace', 'Access-Control-Allow-Methods', 'put'),
      allows('lets other origins not delete', 'Access-Control-Allow-Methods', 'delete'),
      allows('lets other origins send no token', 'Access-Control-Allow-Headers', 'authorization'),
      allows('lets other origins send no JSON', 'Access-Control-Allow-Headers', 'content-type'),
      allows('lets other origins send no key', 'Access-Control-Allow-Headers', 'idempotency-key'),
      allows('lets other origins send no If-Match', 'Access-Control-Allow-Headers', 'if-match'),
      allows('lets other origins send no If-None-Match', 'Access-Control-Allow-Headers', 'if-none-match'),
      [
        'refuses preflights of creates',
        answers('OPTIONS /plants 204', (_, received) =>
          fieldOf(received, 'access-control-request-method') === 'POST' ? instead(403) : {},
        ),
        preflight,
      ],
    ],
  },
  {
    says: [
      'No valid token was sent (RFC 6750, section 3).',
      'The challenge, with `error="invalid_token"` if the request has an invalid token.',
      '| 40101 | missingToken | No bearer token was sent. |',
      '| 40102 | invalidToken | The token is unknown, malformed, expired or revoked. |',
    ],
    wrong: [
      ['takes a token from the query', takesTokenOfQuery, 'a token anywhere but in Authorization is none'],
      [
        'takes a token from a cookie',
        receives('*', (received) => {
          const token = /token=([^;]+)/.exec(fieldOf(received, 'cookie'))?.[1]
          return token === undefined ? {} : set('Authorization', `Bearer ${token}`)(received)
        }),
        'a token anywhere but in Authorization is none',
      ],
      [
        'takes any token',
        letsIn('*', isToken),
        'Authorization unknown',
        'Authorization expired',
        'Authorization revoked',
        'getPlant needs a token that the server knows',
      ],
      [
        'compares tokens without case',
        letsIn(
          '*',
          (credential) => /^Bearer [A-Z0-9_]+$|^Bearer [a-z0-9_]+$/.test(credential) && credential.length < 100,
        ),
        'Authorization a token in another case',
      ],
      ['takes the token of Basic', letsIn('*', (credential) => credential.startsWith('Basic ')), 'Authorization Basic'],
      [
        'takes a token without a scheme',
        letsIn('*', (credential) => credential.startsWith('plt_')),
        'Authorization the token without a scheme',
      ],
      [
        'takes the first of two tokens on a line',
        letsIn('*', (credential) => /^Bearer \S+ \S+$/.test(credential)),
        'Authorization two tokens on one line',
      ],
      ['takes quoted tokens', letsIn('*', (credential) => credential.includes('"')), 'Authorization a quoted token'],
      [
        'takes Bearer alone',
        letsIn('*', (credential) => credential === 'Bearer'),
        'Authorization Bearer alone',
        'with Bearer and no credential nothing is created',
      ],
      open('creates without a token', 'POST /plants', 'Authorization missing'),
      open('lists without a token', 'GET /plants', 'listPlants needs a token that the server knows'),
      open('reads without a token', 'GET /plants/[^/]+', 'getPlant needs a token that the server knows'),
      open('counts without a token', 'GET /summary', 'getSummary needs a token that the server knows'),
      open('replaces without a token', 'PUT /plants/[^/]+', 'replacePlant needs a token that the server knows'),
      open('deletes without a token', 'DELETE /plants/[^/]+', 'deletePlant needs a token that the server knows'),
      [
        'takes bearer in no other case',
        receives('*', (received) =>
          /^(?:bearer|BEARER) /.test(fieldOf(received, 'authorization'))
            ? set('Authorization', 'Basic x')(received)
            : {},
        ),
        'Authorization with the scheme in lower case',
      ],
      [
        'answers 403 for 401',
        answers('* * 401', () => ({ status: 403 })),
        'Authorization missing',
        'Authorization unknown',
      ],
      [
        'answers 401 without a challenge',
        answers('* * 401', set(challenge, undefined)),
        'Authorization missing',
        'getPlant needs a token that the server knows',
      ],
      [
        'challenges with Basic',
        answers('* * 401', set(challenge, 'Basic realm="plantstore"')),
        'Authorization missing',
      ],
      [
        'calls a missing token an invalid one',
        answers('* * 401', set(challenge, 'Bearer realm="plantstore", error="invalid_token"')),
        'Authorization missing',
      ],
      [
        'does not say that a token is invalid',
        answers('* * 401', set(challenge, 'Bearer realm="plantstore"')),
        'Authorization unknown',
      ],
      ['has one number for all tokens', answers('* * 401', text(/4010\d/, '40102')), 'Authorization missing'],
    ],
  },
  {
    says: [
      'The roles of an operation are the scopes that its token must have:',
      '`plants:read` to read plants, `plants:write` to change them.',
      'The token does not have the required scope.',
      'The challenge.',
      'Its `scope` names the required scope.',
      '| 40301 | insufficientScope | The token does not have the scope that the operation needs. |',
    ],
    wrong: [
      [
        'takes HEAD for a change',
        async (received, forward) => {
          if (received.method !== 'HEAD' || !received.target.startsWith('/plants')) return forward(received)
          const asked = await forward({
            ...received,
            ...set('Content-Type', 'application/json')(received),
            method: 'PUT',
            target: '/plants/0',
            body: Buffer.from('{}'),
          })
          return asked.status === 403 ? { ...asked, body: Buffer.alloc(0) } : forward(received)
        },
        'a token that may only read lists, but neither replaces nor deletes',
      ],
      [
        'reads a plant to replay its create',
        answers('POST /plants 200', async (answered, received, forward) => {
          if (fieldOf(answered, 'idempotency-replayed') === '') return {}
          const read = await forward({ ...received, method: 'GET', target: '/summary', body: Buffer.alloc(0) })
          return read.status === 403 ? read : {}
        }),
        'a token that may only write creates, replaces and deletes, but reads nothing',
      ],
      ['lets readers create', letsIn('POST /plants', isToken), 'Authorization without the scope'],
      [
        'lets readers replace',
        letsIn('PUT /plants/[^/]+', isToken),
        'a token that may only read lists, but neither replaces nor deletes',
      ],
      [
        'lets readers delete',
        letsIn('DELETE /plants/[^/]+', isToken),
        'a token that may only read lists, but neither replaces nor deletes',
      ],
      [
        'lets writers read',
        letsIn('GET /plants/[^/]+', isToken),
        'a token that may only write creates, replaces and deletes, but reads nothing',
      ],
      [
        'lets writers list',
        letsIn('GET /plants', isToken),
        'a token that may only write creates, replaces and deletes, but reads nothing',
      ],
      [
        'lets writers count',
        letsIn('GET /summary', isToken),
        'a token that may only write creates, replaces and deletes, but reads nothing',
      ],
      ['answers 401 for 403', answers('* * 403', () => ({ status: 401 })), 'Authorization without the scope'],
      [
        'names no scope',
        answers('* * 403', set(challenge, 'Bearer realm="plantstore", error="insufficient_scope"')),
        'Authorization without the scope',
      ],
      [
        'names another scope',
        answers(
          '* * 403',
          set(challenge, 'Bearer realm="plantstore", error="insufficient_scope", scope="plants:read"'),
        ),
        'Authorization without the scope',
      ],
      [
        'answers 403 without a challenge',
        answers('* * 403', set(challenge, undefined)),
        'Authorization without the scope',
      ],
    ],
  },
  {
    says: ["The id of this request, which is also in the server's log."],
    wrong: [
      [
        'takes the request id of the client',
        answers('*', (answered, received) =>
          fieldOf(received, 'x-request-id') === ''
            ? {}
            : set('X-Request-Id', fieldOf(received, 'x-request-id'))(answered),
        ),
        'a request id is that of the server, whatever the client sends',
      ],
      [
        'has one request id for all answers',
        answers('*', set('X-Request-Id', 'abc-1')),
        'every answer has a unique X-Request-Id',
      ],
      ['has no request ids', answers('*', set('X-Request-Id', undefined)), answersOf('getPlant')],
      ['has request ids with spaces', answers('*', set('X-Request-Id', 'a b')), answersOf('getPlant')],
    ],
  },
  {
    says: [
      'Clients that accept `text/html`, such as browsers, get a page that shows and changes the plants.',
      'Other clients get links in JSON.',
      "A client that sends a token also gets the token's name and scopes.",
      'The token of the request',
      'The id of the token; reveals nothing about its secret',
      'The name of the token, or the subject of a JWT',
      'What the token may do',
      'When the token expires, by RFC 3339.',
      'Absent if it does not.',
      'The page or the links.',
      'The paths of the service',
      'Paths by name',
      'Pages, this document and health checks.',
      'No token needed.',
    ],
    wrong: [
      [
        'compares accepted types with case',
        receives('GET /', (received) =>
          /[A-Z]/.test(fieldOf(received, 'accept')) ? set('Accept', '*/*')(received) : {},
        ),
        'the home page is for browsers, its links for other clients',
      ],
      [
        'has no page',
        receives('GET /', set('Accept', 'application/json')),
        'the home page is for browsers, its links for other clients',
      ],
      [
        'has a page alone',
        receives('GET /', set('Accept', 'text/html')),
        'the home page is for browsers, its links for other clients',
      ],
      [
        'links to other paths',
        answers('GET / 200', text(/"\/plants"/, '"/trees"')),
        'the home page is for browsers, its links for other clients',
      ],
      ['forgets a link', answers('GET / 200', text(/"docs":"[^"]*",/, '')), answersOf('getHome')],
      [
        'needs a token for its pages',
        answers('* / 200', (_, received) =>
          fieldOf(received, 'authorization').length < 20 || fieldOf(received, 'authorization').includes('UNKNOWN')
            ? instead(401, { error: 40101, message: 'none' })
            : {},
        ),
        'getHome is open to all',
      ],
      [
        'says nothing of the token',
        receives('GET /', set('Authorization', undefined)),
        mayDoEverything,
        'getHome is open to all',
      ],
      [
        'says more than the token may',
        answers('GET / 200', text(/"scopes":\["plants:read"\]/, '"scopes":[]')),
        'a token that may read finds out what it may',
      ],
      ['lets proxies keep whose token it was', answers('GET / 200', set('Cache-Control', 'public')), mayDoEverything],
      ['says nothing of Authorization in Vary', answers('GET / 200', set('Vary', 'Accept')), mayDoEverything],
      [
        'gives a token no id',
        answers('GET / 200', text(/"caller":\{"id":"[^"]*",/, '"caller":{')),
        answersOf('getHome'),
      ],
    ],
  },
  {
    says: [
      'One exception: a GET or HEAD without `Authorization` that accepts `text/html`, as a browser sends for an address, gets a page with a 401 or 404.',
      'A browser that opened the address gets a page.',
      'Names `Accept` and `Authorization`, which decide between the Error and the page.',
    ],
    wrong: [
      [
        'has no page for a person',
        receives('GET|HEAD *', (received) =>
          fieldOf(received, 'authorization') === '' && received.target !== '/' ? set('Accept', '*/*')(received) : {},
        ),
        forPeople,
      ],
      [
        'has a page for every program',
        receives('GET|HEAD *', (received) =>
          fieldOf(received, 'accept') === '*/*' ? set('Accept', 'text/html')(received) : {},
        ),
        forPeople,
      ],
      ['has no Vary for its pages', answers('GET * 401|404', set('Vary', 'Origin')), forPeople],
    ],
  },
  {
    says: ['Shows every operation with its parameters, bodies and errors.', 'The page.'],
    wrong: [
      ['has no /docs', answers('GET /docs 200', () => instead(404, notFound)), 'GET /docs'],
      ['has /docs in JSON', answers('GET /docs 200', set('Content-Type', 'application/json')), answersOf('getDocs')],
    ],
  },
  {
    says: ['Returns a style sheet, a script, the logo or the example plants.', 'The name of the file', 'The file.'],
    wrong: [
      ['has no files', answers('GET /site/{file} 200', () => instead(404, notFound)), 'GET /site/style.css'],
      [
        'has files as text/plain',
        answers('GET /site/{file} 200', set('Content-Type', 'text/plain')),
        answersOf('getSiteFile'),
      ],
    ],
  },
  {
    says: ['There is no file with this name.'],
    wrong: [
      [
        'has a page for every file',
        answers('GET /site/{file} 404', () => instead(200, {})),
        'an unknown file of the pages is missing',
      ],
    ],
  },
  {
    says: [
      'Browsers may store the file, but must revalidate it before each use.',
      'The file still has the ETag in If-None-Match.',
    ],
    wrong: [
      [
        'answers 304 for the ETag of another file',
        mixesFiles(),
        'a file of the pages is sent again only when it has changed',
      ],
      [
        'lets browsers keep files for ever',
        answers('GET /site/{file} 200', set('Cache-Control', 'max-age=31536000')),
        answersOf('getSiteFile'),
      ],
      [
        'sends files again and again',
        receives('GET /site/{file}', set('If-None-Match', undefined)),
        'a file of the pages is sent again only when it has changed',
      ],
      [
        'never sends files again',
        answers('GET /site/{file} 200', (_, received) =>
          fieldOf(received, 'if-none-match') === '' ? {} : { status: 304, body: Buffer.alloc(0) },
        ),
        'a file of the pages is sent again only when it has changed',
      ],
    ],
  },
  {
    says: [
      'Responds with 200 as long as the process can respond, regardless of its store.',
      'The health check passed',
      'Always `ok`.',
      'The check passed.',
      'The response must not be stored.',
    ],
    wrong: [
      [
        'is not alive',
        answers('GET /livez 200', () => instead(503, { error: 50301, message: 'no' }, ['Retry-After', '3600'])),
        'GET /livez',
      ],
      [
        'is alive in another word',
        answers('GET /livez 200', () => instead(200, { status: 'UP' }, ['Cache-Control', 'no-store'])),
        answersOf('getLivez'),
      ],
      [
        'lets caches keep its health',
        answers('GET /readyz 200', set('Cache-Control', 'max-age=5')),
        answersOf('getReadyz'),
      ],
    ],
  },
  {
    says: [
      'The OpenAPI document.',
      'An OpenAPI document',
      'The version of OpenAPI',
      'About the service',
      'Every operation, by path and method',
    ],
    wrong: [
      [
        'rounds the numbers of its document',
        answers('GET /openapi.json 200', ({ body }) => ({
          body: Buffer.from(JSON.stringify(JSON.parse(body.toString()))),
        })),
        'the document that is served has every operation',
      ],
      [
        'serves the document of another API',
        answers('GET /openapi.json 200', () => instead(200, { openapi: '3.1.0', info: { title: 'Trees' }, paths: {} })),
        'the document that is served has every operation',
      ],
      [
        'serves a document without deletePlant',
        answers('GET /openapi.json 200', text(/deletePlant/g, 'removePlant')),
        'the document that is served has every operation',
      ],
      [
        'serves something else than a document',
        answers('GET /openapi.json 200', () => instead(200, [])),
        answersOf('getOpenapiJson'),
      ],
    ],
  },
  {
    says: [
      'The document as written, including comments, with the same `servers` as the JSON.',
      'An OpenAPI document, the same as the JSON',
    ],
    wrong: [
      [
        'serves YAML without its comments',
        answers('GET /openapi.yaml 200', text(/^ *# .*\n/gm, '')),
        'the document is served as YAML, too',
      ],
      ['serves no YAML', answers('GET /openapi.yaml 200', () => instead(404, notFound)), 'GET /openapi.yaml'],
      [
        'serves the YAML of another API',
        answers('GET /openapi.yaml 200', () => ({ body: Buffer.from('openapi: 3.1.0\npaths: {}\n') })),
        'the document is served as YAML, too',
      ],
    ],
  },
  {
    says: [
      'The server responds with 200 only after the plant is on disk.',
      'The response is sent after the plant is on disk.',
    ],
    because: 'what is on a disk shows only when its machine loses power; the torture of this service has it',
  },
  {
    says: [
      'The plant store of the OpenAPI samples, with a server.',
      'The Error schema lists the numbers.',
      'A server with default settings',
      'The stored plants',
      'The error numbers:',
      '| error | name | meaning |',
      '| --- | --- | --- |',
      'The patterns do not say so: no expression for it works in every tool.',
    ],
    because: 'says nothing that a client could rely on',
  },
  {
    says: [
      "The server's setting `--cors-origin` restricts the origins.",
      "Starts with the path of the server's public URL, if that URL has a path.",
      'If the server is configured with `--jwt-keys`, it also accepts a JWT of the identity provider, with the same scopes in its `scope` or `scp`.',
      'An access token, created with `plantstore token create`.',
    ],
    because: 'depends on the settings of the server, which its clients do not know',
  },
  {
    says: [
      'To bound the cost, the numbers are exact only for a file with up to 10,000 tags (and any number of plants) and for up to 10,000 plants in PostgreSQL.',
      'Otherwise they are estimates.',
      'False if the numbers are estimates.',
      'Tags may then be missing.',
    ],
    because: 'an estimate may have any value, so a server that always says isExact: false passes',
  },
  {
    says: [
      "The first server in the document is the server's public URL or, without one, the server that received the request.",
    ],
    wrong: [
      [
        'names the server that received the first request',
        remembersHost(),
        'the document names the server that received the request, not that of another request',
      ],
    ],
  },
  {
    says: ['Allows the page to load resources only from this server.'],
    wrong: [
      [
        'lets its page load pictures from anywhere',
        answers('GET / 200', (answered) =>
          set(
            'Content-Security-Policy',
            fieldOf(answered, 'content-security-policy').replace("img-src 'self' data:", 'img-src *'),
          )(answered),
        ),
        'the page / loads only from this server',
      ],
      [
        'has a policy for scripts and styles alone',
        answers(
          'GET|HEAD / 200',
          set('Content-Security-Policy', "script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'"),
        ),
        'the page / loads only from this server',
      ],
      [
        'lets its reference load scripts from another server',
        answers('GET|HEAD /docs 200', (answered) =>
          set(
            'Content-Security-Policy',
            fieldOf(answered, 'content-security-policy').replace('script-src', 'script-src https://cdn.example'),
          )(answered),
        ),
        'the page /docs loads only from this server',
      ],
    ],
  },
  {
    says: ['Of several errors in path, method, token and body, the response reports the first in this order.'],
    wrong: [
      [
        'looks at the bodies of replaces before scopes',
        answers('PUT * 403', (_, received) =>
          ['{}', 'no json', ''].includes(received.body.toString())
            ? instead(400, { error: 40002, message: 'body' })
            : {},
        ),
        'a token that may only read lists, but neither replaces nor deletes',
      ],
      [
        'looks at the bodies of replaces before tokens',
        answers('PUT * 401', (_, received) =>
          ['{}', 'no json'].includes(received.body.toString()) ? instead(400, { error: 40002, message: 'body' }) : {},
        ),
        'a replace without a token changes nothing',
      ],
      [
        'looks at bodies before tokens',
        answers('POST /plants 401', (_, received) =>
          received.body.toString() === 'no json' ? instead(400, { error: 40001, message: 'no JSON' }) : {},
        ),
        'order of refusals: the token before the body',
      ],
      [
        'looks at tokens before paths',
        answers('* /nowhere 404', (_, received) =>
          fieldOf(received, 'authorization') === '' ? instead(401, { error: 40101, message: 'none' }) : {},
        ),
        'order of refusals: the path before the token',
      ],
      [
        'looks at bodies before scopes',
        answers('POST /plants 403', (_, received) =>
          received.body.toString() === 'no json' ? instead(415, { error: 41501, message: 'type' }) : {},
        ),
        'order of refusals: the scope before the media type',
      ],
    ],
  },
  {
    says: ['The page sends no Referer.'],
    because: 'an optional header field for browsers; if it is there, its schema applies',
  },
  {
    says: [
      'Responds with 503 while the store is unavailable and while the service is starting or stopping.',
      'If the check fails, the response is an Error.',
      'The service is temporarily unavailable.',
      'After a write, `storeUnavailable` means that the outcome is unknown; after any other error, the request had no effect.',
      'Seconds to wait before trying again.',
      'The server failed.',
      'Its log has the cause under the id in X-Request-Id.',
      '| 50001 | internalError | The server failed; its log says why under the request id. |',
      '| 50301 | overloaded | Too many requests are waiting; nothing was done, try again. |',
      '| 50302 | storeUnavailable | The store cannot answer.',
      'A write may or may not have been done. |',
      '| 50303 | shuttingDown | The server is shutting down; nothing was done, try again. |',
      '| 50304 | storeFull | The disk is full; nothing was done. |',
      '| 50305 | storeAway | The database cannot be reached; nothing was done, try again. |',
      '| 50306 | issuerAway | The key of the JWT is not known, and its issuer cannot be asked now; nothing was done, try again. |',
    ],
    because: 'no client can make a server fail, and verify would not try',
  },
  {
    says: [
      "The token, or the address of a request without a token, is over the server's rate limit (`--rate-limit`).",
      'The request had no effect.',
      'Reading a plant counts as one unit, a page as more.',
      'The limit (draft-ietf-httpapi-ratelimit-headers):',
      '`q` units in `w` seconds.',
      'The remaining `r` units, and the `t` seconds to wait.',
      '| 42901 | rateLimited | More was asked for than the server allows in a while; nothing was done, try again later. |',
    ],
    because:
      'a limit may be as high as the server likes; a 429 that comes is held to its schema, and the request is repeated',
  },
  {
    says: ['The message gives the byte offset, from 0. |'],
    wrong: [
      [
        'counts characters to the place of an error',
        answers('POST /plants 400', ({ body }, received) => ({
          body: Buffer.from(
            body
              .toString()
              .replace(/(?<=byte )\d+/, (place) => String(received.body.subarray(0, Number(place)).toString().length)),
          ),
        })),
        'the refusal of invalid JSON says at which byte',
      ],
    ],
  },
  {
    says: ['The request did not arrive in time.', '| 40801 | requestTimeout | The request did not arrive in time. |'],
    because: 'the time is up to the server, and proxies wait for the whole request',
  },
  {
    says: [
      'The Expect header field asks for something other than 100-continue.',
      '| 41701 | expectationFailed | The Expect header field asks for something other than 100-continue. |',
    ],
    because: 'proxies take Expect out of requests, so that 200 is right behind one',
  },
  {
    says: ['The request is not valid HTTP.', '| 40000 | malformedRequest | The request is not valid HTTP. |'],
    because: 'verify sends valid HTTP only: proxies answer anything else themselves',
  },
]
