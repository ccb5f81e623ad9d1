// Finds ids that no plant has, so that nobody has to invent one.

import { connectAside, isRefusal, readPage } from './api.js'
import type { PlantPage } from './client.js'

export const idMax = 2n ** 63n - 1n
const pageOfIds = 1_000
const pagesMax = 5

/** The first free id above another one, or else above the number of plants. Undefined if the server does not tell. */
export async function findFreeId(above?: bigint): Promise<bigint | undefined> {
  try {
    const client = connectAside()
    const start = above ?? BigInt((await client.getSummary()).plants)
    let free = start + 1n
    let after: string | undefined = String(start)
    for (let pages = 0; pages < pagesMax && after !== undefined; pages += 1) {
      const page: PlantPage = await readPage({ after, limit: pageOfIds }, client)
      for (const { id } of page.plants) if (id === free) free += 1n
      // The page has ids above the free one, or is the last.
      if (free <= (page.plants.at(-1)?.id ?? start) || page.next === undefined)
        return free > idMax && above !== undefined ? findFreeId() : free
      after = page.next
    }
    return undefined
  } catch (refusal) {
    if (isRefusal(refusal)) return undefined
    throw refusal
  }
}
