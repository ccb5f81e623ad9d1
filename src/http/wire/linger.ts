// The end of a connection whose client may still be sending.

import type { Socket } from 'node:net'

/**
 * Ends a connection, but reads on until the client has ended it, too, for a while: closed with something unread, the
 * system would reset it, and what the client has not read yet of the last answers would be lost (RFC 9112, section 9.6).
 */
export function endInTime(socket: Socket, lingerMsMax: number): void {
  socket.end(() => {
    const timer = setTimeout(() => socket.destroy(), lingerMsMax)
    socket.once('close', () => clearTimeout(timer))
  })
}

/** `_parent` is what a TLS socket is written to. */
interface TlsSocket extends Socket {
  readonly _parent?: TlsSocket
  readonly encrypted?: boolean
}

/**
 * Ends a connection at once, with what the system has still to send on it. Unix sockets keep nothing of it. On a Node.js
 * that has moved `_parent` (test/http/node-internals.test.ts), the system goes on sending what it has of a TLS socket.
 */
export function reset(socket: TlsSocket): void {
  const carrier = socket._parent ?? socket
  if (carrier.remoteAddress === undefined || carrier.encrypted === true) socket.destroy()
  else carrier.resetAndDestroy()
}
