// `--metrics-listen`: the metrics for Prometheus, at an address of their own, which clients of the service need not
// reach.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { AppError, codeOf, messageOf, OperatorError, SettingError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import { createServer } from '../http/wire/node-http.ts'
import type { Limits } from '../limits.ts'
import type { Metrics, ServerFigures } from '../observe/metrics.ts'
import type { CheckedKeyPair } from './key-pair.ts'
import type { RunningServer } from './running-server.ts'

export interface MetricsServer {
  readonly url: string
  close(): void
}

/** What is measured at each request. A store that cannot be used has no figures. */
export async function measure(
  store: Store,
  { connections }: Pick<RunningServer, 'connections'>,
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
    diskFreeBytes: size?.diskFreeBytes,
    backedUpAtMs: size?.backedUpAtMs,
    waitingJobs: store.waitingJobs,
    isAvailable: store.isAvailable,
    connections,
    certificateExpiresAtMs: certificate?.expiresAtMs,
  }
}

/**
 * Serves the metrics at an address such as `127.0.0.1:9464`.
 *
 * @throws OperatorError when it cannot listen there.
 */
export async function serveMetrics(
  address: string,
  metrics: Metrics,
  measure: () => Promise<ServerFigures>,
  limits: Limits,
): Promise<MetricsServer> {
  const answer = (response: ServerResponse, status: number, type: string, body: string): void => {
    const fields = {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'x-content-type-options': 'nosniff',
    }
    response.writeHead(status, fields).end(body)
  }
  const server = createServer(
    { headersTimeout: limits.headersMsMax, requestTimeout: limits.requestMsMax, connectionsCheckingInterval: 1_000 },
    ({ url = '', method = '' }, response) => {
      if (url.split('?', 1)[0] !== '/metrics') answer(response, 404, 'text/plain', 'the metrics are at /metrics\n')
      else if (method !== 'GET' && method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD')
        answer(response, 405, 'text/plain', 'the metrics can only be read\n')
      } else {
        measure()
          .then((figures) => metrics.text(figures))
          .then(
            (text) => answer(response, 200, metrics.contentType, text),
            (cause) => answer(response, 500, 'text/plain', `the metrics cannot be read: ${cause}\n`),
          )
      }
    },
  )
  // The oldest one makes room: open connections do not keep others out.
  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
    const [oldest] = connections
    if (connections.size > limits.metricsConnectionsMax) oldest?.destroy()
  })
  const [, host = '', port = ''] = /^(.*):([0-9]+)$/.exec(address) ?? []
  server.listen({ host: host.replace(/^\[|\]$/g, ''), port: Number(port) })
  try {
    await once(server, 'listening')
  } catch (cause) {
    const why = messageOf(cause)
    const isForbidden = codeOf(cause) === 'EACCES'
    const Failure = isForbidden ? SettingError : OperatorError
    throw new Failure(`the metrics cannot be served at ${address}; choose another --metrics-listen (${why})`, { cause })
  }
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
