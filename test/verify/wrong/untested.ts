// Sentences that no wrong server breaks, and why.

import { says } from '../operators.ts'

export const untested: readonly string[] = [
  // Needs minutes, many connections or the command line of the server; the tests of this service check them.
  'Each change is written in the same transaction as the plant.',
  'To copy all plants, request `after=now`, then list the plants, then follow that `Link`.',
  'A comment is sent at least every 15 seconds.',
  'The stream ends when the token is revoked or expires, when the client reads too slowly, and when the server stops.',
  'Tells nginx to pass events on as they come.',
  'Without it, the list begins with the oldest change that the server has.',
  'The server does not have this position: it keeps changes for a limited time, and a restored backup begins another log.',
  ...says('Copy all plants again.', 'Absent if a command made the change.'),
  '| 41001 | positionGone | The log of changes does not have this position. |',
  '| 42902 | tooManyStreams | The token has too many streams of changes; end one of them. |',
  // What is on a disk shows only when its machine loses power; the torture of this service has it.
  'The server responds with 200 only after the plant is on disk.',
  'The response is sent after the plant is on disk.',
  // Says nothing that a client could rely on.
  ...says('The plant store of the OpenAPI samples, with a server.', 'The Error schema lists the numbers.'),
  ...says('A server with default settings', 'The stored plants', 'The error numbers:', '| error | name | meaning |'),
  ...says('| --- | --- | --- |', 'The patterns do not say so: no expression for it works in every tool.'),
  // Depends on the settings of the server, which its clients do not know.
  "The server's setting `--cors-origin` restricts the origins.",
  "Starts with the path of the server's public URL, if that URL has a path.",
  'If the server is configured with `--jwt-keys`, it also accepts a JWT of the identity provider, with the same scopes in its `scope` or `scp`.',
  'An access token, created with `plantstore token create`.',
  // An estimate may have any value, so a server that always says isExact: false passes.
  'To bound the cost, the numbers are exact only for a file with up to 10,000 tags (and any number of plants) and for up to 10,000 plants in PostgreSQL.',
  ...says('Otherwise they are estimates.', 'False if the numbers are estimates.', 'Tags may then be missing.'),
  // An optional header field for browsers; if it is there, its schema applies.
  'The page sends no Referer.',
  // No client can make a server fail, and verify would not try.
  'Responds with 503 while the store is unavailable and while the service is starting or stopping.',
  ...says('If the check fails, the response is an Error.', 'The service is temporarily unavailable.'),
  'After a write, `storeUnavailable` means that the outcome is unknown; after any other error, the request had no effect.',
  ...says('Seconds to wait before trying again.', 'The server failed.'),
  'Its log has the cause under the id in X-Request-Id.',
  '| 50001 | internalError | The server failed; its log says why under the request id. |',
  '| 50301 | overloaded | Too many requests are waiting; nothing was done, try again. |',
  ...says('| 50302 | storeUnavailable | The store cannot answer.', 'A write may or may not have been done. |'),
  '| 50303 | shuttingDown | The server is shutting down; nothing was done, try again. |',
  '| 50304 | storeFull | The disk is full; nothing was done. |',
  '| 50305 | storeAway | The database cannot be reached; nothing was done, try again. |',
  '| 50306 | issuerAway | The key of the JWT is not known, and its issuer cannot be asked now; nothing was done, try again. |',
  // A limit may be as high as the server likes; a 429 that comes is held to its schema, and the request is repeated.
  "The token, or the address of a request without a token, is over the server's rate limit (`--rate-limit`).",
  ...says('The request had no effect.', 'Reading a plant counts as one unit, a page as more.'),
  ...says('The limit (draft-ietf-httpapi-ratelimit-headers):', '`q` units in `w` seconds.'),
  'The remaining `r` units, and the `t` seconds to wait.',
  '| 42901 | rateLimited | More was asked for than the server allows in a while; nothing was done, try again later. |',
  // The time is up to the server, and proxies wait for the whole request.
  ...says('The request did not arrive in time.', '| 40801 | requestTimeout | The request did not arrive in time. |'),
  // Proxies take Expect out of requests, so that 200 is right behind one.
  'The Expect header field asks for something other than 100-continue.',
  '| 41701 | expectationFailed | The Expect header field asks for something other than 100-continue. |',
  // Verify sends valid HTTP only: proxies answer anything else themselves.
  ...says('The request is not valid HTTP.', '| 40000 | malformedRequest | The request is not valid HTTP. |'),
]
