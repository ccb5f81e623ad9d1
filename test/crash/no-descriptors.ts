// Uses up all descriptors of its process beside an open store, whose file is its argument, and prints what reads come
// to then and afterwards.

import { closeSync, openSync } from 'node:fs'
import { listPage } from '../support/page.ts'
import { toPlant } from '../support/plants.ts'
import { importPlants, openTestStore } from '../support/store.ts'

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const store = await openTestStore(process.argv[2] ?? '')
// More than a page of memory to sort.
const name = 'n'.repeat(1_024)
await importPlants(
  store,
  Array.from({ length: 4_000 }, (_, id) => ({ id: BigInt(-id), name })),
)
const search = () => listPage(store, { namePrefix: 'n', limit: 1_000 })
const early = process.argv[3] === 'early'
if (early) await search()
const descriptors: number[] = []
try {
  for (;;) descriptors.push(openSync('/dev/null', 'r'))
} catch {
  // There are no more.
}
// A search sorts in memory, once its thread is there; an export needs a descriptor of its own.
const found = await search().then(
  ({ length }) => length,
  ({ code }) => code,
)
const exported = await Array.fromAsync(store.exportPlants()).catch(({ code }) => code)
for (const descriptor of descriptors) closeSync(descriptor)
say(String(found))
say(String(exported))
say(String((await search()).length))
say((await store.getPlant(0n)) === undefined ? 'lost' : 'read')
say(await store.createPlant(toPlant({ id: 1n, name: 'n' })))
await store.close()
