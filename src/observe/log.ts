// The log: a line for each event that its level lets through, as text on a terminal and as JSON elsewhere.

import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import { type DestinationStream, pino } from 'pino'
import type { Clock } from '../domain/clock.ts'
import type { AbortReason, Observe, RequestFinished, ServiceEvent } from '../domain/events.ts'
import { Thinning } from './thinning.ts'

export interface LogOptions {
  /**
   * `errors`: failures of the server, refusals and ends by a limit, and its own life; `changes`: what became of plants,
   * too; `all`: every request.
   */
  readonly level: 'all' | 'changes' | 'errors' | 'off'
  readonly stream: Writable
  readonly isTerminal: boolean
  /** Whether lines begin with their priority, which the journal of systemd takes off (sd-daemon(3)). */
  readonly hasPriorities: boolean
  readonly limits: LogLimits
  readonly clock: Clock
}

export interface LogLimits {
  readonly logWaitingBytesMax: number
  readonly repeatedLineMs: number
  readonly repeatedStackMs: number
  readonly repeatedStacksMax: number
}

/** The events that can become a line. */
type LoggedEvent = Exclude<ServiceEvent, { kind: 'changesCommitted' }>

const levelColours = { error: 'red', warn: 'yellow', info: 'green' } as const
/** By pino's number of a level (RFC 5424, section 6.2.1). */
const priorities: Readonly<Record<number, number>> = { 30: 6, 40: 4, 50: 3 }

/**
 * Refusals by a limit of the server. Those of a caller over its own limit (429) are counted by the metrics.
 */
const limitStatuses = new Set([408, 413, 431])

export function createLog(options: LogOptions): Observe {
  const { level, stream, limits } = options
  if (level === 'off') return () => {}
  const logger = createLogger(options)
  const stackOf = stacksOf(limits, options.clock)
  let dropped = 0
  const say = (event: LoggedEvent, leftOut: number): void => {
    // A reader that does not read must not fill the memory.
    if (stream.writableLength > limits.logWaitingBytesMax) {
      dropped += 1
      return
    }
    if (dropped > 0)
      logger.warn(
        { event: 'linesDropped', lines: dropped },
        `${dropped} lines were dropped because the log was not read`,
      )
    dropped = 0
    write(logger, event, leftOut, 'cause' in event ? stackOf(event.cause) : undefined)
  }
  const thinning = new Thinning(limits.repeatedLineMs, say)
  return (event) => {
    // Of interest to the metrics alone.
    if (event.kind === 'changesCommitted') return
    if (level !== 'all' && isOrdinary(event) && !(level === 'changes' && isChange(event))) return
    if (event.kind === 'serverStopped') thinning.flush()
    const repeated = repeatedKindOf(event)
    if (repeated === undefined) say(event, 0)
    else thinning.take(repeated, event)
  }
}

/**
 * Gives the stack of a cause, unless it was shown a moment ago, or there is none: a failure that goes on would fill the
 * disk with it.
 */
function stacksOf({ repeatedStackMs, repeatedStacksMax }: LogLimits, clock: Clock) {
  /** When each was shown last, by its calls: the message of a failure may name what was asked for. */
  const shownMs = new Map<string, number>()
  return (cause: unknown): string | undefined => {
    if (!(cause instanceof Error) || cause.stack === undefined) return undefined
    const calls = cause.stack.replace(cause.message, '')
    const nowMs = clock.monotonicMs()
    if (nowMs < (shownMs.get(calls) ?? Number.NEGATIVE_INFINITY) + repeatedStackMs) return undefined
    if (shownMs.size >= repeatedStacksMax) shownMs.clear()
    shownMs.set(calls, nowMs)
    return cause.stack
  }
}

type LineFields = Readonly<Record<string, unknown>> & { readonly stack?: string }

/** What pino has of a level: the fields of a line, and its sentence. */
type Logger = Record<'error' | 'warn' | 'info', (fields: LineFields, sentence: string) => void>

function createLogger({ stream, isTerminal, hasPriorities }: LogOptions): Logger {
  if (isTerminal) return createTerminalLogger(stream)
  const options = { base: null, messageKey: 'message', timestamp: () => `,"time":"${new Date().toISOString()}"` }
  const destination = hasPriorities ? withPriorities(stream) : stream
  return pino({ ...options, formatters: { level: (label) => ({ level: label }) } }, destination)
}

/** pino tells such a destination the level of the line that it writes. */
function withPriorities(stream: Writable): DestinationStream {
  return {
    [Symbol.for('pino.metadata')]: true,
    write(this: { readonly lastLevel: number }, line: string) {
      stream.write(`<${priorities[this.lastLevel]}>${line}`)
    },
  } as DestinationStream
}

/** For people: the time, the level and the sentence, and where a failure comes from. */
function createTerminalLogger(stream: Writable): Logger {
  const at =
    (level: keyof Logger) =>
    ({ stack }: LineFields, sentence: string): void => {
      const name = styleText(levelColours[level], level.toUpperCase(), { stream })
      const below = stack === undefined ? '' : `${stack}\n`
      stream.write(`[${new Date().toTimeString().slice(0, 8)}] ${name}: ${sentence}\n${below}`)
    }
  return { error: at('error'), warn: at('warn'), info: at('info') }
}

