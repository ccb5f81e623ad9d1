// Express with the table of table.js.

import express from 'express'
import { insertPlant, selectPlant } from './table.js'

const app = express()
// No request has an ETag here. NODE_ENV=production would change nothing: it affects only templates and logged errors.
app.disable('etag').disable('x-powered-by')
app.use(express.json())
app.post('/plants', (request, response) => {
  insertPlant(request.body)
  response.json(request.body)
})
app.get('/plants/:id', (request, response) => {
  const plant = selectPlant(request.params.id)
  if (plant === undefined) response.sendStatus(404)
  else response.json(plant)
})
const server = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`http://127.0.0.1:${server.address().port}\n`)
})
