// The log: which events become a line, and what a line looks like on a terminal and elsewhere.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { createLog, type LogOptions } from '../../src/observe/log.ts'
import { TestClock } from '../store/suite.ts'

const finished = (status: number): ServiceEvent => ({
  kind: 'requestFinished',
  ...{ requestId: 'r-1', method: 'GET', path: '/plants/1', status, durationMs: 1.25, bytes: 9 },
})
const away: ServiceEvent = { kind: 'storeAway', cause: new Error('no route') }
const warning: ServiceEvent = { kind: 'storeWarning', message: 'the disk is slow' }

/** A moment that passes between two events. */
const second: unique symbol = Symbol('second')

function linesOf(
  options: Pick<LogOptions, 'level' | 'isTerminal'>,
  events: readonly (ServiceEvent | typeof second)[],
): string[] {
  const stream = new PassThrough({ encoding: 'utf8' })
  const clock = new TestClock()
  const observe = createLog({ ...options, stream, waitingBytesMax: 1_000_000, limitLineMs: 1_000, clock })
  for (const event of events) {
    if (event === second) clock.monotonic += 1_000
    else observe(event)
  }
  return String(stream.read() ?? '')
    .split('\n')
    .slice(0, -1)
}

describe('the log', () => {
  test('on a terminal is the time, the level and a sentence', () => {
    const lines = linesOf({ level: 'all', isTerminal: true }, [finished(200), warning, away])
    assert.match(lines[0] ?? '', /^\[\d\d:\d\d:\d\d\] INFO: GET \/plants\/1 200 in 1\.3 ms r-1$/)
    assert.match(lines[1] ?? '', /^\[\d\d:\d\d:\d\d\] WARN: the disk is slow$/)
    assert.match(lines[2] ?? '', /^\[\d\d:\d\d:\d\d\] ERROR: the database cannot be reached: Error: no route$/)
  })

  test('elsewhere is one JSON object a line', () => {
    const [line = '', ...others] = linesOf({ level: 'all', isTerminal: false }, [finished(404)])
    assert.deepEqual(others, [])
    const { time, ...fields } = JSON.parse(line)
    assert.ok(Date.parse(time) > 0)
    assert.deepEqual(fields, {
      ...{ level: 'info', event: 'requestFinished', requestId: 'r-1', method: 'GET', path: '/plants/1' },
      ...{ status: 404, durationMs: 1.25, bytes: 9, message: 'GET /plants/1 404 in 1.3 ms r-1' },
    })
  })

  test('tells of the keys of JWTs at every level but off', () => {
    const place = 'https://login.example/keys'
    const events: readonly ServiceEvent[] = [
      { kind: 'jwtKeysAway', place, cause: 'cannot be fetched: the answer was 500' },
      { kind: 'jwtKeysBack', place, awayMs: 12.3 },
    ]
    const lines = linesOf({ level: 'errors', isTerminal: true }, events)
    assert.match(
      lines[0] ?? '',
      /WARN: the keys of JWTs at https:\/\/login\.example\/keys cannot be fetched: the answer was 500$/,
    )
    assert.match(lines[1] ?? '', /INFO: the keys of JWTs at \S+ were had again after 12 ms$/)
  })

  test('of errors alone has failures and refusals by a limit, and no other request', () => {
    const events = [200, 404, 501, 413, 503].map(finished)
    const lines = linesOf({ level: 'errors', isTerminal: true }, events)
    assert.deepEqual(
      lines.map((line) => /plants\/1 (\d+)/.exec(line)?.[1]),
      ['413', '503'],
    )
    assert.deepEqual(linesOf({ level: 'off', isTerminal: true }, events), [])
  })

  test('has the changes alone, if they are wanted, and a readiness that is asked again and again not at all', () => {
    const change = { ...finished(200), plantId: '7' } as ServiceEvent
    const refused = { ...finished(409), plantId: '7' } as ServiceEvent
    const unready = { ...finished(503), operation: 'getReadyz' } as ServiceEvent
    const events = [finished(200), change, refused, unready, warning]
    const linesAt = (level: LogOptions['level']): unknown[] =>
      linesOf({ level, isTerminal: false }, events).map((line) => JSON.parse(line).status ?? JSON.parse(line).message)
    assert.deepEqual(linesAt('changes'), [200, 'the disk is slow'])
    assert.deepEqual(linesAt('errors'), ['the disk is slow'])
    assert.deepEqual(linesAt('all'), [200, 200, 409, 503, 'the disk is slow'])
  })

  test('has one line a second of the refusals by a limit, which says how many had none', () => {
    const refused = (status: number): ServiceEvent => ({
      ...{ kind: 'requestRefused', requestId: 'r-2', status, clientAddress: '192.0.2.1', error: 'overloaded' },
    })
    const flood = [431, 431, 431, 413].map(finished)
    const events: (typeof second | ServiceEvent)[] = [
      ...flood,
      refused(431),
      refused(503),
      refused(503),
      second,
      finished(431),
      second,
      finished(431),
    ]
    const lines = linesOf({ level: 'errors', isTerminal: false }, events).map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.map(({ status, leftOut }) => [status, leftOut]),
      [
        [431, undefined],
        [413, undefined],
        [503, undefined],
        [431, 3],
        [431, undefined],
      ],
    )
    assert.match(lines[3]?.message, /431 in 1\.3 ms r-1, and 3 more since the last such line$/)
    assert.equal(linesOf({ level: 'all', isTerminal: false }, events).length, 9)
    const failures = [finished(500), finished(500), finished(503), finished(503)]
    assert.equal(linesOf({ level: 'errors', isTerminal: false }, failures).length, 4)
  })

  test('says each thing once', () => {
    const [line = ''] = linesOf({ level: 'all', isTerminal: false }, [warning])
    assert.equal(line.split('"message"').length - 1, 1)
  })
})
