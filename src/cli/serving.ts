// A server on a store that is open: put together, started, and ended without failing a request.

import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { originsOf, publicUrlOf, type ServeConfig } from '../config.ts'
import { loadContract } from '../contract/document.ts'
import { AppError, OperatorError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import type { Store } from '../domain/store.ts'
import { createApp } from '../http/app.ts'
import { createAuthenticate } from '../http/authenticate.ts'
import { Connections } from '../http/connections.ts'
import { docsHandlers, findScalar, scalarScript } from '../http/docs.ts'
import { requestIdsFrom } from '../http/exchange.ts'
import type { Intercept } from '../http/operations.ts'
import { pageHandlers } from '../http/pages.ts'
import { plantHandlers } from '../http/plants.ts'
import { siteHandlers } from '../http/site.ts'
import type { Limits } from '../limits.ts'
import { systemClock } from './clock.ts'
import { newRequestIds } from './request-ids.ts'
import { readSite } from './site.ts'
import { readVersion } from './version.ts'

export interface ServingParts {
  readonly store: Store
  readonly config: Pick<ServeConfig, 'host' | 'port' | 'corsOrigin' | 'publicUrl'>
  readonly observe: Observe
  readonly limits: Limits
  /** Aborted when the server is to end. */
  readonly stopping: AbortSignal
  /** Files and sockets that the process may have open at once. */
  readonly descriptorsMax: number
  readonly intercept?: Intercept
}

export interface Serving {
  readonly url: string
  /** Says from now on that the server is ready. */
  beReady(): void
  /** Resolves once the last connection is closed, after `stopping` was aborted. */
  readonly ended: Promise<void>
}

/** Starts a server. Throws OperatorError when it cannot listen. */
export async function startServing(parts: ServingParts): Promise<Serving> {
  const { config, limits, stopping } = parts
  const { app, connections, beReady } = buildService(parts)
  await app.ready()
  const url = await listen(app.server, config, limits)
  const end = async (): Promise<void> => {
    if (!stopping.aborted) await once(stopping, 'abort')
    await drain(app.server, connections, limits)
  }
  return { url, beReady, ended: end() }
}

interface Service extends Pick<Serving, 'beReady'> {
  readonly app: ReturnType<typeof createApp>
  readonly connections: Connections
}

/** Puts a server together, which does nothing yet. */
export function buildService(parts: ServingParts): Service {
  const { store, config, observe, limits, stopping, descriptorsMax, intercept } = parts
  let isReady = false
  const contract = loadContract()
  const publicUrl = publicUrlOf(config.publicUrl)
  const basePath = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
  const newRequestId = newRequestIds()
  const requestIdOf = requestIdsFrom(newRequestId)
  const connections = new Connections({ limits, clock: systemClock, observe, requestIdOf })
  const site = readSite()
  const scalar = findScalar()
  const app = createApp({
    contract,
    handlers: {
      ...siteHandlers(site, readVersion(), new Map(scalar && [[scalarScript, scalar.script]]), basePath),
      ...docsHandlers(site, scalar),
      ...plantHandlers(store, basePath),
      ...pageHandlers(
        contract,
        () => {
          if (!isReady || stopping.aborted) {
            throw new AppError('shuttingDown', 'the server is starting or shutting down')
          }
          if (store.failed.aborted) throw new AppError('storeUnavailable', 'the store has failed')
          if (!store.isAvailable) throw new AppError('storeAway', 'the database cannot be reached')
        },
        publicUrl,
      ),
    },
    authenticate: createAuthenticate(store, systemClock, limits),
    limits: { ...limits, connectionsMax: connectionsMax(limits, descriptorsMax) },
    allowedOrigins: originsOf(config.corsOrigin),
    observe,
    connections,
    newRequestId,
    requestIdOf,
    isStopping: () => stopping.aborted,
    ...(intercept !== undefined && { intercept }),
  })
  const beReady = (): void => {
    isReady = true
  }
  return { app, connections, beReady }
}

async function listen(server: Server, { host, port }: ServingParts['config'], limits: Limits): Promise<string> {
  server.listen({ port, host, backlog: limits.unacceptedConnectionsMax })
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new OperatorError(whyNotListening(cause, host, port), { cause })
  }
  const address = server.address() as AddressInfo
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

function whyNotListening(cause: unknown, host: string, port: number): string {
  switch (cause instanceof Error && 'code' in cause ? cause.code : undefined) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is taken; choose another with --port, or 0 for any free one`
    case 'EACCES':
      return `this user may not listen on port ${port}; choose one above 1023 with --port`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine; choose another with --host`
  }
  return `cannot listen on ${host} port ${port}: ${cause instanceof Error ? cause.message : String(cause)}`
}

/** Some descriptors are kept for the store: a server that can take no connection can still answer those it has. */
function connectionsMax({ connectionsMax, descriptorsKept }: Limits, descriptorsMax: number): number {
  return Math.max(Math.min(connectionsMax, descriptorsMax - descriptorsKept), 1)
}

/**
 * Ends a server without failing a request: for a while every answer still asks its client to close the connection, so
 * that none is closed under a request that is on its way; then nobody is let in any more, idle connections are closed,
 * and at the end the rest is cut.
 */
async function drain(server: Server, connections: Connections, limits: Limits): Promise<void> {
  const { monotonicMs } = systemClock
  await sleep(limits.stopGraceMs)
  const graceEndedMs = monotonicMs()
  await connections.takeLast()
  const closed = once(server, 'close')
  // That of an HTTP server would close connections whose answer is not sent as a whole yet, too.
  NetServer.prototype.close.call(server)
  connections.goOn()
  const closeIdle = setInterval(() => connections.closeIdle(graceEndedMs - limits.stopGraceMs), limits.drainCheckMs)
  const cut = setTimeout(() => connections.closeAll(), limits.drainMsMax)
  await closed
  clearInterval(closeIdle)
  clearTimeout(cut)
  connections.stop()
}
