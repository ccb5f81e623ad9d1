// The framing corpus against a service with short limits; no other client is affected.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Incoming } from '../../src/http/wire/incoming.ts'
import { Random } from '../power-loss/random.ts'
import { inRing, sampleOf } from '../support/ring.ts'
import { startSuite } from '../support/service.ts'
import { framingCorpus } from './framing/corpus.ts'
import { cutUp, FramingRunner, framingLimits, ofOnePacket } from './framing/run.ts'

test('a chunked body ends at its empty line, wherever a packet ends', () => {
  const [body, next] = ['1\r\na\r\n0\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n']
  for (let cut = 1; cut < body.length; cut += 1) {
    const incoming = new Incoming(1_000)
    incoming.beginBody({ 'transfer-encoding': 'chunked' })
    incoming.add(Buffer.from(body.slice(0, cut)))
    let taken = ''
    while (incoming.heldBytes > 0) taken += incoming.takePiece()
    incoming.add(Buffer.from(body.slice(cut) + next))
    while (!taken.endsWith('\r\n\r\n')) taken += incoming.takePiece()
    assert.equal(taken, body, `cut at ${cut}`)
  }
})

test('a head is found, and its method read, even if the one before it came in pieces', () => {
  const incoming = new Incoming(1_000)
  const [first, second] = [`GET /${'a'.repeat(50)} HTTP/1.1\r\n\r\n`, 'PUT / HTTP/1.1\r\n\r\n']
  incoming.add(Buffer.from(first.slice(0, 50)))
  assert.equal(incoming.takeHead(), undefined)
  incoming.add(Buffer.from(first.slice(50) + second))
  for (const head of [first, second]) assert.equal(String(incoming.takeHead()), head)
  assert.equal(incoming.method, 'PUT')
})

/** Those that also come in pieces. */
const inPieces = new Set(sampleOf(framingCorpus, inRing(3, 1)))

// The fast parser leaves all but plain requests to that of Node.js.
for (const parser of inRing(['fast'], ['fast', 'node'])) {
  describe(`the framing corpus, with --parser ${parser}`, async () => {
    const service = await startSuite(framingLimits, { parser })
    const runner = new FramingRunner(service)
    const random = new Random(1)

    // Most of the time is waited: for limits, and for the ends of connections.
    describe('is answered as designed', { concurrency: 32 }, () => {
      for (const framingCase of framingCorpus) {
        test(framingCase.name, async () => {
          assert.equal(await runner.run(framingCase, true), undefined)
          const isWhole = framingCase.isSlow || framingCase.fate === 'left' || ofOnePacket.includes(framingCase.name)
          if (isWhole || !inPieces.has(framingCase)) return
          assert.equal(await runner.run(framingCase, false, (bytes) => cutUp(bytes, random)), undefined, 'in pieces')
        })
      }
    })

    test('has no request seen that was not sent as one, and no failure', () => {
      const seen = service.events.filter((event) => 'path' in event && event.path.includes('smuggled'))
      assert.deepEqual(seen, [])
      const failed = service.events.filter((event) => 'status' in event && event.status === 500)
      assert.deepEqual(failed, [])
    })
  })
}
