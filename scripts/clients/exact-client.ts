import createClient, { type Client } from 'openapi-fetch'
import type { paths } from './exact.d.ts'
import { fromJson, toJson } from './exact-json.ts'

export function createExactClient(baseUrl: string, token: string): Client<paths> {
  return createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${token}` },
    bodySerializer: toJson,
    fetch: async (request) => {
      const response = await fetch(request)
      return Object.assign(response, { json: async () => fromJson(await response.text()) })
    },
  })
}
