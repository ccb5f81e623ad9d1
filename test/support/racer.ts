// A process that opens many connections, waits for a line on its input, sends one request on each at once, and prints
// the answers; what is refused for the time being is sent again. Arguments: port, token, the request's parts as JSON,
// connections.

import { once } from 'node:events'
import { Connection } from './client.ts'
import { Conformance } from './conformance.ts'

const [port, token = '', parts = '{}', count] = process.argv.slice(2)
const conformance = await Conformance.fetch(`http://127.0.0.1:${port}`)
const connections = await Promise.all(
  Array.from({ length: Number(count) }, () => Connection.open(Number(port), conformance, token)),
)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const answers = await Promise.all(connections.map((connection) => connection.requestUntilServed(JSON.parse(parts))))
const results = answers.map(({ status, headers, body }) => ({
  status,
  body,
  replayed: headers.has('idempotency-replayed'),
}))
process.stdout.write(`${JSON.stringify(results)}\n`)
process.exit()
