// Serves the reference page: Scalar's if installed, which can also send requests, otherwise our own.

import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { contentPolicy } from '../for-browser.ts'
import type { Handlers } from '../operations.ts'
import { findFile, type LateFile, represent, type Site, type SiteFile, toSiteFile } from './site.ts'

/** Scalar, if installed. */
export interface Scalar {
  /** Loads its script of several megabytes. */
  readonly script: LateFile
}

// The thread's file has the extension of this one: .ts in a checkout, .js after a build.
const scriptUrl = new URL(`./scalar-script${extname(import.meta.url)}`, import.meta.url)

/** The name of Scalar's script under `/site/`. */
export const scalarScript = 'scalar.js'

/** Our own page uses only styles from its files. */
const ownPolicy = contentPolicy({})

const scalarPolicy = contentPolicy({
  // Scalar's components have style attributes, and Scalar and its editor add style elements, some with text generated
  // at run time, so that neither a hash nor a nonce can match. What styles load is still subject to img-src and
  // default-src. Scalar also probes for eval, and works without it.
  'style-src': "'self' 'unsafe-inline'",
})

/** Checks whether Scalar is installed without loading it. */
export function findScalar(): Scalar | undefined {
  try {
    import.meta.resolve('@scalar/fastify-api-reference')
  } catch {
    return undefined
  }
  return { script: loadScript }
}

/** @param scalar if given, its page replaces our own. */
export function docsHandlers(site: Site, scalar: Scalar | undefined): Pick<Handlers, 'getDocs'> {
  const page = findFile(site, scalar === undefined ? 'reference.html' : 'docs.html')
  const policy = scalar === undefined ? ownPolicy : scalarPolicy
  const policies = { 'content-security-policy': policy, 'referrer-policy': 'no-referrer' }
  return {
    getDocs: async ({ acceptEncoding }) => {
      const { content, headers } = await represent(page, acceptEncoding)
      return { status: 200, headers: { ...headers, ...policies }, type: page.type, body: content }
    },
  }
}

/** Loads the script in a thread. Rejects if the thread fails. */
async function loadScript(): Promise<SiteFile> {
  const [script] = await once(new Worker(scriptUrl, { name: 'plantstore-scalar' }), 'message')
  return toSiteFile('text/javascript', script)
}
