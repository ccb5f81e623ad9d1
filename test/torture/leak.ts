// Loaded before the server of a control: keeps a little of each request for ever.

import { Server } from 'node:http'

const kept: Buffer[] = []
const { emit } = Server.prototype

Server.prototype.emit = function emitAndKeep(this: Server, name: string | symbol, ...values: unknown[]): boolean {
  if (name === 'request') kept.push(Buffer.alloc(32_768, kept.length))
  return Reflect.apply(emit, this, [name, ...values])
}
