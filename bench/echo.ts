// What the service is measured against: Fastify with nothing but a route that answers with the body it was sent.

import Fastify from 'fastify'

const app = Fastify()
app.post('/plants', async (request) => request.body)
process.stderr.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
