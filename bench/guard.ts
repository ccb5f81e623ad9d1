// Checks that createPlant, getPlant and listPlants have not become more expensive: bounds for their CPU time per request relative
// to a bare Fastify in the same run, and for the CPU time of each stage relative to JSON.parse. Takes a minute and
// exits with 1 if something is above its bound.

import type { OperationId } from '../src/contract/document.ts'
import { compare } from './in-turn.ts'
import { fillStore, sequence } from './plants.ts'
import { here, makeStore, serving, startAll } from './process.ts'
import { createPlant, getPlant, listPlants } from './requests.ts'
import type { Comparison } from './results.ts'
import { benchStages } from './stages.ts'

/** Multiples of the CPU of the bare route. Three runs on two cores had 1.45 to 1.59, 1.04 to 1.07 and 1.39 to 1.46. */
const requestBounds = { createPlant: 2.1, getPlant: 1.35, listPlants: 1.8 } as const
/**
 * Multiples of JSON.parse of a plant: above the highest of those twenty runs, and below twice the usual value, so that
 * a stage that becomes twice as expensive is noticed.
 */
const stageBounds: Partial<Readonly<Record<OperationId, Readonly<Record<string, number>>>>> = {
  getPlant: { authenticate: 0.7, parse: 4.6, parameters: 1.1, 'read the store': 8.6, ETag: 3.2, encode: 0.65 },
  createPlant: {
    authenticate: 0.7,
    parse: 6.2,
    decode: 4.3,
    validate: 1,
    'write the store, 64 at once': 52,
    encode: 0.65,
  },
}
const plants = 10_000
/** The median of many short rounds ignores rounds in which the machine had other work. */
const effort = { rounds: 8, roundSeconds: 1 } as const

export async function* benchGuard(): AsyncGenerator<Comparison> {
  yield* guardRequests()
  yield* guardStages()
}

async function* guardRequests(): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await fillStore(store, { plants, idOf: sequence })
  await using servers = await startAll([[here('contenders/fastify.ts')], serving(store)])
  const [bare, service] = servers.all
  const requests = {
    createPlant: createPlant(store.token),
    getPlant: getPlant(store.token),
    listPlants: listPlants(store.token, 'limit=100'),
  }
  for (const name of ['createPlant', 'getPlant', 'listPlants'] as const) {
    const request = requests[name]
    // A bare Fastify has no pages.
    const bareRequest = name === 'listPlants' ? requests.getPlant : request
    const title = `${name} beside a bare Fastify`
    const servers = { 'bare Fastify': { ...bare, request: bareRequest }, [name]: service }
    const comparison = await compare({ title, servers, load: { connections: 64, plants, request } }, effort)
    const ratio = comparison.contenders[1]?.ratios.cpuMicroseconds ?? Number.NaN
    yield { ...comparison, note: verdictOf([[name, ratio, requestBounds[name]]]) }
  }
}

async function* guardStages(): AsyncGenerator<Comparison> {
  for await (const comparison of benchStages(effort)) {
    const [operation, bounds] =
      Object.entries(stageBounds).find(([id]) => comparison.title.includes(id)) ?? ([comparison.title, {}] as const)
    const ratioOf = (stage: string): number =>
      comparison.contenders.find(({ name }) => name === stage)?.ratios.stageMicroseconds ?? Number.NaN
    const judged = Object.entries(bounds).map(
      ([stage, bound]) => [`${operation}, ${stage}`, ratioOf(stage), bound] as const,
    )
    yield { ...comparison, note: verdictOf(judged) }
  }
}

/** Names what is above its bound; the process then exits with 1. */
function verdictOf(judged: readonly (readonly [name: string, ratio: number, bound: number])[]): string {
  const above = judged.filter(([, ratio, bound]) => !(ratio <= bound))
  if (above.length === 0) return 'Within the bounds.'
  process.exitCode = 1
  return above
    .map(([name, ratio, bound]) => `ABOVE: ${name} costs ${ratio.toFixed(2)}; the bound is ${bound}.`)
    .join(' ')
}
