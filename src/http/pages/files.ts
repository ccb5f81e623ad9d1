// The files of the pages: read once, at startup, and sent in the content coding that a client accepts. The scripts of
// each page are joined into one. In a checkout they are TypeScript: a thread strips their types on first use. A build
// contains JavaScript.

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { brotliCompress, gzip, type ZlibOptions } from 'node:zlib'
import { revisionOf } from '../../domain/plant.ts'
import { root } from '../../package.ts'
import { weightsOf } from '../negotiation.ts'
import type { Fields } from '../request.ts'

export interface SiteFile extends Representation {
  /** Its media type, one of those in the document. */
  readonly type: string
  /** Compresses it on the first call. */
  readonly inCoding: (coding: Coding) => Promise<Representation>
}

interface Representation {
  readonly content: string | Uint8Array<ArrayBuffer>
  /** A strong validator; compressed bytes have a different one (RFC 9110, section 8.8.3). */
  readonly etag: string
}

/** Files by name. Scripts are made on first request. */
export type Site = ReadonlyMap<string, () => Promise<SiteFile>>

const folder = new URL('site/', root)
const examples = new URL('examples/houseplants.ndjson', root)

/** Media types of the files below /site/, by extension. Pages have their own paths. */
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.ndjson': 'application/x-ndjson',
}

/** @param parts contents of elements that the server fills in, by their ids. */
export function readPage(name: string, parts: Readonly<Record<string, string>>): SiteFile {
  let page = readText(name)
  for (const [id, content] of Object.entries(parts)) {
    const place = `id="${id}">`
    if (!page.includes(place)) throw new Error(`${name} has no element ${id} to fill in`)
    page = page.replace(place, () => place + content)
  }
  return toSiteFile('text/html', page)
}

export function readText(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8')
}

export function readFiles(): Site {
  const files = [
    ...readdirSync(folder).map((name) => [name, new URL(name, folder)] as const),
    ['houseplants.ndjson', examples] as const,
  ]
  return new Map(
    files.flatMap(([name, url]) => {
      const type = types[extname(name)]
      if (type === undefined) return []
      const file = toSiteFile(type, readFileSync(url, 'utf8'))
      return [[name, async () => file]]
    }),
  )
}

export function toSiteFile(type: string, content: string): SiteFile {
  const codings = {
    br: loadOnce(() => compress.br(content).then(toRepresentation)),
    gzip: loadOnce(() => compress.gzip(content, { level: 9 }).then(toRepresentation)),
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
  // Replaces the `vary` that every GET has, so it repeats Origin.
  const vary = 'Origin, Accept-Encoding'
  const coding = chooseCoding(fields['accept-encoding'])
  if (coding === undefined) return { ...file, headers: { vary } }
  return { ...(await file.inCoding(coding)), headers: { vary, 'content-encoding': coding } }
}

const compress = { br: promisify(brotliCompress), gzip: promisify<string, ZlibOptions, Uint8Array<ArrayBuffer>>(gzip) }

type Coding = keyof typeof compress

/** The coding for a client (RFC 9110, section 12.5.3): Brotli, which is smaller, if the client accepts both equally. */
function chooseCoding(acceptEncoding = ''): Coding | undefined {
  const weights = weightsOf(acceptEncoding)
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0
  const [br, gzip] = [weightOf('br'), weightOf('gzip')]
  if (br > 0 && br >= gzip) return 'br'
  return gzip > 0 ? 'gzip' : undefined
}

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

/** Texts by the names of their modules. */
export type Texts = ReadonlyMap<string, string>

/** The extension of this file: .ts in a checkout, .js after a build. */
const extension = extname(import.meta.url)
const isBuilt = extension === '.js'
const scriptFolder = new URL('../../../site/', import.meta.url)
const clientFolder = new URL('../../../client/', import.meta.url)
const filesFolder = new URL('../../files/', import.meta.url)
const threadUrl = new URL(`./strip-types${extension}`, import.meta.url)

/** Modules of the command line that the pages also use. */
const filesModules = ['columns', 'csv'] as const

export function readScripts(): Site {
  const ofPages = new Map([
    ...namesIn(scriptFolder).map((name) => [name, read(name, scriptFolder)] as const),
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
