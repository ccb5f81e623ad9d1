// Serves the service's health and its document.

import { type Contract, servedDocument } from '../../contract/contract.ts'
import type { OperationId } from '../../contract/document.ts'
import type { Call, Handlers, TraitsOf } from '../operations.ts'

const healthy = { status: 200, headers: { 'cache-control': 'no-store' }, body: { status: 'ok' } } as const

/** Load balancers poll health, so it costs nothing. */
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
  const documentFor = (call: Call<OperationId>) => servedDocument(contract, publicUrl ?? originOf(call))
  return {
    getLivez: () => healthy,
    getReadyz: () => {
      checkReady()
      return healthy
    },
    getOpenapiJson: (call) => ({ status: 200, body: documentFor(call).json }),
    getOpenapiYaml: (call) => ({ status: 200, body: documentFor(call).yaml }),
  }
}

/** Some hosts do not form a valid URL, such as the empty one. */
function originOf({ host, scheme }: Pick<Call<OperationId>, 'host' | 'scheme'>): string | undefined {
  const origin = `${scheme}://${host}`
  return host !== undefined && URL.canParse(origin) ? origin : undefined
}
