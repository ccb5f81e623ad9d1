// From the start of a server with a million plants to its first answer.

import type { Effort } from './in-turn.ts'
import { fillStore, plantsMany } from './plants.ts'
import { type BenchStore, figuresOf, makeStore, serving, startProcess, stopProcess } from './process.ts'
import { type Comparison, contendersOf, type Round } from './results.ts'

export async function* benchStart({ rounds }: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await fillStore(store)
  const starts: Round[] = []
  for (let round = 0; round < rounds; round += 1) starts.push(await startOnce(store))
  const contenders = contendersOf(new Map([['plantstore', starts]]))
  yield {
    title: `start with ${plantsMany} plants, until the first answer`,
    setup: `${rounds} rounds, medians`,
    contenders,
  }
}

async function startOnce(store: BenchStore): Promise<Round> {
  const startedMs = performance.now()
  const server = await startProcess(serving(store))
  try {
    const { status } = await fetch(`${server.url}/readyz`)
    const seconds = (performance.now() - startedMs) / 1000
    if (status !== 200) throw new Error(`the server is not ready: ${status}`)
    const { peakMebibytes } = await figuresOf(server)
    return { seconds, peakMebibytes }
  } finally {
    await stopProcess(server)
  }
}
