// Adds plants to the store that it is given, and prints how often one could not be read, or was missing in a list, as
// soon as it was confirmed. A process of its own, as it takes an event loop in which nothing else happens.

import { setImmediate } from 'node:timers/promises'
import { listPage, toPlant } from '../support/plants.ts'
import { openTestStore } from '../support/store.ts'

const creates = 20n
const restMs = 20

// Its messages come in the same phase of the event loop as confirmations do, and as it is older, before them.
const { port1, port2 } = new MessageChannel()
await using store = await openTestStore(process.argv[2] ?? '')
const bulk = await store.beginImport({ isWhole: true })
let isDone = false
port2.onmessage = () => {
  if (isDone) return
  // They share a transaction. While this thread rests, the writer commits, and its confirmation comes next.
  for (let reads = 0; reads < 2; reads += 1) void store.getPlant(-1n)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, restMs)
  void setImmediate().then(() => port1.postMessage(''))
}
port1.postMessage('')
let unseen = 0
for (let id = 0n; id < creates; id += 1n) {
  const plant = toPlant({ id, name: 'Ficus lyrata', tag: 'shade' })
  if (id % 2n === 0n) await store.createPlant(plant)
  else await bulk.add([plant], 'fail').then(bulk.commit)
  // The long list of a tag comes from a thread.
  const pages = [1, 1_000].map((limit) => listPage(store, { after: id - 1n, tag: 'shade', limit }))
  if ((await store.getPlant(id)) === undefined) unseen += 1
  for (const [plant] of await Promise.all(pages)) if (plant?.id !== id) unseen += 1
}
isDone = true
port1.close()
process.stdout.write(`${unseen} reads of ${creates} plants saw nothing\n`)
