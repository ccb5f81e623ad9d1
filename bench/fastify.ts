// The reference for the service: Fastify with only a route that returns the request's body, and one that returns a
// plant.

import Fastify from 'fastify'

const app = Fastify()
app.post('/plants', async (request) => request.body)
app.get<{ Params: { id: string } }>('/plants/:id', async ({ params: { id } }) => ({
  id: Number(id),
  name: 'Monstera deliciosa',
  tag: 'aroid',
}))
process.stderr.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
