// What the service says of itself: its health and its document.

import type { Contract } from '../contract/document.ts'
import type { Handlers } from './operations.ts'

const healthy = { status: 200, headers: { 'cache-control': 'no-store' }, body: { status: 'ok' } } as const

type PageOperations = 'getLivez' | 'getReadyz' | 'getOpenapiJson' | 'getOpenapiYaml'

/** @param checkReady throws the AppError that requests would fail with now. */
export function pageHandlers(contract: Contract, checkReady: () => void): Pick<Handlers, PageOperations> {
  return {
    getLivez: () => healthy,
    getReadyz: () => {
      checkReady()
      return healthy
    },
    getOpenapiJson: () => ({ status: 200, body: contract.json }),
    getOpenapiYaml: () => ({ status: 200, body: contract.yaml }),
  }
}
