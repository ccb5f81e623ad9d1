// The scripts of the pages as a browser loads them.

import assert from 'node:assert/strict'
import type * as ClientModule from '../../client/client.ts'

/** Loads pages of a server and all the scripts that they, and those scripts, import at once. */
export async function loadScripts(url: string, ...paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const named = paths.length === 0 ? ['/', '/docs'] : paths
  const pages = await Promise.all(named.map((path) => load(`${url}${path}`, 'text/html')))
  const scripts = new Map<string, string>()
  const found = pages.flatMap((page) => [...page.matchAll(/<script [^>]*src="site\/([^"]+)"/g)])
  const names = new Set(found.map(([, name = '']) => name))
  assert.ok(names.has('home.js'))
  for (const name of names) {
    const text = await load(`${url}/site/${name}`, 'text/javascript')
    scripts.set(name, text)
    for (const [, imported = ''] of text.matchAll(/^import .*['"]\.\/([^'"]+)['"]/gm)) names.add(imported)
  }
  return scripts
}

/** Imports the client that a server gives browsers, from its text alone. */
export async function importClient(url: string): Promise<typeof ClientModule> {
  const text = await load(`${url}/site/client.js`, 'text/javascript')
  return await import(`data:text/javascript,${encodeURIComponent(text)}`)
}

async function load(url: string, type: string): Promise<string> {
  const response = await fetch(url, { headers: { Accept: type } })
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, type], url)
  return await response.text()
}
