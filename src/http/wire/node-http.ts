// What is used of node:http. An import of that module reads all of its exports, of which one is a client of WebSockets:
// to load it takes a quarter as long as to load Fastify.

import { createRequire } from 'node:module'

export const { createServer, METHODS, STATUS_CODES } = createRequire(import.meta.url)(
  'node:http',
) as typeof import('node:http')
