// The lower bound for a durable create: repeatedly appends as much as one create writes to the log, and waits until it
// is on disk. Arguments: a new file, seconds. Prints the times in milliseconds as JSON.

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'

const [file = '', seconds = ''] = process.argv.slice(2)
const page = Buffer.alloc(4_096, 'plant')
const times: number[] = []
const descriptor = openSync(file, 'wx')
for (const untilMs = performance.now() + 1_000 * Number(seconds); performance.now() < untilMs; ) {
  const startedMs = performance.now()
  writeSync(descriptor, page)
  fdatasyncSync(descriptor)
  times.push(performance.now() - startedMs)
}
closeSync(descriptor)
process.stdout.write(JSON.stringify(times))
