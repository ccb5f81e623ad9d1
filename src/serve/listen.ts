// The server that accepts connections, over TCP, a Unix socket or TLS; and its address: a port, a Unix socket, or an
// inherited socket.

import { once } from 'node:events'
import { lstatSync, rmSync } from 'node:fs'
import { connect, createServer as createNetServer, type Server, type Socket } from 'node:net'
import type { ServeConfig } from '../config.ts'
import { codeOf, messageOf, OperatorError, SettingError } from '../domain/errors.ts'
import { type Connections, refusedConnectionsMax } from '../http/wire/connections.ts'
import type { Limits } from '../limits.ts'
import type { KeyPair } from './key-pair.ts'

/** TLS 1.2 is the oldest version that is still secure (RFC 8996). */
export const tlsOptions = { minVersion: 'TLSv1.2' } as const

/** Creates a server that can listen. @param keyPair if present, the server serves HTTPS only. */
export async function createServer(connections: Connections, limits: Limits, keyPair?: KeyPair): Promise<Server> {
  // A client that half-closes its side still gets its answer (RFC 9112, section 9.6).
  if (keyPair === undefined) {
    return createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => connections.add(socket))
  }
  const { createServer: createTlsServer } = await import('node:tls')
  const options = { ...tlsOptions, ...keyPair, ALPNProtocols: ['http/1.1'], handshakeTimeout: limits.headersMsMax }
  const server = createTlsServer({ ...options, noDelay: true }, (socket) => {
    // Only after the handshake, which a client that has ended its side cannot complete.
    socket.allowHalfOpen = true
    connections.add(socket)
  })
  server.on('connection', (socket: Socket) => connections.addHandshake(socket))
  // The handshake failed, or took too long: nothing can be sent.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  // `Connections` counts no handshakes.
  server.maxConnections = limits.connectionsMax + refusedConnectionsMax
  return server
}

export type Address = Pick<ServeConfig, 'host' | 'port' | 'listen'>

/**
 * Makes a server listen, and returns its URL: `unix:` and the path for a Unix socket.
 *
 * @param backlog maximum connections in the kernel's accept queue.
 * @throws OperatorError if it cannot listen there now; SettingError if it never can.
 */
export async function listen(server: Server, address: Address, scheme: string, backlog: number): Promise<string> {
  const { host, port, listen } = address
  const path = listen !== undefined && 'path' in listen ? listen.path : undefined
  try {
    if (path !== undefined) {
      await removeStaleSocket(path)
      // Every user of the machine may connect, as with a port; the folder's permissions restrict access.
      server.listen({ path, backlog, readableAll: true, writableAll: true })
    } else if (listen !== undefined && 'descriptor' in listen) {
      server.listen({ fd: listen.descriptor, backlog })
    } else {
      // Accept brackets around IPv6 addresses, as in URLs.
      server.listen({ port, host: host.replace(/^\[(.*)\]$/, '$1'), backlog })
    }
    if (!server.listening) await once(server, 'listening')
  } catch (cause) {
    throw cause instanceof OperatorError ? cause : explainListenFailure(cause, address)
  }
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return `unix:${path ?? bound ?? ''}`
  return `${scheme}://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}

/** A killed server leaves its socket behind, which refuses connections. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw new SettingError(`${path} exists and is not a socket; choose another with --listen`)
  const probe = connect(path)
  try {
    await once(probe, 'connect')
  } catch (error) {
    if (codeOf(error) !== 'ECONNREFUSED') throw error
    rmSync(path, { force: true })
    return
  } finally {
    probe.destroy()
  }
  throw new OperatorError(`another server listens on ${path}; stop it, or choose another path with --listen`)
}

/** An OperatorError where a restart may help: a missing address may appear later, such as during boot or failover. */
function explainListenFailure(cause: unknown, { host, port, listen }: Address): OperatorError {
  const code = codeOf(cause) ?? ''
  const message = messageOf(cause)
  if (listen !== undefined && 'descriptor' in listen) {
    const advice = 'systemd opens one for a service that has a .socket unit'
    return new SettingError(`fd:${listen.descriptor} is not a socket to listen on; ${advice} (${message})`, { cause })
  }
  if (listen !== undefined) {
    const { path } = listen
    // Node.js also reports EACCES for a missing folder.
    const isForbidden = ['EACCES', 'EPERM', 'EROFS'].includes(code)
    const length = Buffer.byteLength(path) > 100 ? ', whose path may have at most about 100 bytes' : ''
    const why = isForbidden
      ? `this user may not create the socket ${path}, or its folder does not exist`
      : `cannot listen on ${path}${length}: ${message}`
    return new SettingError(`${why}; choose another path with --listen`, { cause })
  }
  if (code === 'EACCES') {
    return new SettingError(`this user may not listen on port ${port}; choose one above 1023 with --port`, { cause })
  }
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is taken; choose another with --port, or 0 for any free one`,
    EADDRNOTAVAIL: `${host} is not an address of this machine; choose another with --host`,
    ENOTFOUND: `${host} is not an address of this machine; choose another with --host`,
  }
  return new OperatorError(reasons[code] ?? `cannot listen on ${host} port ${port}: ${message}`, { cause })
}
