// How long lists and searches delay the event loop of a server, in stores that are hard to search.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cli, loopDelayOf, runCli, startProcess, stopProcess } from './process.ts'
import { type Comparison, contendersOf, type Round } from './results.ts'

interface Hard {
  readonly title: string
  readonly plants: number
  readonly nameOf: (index: number) => string
  /** Search texts, in addition to no search. */
  readonly prefixes: readonly string[]
}

const head = 'n'.repeat(250)
const stores: readonly Hard[] = [
  {
    title: 'U+FDFA, 18 characters when folded',
    plants: 10_500,
    nameOf: (index) => `${'\ufdfa'.repeat(1_020)}${index % 1_000}`,
    prefixes: ['\ufdfa', '\ufdfa'.repeat(200), `${'\ufdfa'.repeat(1_000)}x`],
  },
  { title: 'one letter', plants: 1_000_000, nameOf: () => 'a', prefixes: ['a', 'A', 'aa', 'b'] },
  {
    title: 'a beginning of 250 characters',
    plants: 1_000_000,
    nameOf: (index) => `${head}${index}`,
    prefixes: ['n', head, `${head}7`, `${head}99999`, `${head}x`],
  },
  {
    title: 'as long as names may be',
    plants: 20_000,
    nameOf: (index) => `${'\u{1f33f}'.repeat(500)}${index}`,
    prefixes: ['\u{1f33f}', `${'\u{1f33f}'.repeat(500)}7`],
  },
]
const pagesInARow = 5

export async function* benchSearch(): AsyncGenerator<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'))
  const measured = new Map<string, readonly Round[]>()
  try {
    for (const [index, hard] of stores.entries()) {
      measured.set(hard.title, [await measure(hard, join(folder, `${index}.db`))])
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  yield {
    title: 'Pages and searches of stores that were made hard to search',
    setup: `one client, each query ${pagesInARow} times`,
    contenders: contendersOf(measured),
    note: 'Loop held: the longest time in which the server answered no request, measured by its own timer.',
  }
}

async function measure(hard: Hard, store: string): Promise<Round> {
  await fill(hard, store)
  const token = runCli(['token', 'create', '--name', 'bench', '--store', store]).trim()
  const server = await startProcess([cli, 'serve', '--port', '0', '--store', store, '--log', 'off'])
  try {
    const ask = async (query: string): Promise<number> => {
      const startedMs = performance.now()
      const response = await fetch(`${server.url}/plants?${query}`, { headers: { authorization: `Bearer ${token}` } })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`${query}: ${response.status}`)
      return performance.now() - startedMs
    }
    const queries = queriesOf(hard)
    // The first round starts the search thread and lets V8 compile the code.
    for (const query of queries) await ask(query)
    await loopDelayOf(server)
    let slowestMs = 0
    for (let round = 0; round < pagesInARow; round += 1) {
      for (const query of queries) slowestMs = Math.max(slowestMs, await ask(query))
    }
    const heldMs = await loopDelayOf(server)
    const mebibytes = (await stat(store)).size / 1024 / 1024
    return { plants: hard.plants, mebibytes, slowestMs, heldMs }
  } finally {
    await stopProcess(server)
  }
}

function queriesOf({ prefixes, plants }: Hard): readonly string[] {
  const named = prefixes.map((prefix) => `name=${encodeURIComponent(prefix)}`)
  return ['', ...named, ...named.map((name) => `${name}&tag=odd`), 'tag=odd'].flatMap((query) => [
    `${query}&limit=1`,
    `${query}&limit=1000`,
    `${query}&limit=1000&after=${Math.floor(plants / 2)}`,
  ])
}

async function fill({ plants, nameOf }: Hard, store: string): Promise<void> {
  const file = `${store}.ndjson`
  const output = createWriteStream(file)
  for (let index = 0; index < plants; index += 1) {
    const plant = { id: index, name: nameOf(index), tag: index % 2 === 0 ? 'even' : 'odd' }
    if (!output.write(`${JSON.stringify(plant)}\n`)) await once(output, 'drain')
  }
  output.end()
  await once(output, 'close')
  runCli(['import', file, '--store', store])
  await rm(file)
}
