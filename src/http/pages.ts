// What the service says of itself: its health and its document.

import type { Contract } from '../contract/document.ts'
import { AppError } from '../domain/errors.ts'
import type { Handlers } from './operations.ts'

const healthy = { status: 200, headers: { 'cache-control': 'no-store' }, body: { status: 'ok' } } as const

type PageOperations = 'getLivez' | 'getReadyz' | 'getOpenapiJson' | 'getOpenapiYaml'

/** @param isReady whether requests can be served now. */
export function pageHandlers(contract: Contract, isReady: () => boolean): Pick<Handlers, PageOperations> {
  return {
    getLivez: () => healthy,
    getReadyz: () => {
      if (!isReady()) throw new AppError('shuttingDown', 'the server is starting or shutting down')
      return healthy
    },
    getOpenapiJson: () => ({ status: 200, body: contract.json }),
    getOpenapiYaml: () => ({ status: 200, body: contract.yaml }),
  }
}
