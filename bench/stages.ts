// What the stages of a create and of a get cost, each called by itself, in the order in which they are taken; and what
// a whole request costs a server, by the short way of plain requests and by the long way.

import { systemClock } from '../src/cli/clock.ts'
import { newRequestIds } from '../src/cli/request-ids.ts'
import { mintToken } from '../src/cli/token.ts'
import { loadContract, type Operation } from '../src/contract/document.ts'
import { compileSerialisers } from '../src/contract/serialise.ts'
import { compileValidator } from '../src/contract/validate.ts'
import { allScopes } from '../src/domain/caller.ts'
import { revisionOf } from '../src/domain/plant.ts'
import type { Store } from '../src/domain/store.ts'
import { createAuthenticate } from '../src/http/authenticate.ts'
import { compileInput } from '../src/http/input.ts'
import { readPlainRequest } from '../src/http/plain-request.ts'
import { decodeJson } from '../src/json/decode.ts'
import { limits } from '../src/limits.ts'
import { engineOf } from '../src/store/open.ts'
import { makeStore, median, row } from './process.ts'

const callsAtOnce = 20_000
const rounds = 15
const plants = 100_000
const createsAtOnce = 64

/** CPU time of all threads of one call, in microseconds: the median of some rounds. */
async function cost(call: (index: number) => unknown): Promise<number> {
  const each: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage()
    for (let index = 0; index < callsAtOnce; index += 1) {
      const result = call(index)
      if (result instanceof Promise) await result
    }
    const { user, system } = process.cpuUsage(before)
    if (round > 0) each.push((user + system) / callsAtOnce)
  }
  return median(each)
}

const plant = { id: 1n, name: 'Monstera deliciosa', tag: 'aroid' }
const body = Buffer.from('{"id":1,"name":"Monstera deliciosa","tag":"aroid"}')

function requestOf(line: string, fields: readonly string[], content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${[line, 'Host: 127.0.0.1:3000', ...fields].join('\r\n')}\r\n\r\n`), content])
}

export async function benchStages(): Promise<void> {
  await using place = await makeStore()
  const engine = await engineOf(place.path)
  await using store = await engine.open(place.path, {
    ...{ exclusive: true, mayMake: true, clock: systemClock, limits, environment: process.env, observe: () => {} },
  })
  const operations = loadContract().operations
  const operation = (id: string): Operation => operations.find((each) => each.id === id) as Operation
  const { secret, ...token } = mintToken({ name: 'stages', scopes: allScopes })
  await store.createToken(token)
  const authorization = `Bearer ${secret}`
  for (let id = 1; id <= plants; id += createsAtOnce) await createSome(store, id)

  const common = await commonStages(store, authorization)
  print('getPlant', [...common, ...(await getStages(store, operation('getPlant'), authorization))])
  print('createPlant', [...common, ...(await createStages(store, operation('createPlant'), authorization))])
}

type Stages = readonly (readonly [stage: string, microseconds: number])[]

async function commonStages(store: Store, authorization: string): Promise<Stages> {
  const authenticate = createAuthenticate(store, systemClock, { ...limits, tokenTrustMs: 3_600_000 })
  await authenticate(authorization, ['plants:read'])
  const newRequestId = newRequestIds()
  return [
    ['name the request', await cost(newRequestId)],
    ['authenticate', await cost(() => authenticate.known(authorization, ['plants:read']))],
  ]
}

async function getStages(store: Store, operation: Operation, authorization: string): Promise<Stages> {
  const bytes = requestOf('GET /plants/12345 HTTP/1.1', [`Authorization: ${authorization}`], Buffer.alloc(0))
  const readInput = compileInput(operation, limits.jsonDepthMax)
  const serialise = compileSerialisers(operation).get(200)
  return [
    ['parse', await cost(() => readPlainRequest(bytes, limits))],
    [
      'parameters',
      await cost((index) => readInput({ params: { id: `${index}` }, query: '', headers: {}, body: null })),
    ],
    ['read the store', await cost((index) => store.getPlant(BigInt(((index * 7_919) % plants) + 1)))],
    ['ETag', await cost(() => revisionOf(plant))],
    ['encode', await cost(() => serialise?.(plant))],
  ]
}

async function createStages(store: Store, operation: Operation, authorization: string): Promise<Stages> {
  const fields = [`Authorization: ${authorization}`, 'Content-Type: application/json', `Content-Length: ${body.length}`]
  const bytes = requestOf('POST /plants HTTP/1.1', fields, body)
  const validate = compileValidator(operation.body ?? {}, 'the body')
  const readInput = compileInput(operation, limits.jsonDepthMax)
  const serialise = compileSerialisers(operation).get(200)
  const decoded = decodeJson(body, limits.jsonDepthMax)
  const decode = await cost(() => decodeJson(body, limits.jsonDepthMax))
  const validation = await cost(() => validate(decoded))
  const input = await cost(() => readInput({ params: {}, query: '', headers: {}, body }))
  let nextId = plants * 2
  const create = await cost((index) => {
    nextId += 1
    return index % createsAtOnce === 0 ? createSome(store, nextId * createsAtOnce) : undefined
  })
  return [
    ['parse', await cost(() => readPlainRequest(bytes, limits))],
    ['decode', decode],
    ['validate', validation],
    ['parameters', input - decode - validation],
    [`write the store, ${createsAtOnce} at once`, create],
    ['encode', await cost(() => serialise?.({ name: plant.name, tag: plant.tag }))],
  ]
}

/** Creates plants with the ids from one on, all at the same time. */
async function createSome(store: Store, firstId: number): Promise<void> {
  const { name, tag } = plant
  await Promise.all(
    Array.from({ length: createsAtOnce }, (_, index) => store.createPlant({ id: BigInt(firstId + index), name, tag })),
  )
}

function print(title: string, stages: Stages): void {
  const sum = stages.reduce((total, [, microseconds]) => total + microseconds, 0)
  const lines = [...stages, ['all of these', sum] as const].map(
    ([stage, us]) => `${row([''])}${us.toFixed(2).padStart(8)} us  ${stage}`,
  )
  process.stdout.write(`${title}\n${lines.join('\n')}\n\n`)
}
