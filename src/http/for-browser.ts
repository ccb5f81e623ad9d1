// HTML error pages for browsers that open an API URL, in place of the Error in JSON. A browser asks for HTML and,
// unlike a program, sends no token.

import { type AppError, errorNumbers } from '../domain/errors.ts'
import { prefers } from './negotiation.ts'
import { STATUS_CODES } from './node-http.ts'
import type { Reply, Request } from './request.ts'

/** A page loads only resources of this server, and other sites may not embed it. */
export const pagePolicies = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
}

/** Turns a 401 or 404 into a page if a browser sent the request; returns every other problem unchanged. */
export function forBrowser(problem: Reply, error: AppError, { method, target, fields }: Request): Reply {
  const isRead = method === 'GET' || method === 'HEAD'
  const mayBePage = isRead && fields['authorization'] === undefined && [401, 404].includes(problem.status)
  if (!mayBePage) return problem
  const vary = 'Origin, Accept, Authorization'
  if (!prefers('text/html', fields['accept'])) return { ...problem, fields: { ...problem.fields, vary } }
  const body = toPage(problem.status, error, target)
  return {
    ...problem,
    fields: {
      ...problem.fields,
      vary,
      'content-type': 'text/html',
      'content-length': String(Buffer.byteLength(body)),
      ...pagePolicies,
    },
    body,
  }
}

/** Every link is relative, so that the page also works behind a proxy that adds a path prefix. */
function toPage(status: number, { code, message }: AppError, url: string): string {
  const [path = '/', query] = url.startsWith('/') ? url.split('?') : []
  const root = '../'.repeat(path.split('/').length - 2) || './'
  const id = /^\/plants\/(-?\d+)$/.exec(path)?.[1]
  const search = path === '/plants' && query ? `?${query}` : ''
  const home = id === undefined ? root + search : `${root}?plant=${id}`
  const words = id === undefined ? 'Go to the plants' : `Open plant ${id}`
  const title = status === 401 ? 'This address needs a token' : 'Nothing grows here'
  const why =
    status === 401
      ? 'Programs call this address, and send an access token with each request. To see the same data in a browser, ' +
        'open the home page. It asks for the token once.'
      : 'There is no page at this address. The plants are a click away.'
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${status} ${STATUS_CODES[status]} - Plant Store</title>
    <link rel="icon" href="${root}site/logo.svg">
    <link rel="stylesheet" href="${root}site/style.css">
  </head>
  <body class="note">
    <header>
      <p><a class="row" href="${root}"><img src="${root}site/logo.svg" alt="" width="24" height="24"><b>Plant Store</b></a></p>
      <nav aria-label="Documentation"><a href="${root}docs">API reference</a></nav>
    </header>
    <main>
      <img${status === 404 ? ' class="dry"' : ''} src="${root}site/logo.svg" alt="" width="96" height="96">
      <h1>${title}</h1>
      <p>${why}</p>
      <p><a class="button" href="${escaped(home)}">${words}</a></p>
      <p class="hint">A program gets: error ${errorNumbers[code]}, ${escaped(message)}</p>
    </main>
  </body>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
