// The reference for lists: Fastify with only a route that sends the bytes of a file.

import { readFile } from 'node:fs/promises'
import Fastify from 'fastify'

const page = await readFile(process.argv[2] ?? '', 'utf8')
const app = Fastify()
app.get('/plants', (_request, reply) => reply.type('application/json').send(page))
process.stderr.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
