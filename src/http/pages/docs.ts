// The reference as a page: that of Scalar where it is installed, which sends requests too, else one of our own.

import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Handlers } from '../operations.ts'
import { contentPolicy, findFile, type LateFile, type Site, type SiteFile, toSiteFile } from './site.ts'

/** Scalar, when it is there. */
export interface Scalar {
  /** Loads its script, some megabytes. */
  readonly script: LateFile
}

// The thread's file ends as this one does: .ts in a checkout, .js after a build.
const scriptUrl = new URL(`./scalar-script${extname(import.meta.url)}`, import.meta.url)

/** The script of Scalar in `/site/`. */
export const scalarScript = 'scalar.js'

/** Our page has no styles but those of its files. */
const ownPolicy = contentPolicy({})

const scalarPolicy = contentPolicy({
  // Its components have style attributes, its editor and itself add style elements, some of them with text that is made
  // while the page runs, so that neither a hash nor a nonce fits them. What styles load is still for img-src and
  // default-src to say. It looks whether it may evaluate text, too, and does without.
  'style-src': "'self' 'unsafe-inline'",
})

/** Looks whether Scalar is installed, without loading anything of it. */
export function findScalar(): Scalar | undefined {
  try {
    import.meta.resolve('@scalar/fastify-api-reference')
  } catch {
    return undefined
  }
  return { script: loadScript }
}

/** @param scalar unless undefined, its page is served, not our own. */
export function docsHandlers(site: Site, scalar: Scalar | undefined): Pick<Handlers, 'getDocs'> {
  const { type, content } = findFile(site, scalar === undefined ? 'reference.html' : 'docs.html')
  const policy = scalar === undefined ? ownPolicy : scalarPolicy
  const headers = { 'content-security-policy': policy, 'referrer-policy': 'no-referrer' }
  return { getDocs: () => ({ status: 200, headers, type, body: content }) }
}

/** Has a thread load the script. Rejects when the thread fails. */
async function loadScript(): Promise<SiteFile> {
  const [script] = await once(new Worker(scriptUrl, { name: 'plantstore-scalar' }), 'message')
  return toSiteFile('text/javascript', script)
}
