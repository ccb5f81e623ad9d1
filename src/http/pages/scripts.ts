// Reads the pages' scripts once, at startup, and joins those of each page into one. In a checkout they are TypeScript:
// a thread strips their types on first use. A build contains JavaScript.

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { loadOnce, type Site, type SiteFile, toSiteFile } from './files.ts'

/** Texts by the names of their modules. */
export type Texts = ReadonlyMap<string, string>

/** The extension of this file: .ts in a checkout, .js after a build. */
const extension = extname(import.meta.url)
const isBuilt = extension === '.js'
const folder = new URL('../../../site/', import.meta.url)
const clientFolder = new URL('../../../client/', import.meta.url)
const filesFolder = new URL('../../files/', import.meta.url)
const threadUrl = new URL(`./strip-types${extension}`, import.meta.url)

/** Modules of the command line that the pages also use. */
const filesModules = ['columns', 'csv'] as const

export function readScripts(): Site {
  const ofPages = new Map([
    ...namesIn(folder).map((name) => [name, read(name, folder)] as const),
    ...filesModules.map((name) => [name, read(name, filesFolder)] as const),
  ])
  const ofClient = new Map(namesIn(clientFolder).map((name) => [name, read(name, clientFolder)]))
  const scripts = { 'home.js': ofPages, 'reference.js': ofPages, 'client.js': ofClient }
  const load = loadOnce(async () => {
    const stripped = new Map<Texts, Texts>([ofPages, ofClient].map((texts) => [texts, texts]))
    if (!isBuilt) for (const texts of stripped.keys()) stripped.set(texts, await stripTypes(texts))
    // Only the client keeps its comments, because people copy it.
    const bare = new Map([...(stripped.get(ofPages) ?? [])].map(([name, text]) => [name, withoutComments(text)]))
    stripped.set(ofPages, bare)
    return new Map(
      Object.entries(scripts).map(([name, texts]) => {
        return [name, toSiteFile('text/javascript', join(basename(name, '.js'), stripped.get(texts) ?? texts))]
      }),
    )
  })
  return new Map(Object.keys(scripts).map((name) => [name, async () => (await load()).get(name) as SiteFile]))
}

/**
 * Joins a module and those that it imports, so that a browser sends one request. Each imported module becomes a
 * function, which keeps its scope, after the modules that it imports itself. Modules outside `texts` stay imported.
 */
export function join(first: string, texts: Texts): string {
  const joined = new Set<string>()
  const take = (name: string): string[] => {
    if (joined.has(name)) return []
    joined.add(name)
    const text = texts.get(name)
    if (text === undefined) return [`import * as ${scopeOf(name)} from './${name}.js'`]
    const needed = [...text.matchAll(importPattern)].flatMap(([, , imported = '']) => take(imported))
    const own = text.replaceAll(
      importPattern,
      (_, names, imported) => `const ${names.replaceAll(' as ', ': ')} = ${scopeOf(imported)}\n`,
    )
    if (name === first) return [...needed, own]
    const exported = [...own.matchAll(exportPattern)].map(([, exportedName]) => exportedName)
    const body = own.replaceAll(/^export /gm, '')
    return [...needed, `const ${scopeOf(name)} = (() => {\n${body}\nreturn { ${exported.join(', ')} }\n})()`]
  }
  return take(first).join('\n')
}

const importPattern = /^import (\{[^'"]*\}) from ['"]\.\/([\w-]+)\.[jt]s['"];?\n/gm
const exportPattern = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm

const scopeOf = (name: string): string => `$${name.replaceAll('-', '_')}`

/** Removes the comments that have lines of their own. */
function withoutComments(text: string): string {
  return text.replaceAll(/^ *(?:\/\/.*|\/\*\*[\s\S]*?\*\/)\n/gm, '')
}

async function stripTypes(texts: Texts): Promise<Texts> {
  // Node.js warns that the function is experimental, although it runs TypeScript files by the same means.
  const execArgv = ['--disable-warning=ExperimentalWarning']
  const [stripped] = await once(
    new Worker(threadUrl, { name: 'plantstore-types', workerData: texts, execArgv }),
    'message',
  )
  return stripped
}

function namesIn(place: URL): readonly string[] {
  const names = readdirSync(place).filter((name) => extname(name) === extension)
  return names.map((name) => basename(name, extension))
}

function read(name: string, place: URL): string {
  return readFileSync(new URL(name + extension, place), 'utf8')
}
