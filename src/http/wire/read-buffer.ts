// One buffer for what comes over all sockets. Left alone, Node.js allocates 64 KiB for each packet, and lets go of most
// of it again, which costs more than to serve a plain request.

import { Socket } from 'node:net'

const bytesReadAtOnce = 65_536
const buffer = Buffer.allocUnsafeSlow(bytesReadAtOnce)

/**
 * A socket can be made to read into a buffer of its owner's (`onread` in the documentation of node:net), but those of a
 * server are made by Node.js, which does not pass the option on. So it is set here, in the way the constructor does.
 */
interface SocketInternals {
  readonly _handle?: { readonly useUserBuffer?: (buffer: Buffer) => void } | null
  [part: symbol]: unknown
}

const [bufferPart, callbackPart, generatorPart] = findParts('kBuffer', 'kBufferCb', 'kBufferGen')

/**
 * Has the bytes of a server's socket read.
 *
 * @param take told of each piece, which is valid until it returns. The event `data` comes instead in a version of
 * Node.js whose sockets are made otherwise.
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
