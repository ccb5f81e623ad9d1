// A thread that strips types from TypeScript, as Node.js does, and ends. That takes tens of milliseconds, which would
// block other requests.

import { stripTypeScriptTypes } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

const texts: ReadonlyMap<string, string> = workerData
parentPort?.postMessage(new Map([...texts].map(([name, text]) => [name, stripTypeScriptTypes(text)])))
