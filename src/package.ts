// The package: its folder, and the version of the program.

import { readFileSync } from 'node:fs'

/** In a build, src/ is dist/src/. */
export const root = new URL(import.meta.url.endsWith('.ts') ? '../' : '../../', import.meta.url)

export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  return String(version)
}

/** The value of User-Agent in requests that the program sends. */
export function userAgent(): string {
  return `plantstore/${readVersion()}`
}
