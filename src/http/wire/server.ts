// The server that accepts connections: over TCP, a Unix socket or TLS.

import { createServer as createNetServer, type Server, type Socket } from 'node:net'
import type { Limits } from '../../limits.ts'
import { type Connections, refusedConnectionsMax } from './connections.ts'

/** A certificate chain and its private key, in PEM. */
export interface KeyPair {
  readonly cert: Buffer
  readonly key: Buffer
}

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
