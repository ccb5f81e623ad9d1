// Reads the pages' scripts once, at startup. In a checkout they are TypeScript: a thread strips their types on first
// use. A build contains JavaScript.

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { findFile, type LateFile, loadOnce, toSiteFile } from './site.ts'

/** Texts by the names that browsers use for them. */
type Texts = ReadonlyMap<string, string>

/** The extension of this file: .ts in a checkout, .js after a build. */
const extension = extname(import.meta.url)
const isBuilt = extension === '.js'
const folder = new URL('../../../site/', import.meta.url)
const clientFolder = new URL('../../../client/', import.meta.url)
const filesFolder = new URL('../../files/', import.meta.url)
const threadUrl = new URL(`./strip-types${extension}`, import.meta.url)

/** The modules of the client in dependency order. */
const clientModules = [
  ...['error', 'exact-json', 'types', 'values', 'link', 'request', 'checks', 'changes'],
  'client',
] as const

/** The modules of the command line that the pages use as they are: they import only types. */
const filesModules = ['columns', 'header-columns'] as const

export function readScripts(): ReadonlyMap<string, LateFile> {
  const names = readdirSync(folder).filter((name) => extname(name) === extension)
  const texts: Texts = new Map([
    ...names.map((name) => [`${basename(name, extension)}.js`, read(name, folder)] as const),
    ['client.js', readClient()],
    ...filesModules.map((name) => [`${name}.js`, read(`${name}${extension}`, filesFolder)] as const),
  ])
  const load = loadOnce(async () => {
    const scripts = isBuilt ? texts : await stripTypes(texts)
    return new Map([...scripts].map(([name, text]) => [name, toSiteFile('text/javascript', text)]))
  })
  return new Map([...texts.keys()].map((name) => [name, async () => findFile(await load(), name)]))
}

/**
 * Bundles the client into one module for others to copy: removes the imports between its modules, and keeps the exports
 * of the last.
 */
function readClient(): string {
  const modules = clientModules.map((name) => {
    const text = read(`${name}${extension}`, clientFolder).replaceAll(/^import [^'"]*['"][^'"]*['"];?\n/gm, '')
    return name === 'client' ? text : text.replaceAll(/^export /gm, '')
  })
  return modules.join('\n')
}

/** Rejects if the thread fails. */
async function stripTypes(texts: Texts): Promise<Texts> {
  // Node.js warns that the strip function is experimental, although Node.js uses the same mechanism for what it runs.
  const execArgv = ['--disable-warning=ExperimentalWarning']
  const [stripped] = await once(
    new Worker(threadUrl, { name: 'plantstore-types', workerData: texts, execArgv }),
    'message',
  )
  return stripped
}

function read(name: string, place: URL): string {
  return readFileSync(new URL(name, place), 'utf8')
}
