// Header fields for browsers and caches, on every answer: also on those that Node.js and the short way make.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { plantJson, type RowRequest } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'

describe('every answer', () => {
  let service: Service
  before(async () => {
    service = await startService({})
    await service.client.create(7n, 'Aloe')
  })
  after(() => service[Symbol.asyncDispose]())

  /** The head of the answer to some bytes, in lower case. */
  async function headOf(bytes: string): Promise<string> {
    const socket = connect(service.port, '127.0.0.1')
    socket.end(bytes)
    const answer = (await socket.setEncoding('latin1').toArray()).join('')
    return answer.slice(0, answer.indexOf('\r\n\r\n')).toLowerCase()
  }

  test('is of the type that it says, whatever was asked', async () => {
    const host = 'Host: plants\r\n'
    const requests = {
      document: `GET /openapi.json HTTP/1.1\r\n${host}\r\n`,
      page: `GET / HTTP/1.1\r\n${host}Accept: text/html\r\n\r\n`,
      'no path': `GET /none HTTP/1.1\r\n${host}\r\n`,
      'no method': `BREW / HTTP/1.1\r\n${host}\r\n`,
      'not allowed': `PATCH /plants HTTP/1.1\r\n${host}\r\n`,
      options: `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
      preflight: `OPTIONS /plants HTTP/1.1\r\n${host}Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
      'no HTTP': 'hello\r\n\r\n',
      connect: `CONNECT a.example:443 HTTP/1.1\r\n${host}\r\n`,
      'bad path': `GET /plants/%zz HTTP/1.1\r\n${host}\r\n`,
      'large head': `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    }
    for (const [what, bytes] of Object.entries(requests)) {
      assert.match(await headOf(bytes), /\r\nx-content-type-options: nosniff(\r\n|$)/, what)
    }
  })

  test('that depends on a token is kept by no cache, on both ways', async () => {
    await using connection = await service.client.open()
    const none = { Authorization: '' }
    const requests: RowRequest[] = [
      { method: 'GET', target: '/plants' },
      { method: 'GET', target: '/plants/7' },
      { method: 'GET', target: '/plants/7' },
      { method: 'GET', target: '/plants/8' },
      { body: plantJson(7n, 'Aloe') },
      { method: 'PUT', target: '/plants/7', body: '{"name":"Aloe"}' },
      { method: 'DELETE', target: '/plants/9' },
      { method: 'GET', target: '/plants/7', headers: none },
      { method: 'GET', target: '/summary' },
    ]
    for (const parts of requests) {
      const { headers } = await connection.request(parts)
      assert.equal(headers.get('cache-control'), 'private, no-cache', JSON.stringify(parts))
    }
    for (const target of ['/openapi.json', '/docs']) {
      const { headers } = await connection.request({ method: 'GET', target })
      assert.equal(headers.get('cache-control'), undefined, 'it is the same for all')
    }
  })
})
