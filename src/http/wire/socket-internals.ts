// Undocumented parts of Node.js's sockets. The server also works with a version that lacks them, at a higher cost
// (test/http/socket-internals.test.ts).

import { Socket } from 'node:net'

/**
 * One read buffer for all sockets. By default, Node.js allocates 64 KiB for each packet and frees most of it again,
 * which costs more than serving a plain request.
 */
const bytesReadAtOnce = 65_536
const buffer = Buffer.allocUnsafeSlow(bytesReadAtOnce)

/**
 * `net.Socket` has an option for a caller's buffer (`onread`), but Node.js creates the sockets of a server without it.
 * These are the internals that the option sets.
 */
interface SocketInternals {
  readonly _handle?: { readonly useUserBuffer?: (buffer: Buffer) => void } | null
  [part: symbol]: unknown
}

const [bufferPart, callbackPart, generatorPart] = findParts('kBuffer', 'kBufferCb', 'kBufferGen')

/**
 * Reads the bytes of a server's socket.
 *
 * @param take receives each piece, valid until it returns. If a version of Node.js has other internals, the socket
 * emits `data` instead.
 */
export function readSocket(socket: Socket, take: (bytes: Buffer) => void): void {
  socket.on('data', take)
  const parts = socket as unknown as SocketInternals
  if (bufferPart === undefined || callbackPart === undefined || generatorPart === undefined) return
  if (parts._handle?.useUserBuffer === undefined) return
  parts[bufferPart] = buffer
  parts[generatorPart] = null
  parts[callbackPart] = (length: number) => {
    take(buffer.subarray(0, length))
    return true
  }
  parts._handle.useUserBuffer(buffer)
}

function findParts(...names: readonly string[]): readonly (symbol | undefined)[] {
  const example = new Socket({ onread: { buffer: Buffer.alloc(1), callback: () => true } })
  const symbols = Object.getOwnPropertySymbols(example)
  return names.map((name) => symbols.find(({ description }) => description === name))
}

/** `_parent` is the TCP socket of a TLS socket. */
interface TlsSocket extends Socket {
  readonly _parent?: TlsSocket
  readonly encrypted?: boolean
}

/**
 * Resets a connection, so that the system discards unsent bytes. Unix sockets cannot be reset. Without `_parent`, the
 * system continues to send the bytes of a TLS socket.
 */
export function resetSocket(socket: TlsSocket): void {
  const carrier = socket._parent ?? socket
  if (carrier.remoteAddress === undefined || carrier.encrypted === true) socket.destroy()
  else carrier.resetAndDestroy()
}
