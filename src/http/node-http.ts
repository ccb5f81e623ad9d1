// The parts of node:http in use. Importing the module namespace evaluates all exports, including a WebSocket client,
// which would add milliseconds to each start.

import { createRequire } from 'node:module'

export const { createServer, METHODS, STATUS_CODES } = createRequire(import.meta.url)(
  'node:http',
) as typeof import('node:http')
