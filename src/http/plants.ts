// The operations on plants.

import { AppError } from '../domain/errors.ts'
import { revisionOf } from '../domain/plant.ts'
import type { PlantQuery, Precondition, Store } from '../domain/store.ts'
import type { Handlers } from './operations.ts'

const pagePlantsDefault = 100

type PlantOperations = 'createPlant' | 'listPlants' | 'getPlant' | 'replacePlant' | 'deletePlant'

export function plantHandlers(store: Store): Pick<Handlers, PlantOperations> {
  return {
    async createPlant({ body: { id, name, tag }, headers: { 'Idempotency-Key': key }, caller }) {
      if (caller === undefined) throw new TypeError('createPlant is called by the holder of a token')
      const plant = tag === undefined ? { name } : { name, tag }
      const idempotencyKey = key === undefined ? undefined : { tokenId: caller.id, key }
      const outcome = await store.createPlant({ id, ...plant }, idempotencyKey)
      return {
        status: 200,
        headers: { location: `/plants/${id}`, ...(outcome === 'replayed' && { 'idempotency-replayed': 'true' }) },
        body: plant,
      }
    },

    async listPlants({ query: { after, tag, name: namePrefix, limit = pagePlantsDefault } }) {
      const query = { after, tag, namePrefix, limit }
      const { plants, nextAfter } = await store.listPlants(query)
      const body = [...plants]
      return nextAfter === undefined
        ? { status: 200, body }
        : { status: 200, headers: { link: `<${targetOf(query, nextAfter)}>; rel="next"` }, body }
    },

    async getPlant({ path: { id }, headers: { 'If-None-Match': ifNoneMatch } }) {
      const found = await store.getPlant(id)
      if (found === undefined) throw new AppError('unknownPlant', `id: there is no plant ${id}`)
      const plant = { id, ...found }
      const revision = revisionOf(plant)
      const headers = { etag: `"${revision}"` }
      // Weak comparison (RFC 9110, section 13.1.2).
      const isKnown = ifNoneMatch !== undefined && matches(ifNoneMatch.replaceAll('W/"', '"'), revision)
      return isKnown ? { status: 304, headers } : { status: 200, headers, body: plant }
    },

    async replacePlant({ path: { id }, body: { name, tag }, headers: { 'If-Match': ifMatch } }) {
      const plant = tag === undefined ? { name } : { name, tag }
      await store.replacePlant({ id, ...plant }, ifMatch === undefined ? undefined : toPrecondition(ifMatch))
      return { status: 200, headers: { etag: `"${revisionOf({ id, ...plant })}"` }, body: plant }
    },

    async deletePlant({ path: { id }, headers: { 'If-Match': ifMatch } }) {
      await store.deletePlant(id, ifMatch === undefined ? undefined : toPrecondition(ifMatch))
      return { status: 204 }
    },
  }
}

/** Where a page goes on: the same query after another id. */
function targetOf({ tag, namePrefix, limit }: PlantQuery, nextAfter: bigint): string {
  const parameters = Object.entries({ after: nextAfter, limit, tag, name: namePrefix })
  const texts = parameters.filter(([, value]) => value !== undefined)
  return `/plants?${texts.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`
}

/** Strong comparison (RFC 9110, section 13.1.1): a weak ETag is no revision and so is left out. */
function toPrecondition(ifMatch: string): Precondition {
  return ifMatch === '*' ? '*' : strongTags(ifMatch)
}

function matches(ifNoneMatch: string, revision: string): boolean {
  return ifNoneMatch === '*' || strongTags(ifNoneMatch).includes(revision)
}

function strongTags(list: string): string[] {
  return [...list.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag = '']) => (weak === undefined ? [tag] : []))
}
