// A thread that strips types from TypeScript, as Node.js does, and ends. That takes tens of milliseconds, which would
// block other requests.

import { stripTypeScriptTypes } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

const texts: ReadonlyMap<string, string> = workerData
// Types leave blanks in their place. No text in a script has such a run.
const blanks = /^ +\n| +$|(?<=\S) {2,}(?=[),={;])/gm
const strip = (text: string): string => stripTypeScriptTypes(text).replaceAll(blanks, '')
parentPort?.postMessage(new Map([...texts].map(([name, text]) => [name, strip(text)])))
