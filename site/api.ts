// The server that served the page, and ids that are free.

import { base } from './address.js'
import { type NewPlant, PlantStoreClient, PlantStoreError } from './client.js'
import { record } from './log.js'
import { isSame } from './properties.js'
import { token } from './token.js'

const signedOut = new TypeError('this page is signed out')

/** Creates a client with short timeouts, since a person is waiting. Its requests are in the log. */
export function connect(secret = token.get(), fetch: typeof globalThis.fetch = record): PlantStoreClient {
  // What was still under way when the token was lost.
  if (secret === '') return new PlantStoreClient({ url: base, triesMax: 1, fetch: () => Promise.reject(signedOut) })
  return new PlantStoreClient({ url: base, token: secret, triesMax: 3, timeoutMs: 15_000, fetch })
}

/** For requests that nobody has asked for. The log shows them if a person wants to see them. */
export function connectAside(): PlantStoreClient {
  return connect(token.get(), (input, init) => record(input, init, true))
}

export function isRefusal(cause: unknown): cause is PlantStoreError {
  return cause instanceof PlantStoreError
}

/** The HTTP status of a failed call; undefined without an answer. */
export function statusOf(refusal: unknown): number | undefined {
  return refusal instanceof PlantStoreError ? refusal.status : undefined
}

/** The text that explains a failed call, with the number of the server's error. */
export function wordsOf(refusal: unknown): string {
  if (!(refusal instanceof PlantStoreError) || refusal.status === undefined) {
    return 'the server cannot be reached; try again'
  }
  return refusal.error === undefined ? refusal.message : `${refusal.message} (error ${refusal.error})`
}

/** Whether a plant is there with the same properties, such as one whose create got no answer. */
export async function isThere(plant: Pick<NewPlant, 'id'>, client = connect()): Promise<boolean> {
  try {
    return isSame(await client.getPlant(plant.id), plant)
  } catch (refusal) {
    // This token may not read: the server has the plant, be it equal or not.
    if ([403, 404].includes(statusOf(refusal) ?? 0)) return false
    throw refusal
  }
}

export const idMax = 2n ** 63n - 1n
const pageOfIds = 1_000
const idsReadMax = 20_000n

/**
 * Ids that are free as far as the first pages of plants say: those above another one, or else above the number of plants.
 * None if the server does not tell.
 */
export async function* freeIds(above?: bigint): AsyncGenerator<bigint, undefined> {
  const client = connectAside()
  try {
    const start = above ?? BigInt((await client.getSummary()).plants)
    let next = start + 1n
    for await (const { id } of client.listPlants({ after: String(start), limit: pageOfIds })) {
      for (; next < id; next += 1n) yield next
      next = id + 1n
      if (next > start + idsReadMax) break
    }
    for (; next <= idMax; next += 1n) yield next
    if (above !== undefined) yield* freeIds()
  } catch (refusal) {
    // This token may not read.
    if (statusOf(refusal) !== 403) throw refusal
  }
}
