// A server that answers every request as the test specifies.

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Answering extends AsyncDisposable {
  readonly url: string
}

export async function startAnswering(listener: RequestListener, port = 0): Promise<Answering> {
  const server = createServer(listener).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close().closeAllConnections()
      await once(server, 'close')
    },
  }
}
