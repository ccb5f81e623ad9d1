// The smallest server: a socket that responds to every chunk with the same bytes. It shows the limit of the load
// generator. Each chunk counts as one request, which is correct for small requests without pipelining.

import { createServer } from 'node:net'

const body = '{"name":"Monstera deliciosa","tag":"aroid"}'
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
)

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(answer))
  // The load generator resets its connections at the end.
  socket.on('error', () => socket.destroy())
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('a server on a port has an address')
  process.stderr.write(`http://127.0.0.1:${address.port}\n`)
})
