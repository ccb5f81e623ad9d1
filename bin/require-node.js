// Exits with an error if this Node.js is too old. Runs on any Node.js with ES modules.

import { advice, isTooOld } from './node-version.js'

if (isTooOld) {
  process.stderr.write(`plantstore: ${advice}\n`)
  process.exit(1)
}
