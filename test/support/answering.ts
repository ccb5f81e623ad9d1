// Servers that answer every request as the test specifies, such as receivers of webhooks.

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type RequestListener, request as requestHttp } from 'node:http'
import { type RequestOptions, request as requestHttps } from 'node:https'
import type { AddressInfo, Server } from 'node:net'

export async function startAnswering(listener: RequestListener) {
  const server = createServer(listener)
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    [Symbol.asyncDispose]: async () => {
      server.close().closeAllConnections()
      await once(server, 'close')
    },
  }
}

export interface Received {
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly atMs: number
}

export type Answer = (received: Received, response: ServerResponse) => void

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** By default, all requests are accepted. */
export async function startReceiver(answer: Answer = (_, response) => void response.writeHead(204).end()) {
  const received: Received[] = []
  let [atOnce, atOnceMax] = [0, 0]
  const server = await startAnswering(async (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    for await (const text of request) body += text
    const { headers } = request
    const one = { id: String(headers['webhook-id']), headers, body, atMs: Date.now() }
    received.push(one)
    atOnce += 1
    atOnceMax = Math.max(atOnceMax, atOnce)
    response.once('close', () => {
      atOnce -= 1
    })
    answer(one, response)
  })
  return {
    url: `${server.url}/hook`,
    /** In the order in which the requests came. */
    received,
    /** The most requests that waited for their answers at the same time. */
    get atOnceMax() {
      return atOnceMax
    },
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
}

/** Sends a request, over HTTPS if there is a CA, and gives its whole answer. */
export async function ask(options: RequestOptions, body?: string) {
  const send = options.ca === undefined ? requestHttp : requestHttps
  const request = send({ host: '127.0.0.1', ...options })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const text = (await response.setEncoding('utf8').toArray()).join('')
  return { status: response.statusCode, headers: response.headers, body: text }
}

/** Has a server listen, and gives its port. */
export async function listen(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(port, host), 'listening')
  return (server.address() as AddressInfo).port
}

/** A port that nobody listens at, below those that systems give to servers and connections that ask for none. */
export async function freePort(host?: string): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const server = createServer()
    try {
      const port = await listen(server, randomInt(10_000, 32_000), host)
      server.close()
      await once(server, 'close')
      return port
    } catch (cause) {
      if (tries === 100) throw cause
    }
  }
}
