// The pages for people, and what programs get at the same place.

import { AppError } from '../domain/errors.ts'
import type { Handlers } from './operations.ts'

/** A file of the pages. */
export interface SiteFile {
  /** Its media type, one of those that the document has. */
  readonly type: string
  readonly text: string
  /** A strong validator. */
  readonly etag: string
}

/** By name. */
export type Site = ReadonlyMap<string, SiteFile>

/** A page loads nothing but what the server has, and nobody else may show it as a part of theirs. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const home = 'index.html'
const links = {
  plants: '/plants',
  summary: '/summary',
  docs: '/docs',
  openapi: '/openapi.json',
  health: '/livez',
}

export function siteHandlers(site: Site, version: string): Pick<Handlers, 'getHome' | 'getSiteFile'> {
  const page = find(site, home)
  return {
    getHome: ({ accept = '' }) => {
      const headers = { vary: 'accept' }
      if (!/\btext\/html\b/i.test(accept)) {
        return { status: 200, headers, body: { title: 'OpenAPI Plant Store', version, links } }
      }
      return {
        status: 200,
        headers: { ...headers, 'content-security-policy': policy, 'referrer-policy': 'no-referrer' },
        type: page.type,
        body: page.text,
      }
    },

    getSiteFile: ({ path: { file }, headers: { 'If-None-Match': ifNoneMatch } }) => {
      const { type, text, etag } = find(site, file === home ? '' : file)
      const headers = { etag, 'cache-control': 'no-cache' }
      // Browsers send back what they were sent; a list or a weak one gets the file again.
      if (ifNoneMatch === etag) return { status: 304, headers }
      return { status: 200, headers, type, body: text }
    },
  }
}

function find(site: Site, name: string): SiteFile {
  const file = site.get(name)
  if (file === undefined) throw new AppError('unknownPath', `there is no file ${JSON.stringify(name)}`)
  return file
}
