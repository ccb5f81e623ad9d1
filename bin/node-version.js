// The required Node.js version, and the Node.js that `npm ci` installs in a checkout. Runs on any Node.js with ES
// modules.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const needed = 24

export const isTooOld = majorOf(process.versions.node) < needed

/** The Node.js of the checkout; undefined if missing or too old, and in the published package. */
export const ownNode = findOwnNode()

export const advice =
  `Node.js ${needed} or newer is needed, ${process.execPath} is ${process.version}; ` +
  (existsSync(new URL('../src/main.ts', import.meta.url))
    ? 'run `npm ci` with install scripts allowed, which installs one in this checkout'
    : 'install it from https://nodejs.org, and put it first in the PATH, also that of cron jobs and services')

function findOwnNode() {
  const folder = new URL('../node_modules/node/', import.meta.url)
  const file = fileURLToPath(new URL(process.platform === 'win32' ? 'bin/node.exe' : 'bin/node', folder))
  try {
    const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
    return majorOf(version) >= needed && existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

function majorOf(version) {
  return Number(version.split('.')[0])
}
