// Serves health checks and the OpenAPI document.

import { type Contract, servedDocument } from '../../contract/contract.ts'
import type { Handlers, TraitsOf } from '../operations.ts'
import type { Request } from '../request.ts'

const healthy = { status: 200, headers: { 'cache-control': 'no-store' }, body: { status: 'ok' } } as const

/** Load balancers poll health, so it costs no units. */
export const documentTraits: TraitsOf = { getLivez: { units: 0 }, getReadyz: { units: 0 } }

type PageOperations = 'getLivez' | 'getReadyz' | 'getOpenapiJson' | 'getOpenapiYaml'

/**
 * @param checkReady throws the AppError that requests would currently get.
 * @param publicUrl the URL of the service for clients; by default derived from each request.
 */
export function documentHandlers(
  contract: Contract,
  checkReady: () => void,
  publicUrl?: string,
): Pick<Handlers, PageOperations> {
  const documentFor = (request: Readonly<Request>) => servedDocument(contract, publicUrl ?? originOf(request))
  return {
    getLivez: () => healthy,
    getReadyz: () => {
      checkReady()
      return healthy
    },
    getOpenapiJson: ({ request }) => ({ status: 200, body: documentFor(request).json }),
    getOpenapiYaml: ({ request }) => ({ status: 200, body: documentFor(request).yaml }),
  }
}

/** Some values of Host, such as an empty one, form no valid URL. */
function originOf({ host, scheme }: Readonly<Request>): string | undefined {
  const origin = `${scheme}://${host}`
  return host !== undefined && URL.canParse(origin) ? origin : undefined
}
