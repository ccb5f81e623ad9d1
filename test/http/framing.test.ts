// The framing corpus against a service with short limits: each case gets its answers, and its connection goes on or
// ends, as designed; nobody else notices.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Service, startService } from '../support/service.ts'
import { framingCorpus } from './framing/corpus.ts'
import { FramingRunner, framingLimits, ofFirstRequests } from './framing/run.ts'

// The first request of a connection never goes the short way of plain requests; those behind it may.
for (const isInUse of [false, true]) {
  describe(`the framing corpus on ${isInUse ? 'connections in use' : 'new connections'}`, () => testCorpus(isInUse))
}

function testCorpus(isInUse: boolean): void {
  let service: Service
  let runner: FramingRunner

  before(async () => {
    service = await startService(framingLimits)
    runner = new FramingRunner({ port: service.port, token: service.client.token })
  })

  after(() => service[Symbol.asyncDispose]())

  test('has at least 120 cases, each with a name of its own', () => {
    const names = framingCorpus.map(({ name }) => name)
    assert.ok(names.length >= 120)
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  })

  // Most of the time is waited: for limits, and for the ends of connections.
  describe('is answered as designed', { concurrency: 32 }, () => {
    for (const framingCase of framingCorpus) {
      if (isInUse && ofFirstRequests.includes(framingCase.name)) continue
      test(framingCase.name, async () => assert.equal(await runner.run(framingCase, isInUse), undefined))
    }
  })

  test('has no request seen that was not sent as one, and no failure', () => {
    const seen = service.events.filter((event) => 'path' in event && event.path.includes('smuggled'))
    assert.deepEqual(seen, [])
    const failed = service.events.filter((event) => 'status' in event && event.status === 500)
    assert.deepEqual(failed, [])
  })
}
