// The server that served the page, the token, and ids that are free.

import { base } from './address.js'
import { type ListQuery, type PlantPage, PlantStoreClient, PlantStoreError } from './client.js'
import { record } from './log.js'

const tokenKey = 'plantstore-token'
const places = [sessionStorage, localStorage]

export const token = {
  get: (): string => places.map((place) => place.getItem(tokenKey)).find((secret) => secret !== null) ?? '',
  /** @param stays beyond this tab, on this device. */
  keep: (secret: string, stays: boolean): void => {
    token.forget()
    places[stays ? 1 : 0]?.setItem(tokenKey, secret)
  },
  forget: (): void => {
    for (const place of places) place.removeItem(tokenKey)
  },
}

/** Creates a client with short timeouts, since a person is waiting. Its requests are in the log. */
export function connect(secret = token.get(), fetch: typeof globalThis.fetch = record): PlantStoreClient {
  return new PlantStoreClient({ url: base, token: secret, triesMax: 3, timeoutMs: 15_000, fetch })
}

/** For requests that nobody has asked for. The log shows them if a person wants to see them. */
export function connectAside(): PlantStoreClient {
  return connect(token.get(), (input, init) => record(input, init, true))
}

/** Reads the first page of a query. */
export async function readPage(query: ListQuery, client: PlantStoreClient): Promise<PlantPage> {
  const { done, value } = await client.listPlants(query).pages().next()
  return done === true ? { plants: [], next: undefined } : value
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

export const idMax = 2n ** 63n - 1n
const pageOfIds = 1_000

/**
 * An id above another one, or else above the number of plants, that is free as far as one page of plants says. Undefined
 * if the server does not tell.
 */
export async function findFreeId(above?: bigint): Promise<bigint | undefined> {
  try {
    const client = connectAside()
    const start = above ?? BigInt((await client.getSummary()).plants)
    const { plants } = await readPage({ after: String(start), limit: pageOfIds }, client)
    const gap = plants.findIndex(({ id }, at) => id !== start + BigInt(at + 1))
    const free = start + BigInt(gap === -1 ? plants.length : gap) + 1n
    return free > idMax && above !== undefined ? findFreeId() : free
  } catch (refusal) {
    if (isRefusal(refusal)) return undefined
    throw refusal
  }
}
