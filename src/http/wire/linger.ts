// Ends connections whose clients may still be sending.

import type { Socket } from 'node:net'

/**
 * Ends a connection, but reads until the client ends it, too, or the time is up. If the socket closed with unread bytes,
 * the system would reset the connection, and the client would lose the unread rest of the last responses (RFC 9112,
 * section 9.6).
 */
export function endInTime(socket: Socket, lingerMsMax: number): void {
  socket.end(() => {
    const timer = setTimeout(() => socket.destroy(), lingerMsMax)
    socket.once('close', () => clearTimeout(timer))
  })
}

/** `_parent` is the TCP socket of a TLS socket. */
interface TlsSocket extends Socket {
  readonly _parent?: TlsSocket
  readonly encrypted?: boolean
}

/**
 * Resets a connection, so that the system discards unsent bytes. Unix sockets have none. If a version of Node.js has
 * moved `_parent` (test/http/node-internals.test.ts), the system continues to send the bytes of a TLS socket.
 */
export function reset(socket: TlsSocket): void {
  const carrier = socket._parent ?? socket
  if (carrier.remoteAddress === undefined || carrier.encrypted === true) socket.destroy()
  else carrier.resetAndDestroy()
}