function isOrdinary(event: ServiceEvent): boolean {
  // Asked several times a second; why it fails is a line of its own.
  if (event.kind === 'requestFinished' && event.operation === 'getReadyz' && event.status === 503) return true
  if (event.kind === 'requestAborted') return event.reason === 'clientLeft'
  return (
    (event.kind === 'requestFinished' || event.kind === 'requestRefused') &&
    !isFailure(event.status) &&
    !limitStatuses.has(event.status)
  )
}

/**
 * What an event has in common with others like it, if a client, or a disk that is full, can bring about thousands of
 * them a second that are logged at any level.
 */
function repeatedKindOf(event: ServiceEvent): string | undefined {
  if (event.kind === 'requestRefused') return event.error
  if (event.kind === 'requestAborted') return isOrdinary(event) ? undefined : event.reason
  if (event.kind !== 'requestFinished') return undefined
  const { status, error = String(status) } = event
  return isFailure(status) || limitStatuses.has(status) ? error : undefined
}

/** Whether a plant was created, replaced or deleted. */
function isChange(event: ServiceEvent): boolean {
  return event.kind === 'requestFinished' && event.plantId !== undefined && event.status < 300
}

/** 501 says that the request asked for something unknown, not that the server failed. */
function isFailure(status: number): boolean {
  return status >= 500 && status !== 501
}

/**
 * @param leftOut events like this one that have no line of their own.
 * @param stack of the event's cause, when it is to be shown.
 */
function write(logger: Logger, event: LoggedEvent, leftOut: number, stack: string | undefined): void {
  const { kind, ...details } = event
  const fields = {
    event: kind,
    ...details,
    // The sentence says it.
    ...('message' in details && { message: undefined }),
    ...('cause' in details && { cause: describe(details.cause) }),
    ...(stack !== undefined && { stack }),
    ...(leftOut > 0 && { leftOut }),
    ...('traceparent' in details && { traceparent: undefined, traceId: details.traceparent?.split('-')[1] }),
  }
  const more = leftOut === 0 ? '' : `, and ${leftOut} more since the last such line`
  logger[levelOf(event)](fields, sentence(event) + more)
}

function levelOf(event: LoggedEvent): 'error' | 'warn' | 'info' {
  if (event.kind === 'storeWarning' || event.kind === 'serverWarning' || event.kind === 'jwtKeysAway') return 'warn'
  const isError = event.kind === 'storeFailed' || event.kind === 'storeAway'
  return isError || ('status' in event && isFailure(event.status)) ? 'error' : 'info'
}

function sentence(event: LoggedEvent): string {
  switch (event.kind) {
    case 'serverListening':
      return `plantstore ${event.version} listens on ${event.url}, its store is ${event.store}`
    case 'serverStopping':
      return `stopping: ${event.reason}`
    case 'serverStopped':
      return 'stopped'
    case 'storeAway':
      return `the database cannot be reached: ${describe(event.cause)}`
    case 'storeBack':
      return `the database is back after ${event.awayMs.toFixed(0)} ms`
    case 'storeWarning':
    case 'serverWarning':
      return event.message
    case 'certificateLoaded':
      return `the certificate was read again; it expires at ${event.expires}`
    case 'jwtKeysAway':
      return `the keys of JWTs at ${event.place} ${event.cause}`
    case 'jwtKeysBack':
      return `the keys of JWTs at ${event.place} were had again after ${event.awayMs.toFixed(0)} ms`
    case 'storeFailed':
      return `the store has failed, the server ends: ${describe(event.cause)}`
    case 'requestFinished':
      return `${event.method} ${event.path} ${event.status} in ${event.durationMs.toFixed(1)} ms ${event.requestId}${reason(event)}`
    case 'requestAborted':
      return `${event.method} ${event.path} was not answered in full: ${abortReasons[event.reason]} ${event.requestId}`
    case 'requestRefused':
      return `refused ${event.status} ${event.error} ${event.requestId}`
  }
}

const abortReasons: Readonly<Record<AbortReason, string>> = {
  clientLeft: 'the client closed the connection',
  notRead: 'the client read nothing for too long',
  memoryShort: 'too many bytes waited to be read, and the client was the slowest reader',
  answerLate: 'the answer took longer than allowed',
  serverStopped: 'the server ended',
}

function reason({ error, cause }: RequestFinished): string {
  if (error === undefined) return ''
  return cause === undefined ? ` ${error}` : ` ${error}: ${describe(cause)}`
}

/** In one line. */
function describe(cause: unknown): string | undefined {
  if (cause === undefined) return undefined
  if (!(cause instanceof Error)) return String(cause)
  // Of several addresses of a host, each of which was tried.
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(describe).join('; ')
  return cause.message === '' ? cause.name : cause.message
}
