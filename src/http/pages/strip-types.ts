// A thread that takes the types out of TypeScript, as Node.js does for what it runs, and ends. That takes tens of
// milliseconds, which other requests do not wait for.

import { stripTypeScriptTypes } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

const texts: ReadonlyMap<string, string> = workerData
parentPort?.postMessage(new Map([...texts].map(([name, text]) => [name, stripTypeScriptTypes(text)])))
