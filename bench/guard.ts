// Whether createPlant or getPlant got dearer: their CPU time a request, relative to a bare Fastify in the same run,
// must not be above a bound. It takes a minute; status 1 says that it is.

import { compare } from './in-turn.ts'
import { fillStore, sequence } from './plants.ts'
import { here, makeStore, serving, startAll } from './process.ts'
import { createPlant, getPlant } from './requests.ts'
import type { Comparison } from './results.ts'

/**
 * The most that each may cost, in CPU times of the bare route. On two cores, beside other benches, createPlant cost 1.9
 * to 3.7 and getPlant 1.9 to 2.5 of them in some twenty runs: the bounds are a fifth above the highest.
 */
const bounds = { createPlant: 4.4, getPlant: 3 } as const
const plants = 10_000
/** Many short rounds, of which the median is taken, so that those in which the machine did something else do not count. */
const effort = { rounds: 8, roundSeconds: 1 } as const
const load = { connections: 64, ratePerSecond: 4_000, plants }

export async function* benchGuard(): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await fillStore(store, { plants, idOf: sequence })
  await using servers = await startAll([[here('contenders/fastify.ts')], serving(store)])
  const [bare, service] = servers.all
  const requests = { createPlant: createPlant(store.token), getPlant: getPlant(store.token) }
  for (const name of ['createPlant', 'getPlant'] as const) {
    const title = `${name} beside the same route of a bare Fastify`
    const contest = { title, servers: { 'bare Fastify': bare, [name]: service } }
    const comparison = await compare({ ...contest, load: { ...load, request: requests[name] } }, effort)
    const ratio = comparison.contenders[1]?.ratios.cpuMicroseconds ?? Number.NaN
    const isWithin = ratio <= bounds[name]
    if (!isWithin) process.exitCode = 1
    const verdict = `${isWithin ? 'within' : 'ABOVE'} the bound of ${bounds[name]}`
    yield { ...comparison, note: `${name} costs ${ratio.toFixed(2)} times the CPU of the bare route: ${verdict}.` }
  }
}
