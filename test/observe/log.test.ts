// The log: which events it contains, and the format of a line on a terminal and elsewhere.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, mock, test } from 'node:test'
import type { ErrorCode } from '../../src/domain/errors.ts'
import type { ServiceEvent } from '../../src/domain/events.ts'
import { limits } from '../../src/limits.ts'
import { createLog, type LogOptions } from '../../src/observe/log.ts'
import { TestClock } from '../store/suite.ts'

const finished = (status: number): ServiceEvent => ({
  kind: 'requestFinished',
  ...{ requestId: 'r-1', method: 'GET', path: '/plants/1', status, durationMs: 1.25, bytes: 9 },
})
const away: ServiceEvent = { kind: 'storeAway', cause: new Error('no route') }
const warning: ServiceEvent = { kind: 'storeWarning', message: 'the disk is slow' }

/** A moment that passes between two events. */
const second = 'second' as const

type Step = ServiceEvent | typeof second

function linesOf(
  { level, isTerminal, hasPriorities = false }: Partial<LogOptions> & Pick<LogOptions, 'level' | 'isTerminal'>,
  events: readonly Step[],
): string[] {
  const stream = new PassThrough({ encoding: 'utf8', highWaterMark: 100_000_000 })
  const clock = new TestClock()
  const observe = createLog({
    level,
    stream,
    isTerminal,
    hasPriorities,
    limits: { ...limits, logWaitingBytesMax: 100_000_000 },
    clock,
  })
  const { timers } = mock
  timers.enable({ apis: ['setTimeout'] })
  try {
    for (const event of events) {
      if (event === second) {
        clock.monotonic += 1_000
        timers.tick(1_000)
      } else {
        observe(event)
      }
    }
  } finally {
    timers.reset()
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
    assert.match(lines[2] ?? '', /^\[\d\d:\d\d:\d\d\] ERROR: the database cannot be reached: no route$/)
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
      { kind: 'jwtKeysAway', place, cause: 'connect ECONNREFUSED' },
      { kind: 'jwtKeysBack', place, awayMs: 12.3 },
    ]
    const lines = linesOf({ level: 'errors', isTerminal: true }, events)
    assert.match(lines[0] ?? '', /WARN: the keys of JWTs at \S+ cannot be renewed: connect ECONNREFUSED$/)
    assert.match(lines[1] ?? '', /INFO: the keys of JWTs at \S+ were fetched again after 12 ms$/)
  })

  test('of errors alone has failures and refusals by a limit, and no other request', () => {
    const events = [200, 404, 501, 413, 503].map(finished)
    const lines = linesOf({ level: 'errors', isTerminal: true }, events)
    const statuses = lines.map((line) => /plants\/1 (\d+)/.exec(line)?.[1])
    assert.deepEqual(statuses, ['413', '503'])
    assert.deepEqual(linesOf({ level: 'off', isTerminal: true }, events), [])
    const aborted = (['clientLeft', 'notRead', 'memoryShort'] as const).map(
      (reason): ServiceEvent => ({ kind: 'requestAborted', requestId: 'r-1', method: 'GET', path: '/plants', reason }),
    )
    const reasons = linesOf({ level: 'errors', isTerminal: false }, aborted).map((line) => JSON.parse(line).reason)
    assert.deepEqual(reasons, ['notRead', 'memoryShort'], 'cut off, not left')
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
    const refused = (status: number, error: ErrorCode): ServiceEvent => ({
      ...{ kind: 'requestRefused', requestId: 'r-2', status, clientAddress: '192.0.2.1', error },
    })
    const tooLarge = refused(431, 'headerFieldsTooLarge')
    const flood = [tooLarge, tooLarge, tooLarge, refused(503, 'overloaded'), tooLarge]
    const events: Step[] = [...flood, second, tooLarge, tooLarge, second, second, tooLarge, second]
    for (const level of ['errors', 'all'] as const) {
      const lines = linesOf({ level, isTerminal: false }, events).map((line) => JSON.parse(line))
      const found = lines.map(({ status, leftOut }) => [status, leftOut])
      assert.deepEqual(found, [
        [431, undefined],
        [503, undefined],
        [431, 2],
        [431, 1],
        [431, undefined],
      ])
      assert.match(lines[2]?.message, /^refused 431 headerFieldsTooLarge r-2, and 2 more since the last such line$/)
    }
  })

  test('of a store that fails for a minute has a line a second for each error, and where it comes from every ten', () => {
    const failedWith = (error: ErrorCode, cause: Error): ServiceEvent =>
      ({ ...finished(503), error, cause }) as ServiceEvent
    const full = new Error('database or disk is full')
    const minute = Array.from({ length: 60 }, (): Step[] => [
      ...Array.from({ length: 100 }, () => failedWith('storeFull', full)),
      ...Array.from({ length: 50 }, () => failedWith('storeUnavailable', new Error(`fsync ${Math.random()} failed`))),
      second,
    ])
    const later: Step[] = Array(600).fill(second)
    for (const level of ['errors', 'changes', 'all'] as const) {
      const lines = linesOf({ level, isTerminal: false }, [...minute, later, ...minute.slice(0, 2)].flat())
      assert.ok(lines.join('\n').length < 100_000, `${level}: ${lines.join('\n').length}`)
      const parsed = lines.map((line) => JSON.parse(line))
      const count = (error: ErrorCode): number =>
        parsed.filter((line) => line.error === error).reduce((sum, { leftOut = 0 }) => sum + 1 + leftOut, 0)
      assert.deepEqual([count('storeFull'), count('storeUnavailable')], [6_200, 3_100])
      assert.equal(parsed[0].stack, full.stack)
      assert.equal(parsed.filter(({ stack }) => stack !== undefined).length, 4)
      assert.ok(parsed.every(({ cause }) => /^(database or disk is full|fsync \S+ failed)$/.test(cause)))
    }
  })

  test('writes held lines before the server ends', () => {
    const events = [finished(500), finished(500), finished(500), { kind: 'serverStopped' } as const]
    const lines = linesOf({ level: 'errors', isTerminal: true }, events)
    assert.match(lines[1] ?? '', /and 1 more since the last such line$/)
    assert.match(lines[2] ?? '', /INFO: stopped$/)
  })

  test('has no lines that would wait for its reader for long, and says once how many it left out', () => {
    const stream = new PassThrough({ encoding: 'utf8' })
    const own = { limits: { ...limits, logWaitingBytesMax: 10 }, clock: new TestClock() }
    const observe = createLog({ level: 'all', stream, isTerminal: true, hasPriorities: false, ...own })
    stream.cork()
    for (const status of [200, 201, 204]) observe(finished(status))
    stream.uncork()
    for (const status of [404, 409]) observe(finished(status))
    const said = String(stream.read()).matchAll(/(?:plants\/1 | WARN: )(\d+)/g)
    const numbers = Array.from(said, ([, number]) => Number(number))
    assert.deepEqual(numbers, [200, 2, 404, 409])
  })

  test('has its priorities for the journal at the beginning of each line, and each thing once in it', () => {
    const lines = linesOf({ level: 'all', isTerminal: false, hasPriorities: true }, [finished(200), warning, away])
    const found = lines.map((line) => [line.slice(0, 3), JSON.parse(line.slice(3)).level])
    assert.deepEqual(found, [
      ['<6>', 'info'],
      ['<4>', 'warn'],
      ['<3>', 'error'],
    ])
    for (const line of lines) assert.equal(line.split('"message"').length - 1, 1)
  })
})
