// The metrics of a server, in the text format of Prometheus: what the events said, and what is measured when it is
// read. docs/operating.md lists them.

import { collectDefaultMetrics, Registry } from 'prom-client'
import { errorNumbers } from '../domain/errors.ts'
import type { Observe, RequestFinished } from '../domain/events.ts'
import { Counts, type Description, Histogram, metricOf, type Value } from './series.ts'

/** What a server measures of itself; what is undefined cannot be had at the moment, or never. */
export interface ServerFigures {
  readonly plants: number | undefined
  readonly storeBytes: number | undefined
  readonly logBytes: number | undefined
  readonly diskFreeBytes: number | undefined
  /** 0: never. */
  readonly backedUpAtMs: number | undefined
  readonly waitingJobs: number
  readonly isAvailable: boolean
  readonly connections: number
  readonly certificateExpiresAtMs: number | undefined
}

export interface Metrics {
  readonly observe: Observe
  readonly contentType: string
  /** @param figures those of this moment. */
  text(figures: ServerFigures): Promise<string>
}

/** Seconds. A create takes a millisecond, a database that fails over some seconds. */
const durationBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const changesBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

const gauges: readonly (readonly [name: string, help: string, read: (figures: ServerFigures) => number | undefined])[] =
  [
    ['plants', 'Plants in the store; an estimate in a large PostgreSQL', ({ plants }) => plants],
    ['store_bytes', 'Size of the store: its file, or its tables and indexes', ({ storeBytes }) => storeBytes],
    ['store_log_bytes', 'Size of the write-ahead log of a store in a file', ({ logBytes }) => logBytes],
    ['disk_free_bytes', 'What is left of the disk of a store in a file', ({ diskFreeBytes }) => diskFreeBytes],
    [
      'backup_timestamp_seconds',
      'When the last backup of a store in a file was complete, since 1970; 0 if never',
      ({ backedUpAtMs: ms }) => ms && ms / 1_000,
    ],
    ['store_available', '1 while the store can be used, else 0', ({ isAvailable }) => Number(isAvailable)],
    ['waiting_changes', 'Changes that wait for a commit', ({ waitingJobs }) => waitingJobs],
    ['connections', 'Open connections of clients', ({ connections }) => connections],
    [
      'certificate_expiry_timestamp_seconds',
      'When the certificate that is served expires, since 1970',
      ({ certificateExpiresAtMs: ms }) => ms && ms / 1_000,
    ],
  ]

/** @param hasJwts whether the keys of an identity provider are wanted. */
export function createMetrics(version: string, hasJwts: boolean): Metrics {
  const registry = new Registry()
  const register = (name: string, type: Description['type'], help: string, read: () => readonly Value[]): void => {
    registry.registerMetric(metricOf({ name: `plantstore_${name}`, type, help }, read))
  }
  let figures: ServerFigures | undefined
  const requests = new Counts('operation', 'status')
  const refusals = new Counts('error')
  for (const error of Object.keys(errorNumbers)) refusals.begin(error)
  const aborted = new Counts('reason')
  const durations = new Histogram('plantstore_http_request_duration_seconds', durationBounds, 'operation')
  const commits = new Histogram('plantstore_commit_duration_seconds', durationBounds)
  const groups = new Histogram('plantstore_commit_changes', changesBounds)

  collectDefaultMetrics({ register: registry })
  // Gauges under the names of counters, to which `promtool check metrics` objects.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`)
  register('build_info', 'gauge', 'The version of the server', () => [{ value: 1, labels: { version } }])
  register('http_requests_total', 'counter', 'Requests that were answered', () => requests.read())
  register('refusals_total', 'counter', 'Answers that are errors, by the name of the error', () => refusals.read())
  register('http_requests_aborted_total', 'counter', 'Requests whose connection ended before their answer', () =>
    aborted.read(),
  )
  register('http_request_duration_seconds', 'histogram', 'From the head of a request to the end of its answer', () =>
    durations.read(),
  )
  register('commit_duration_seconds', 'histogram', 'Durations of commits', () => commits.read())
  register('commit_changes', 'histogram', 'Changes that were committed together', () => groups.read())
  for (const [name, help, read] of gauges) {
    register(name, 'gauge', help, () => {
      const value = figures && read(figures)
      return value === undefined ? [] : [{ value }]
    })
  }

  let hasKeys = hasJwts ? true : undefined
  register('jwt_keys_available', 'gauge', 'Whether the keys of the identity provider could be renewed', () =>
    hasKeys === undefined ? [] : [{ value: Number(hasKeys) }],
  )

  const noteRequest = ({ operation = 'none', status, durationMs, error }: RequestFinished): void => {
    requests.add(operation, status)
    durations.note(durationMs / 1_000, operation)
    if (error !== undefined) refusals.add(error)
  }
  return {
    contentType: registry.contentType,
    observe: (event) => {
      switch (event.kind) {
        case 'requestFinished':
          return noteRequest(event)
        case 'requestRefused':
          return refusals.add(event.error)
        case 'requestAborted':
          return aborted.add(event.reason)
        case 'jwtKeysAway':
        case 'jwtKeysBack':
          hasKeys = event.kind === 'jwtKeysBack'
          return
        case 'changesCommitted':
          commits.note(event.durationMs / 1_000)
          groups.note(event.changes)
      }
    },
    text: (measured) => {
      figures = measured
      return registry.metrics()
    },
  }
}
