// Serves the pages for people, and the machine-readable form at the same path.

import { toJson } from '../../contract/plant.ts'
import type { Property } from '../../contract/schemas.ts'
import type { Caller } from '../../domain/caller.ts'
import { AppError } from '../../domain/errors.ts'
import { revisionOf } from '../../domain/plant.ts'
import { toIso } from '../../domain/shown.ts'
import { pagePolicies } from '../for-browser.ts'
import { toPreconditions } from '../input.ts'
import { prefers } from '../negotiation.ts'
import type { Handlers } from '../operations.ts'
import { type Fields, privateFields } from '../request.ts'
import { type Coding, chooseCoding, compress } from './codings.ts'

/** A file of the pages. */
export interface SiteFile extends Representation {
  /** Its media type, one of those in the document. */
  readonly type: string
  /** Compresses it on the first call. */
  readonly inCoding: (coding: Coding) => Promise<Representation>
}

export interface Representation {
  readonly content: string | Uint8Array<ArrayBuffer>
  /** A strong validator, so that of compressed bytes is another (RFC 9110, section 8.8.3). */
  readonly etag: string
}

/** A file that loads on first request. */
export type LateFile = () => Promise<SiteFile>

/** By name. */
export type Site = ReadonlyMap<string, SiteFile>

const linksBelow = (basePath: string) => ({
  plants: `${basePath}/plants`,
  summary: `${basePath}/summary`,
  docs: `${basePath}/docs`,
  openapi: `${basePath}/openapi.json`,
  health: `${basePath}/livez`,
})

export function toSiteFile(type: string, content: string): SiteFile {
  const codings = {
    br: loadOnce(() => compress.br(content).then(toRepresentation)),
    gzip: loadOnce(() => compress.gzip(content).then(toRepresentation)),
  }
  return { type, ...toRepresentation(content), inCoding: (coding) => codings[coding]() }
}

function toRepresentation(content: string | Uint8Array<ArrayBuffer>): Representation {
  return { content, etag: `"${revisionOf(content)}"` }
}

/** The file in a coding that the client accepts, with the header fields that describe it. */
export async function represent(
  file: SiteFile,
  fields: Fields,
): Promise<Representation & { readonly headers: Readonly<Record<string, string>> }> {
  // Replaces the `vary` of every GET, so it repeats Origin.
  const vary = 'Origin, Accept-Encoding'
  const coding = chooseCoding(fields['accept-encoding'])
  if (coding === undefined) return { ...file, headers: { vary } }
  return { ...(await file.inCoding(coding)), headers: { vary, 'content-encoding': coding } }
}

/**
 * @param scripts files in addition to the site's, each loaded on demand.
 * @param basePath prefix of links: the path of the public URL, without a trailing slash.
 * @param properties those of a plant, for the home page.
 */
export function siteHandlers(
  site: Site,
  version: string,
  scripts: ReadonlyMap<string, LateFile>,
  basePath: string,
  properties: readonly Property[],
): Pick<Handlers, 'getHome' | 'getDocs' | 'getSiteFile'> {
  const home = withProperties(findFile(site, 'index.html'), properties)
  const reference = findFile(site, 'reference.html')
  const links = linksBelow(basePath)
  return {
    getHome: async ({ request: { fields, caller } }) => {
      const vary = 'Origin, Accept, Accept-Encoding'
      if (!prefers('text/html', fields['accept'])) {
        const body = { title: 'OpenAPI Plant Store', version, links }
        const varyJson = `${vary}, Authorization`
        if (caller === undefined) return { status: 200, headers: { vary: varyJson }, body }
        const headers = { ...privateFields, vary: varyJson }
        return { status: 200, headers, body: { ...body, caller: shownCaller(caller) } }
      }
      const { content, headers } = await represent(home, fields)
      return { status: 200, headers: { ...headers, vary, ...pagePolicies }, type: home.type, body: content }
    },

    getDocs: async ({ request }) => {
      const { content, headers } = await represent(reference, request.fields)
      return { status: 200, headers: { ...headers, ...pagePolicies }, type: reference.type, body: content }
    },

    getSiteFile: async ({ path: { file }, headers: { 'If-None-Match': ifNoneMatch }, request }) => {
      // Pages have their own paths.
      if (file.endsWith('.html')) throw noSuchFile(file)
      const found = (await scripts.get(file)?.()) ?? findFile(site, file)
      const { content, etag, headers: coded } = await represent(found, request.fields)
      const headers = { etag, 'cache-control': 'no-cache', ...coded }
      const known = toPreconditions(undefined, ifNoneMatch).ifNoneMatch
      if (known === '*' || known?.some((each) => `"${each}"` === etag)) return { status: 304, headers }
      return { status: 200, headers, type: found.type, body: content }
    },
  }
}

/** Puts the properties of a plant into the data block of a page. */
function withProperties({ type, content }: SiteFile, properties: readonly Property[]): SiteFile {
  const [before, after] = String(content).split(dataBlock)
  if (after === undefined) throw new Error(`the page has no ${dataBlock}`)
  // Nothing else ends the block, or begins a comment in it.
  return toSiteFile(type, before + dataBlock + toJson(properties).replaceAll('<', '\\u003c') + after)
}

const dataBlock = '<script type="application/json" id="plant-properties">'

function shownCaller({ id, name, scopes, validUntilMs }: Caller) {
  const expires = Number.isFinite(validUntilMs) && { expires: toIso(validUntilMs) }
  return { id, name, scopes: [...scopes], ...expires }
}

export function findFile(site: Site, name: string): SiteFile {
  const file = site.get(name)
  if (file === undefined) throw noSuchFile(name)
  return file
}

const noSuchFile = (name: string): AppError =>
  new AppError('unknownPath', `there is no file ${JSON.stringify(name)} under /site/`)

/** Loads on the first call, and again only after a failure. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | undefined
  return () => {
    loading ??= load().catch((cause) => {
      loading = undefined
      throw cause
    })
    return loading
  }
}
