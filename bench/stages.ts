// The cost of each stage of a create and of a get, called by itself.

import { serialisers } from '../src/contract/compiled.ts'
import { loadContract, type Operation, type OperationId } from '../src/contract/document.ts'
import { bodyValidator } from '../src/contract/validators.ts'
import { allScopes } from '../src/domain/caller.ts'
import { systemClock } from '../src/domain/clock.ts'
import { revisionOf } from '../src/domain/plant.ts'
import type { Store } from '../src/domain/store.ts'
import { createAuthenticate } from '../src/http/authenticate.ts'
import { compileInput } from '../src/http/input.ts'
import { readPlainRequest } from '../src/http/wire/plain-request.ts'
import { decodeJson } from '../src/json/decode.ts'
import { limits } from '../src/limits.ts'
import { mintToken } from '../src/serve/new-token.ts'
import { newRequestIds } from '../src/serve/request-ids.ts'
import { engineOf } from '../src/store/open.ts'
import type { Effort } from './in-turn.ts'
import { makeStore } from './process.ts'
import { type Comparison, contendersOf, type Round } from './results.ts'

/** Calls per round, for stages of about a microsecond and for stages that wait for the disk. */
const calls = { short: 50_000, long: 5_000 } as const
const plants = 100_000
const createsAtOnce = 64

/** The function of a stage. Each call gets a new index. */
type Stage = (index: number) => unknown

/** Microseconds of CPU time per call, in all threads. */
async function measure(call: Stage, count: number): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < count; index += 1) {
    const result = call(index)
    if (result instanceof Promise) await result
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

const plant = { id: 1n, name: 'Monstera deliciosa', tag: 'aroid' }
const bodyText = '{"id":1,"name":"Monstera deliciosa","tag":"aroid"}'
const body = Buffer.from(bodyText)
/** The reference: none of our code, and about as expensive as the stages on every machine. */
const yardstick = 'for comparison: JSON.parse'

function requestOf(line: string, fields: readonly string[], content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${[line, 'Host: 127.0.0.1:3000', ...fields].join('\r\n')}\r\n\r\n`), content])
}

export async function* benchStages(effort: Effort): AsyncGenerator<Comparison> {
  await using place = await makeStore()
  const engine = await engineOf(place.path)
  await using store = await engine.open(place.path, {
    ...{ exclusive: true, mayMake: true, clock: systemClock, limits, environment: process.env, observe: () => {} },
  })
  const { secret, ...token } = mintToken({ name: 'stages', scopes: allScopes })
  await store.createToken(token)
  for (let id = 1; id <= plants; id += createsAtOnce) await createSome(store, id, createsAtOnce)
  const authenticate = createAuthenticate(store, systemClock, { ...limits, tokenTrustMs: 3_600_000 })
  const authorization = `Bearer ${secret}`
  await authenticate(authorization, ['plants:read'])
  const common = {
    'name the request': newRequestIds(),
    authenticate: () => authenticate.known(authorization, ['plants:read']),
  }
  yield await compareStages('getPlant', { ...common, ...getStages(store, authorization) }, effort)
  yield await compareStages('createPlant', { ...common, ...createStages(store, authorization) }, effort)
}

async function compareStages(
  id: OperationId,
  stages: Readonly<Record<string, Stage>>,
  effort: Effort,
): Promise<Comparison> {
  const all = Object.entries({ [yardstick]: () => JSON.parse(bodyText), ...stages })
  const measured = new Map<string, Round[]>(all.map(([name]) => [name, []]))
  // The first round lets V8 compile the code.
  for (let round = 0; round <= effort.rounds; round += 1) {
    for (const [name, call] of all) {
      const stageMicroseconds = await measure(call, name.startsWith('write') ? calls.long : calls.short)
      if (round > 0) measured.get(name)?.push({ stageMicroseconds })
    }
  }
  const contenders = contendersOf(measured)
  return {
    title: `The stages of ${id}, each called by itself`,
    setup: `${effort.rounds} rounds of ${calls.short} calls in turn, of writes ${calls.long}, CPU time of all threads a call, medians`,
    contenders,
    note: 'The rest of a request is reading from its socket and writing to it.',
  }
}

function operationOf(id: OperationId): Operation {
  const operation = loadContract().operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`the document has no operation ${id}`)
  return operation
}

function getStages(store: Store, authorization: string): Readonly<Record<string, Stage>> {
  const operation = operationOf('getPlant')
  const bytes = requestOf('GET /plants/12345 HTTP/1.1', [`Authorization: ${authorization}`], Buffer.alloc(0))
  const readInput = compileInput(operation, limits.jsonDepthMax)
  const serialise = serialisers[operation.id]
  return {
    parse: () => readPlainRequest(bytes, limits),
    parameters: (index) => readInput({ params: { id: `${index}` }, query: '', headers: {}, body: null }),
    'read the store': (index) => store.getPlant(BigInt(((index * 7_919) % plants) + 1)),
    ETag: () => revisionOf(plant),
    encode: () => serialise?.(plant),
  }
}

function createStages(store: Store, authorization: string): Readonly<Record<string, Stage>> {
  const operation = operationOf('createPlant')
  const fields = [`Authorization: ${authorization}`, 'Content-Type: application/json', `Content-Length: ${body.length}`]
  const bytes = requestOf('POST /plants HTTP/1.1', fields, body)
  const validate = bodyValidator('createPlant', 'the body')
  const serialise = serialisers[operation.id]
  const decoded = decodeJson(body, limits.jsonDepthMax)
  let nextId = 2 * plants
  return {
    parse: () => readPlainRequest(bytes, limits),
    decode: () => decodeJson(body, limits.jsonDepthMax),
    validate: () => validate(decoded),
    ...Object.fromEntries(
      [1, 8, 64].map((atOnce) => [
        `write the store, ${atOnce} at once`,
        (index: number) => {
          if (index % atOnce !== 0) return undefined
          const firstId = nextId
          nextId += atOnce
          return createSome(store, firstId, atOnce)
        },
      ]),
    ),
    encode: () => serialise?.({ name: plant.name, tag: plant.tag }),
  }
}

/** Creates plants with consecutive ids, all at the same time. */
async function createSome(store: Store, firstId: number, count: number): Promise<void> {
  const { name, tag } = plant
  await Promise.all(
    Array.from({ length: count }, (_, index) => store.createPlant({ id: BigInt(firstId + index), name, tag })),
  )
}
