// node:http with only a route that returns the request's body, and one that returns a plant.

import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

const server = createServer(async (request, response) => {
  response.setHeader('Content-Type', 'application/json')
  try {
    const plant =
      request.method === 'POST'
        ? await json(request)
        : { id: Number(request.url?.split('/').at(-1)), name: 'Monstera deliciosa', tag: 'aroid' }
    response.end(JSON.stringify(plant))
  } catch (error) {
    response.statusCode = 400
    response.end(JSON.stringify({ message: String(error) }))
  }
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('a server on a port has an address')
  process.stderr.write(`http://127.0.0.1:${address.port}\n`)
})
