// A server on an open store: assembles it, starts it, and shuts it down without failing a request.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server as TlsServer } from 'node:tls'
import { jwtSettingsOf, type ServeConfig } from '../config.ts'
import type { Contract } from '../contract/contract.ts'
import { Webhooks } from '../deliver/webhooks.ts'
import { systemClock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { Observe } from '../domain/events.ts'
import type { Store } from '../domain/store.ts'
import { createAuthenticate, recordTokenUses, type VerifyJwt } from '../http/authenticate.ts'
import { ChangeStreams, changeHandlers, changeTraits } from '../http/changes.ts'
import { LargeAnswers } from '../http/large-answers.ts'
import type { Intercept } from '../http/operations.ts'
import { documentHandlers, documentTraits, siteHandlers } from '../http/pages/site.ts'
import { plantHandlers, plantTraits } from '../http/plants.ts'
import { RateLimiter } from '../http/rate-limit.ts'
import { Service } from '../http/service.ts'
import { Connections } from '../http/wire/connections.ts'
import { createParser } from '../http/wire/node-parser.ts'
import { createPeers } from '../http/wire/peers.ts'
import { openJwts } from '../identity/jwt.ts'
import type { Limits } from '../limits.ts'
import { readVersion, userAgent } from '../package.ts'
import type { KeyPair } from './key-pair.ts'
import { createServer, listen, tlsOptions } from './listen.ts'
import { startSweeping } from './sweeping.ts'

/** Listen backlog. The operating system may set a lower limit. */
const unacceptedConnectionsMax = 4_096
/** File descriptors reserved for the store, rejected connections, and everything else. */
const descriptorsKept = 192

export interface RunningServerOptions {
  readonly store: Store
  readonly contract: Contract
  readonly config: ServeConfig
  readonly keyPair?: KeyPair | undefined
  readonly observe: Observe
  readonly limits: Limits
  /** Aborted to stop the server. */
  readonly stopping: AbortSignal
  /** Maximum open files and sockets of the process. */
  readonly descriptorsMax: number
  readonly intercept?: Intercept
}

/** Starts a server. Throws OperatorError if it cannot listen, or has no keys for JWTs. */
export async function startServer(options: RunningServerOptions) {
  const { config, limits, stopping, keyPair, observe } = options
  let used = keyPair
  const jwt = jwtSettingsOf(config)
  const jwts = jwt && (await openJwts(jwt, { clock: systemClock, limits, observe }))
  const { server, connections, tokenUses, streams, beReady } = await composeServer(options, jwts?.verify)
  const scheme = keyPair === undefined ? 'http' : 'https'
  const url = await listen(server, config, scheme, unacceptedConnectionsMax)
  const webhooks = new Webhooks({
    store: options.store,
    clock: systemClock,
    random: Math.random,
    observe,
    limits,
    userAgent: userAgent(),
  })
  const sweeping = startSweeping(options.store, config.changesKept, systemClock, limits)
  const end = async (): Promise<void> => {
    if (!stopping.aborted) await once(stopping, 'abort')
    sweeping[Symbol.dispose]()
    streams.end()
    await Promise.all([connections.drain(server), webhooks[Symbol.asyncDispose]()])
    await Promise.race([tokenUses.stop(), sleep(limits.storeCloseMsMax)])
    await jwts?.[Symbol.asyncDispose]()
  }
  return {
    /** `unix:` and a path for a Unix socket. */
    url,
    connections,
    changeStreams: streams,
    webhooks,
    /** By the wall clock; undefined for plain HTTP. */
    get certificateExpiresAtMs() {
      return used?.expiresAtMs
    },
    /** Makes `/readyz` respond with 200. */
    beReady,
    /** Uses another certificate for new connections; open ones keep theirs. */
    useKeyPair: (pair: KeyPair): void => {
      used = pair
      ;(server as TlsServer).setSecureContext({ ...tlsOptions, cert: pair.cert, key: pair.key })
    },
    /** Resolves once the last connection closes after `stopping` aborted. */
    ended: end(),
  }
}

async function composeServer(options: RunningServerOptions, verifyJwt?: VerifyJwt) {
  const { store, contract, config, observe, limits, stopping, descriptorsMax, keyPair, intercept } = options
  let isReady = false
  const { publicUrl, rateLimit } = config
  const basePath = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')
  // A server at its limit can still answer open connections.
  const connectionsMax = Math.max(Math.min(limits.connectionsMax, descriptorsMax - descriptorsKept), 1)
  const serverLimits = { ...limits, connectionsMax }
  const newRequestId = newRequestIds()
  const largeAnswers = new LargeAnswers(limits)
  const tokenUses = recordTokenUses(store, systemClock, limits)
  const streams = new ChangeStreams(store, systemClock, limits, largeAnswers)
  const service = new Service({
    contract,
    handlers: {
      ...siteHandlers(readVersion(), basePath, contract),
      ...plantHandlers(store, basePath),
      ...changeHandlers(store, streams, basePath),
      ...documentHandlers(
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
    traits: { ...plantTraits, ...changeTraits, ...documentTraits },
    authenticate: createAuthenticate(tokenUses, systemClock, limits, verifyJwt),
    limits,
    allowedOrigins: config.corsOrigin,
    observe,
    largeAnswers,
    newRequestId,
    ...(rateLimit !== undefined && { rateLimiter: new RateLimiter(rateLimit, systemClock, limits) }),
    ...(intercept !== undefined && { intercept }),
  })
  const connections = new Connections({
    limits: serverLimits,
    clock: systemClock,
    service,
    openParser: createParser(limits),
    peers: createPeers(config.trustProxy),
    largeAnswers,
    newRequestId,
    readsPlainRequests: config.parser === 'fast',
    isStopping: () => stopping.aborted,
  })
  const server = await createServer(connections, serverLimits, keyPair)
  const beReady = (): void => {
    isReady = true
  }
  return { server, connections, tokenUses, streams, beReady }
}

/** Creates request ids: short, ascending, and distinct from those of other runs. */
function newRequestIds(): () => string {
  const run = randomBytes(5).readUIntBE(0, 5).toString(36).padStart(8, '0')
  let count = 0
  return () => {
    count += 1
    return `${run}-${count.toString(36)}`
  }
}
