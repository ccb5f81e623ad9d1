// Preloaded as a control: leaks memory at the same rate on slow and fast machines.

import { Socket } from 'node:net'

const keptBytes = 65_536
const keptEveryMs = 2

const kept: Buffer[] = []
const { write } = Socket.prototype

Socket.prototype.write = function writeAndKeep(this: Socket, ...values: unknown[]): boolean {
  const due = Math.floor(performance.now() / keptEveryMs)
  while (kept.length < due) kept.push(Buffer.alloc(keptBytes, 1 + (kept.length % 255)))
  return Reflect.apply(write, this, values)
}
