// `--metrics-listen`: serves metrics to Prometheus at a separate address, which clients need not reach.

import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address } from '../config.ts'
import { AppError, codeOf, messageOf, OperatorError, SettingError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { createServer } from '../http/wire/node-http.ts'
import type { Limits } from '../limits.ts'
import type { Metrics, ServerFigures } from '../observe/metrics.ts'
import type { CheckedKeyPair } from './key-pair.ts'
import type { RunningServer } from './running-server.ts'

const connectionsMax = 20

export interface MetricsServer {
  readonly url: string
  close(): void
}

/** Measures the gauges at each request. An unavailable store has none. */
export async function measure(
  store: Store,
  { connections, changeStreams, webhooks }: Pick<RunningServer, 'connections' | 'changeStreams' | 'webhooks'>,
  certificate: CheckedKeyPair | undefined,
): Promise<ServerFigures> {
  const size = await store.measure().catch((cause) => {
    if (cause instanceof AppError) return undefined
    throw cause
  })
  return {
    plants: size?.plants,
    storeBytes: size?.bytes,
    logBytes: size?.logBytes,
    changesBytes: size?.changesBytes,
    diskFreeBytes: size?.diskFreeBytes,
    backedUpAtMs: size?.backedUpAtMs,
    waitingJobs: store.waitingJobs,
    isAvailable: store.isAvailable,
    connections,
    changeStreams,
    webhooks,
    certificateExpiresAtMs: certificate?.expiresAtMs,
  }
}

/**
 * Serves the metrics at an address.
 *
 * @throws OperatorError if it cannot listen there.
 */
export async function serveMetrics(
  { host, port }: Address,
  metrics: Metrics,
  measure: () => Promise<ServerFigures>,
  limits: Limits,
): Promise<MetricsServer> {
  const server = createServer(
    { headersTimeout: limits.headersMsMax, requestTimeout: limits.requestMsMax, connectionsCheckingInterval: 1_000 },
    async ({ url = '', method = '' }, response) => {
      const answer = (status: number, body: string, fields?: OutgoingHttpHeaders): void => {
        const common = { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' }
        response.writeHead(status, { ...common, 'content-length': Buffer.byteLength(body), ...fields }).end(body)
      }
      if (url.split('?', 1)[0] !== '/metrics') return answer(404, 'the metrics are at /metrics\n')
      if (method !== 'GET' && method !== 'HEAD') return answer(405, '', { allow: 'GET, HEAD' })
      try {
        answer(200, await metrics.text(await measure()), { 'content-type': metrics.contentType })
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
    const why = messageOf(cause)
    const isForbidden = codeOf(cause) === 'EACCES'
    const Failure = isForbidden ? SettingError : OperatorError
    throw new Failure(`the metrics cannot be served at ${host}:${port}; choose another --metrics-listen (${why})`, {
      cause,
    })
  }
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
