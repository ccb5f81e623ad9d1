// The cost of ten million plants: import, export, start, backup and check, and requests compared with a small store.

import { rm, stat } from 'node:fs/promises'
import { compare, type Effort } from './in-turn.ts'
import { plantLine, sequence, spread, writePlants } from './plants.ts'
import {
  type BenchStore,
  cli,
  figuresOf,
  makeStore,
  runProgram,
  type ServerProcess,
  serving,
  startAll,
  startProcess,
  stopProcess,
} from './process.ts'
import { createPlant, getPlant, listPlants } from './requests.ts'
import { type Comparison, contendersOf, type Round } from './results.ts'

const many = 10_000_000
const few = 10_000
const stores = [
  { name: '1,000,000 in sequence', plants: 1_000_000, idOf: sequence },
  { name: '10,000,000 in sequence', plants: many, idOf: sequence },
  { name: '1,000,000 in no order', plants: 1_000_000, idOf: spread },
  { name: '10,000,000 in no order', plants: many, idOf: spread },
] as const
const startsInARow = 5

/** Takes half an hour and 8 GB of disk. */
export async function* benchScale(effort: Effort): AsyncGenerator<Comparison> {
  await using all = new AsyncDisposableStack()
  const made: BenchStore[] = []
  const imports = new Map<string, readonly Round[]>()
  const others = new Map<string, ReadonlyMap<string, readonly Round[]>>()
  for (const { name, plants, idOf } of stores) {
    const store = all.use(await makeStore())
    made.push(store)
    imports.set(name, [await importPlants(store, plants, idOf)])
    for (const [what, rounds] of Object.entries(await measureStore(store, plants)))
      others.set(what, new Map([...(others.get(what) ?? []), [name, rounds]]))
  }
  const setup = 'once each'
  yield { title: 'import', setup, contenders: contendersOf(imports), note: 'MiB: the file of the store.' }
  for (const [title, measured] of others) yield { title, setup, contenders: contendersOf(measured) }

  const [, inSequence, , inNoOrder] = made as [BenchStore, BenchStore, BenchStore, BenchStore]
  const small = all.use(await makeStore())
  await importPlants(small, few, sequence)
  await using servers = await startAll([serving(small), serving(inSequence), serving(inNoOrder)])
  yield* compareRequests({ small, inSequence, inNoOrder }, servers.all, effort)
}

async function importPlants(store: BenchStore, plants: number, idOf: (index: bigint) => bigint): Promise<Round> {
  const file = store.file('plants.ndjson')
  await writePlants(file, plantLine, { plants, idOf })
  const figures = await runProgram([process.execPath, cli, 'import', file, '--store', store.path])
  await rm(file)
  const mebibytes = (await stat(store.path)).size / 1024 / 1024
  return { ...figures, plants, mebibytes, plantsPerSecond: plants / figures.seconds }
}

async function measureStore(store: BenchStore, plants: number): Promise<Readonly<Record<string, readonly Round[]>>> {
  const run = async (args: readonly string[]): Promise<Round> => {
    const figures = await runProgram([process.execPath, cli, ...args, '--store', store.path])
    return { ...figures, plantsPerSecond: plants / figures.seconds }
  }
  const exported = store.file('out.ndjson')
  const saved = store.file('saved.db')
  const rounds = {
    export: [await run(['export', exported])],
    backup: [await run(['backup', saved])],
    check: [await run(['check'])],
    'start, until the first answer': await startOften(store),
  }
  await rm(exported)
  await rm(saved)
  return rounds
}

async function startOften(store: BenchStore): Promise<Round[]> {
  const rounds: Round[] = []
  for (let round = 0; round < startsInARow; round += 1) {
    const startedMs = performance.now()
    const server = await startProcess(serving(store))
    const response = await fetch(`${server.url}/readyz`)
    await response.arrayBuffer()
    const seconds = (performance.now() - startedMs) / 1000
    if (response.status !== 200) throw new Error(`a server of ${store.path} is not ready: ${response.status}`)
    const { peakMebibytes } = await figuresOf(server)
    rounds.push({ seconds, peakMebibytes })
    await stopProcess(server)
  }
  return rounds
}

async function* compareRequests(
  stores: Readonly<Record<'small' | 'inSequence' | 'inNoOrder', BenchStore>>,
  [small, inSequence, inNoOrder]: readonly [ServerProcess, ServerProcess, ServerProcess],
  effort: Effort,
): AsyncGenerator<Comparison> {
  const { small: smallStore, inSequence: sequenceStore, inNoOrder: noOrderStore } = stores
  const first = `${few} plants`
  const load = { connections: 64, plants: many }
  const create = createPlant(smallStore.token)
  yield await compare(
    {
      title: 'createPlant',
      servers: {
        [first]: small,
        '10,000,000 in sequence': { ...inSequence, request: createPlant(sequenceStore.token) },
        '10,000,000 in no order': { ...inNoOrder, request: createPlant(noOrderStore.token, 'any') },
      },
      load: { ...load, request: create },
    },
    effort,
  )
  const get = getPlant(smallStore.token)
  yield await compare(
    {
      title: `getPlant of any plant, and of the first ${few}`,
      servers: {
        [first]: { ...small, plants: few },
        [`the first ${few} of 10,000,000`]: { ...inSequence, plants: few, request: getPlant(sequenceStore.token) },
        'any of 10,000,000': { ...inSequence, request: getPlant(sequenceStore.token) },
      },
      load: { ...load, request: get },
    },
    effort,
  )
  for (const query of ['limit=1000&after={id}000', 'name=monstera%20deliciosa%20{id}&limit=100']) {
    yield await compare(
      {
        title: `listPlants ${query}`,
        servers: {
          [first]: { ...small, plants: few / 1000 - 1 },
          '10,000,000 in sequence': { ...inSequence, request: listPlants(sequenceStore.token, query) },
        },
        load: { connections: 1, plants: 999, request: listPlants(smallStore.token, query) },
      },
      effort,
    )
  }
}
