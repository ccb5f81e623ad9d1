// A thread that gives the script of Scalar and ends. To load the package takes a while, which other requests do not wait
// for, and tens of megabytes, of which the script alone is kept.

import { parentPort } from 'node:worker_threads'
import plugin from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

const prefix = '/scalar'

// The package has the script as a text in a module, and a plugin that serves it: what that answers is public.
const app = Fastify()
await app.register(plugin, { routePrefix: prefix, configuration: { url: 'openapi.json' } })
const { statusCode, rawPayload } = await app.inject(`${prefix}/js/scalar.js`)
await app.close()
if (statusCode !== 200) throw new Error(`Scalar answered ${statusCode} instead of giving its script`)
const script = Uint8Array.from(rawPayload)
parentPort?.postMessage(script, [script.buffer])
