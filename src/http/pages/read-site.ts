// Reads the files of the pages except the scripts, once, at startup.

import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { root } from '../../root.ts'
import { type Site, toSiteFile } from './site.ts'

const folder = new URL('site/', root)
const examples = new URL('examples/houseplants.ndjson', root)

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.ndjson': 'application/x-ndjson',
}

export function readSite(): Site {
  const files = [
    ...readdirSync(folder).map((name) => [name, new URL(name, folder)] as const),
    ['houseplants.ndjson', examples] as const,
  ]
  return new Map(
    files.flatMap(([name, url]) => {
      const type = types[extname(name)]
      if (type === undefined) return []
      return [[name, toSiteFile(type, readFileSync(url, 'utf8'))]]
    }),
  )
}
