// The files of the pages: read once, at startup, and sent in the content coding that a client accepts.

import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
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

export function readPage(name: string): SiteFile {
  return toSiteFile('text/html', readFileSync(new URL(name, folder), 'utf8'))
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
  // Replaces the `vary` that every GET has, so it repeats Origin.
  const vary = 'Origin, Accept-Encoding'
  const coding = chooseCoding(fields['accept-encoding'])
  if (coding === undefined) return { ...file, headers: { vary } }
  return { ...(await file.inCoding(coding)), headers: { vary, 'content-encoding': coding } }
}

const compress = { br: promisify(brotliCompress), gzip: promisify<string, Uint8Array<ArrayBuffer>>(gzip) }

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
