// Receives webhooks of a Plant Store: node receiver.js, with the secret in WEBHOOK_SECRET. Needs no packages.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? '').replace(/^whsec_/, ''), 'base64')
if (key.length === 0) throw new Error('set WEBHOOK_SECRET to what `plantstore webhook add` printed')
/** Changes that were handled. A real receiver stores their ids in the transaction that handles them. */
const handled = new Set()

function isSigned({ headers }, body) {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures = '' } = headers
  // An old request may be one that somebody recorded.
  if (Math.abs(Date.now() / 1_000 - Number(seconds)) > 300) return false
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  return signatures.split(' ').some((each) => {
    return each.length === expected.length && timingSafeEqual(Buffer.from(each), Buffer.from(expected))
  })
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString()
  if (!isSigned(request, body)) return response.writeHead(401).end()
  const id = request.headers['webhook-id']
  if (!handled.has(id)) console.log(id.split('_', 1)[0], body)
  handled.add(id)
  response.writeHead(204).end()
})
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () => {
  console.log(`receiving at http://127.0.0.1:${server.address().port}/`)
})
