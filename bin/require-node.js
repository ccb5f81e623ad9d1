// Ends with one clear line on a Node.js that is too old for this program. Written for any Node.js that knows modules.

import { advice, isTooOld } from './node-version.js'

if (isTooOld) {
  process.stderr.write(`plantstore: ${advice}\n`)
  process.exit(1)
}
