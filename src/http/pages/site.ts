// Serves the pages, the JSON that programs get from the path of the home page, the OpenAPI document, and health checks.

import { type Contract, servedDocument } from '../../contract/contract.ts'
import { toJson } from '../../contract/plant.ts'
import type { Caller } from '../../domain/caller.ts'
import { AppError } from '../../domain/errors.ts'
import { toIso } from '../../domain/shown.ts'
import { pagePolicies } from '../for-browser.ts'
import { toPreconditions } from '../input.ts'
import { prefers } from '../negotiation.ts'
import type { Handlers, TraitsOf } from '../operations.ts'
import { privateFields, type Request } from '../request.ts'
import { readFiles, readPage, readScripts, readText, represent } from './files.ts'

/** @param basePath prefix of links: the path of the public URL, without a trailing slash. */
export function siteHandlers(
  version: string,
  basePath: string,
  contract: Contract,
): Pick<Handlers, 'getHome' | 'getDocs' | 'getSiteFile'> {
  const drawings = readText('drawings.svg')
  const home = readPage('index.html', { 'plant-properties': inScript(toJson(contract.properties)), drawings })
  const reference = readPage('reference.html', { document: inScript(contract.json) })
  const files = new Map([...readFiles(), ...readScripts()])
  const links = {
    plants: `${basePath}/plants`,
    summary: `${basePath}/summary`,
    docs: `${basePath}/docs`,
    openapi: `${basePath}/openapi.json`,
    health: `${basePath}/livez`,
  }
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
      const found = await files.get(file)?.()
      if (found === undefined)
        throw new AppError('unknownPath', `there is no file ${JSON.stringify(file)} under /site/`)
      const { content, etag, headers: coded } = await represent(found, request.fields)
      const headers = { etag, 'cache-control': 'no-cache', ...coded }
      const known = toPreconditions(undefined, ifNoneMatch).ifNoneMatch
      if (known === '*' || known?.some((each) => `"${each}"` === etag)) return { status: 304, headers }
      return { status: 200, headers, type: found.type, body: content }
    },
  }
}

/** JSON that cannot end the script element in which it stands, nor begin a comment there. */
function inScript(json: string): string {
  return json.replaceAll('<', '\\u003c')
}

function shownCaller({ id, name, scopes, validUntilMs }: Caller) {
  const expires = Number.isFinite(validUntilMs) && { expires: toIso(validUntilMs) }
  return { id, name, scopes: [...scopes], ...expires }
}

const healthy = { status: 200, headers: { 'cache-control': 'no-store' }, body: { status: 'ok' } } as const

/** Load balancers poll health, so it costs no units. */
export const documentTraits: TraitsOf = { getLivez: { units: 0 }, getReadyz: { units: 0 } }

/** @param publicUrl the URL of the service for clients; by default derived from each request. */
export function documentHandlers(
  contract: Contract,
  checkReady: () => void,
  publicUrl?: string,
): Pick<Handlers, 'getLivez' | 'getReadyz' | 'getOpenapiJson' | 'getOpenapiYaml'> {
  const documentFor = (request: Readonly<Request>) => servedDocument(contract, publicUrl ?? originOf(request))
  return {
    getLivez: () => healthy,
    getReadyz: () => {
      checkReady()
      return healthy
    },
    getOpenapiJson: ({ request }) => ({ status: 200, body: documentFor(request).json }),
    getOpenapiYaml: ({ request }) => ({ status: 200, body: documentFor(request).yaml }),
  }
}

/** Some values of Host, such as an empty one, form no valid URL. */
function originOf({ host, scheme }: Readonly<Request>): string | undefined {
  const origin = `${scheme}://${host}`
  return host !== undefined && URL.canParse(origin) ? origin : undefined
}
