// node:crypto, loaded at its first use: the threads of a store seldom need it, and it takes an eighth of their start.

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
let loaded: typeof import('node:crypto') | undefined

export function crypto(): typeof import('node:crypto') {
  loaded ??= require('node:crypto') as typeof import('node:crypto')
  return loaded
}
