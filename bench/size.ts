// The cost of createPlant and getPlant as a store grows, at an equal rate, because CPU time is compared.

import { compare, type Effort } from './in-turn.ts'
import { fillStore, sequence, spread } from './plants.ts'
import { makeStore, serving, startAll } from './process.ts'
import { createPlant, getPlant } from './requests.ts'
import type { Comparison } from './results.ts'

const sizes = [0, 10_000, 100_000, 1_000_000] as const
const load = { connections: 64, ratePerSecond: 1_000 }

/** Stores grow during the run by the rate times the rounds. */
export async function* benchSize(effort: Effort): AsyncGenerator<Comparison> {
  for (const plants of sizes) {
    await using inSequence = await makeStore()
    await using inNoOrder = await makeStore()
    await fillStore(inSequence, { plants, idOf: sequence })
    await fillStore(inNoOrder, { plants, idOf: spread })
    await using servers = await startAll([serving(inSequence), serving(inNoOrder)])
    const [first, second] = servers.all
    const request = createPlant(inSequence.token)
    const contenders = {
      'create in sequence': first,
      'create in no order': { ...second, request: createPlant(inNoOrder.token, 'any') },
      // An empty store has nothing to read.
      ...(plants > 0 && { 'get in no order': { ...first, request: getPlant(inSequence.token) } }),
    }
    yield await compare({ title: `${plants} plants`, servers: contenders, load: { ...load, request, plants } }, effort)
  }
}
