// The emptiest server: a socket that answers whatever it is sent with the same bytes. It shows what the load generator
// can do at most. It takes each chunk for one request, which holds for small requests that are not pipelined.

import { createServer } from 'node:net'

const body = '{"name":"Monstera deliciosa","tag":"aroid"}'
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
)

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(answer))
  // The load generator cuts its connections off when its time is up.
  socket.on('error', () => socket.destroy())
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('a server on a port has an address')
  process.stderr.write(`http://127.0.0.1:${address.port}\n`)
})
