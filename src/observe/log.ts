// The log: one line per event at the configured level, as text on a terminal and as JSON elsewhere.

import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import type { Clock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import { abortReasons, type Observe, type ServiceEvent } from '../domain/events.ts'
import { pauseReasons } from '../domain/webhook.ts'
import type { Limits } from '../limits.ts'

/** Number of stacks remembered as logged. Above: all are forgotten. */
const repeatedStacksMax = 100

export interface LogOptions {
  /** docs/operating.md lists the lines of each level. */
  readonly level: 'all' | 'changes' | 'errors' | 'off'
  readonly stream: Writable
  readonly isTerminal: boolean
  /** Whether lines begin with a priority, which systemd's journal strips (sd-daemon(3)). */
  readonly hasPriorities: boolean
  readonly limits: Limits
  readonly clock: Clock
}

type LoggedEvent = Exclude<ServiceEvent, { kind: 'changesCommitted' | 'plantChanged' }>

/** By level: its colour on a terminal, and its priority for the journal (RFC 5424, section 6.2.1). */
const levels = {
  error: { colour: 'red', priority: 3 },
  warn: { colour: 'yellow', priority: 4 },
  info: { colour: 'green', priority: 6 },
} as const

/** Rejections by a limit of the server. A caller over its own limit (429) is counted in the metrics only. */
const limitStatuses = new Set([408, 413, 431])

export function createLog(options: LogOptions): Observe {
  const { level, stream, limits } = options
  if (level === 'off') return () => {}
  const writeLine = lineWriter(options)
  const stackOf = stacksOf(limits, options.clock)
  let dropped = 0
  const say = (event: LoggedEvent, leftOut: number): void => {
    // Drop lines rather than fill the memory when the log is not read.
    if (stream.writableLength > limits.logWaitingBytesMax) {
      dropped += 1
      return
    }
    const message = `${dropped} lines were dropped because the log was not read`
    if (dropped > 0) writeLine({ level: 'warn', event: 'linesDropped', lines: dropped, message })
    dropped = 0
    writeLine(lineOf(event, leftOut, 'cause' in event ? stackOf(event.cause) : undefined))
  }
  const thinning = thin(limits.repeatedLineMs, say)
  return (event) => {
    // For metrics only.
    if (event.kind === 'changesCommitted' || event.kind === 'plantChanged') return
    if (level !== 'all' && isOrdinary(event) && !(level === 'changes' && isChange(event))) return
    if (event.kind === 'serverStopped') thinning.flush()
    const repeated = repeatedKindOf(event)
    if (repeated === undefined) say(event, 0)
    else thinning.take(repeated, event)
  }
}

/** The stack of a cause, unless it was shown recently: a repeating failure would fill the disk. */
function stacksOf({ repeatedStackMs }: Limits, clock: Clock) {
  /** When each stack was last shown, keyed by its call frames, since messages may contain request data. */
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

interface Line {
  readonly level: keyof typeof levels
  readonly message: string
  readonly stack?: string | undefined
  readonly [field: string]: unknown
}

function lineWriter({ stream, isTerminal, hasPriorities }: LogOptions): (line: Line) => void {
  // For people: the time, the level, the sentence, and the stack of a failure.
  if (isTerminal) {
    return ({ level, message, stack }) => {
      const name = styleText(levels[level].colour, level.toUpperCase(), { stream })
      const below = stack === undefined ? '' : `${stack}\n`
      stream.write(`[${new Date().toTimeString().slice(0, 8)}] ${name}: ${message}\n${below}`)
    }
  }
  return ({ level, ...fields }) => {
    const line = JSON.stringify({ level, time: new Date().toISOString(), ...fields })
    stream.write(hasPriorities ? `<${levels[level].priority}>${line}\n` : `${line}\n`)
  }
}

function isOrdinary(event: ServiceEvent): boolean {
  if (event.kind === 'webhookSent') return event.isAccepted
  // Polled several times a second; another line gives the cause.
  if (event.kind === 'requestFinished' && event.operation === 'getReadyz' && event.status === 503) return true
  if (event.kind === 'requestAborted') return event.reason === 'clientLeft'
  return (
    (event.kind === 'requestFinished' || event.kind === 'requestRefused') &&
    !isFailure(event.status) &&
    !limitStatuses.has(event.status)
  )
}

/** The group of an event for thinning, if clients or a full disk can cause thousands of such events a second. */
function repeatedKindOf(event: ServiceEvent): string | undefined {
  if (event.kind === 'webhookSent') return event.isAccepted ? undefined : event.webhook
  if (event.kind === 'requestRefused') return event.error
  if (event.kind === 'requestAborted') return isOrdinary(event) ? undefined : event.reason
  if (event.kind !== 'requestFinished') return undefined
  const { status, error = String(status) } = event
  return isFailure(status) || limitStatuses.has(status) ? error : undefined
}

function isChange(event: ServiceEvent): boolean {
  return event.kind === 'requestFinished' && event.plantId !== undefined && event.status < 300
}

/** 501 means that the request used an unknown method, not that the server failed. */
function isFailure(status: number): boolean {
  return status >= 500 && status !== 501
}

/** @param stack the stack of the event's cause, if it is to be shown. */
function lineOf(event: LoggedEvent, leftOut: number, stack: string | undefined): Line {
  const { kind, ...fields } = event
  const more = leftOut === 0 ? '' : `, and ${leftOut} more since the last such line`
  return {
    level: levelOf(event),
    event: kind,
    ...fields,
    ...('cause' in fields && fields.cause !== undefined && { cause: messageOf(fields.cause) }),
    stack,
    ...(leftOut > 0 && { leftOut }),
    message: (sentences[event.kind] as (event: LoggedEvent) => string)(event) + more,
  }
}

function levelOf(event: LoggedEvent): Line['level'] {
  if (event.kind === 'storeWarning' || event.kind === 'serverWarning' || event.kind === 'jwtKeysAway') return 'warn'
  if (event.kind === 'webhookSent') return event.isAccepted ? 'info' : 'warn'
  const isError = event.kind === 'storeFailed' || event.kind === 'storeAway' || event.kind === 'webhookPaused'
  return isError || ('status' in event && isFailure(event.status)) ? 'error' : 'info'
}

type Sentences = { readonly [Kind in LoggedEvent['kind']]: (event: LoggedEvent & { readonly kind: Kind }) => string }

/** For people, in English. */
const sentences: Sentences = {
  serverListening: ({ version, url, store }) => `plantstore ${version} listens on ${url}, its store is ${store}`,
  serverStopping: ({ reason }) => `stopping: ${reason}`,
  serverStopped: () => 'stopped',
  serverWarning: ({ message }) => message,
  storeWarning: ({ message }) => message,
  storeAway: ({ cause }) => `the database cannot be reached: ${messageOf(cause)}`,
  storeBack: ({ awayMs }) => `the database is back after ${awayMs.toFixed(0)} ms`,
  storeFailed: ({ cause }) => `the store has failed; the server is stopping: ${messageOf(cause)}`,
  certificateLoaded: ({ expires }) => `the certificate was read again; it expires at ${expires}`,
  jwtKeysAway: ({ place, cause }) => `the keys of JWTs at ${place} cannot be renewed: ${cause}`,
  jwtKeysBack: ({ place, awayMs }) => `the keys of JWTs at ${place} were fetched again after ${awayMs.toFixed(0)} ms`,
  requestFinished: ({ method, path, status, durationMs, requestId, error, cause }) => {
    const why = error === undefined ? '' : ` ${error}${cause === undefined ? '' : `: ${messageOf(cause)}`}`
    return `${method} ${path} ${status} in ${durationMs.toFixed(1)} ms ${requestId}${why}`
  },
  requestAborted: ({ method, path, reason, requestId }) =>
    `${method} ${path} was not answered in full: ${abortReasons[reason]} ${requestId}`,
  requestRefused: ({ status, error, requestId }) => `refused ${status} ${error} ${requestId}`,
  webhookSent: ({ webhook, position, tries, isAccepted, outcome, durationMs, againInMs }) => {
    const change = `${position}${tries === 1 ? '' : ` on try ${tries}`}: ${outcome}`
    if (isAccepted) return `the webhook ${webhook} accepted ${change} in ${durationMs.toFixed(1)} ms`
    const again = againInMs === undefined ? 'given up' : `again in ${(againInMs / 1_000).toFixed(0)} s`
    return `the webhook ${webhook} did not accept ${change}; ${again}`
  },
  webhookPaused: ({ webhook, reason }) => `the webhook ${webhook} is paused: ${pauseReasons[reason]}`,
}

/**
 * Thins out repeated events, so that thousands of failures per second do not fill the disk: passes the first of a kind
 * at once, then the last of each period, with the number of suppressed ones.
 *
 * @param periodMs minimum time between two events of a kind.
 * @param pass receives each event that passes, and the number of its kind suppressed since the previous one.
 */
function thin<Event>(periodMs: number, pass: (event: Event, leftOut: number) => void) {
  /** Current periods by kind, each with the last event that it holds, and the number of its events before that. */
  const periods = new Map<string, { held?: { event: Event; leftOut: number }; readonly timer: NodeJS.Timeout }>()

  function begin(kind: string): void {
    const timer = setTimeout(() => end(kind) && begin(kind), periodMs)
    periods.set(kind, { timer: timer.unref() })
  }

  function end(kind: string): boolean {
    const period = periods.get(kind)
    clearTimeout(period?.timer)
    periods.delete(kind)
    if (period?.held !== undefined) pass(period.held.event, period.held.leftOut)
    return period?.held !== undefined
  }

  return {
    /** @param kind must have few values: each has a timer. */
    take: (kind: string, event: Event): void => {
      const period = periods.get(kind)
      if (period !== undefined) {
        period.held = { event, leftOut: (period.held?.leftOut ?? -1) + 1 }
        return
      }
      begin(kind)
      pass(event, 0)
    },
    /** Passes the held events. */
    flush: (): void => {
      for (const kind of [...periods.keys()]) end(kind)
    },
  }
}
