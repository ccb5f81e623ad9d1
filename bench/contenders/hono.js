// Hono on node:http, with the table of table.js.

import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { insertPlant, selectPlant } from './table.js'

const app = new Hono()
app.post('/plants', async (context) => {
  const plant = await context.req.json()
  insertPlant(plant)
  return context.json(plant)
})
app.get('/plants/:id', (context) => {
  const plant = selectPlant(context.req.param('id'))
  return plant === undefined ? context.notFound() : context.json(plant)
})
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.stderr.write(`http://127.0.0.1:${port}\n`)
})
