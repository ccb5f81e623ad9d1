// The version of the program, from package.json.

import { readFileSync } from 'node:fs'
import { root } from './root.ts'

export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  return String(version)
}

/** The value of User-Agent in requests that the program sends. */
export function userAgent(): string {
  return `plantstore/${readVersion()}`
}
