// A thread that returns Scalar's script and ends. Loading the package takes a while, which would block other requests,
// and tens of megabytes, of which only the script is kept.

import { parentPort } from 'node:worker_threads'
import plugin from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

const prefix = '/scalar'

// The package contains the script as text in a private module; a request to its public plugin retrieves it.
const app = Fastify()
await app.register(plugin, { routePrefix: prefix, configuration: { url: 'openapi.json' } })
const { statusCode, rawPayload } = await app.inject(`${prefix}/js/scalar.js`)
await app.close()
if (statusCode !== 200) throw new Error(`Scalar answered ${statusCode} instead of giving its script`)
const script = Uint8Array.from(rawPayload)
parentPort?.postMessage(script, [script.buffer])
