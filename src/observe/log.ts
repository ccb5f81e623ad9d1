// The log: a line for each event that its level lets through, as text on a terminal and as JSON elsewhere.

import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import { pino } from 'pino'
import type { Clock } from '../domain/clock.ts'
import type { AbortReason, Observe, RequestFinished, ServiceEvent } from '../domain/events.ts'

export interface LogOptions {
  /**
   * `errors`: failures of the server, refusals and ends by a limit, and its own life; `changes`: what became of plants,
   * too; `all`: every request.
   */
  readonly level: 'all' | 'changes' | 'errors' | 'off'
  readonly stream: Writable
  readonly isTerminal: boolean
  /** Bytes that may wait for their reader; lines past them are counted and dropped. */
  readonly waitingBytesMax: number
  /** Between two lines of refusals by a limit with the same status, at any level but `all`. */
  readonly limitLineMs: number
  readonly clock: Clock
}

/** The events that can become a line. */
type LoggedEvent = Exclude<ServiceEvent, { kind: 'changesCommitted' }>

const levelColours = { error: 'red', warn: 'yellow', info: 'green' } as const

/**
 * Refusals that a limit of the server brought about, whatever the request asked for. Who asks too often (429) is counted
 * by the metrics: a line for each would be what fills the disk.
 */
const limitStatuses = new Set([408, 413, 431])

export function createLog({ level, stream, isTerminal, waitingBytesMax, limitLineMs, clock }: LogOptions): Observe {
  if (level === 'off') return () => {}
  const logger = createLogger(stream, isTerminal)
  const thinning = new Thinning(limitLineMs, clock)
  let dropped = 0
  return (event) => {
    // Of interest to the metrics alone.
    if (event.kind === 'changesCommitted') return
    if (level !== 'all' && isOrdinary(event) && !(level === 'changes' && isChange(event))) return
    // A reader that does not read must not fill the memory.
    if (stream.writableLength > waitingBytesMax) {
      dropped += 1
      return
    }
    const limitStatus = level === 'all' ? undefined : limitStatusOf(event)
    const leftOut = limitStatus === undefined ? 0 : thinning.pass(limitStatus)
    if (leftOut === undefined) return
    if (dropped > 0)
      logger.warn({ event: 'linesDropped', lines: dropped }, `${dropped} lines were dropped: nobody read the log`)
    dropped = 0
    write(logger, event, leftOut)
  }
}

/** Lets one refusal of each status through in a while: anybody can bring about thousands a second. */
class Thinning {
  readonly #lineMs: number
  readonly #clock: Clock
  /** By status: when the next one is let through, and how many were left out since the last one. */
  readonly #states = new Map<number, { readonly nextMs: number; leftOut: number }>()

  constructor(lineMs: number, clock: Clock) {
    this.#lineMs = lineMs
    this.#clock = clock
  }

  /** Gives how many were left out before one that is let through; undefined for one that is left out. */
  pass(status: number): number | undefined {
    const state = this.#states.get(status)
    const nowMs = this.#clock.monotonicMs()
    if (state !== undefined && nowMs < state.nextMs) {
      state.leftOut += 1
      return undefined
    }
    this.#states.set(status, { nextMs: nowMs + this.#lineMs, leftOut: 0 })
    return state?.leftOut ?? 0
  }
}

/** What pino has of a level: the fields of a line, and its sentence. */
type Logger = Record<'error' | 'warn' | 'info', (fields: object, sentence: string) => void>

function createLogger(stream: Writable, isTerminal: boolean): Logger {
  if (isTerminal) return createTerminalLogger(stream)
  const options = { base: null, messageKey: 'message', timestamp: () => `,"time":"${new Date().toISOString()}"` }
  return pino({ ...options, formatters: { level: (label) => ({ level: label }) } }, stream)
}

/** For people: the time, the level and the sentence. */
function createTerminalLogger(stream: Writable): Logger {
  const at =
    (level: keyof Logger) =>
    (_fields: object, sentence: string): void => {
      const name = styleText(levelColours[level], level.toUpperCase(), { stream })
      stream.write(`[${new Date().toTimeString().slice(0, 8)}] ${name}: ${sentence}\n`)
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

/** The status of a refusal that a limit of the server brought about, such as that of one connection too many. */
function limitStatusOf(event: ServiceEvent): number | undefined {
  if (event.kind === 'requestRefused') return event.status
  return event.kind === 'requestFinished' && limitStatuses.has(event.status) ? event.status : undefined
}

/** Whether a plant was created, replaced or deleted. */
function isChange(event: ServiceEvent): boolean {
  return event.kind === 'requestFinished' && event.plantId !== undefined && event.status < 300
}

/** 501 says that the request asked for something unknown, not that the server failed. */
function isFailure(status: number): boolean {
  return status >= 500 && status !== 501
}

/** @param leftOut events like this one that have no line of their own. */
function write(logger: Logger, event: LoggedEvent, leftOut: number): void {
  const { kind, ...details } = event
  const fields = {
    event: kind,
    ...details,
    // The sentence says it.
    ...('message' in details && { message: undefined }),
    ...('cause' in details && { cause: describe(details.cause) }),
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

function describe(cause: unknown): string | undefined {
  if (cause === undefined) return undefined
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
