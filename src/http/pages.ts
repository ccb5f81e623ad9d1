// What the service says of itself: its health and its document.

import type { Contract } from '../contract/document.ts'
import { prepareDocument } from '../contract/served.ts'
import type { Handlers } from './operations.ts'

const healthy = { status: 200, headers: { 'cache-control': 'no-store' }, body: { status: 'ok' } } as const

type PageOperations = 'getLivez' | 'getReadyz' | 'getOpenapiJson' | 'getOpenapiYaml'

/**
 * @param checkReady throws the AppError that requests would fail with now.
 * @param publicUrl where clients reach the service; unless given, where each of them says that it does.
 */
export function pageHandlers(
  contract: Contract,
  checkReady: () => void,
  publicUrl?: string,
): Pick<Handlers, PageOperations> {
  const documentAt = prepareDocument(contract)
  const publicDocument = publicUrl === undefined ? undefined : documentAt(publicUrl)
  return {
    getLivez: () => healthy,
    getReadyz: () => {
      checkReady()
      return healthy
    },
    getOpenapiJson: ({ host }) => ({ status: 200, body: (publicDocument ?? documentAt(originOf(host))).json }),
    getOpenapiYaml: ({ host }) => ({ status: 200, body: (publicDocument ?? documentAt(originOf(host))).yaml }),
  }
}

/** A host may be such that no URL has it, as the empty one. */
function originOf(host: string | undefined): string | undefined {
  const origin = `http://${host}`
  return host !== undefined && URL.canParse(origin) ? origin : undefined
}
