// The operations on plants.

import { AppError } from '../domain/errors.ts'
import { type Plant, revisionOf, unmetPrecondition, withoutId } from '../domain/plant.ts'
import type { PlantPage, PlantQuery, PlantStore } from '../domain/store.ts'
import { toPreconditions } from './input.ts'
import { freePage } from './large-answers.ts'
import type { Answer, Call, Handlers, TraitsOf } from './operations.ts'

export const pagePlantsDefault = 100

/**
 * One unit is the CPU time of reading one plant; docs/decisions/0007-lists.md has the measurements. Each operation
 * costs its worst case: depending on the store, one search or summary takes a hundred times as long as another.
 */
const changeUnits = 8
/** One unit pays for this many plants in a page. */
const plantsOfUnit = 5
const searchUnits = 400
const summaryUnits = 400

export const plantTraits: TraitsOf = {
  createPlant: {
    units: () => changeUnits,
    changedPlant: ({ body }) => body.id,
  },
  listPlants: {
    units: ({ query: { name, limit = pagePlantsDefault } }) =>
      (name === undefined ? 1 : searchUnits) + Math.floor(limit / plantsOfUnit),
  },
  getSummary: { units: () => summaryUnits },
  replacePlant: {
    units: () => changeUnits,
    changedPlant: ({ path }) => path.id,
  },
  deletePlant: { units: () => changeUnits, changedPlant: ({ path }) => path.id },
}

/** @param basePath path prefix of links in answers, such as `/store`, for clients behind a proxy that strips it. */
export function plantHandlers(store: PlantStore, basePath = ''): Pick<Handlers, keyof PlantStore> {
  function toAnswer(found: Plant | undefined, { path: { id }, headers }: Call<'getPlant'>): Answer<'getPlant'> {
    if (found === undefined) throw new AppError('unknownPlant', `id: there is no plant ${id}`)
    const revision = revisionOf(found.json)
    const etag = `"${revision}"`
    switch (unmetPrecondition(found.json, toPreconditions(headers['If-Match'], headers['If-None-Match']), revision)) {
      case 'ifMatch':
        throw new AppError('preconditionFailed', `If-Match: plant ${id} has changed since you read it; read it again`)
      case 'ifNoneMatch':
        return { status: 304, headers: { etag } }
      case undefined:
        return { status: 200, headers: { etag }, body: found.json }
    }
  }

  return {
    async createPlant({ body: plant, headers: { 'Idempotency-Key': key }, request: { caller } }) {
      if (caller === undefined) throw new TypeError('createPlant has a caller')
      const idempotencyKey = key === undefined ? undefined : { callerId: caller.id, key }
      const outcome = await store.createPlant(plant, idempotencyKey, caller.id)
      const location = `${basePath}/plants/${plant.id}`
      const headers = outcome === 'replayed' ? { location, 'idempotency-replayed': 'true' } : { location }
      return { status: 200, headers, body: withoutId(plant.json) }
    },

    listPlants({ query: { after, tag, name: namePrefix, limit = pagePlantsDefault }, headers, assertWanted }) {
      const query = { after, tag, namePrefix, limit }
      const found = store.listPlants(query, assertWanted)
      const answer = (page: PlantPage): Answer<'listPlants'> => answerOf(page, query, headers, basePath)
      return found instanceof Promise ? found.then(answer) : answer(found)
    },

    getPlant(call) {
      const found = store.getPlant(call.path.id)
      // A promise would cost as much as reading the plant.
      return found instanceof Promise ? found.then((plant) => toAnswer(plant, call)) : toAnswer(found, call)
    },

    async getSummary() {
      const { plants, tags, isExact } = await store.getSummary()
      return { status: 200, body: { plants, tags: [...tags], isExact } }
    },

    async replacePlant({ body: plant, headers, request: { caller } }) {
      const preconditions = toPreconditions(headers['If-Match'], headers['If-None-Match'])
      await store.replacePlant(plant, preconditions, caller?.id)
      return { status: 200, headers: { etag: `"${revisionOf(plant.json)}"` }, body: withoutId(plant.json) }
    },

    async deletePlant({ path: { id }, headers, request: { caller } }) {
      await store.deletePlant(id, toPreconditions(headers['If-Match'], headers['If-None-Match']), caller?.id)
      return { status: 204 }
    },
  }
}

function answerOf(
  { json, nextAfter, revision }: PlantPage,
  query: PlantQuery,
  headers: Call<'listPlants'>['headers'],
  basePath: string,
): Answer<'listPlants'> {
  const etag = `"${revision}"`
  const { ifNoneMatch } = toPreconditions(undefined, headers['If-None-Match'])
  if (ifNoneMatch === '*' || ifNoneMatch?.includes(revision)) {
    freePage(json)
    return { status: 304, headers: { etag } }
  }
  if (nextAfter === undefined) return { status: 200, headers: { etag }, body: json }
  const link = `<${basePath}${targetOf(query, nextAfter)}>; rel="next"`
  return { status: 200, headers: { link, etag }, body: json }
}

/** The link to the next page: the same query after another id. */
function targetOf({ tag, namePrefix, limit }: PlantQuery, nextAfter: bigint): string {
  const parameters = Object.entries({ after: nextAfter, limit, tag, name: namePrefix })
  const texts = parameters.filter(([, value]) => value !== undefined)
  return `/plants?${texts.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`
}
