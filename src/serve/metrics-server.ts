// `--metrics-listen`: serves metrics to Prometheus at a separate address, which clients need not reach.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { ServeConfig } from '../config.ts'
import { AppError, codeOf, messageOf, OperatorError, SettingError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { createServer } from '../http/node-http.ts'
import type { Limits } from '../limits.ts'
import type { Metrics, ServerFigures } from '../observe/metrics.ts'

const connectionsMax = 20

/**
 * Serves the metrics at an address.
 *
 * @throws OperatorError if it cannot listen there.
 */
export async function serveMetrics(
  { host, port }: NonNullable<ServeConfig['metricsListen']>,
  metrics: Metrics,
  store: Store,
  figures: ServerFigures['server'],
  limits: Limits,
) {
  const server = createServer(
    { headersTimeout: limits.headersMsMax, requestTimeout: limits.requestMsMax, connectionsCheckingInterval: 1_000 },
    async ({ url = '', method = '' }, response) => {
      const answer = (status: number, body: string, fields?: Readonly<Record<string, string>>): void => {
        const common = { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' }
        response.writeHead(status, { ...common, ...fields }).end(body)
      }
      if (url.split('?', 1)[0] !== '/metrics') return answer(404, 'the metrics are at /metrics\n')
      if (method !== 'GET' && method !== 'HEAD')
        return answer(405, 'the metrics can only be read\n', { allow: 'GET, HEAD' })
      try {
        // An unavailable store has no size.
        const size = await store.measure().catch((cause) => {
          if (cause instanceof AppError) return undefined
          throw cause
        })
        const text = await metrics.text({ size, store, server: figures })
        answer(200, text, { 'content-type': metrics.contentType })
      } catch (cause) {
        answer(500, `the metrics cannot be read: ${cause}\n`)
      }
    },
  )
  server.maxConnections = connectionsMax
  server.listen({ host: host.replace(/^\[|\]$/g, ''), port })
  try {
    await once(server, 'listening')
  } catch (cause) {
    const Failure = codeOf(cause) === 'EACCES' ? SettingError : OperatorError
    const advice = `choose another --metrics-listen (${messageOf(cause)})`
    throw new Failure(`the metrics cannot be served at ${host}:${port}; ${advice}`, { cause })
  }
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
