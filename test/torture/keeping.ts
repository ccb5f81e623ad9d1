// The control of the framing torture: a plain server of Node.js that ends no connection and forgets nothing.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface KeepingServer extends AsyncDisposable {
  readonly port: number
  readonly process: ChildProcess
}

const keptBytes = 512 * 1024
const source = `import { createServer } from 'node:http'
const kept = []
const server = createServer((request, response) => response.end('answer'))
server.headersTimeout = server.requestTimeout = server.keepAliveTimeout = server.timeout = 0
server.on('clientError', () => {})
server.httpAllowHalfOpen = true
server.on('connection', (socket) => {
  kept.push(Buffer.alloc(${keptBytes}, 1))
  socket.destroy = socket.destroySoon = () => socket
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

export async function startKeepingServer(): Promise<KeepingServer> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  process.once('exit', kill)
  const [port] = await once(child.stdout.setEncoding('utf8'), 'data')
  return {
    port: Number(port),
    process: child,
    [Symbol.asyncDispose]: async () => {
      process.off('exit', kill)
      kill()
      await once(child, 'close')
    },
  }
}
