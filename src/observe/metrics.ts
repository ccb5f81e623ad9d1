// The server's metrics in Prometheus text format: counts from events, and gauges measured at each scrape.
// docs/operating.md lists them.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { changeKinds } from '../domain/change.ts'
import { errorNumbers } from '../domain/errors.ts'
import type { ServiceEvent } from '../domain/events.ts'
import type { Store, StoreSize } from '../domain/store.ts'
import type { WebhookFigures } from '../domain/webhook.ts'

/** The values measured at each scrape. */
export interface ServerFigures {
  /** Undefined while the store cannot be measured. */
  readonly size: StoreSize | undefined
  readonly store: Pick<Store, 'waitingJobs' | 'isAvailable'>
  readonly server: {
    readonly connections: { readonly count: number }
    readonly changeStreams: { readonly count: number }
    readonly webhooks: { readonly figures: readonly WebhookFigures[] }
    readonly certificateExpiresAtMs: number | undefined
  }
}

/** Seconds. A create takes a millisecond, a database failover several seconds. */
const durationBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const changesBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

const gauges: readonly (readonly [name: string, help: string, read: (figures: ServerFigures) => number | undefined])[] =
  [
    ['plants', 'Plants in the store; an estimate in a large PostgreSQL', ({ size }) => size?.plants],
    ['store_bytes', 'Size of the store: its file, or its tables and indexes', ({ size }) => size?.bytes],
    ['store_log_bytes', 'Size of the write-ahead log of a store in a file', ({ size }) => size?.logBytes],
    ['changes_bytes', 'Size of the changes in the log of changes', ({ size }) => size?.changesBytes],
    ['disk_free_bytes', 'Free space on the disk of a store in a file', ({ size }) => size?.diskFreeBytes],
    [
      'backup_timestamp_seconds',
      'Unix time of the last complete backup of a store in a file; 0 if never',
      ({ size }) => size?.backedUpAtMs && size.backedUpAtMs / 1_000,
    ],
    ['store_available', '1 while the store can be used, else 0', ({ store }) => Number(store.isAvailable)],
    ['waiting_changes', 'Changes waiting for a commit', ({ store }) => store.waitingJobs],
    ['connections', 'Open connections of clients', ({ server }) => server.connections.count],
    ['change_streams', 'Open streams of changes', ({ server }) => server.changeStreams.count],
    [
      'certificate_expiry_timestamp_seconds',
      'Unix time at which the served certificate expires',
      ({ server: { certificateExpiresAtMs: ms } }) => ms && ms / 1_000,
    ],
  ]

/** Functions that create metrics. Names are given without the prefix. */
function metricsOf(registry: Registry) {
  const named = (name: string, help: string) => ({ name: `plantstore_${name}`, help, registers: [registry] })
  return {
    gauge: (name: string, help: string, ...labelNames: string[]) => new Gauge({ ...named(name, help), labelNames }),
    counter: (name: string, help: string, ...labelNames: string[]) => new Counter({ ...named(name, help), labelNames }),
    histogram: (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
      new Histogram({ ...named(name, help), buckets, labelNames }),
  }
}

type Observers = { readonly [Kind in ServiceEvent['kind']]?: (event: ServiceEvent & { readonly kind: Kind }) => void }
type Observer = (event: ServiceEvent) => void

/** The metrics of changes, and of the webhooks that send them. */
function createChangeMetrics({ gauge, counter, histogram }: ReturnType<typeof metricsOf>) {
  const changes = counter('changes_total', 'Changes of plants by requests to this server, by their kind', 'kind')
  for (const kind of changeKinds) changes.inc({ kind }, 0)
  const commits = histogram('commit_duration_seconds', 'Durations of commits', durationBounds)
  const groups = histogram('commit_changes', 'Changes that were committed together', changesBounds)
  const sentHelp = 'Requests of webhooks, by whether the receiver accepted the change'
  const sent = counter('webhook_requests_total', sentHelp, 'webhook', 'outcome')
  const behindHelp = 'Age of the oldest change that a webhook has not delivered, at the server that sends'
  const behind = gauge('webhook_behind_seconds', behindHelp, 'webhook')
  const paused = gauge('webhook_paused', '1 while a webhook is paused, else 0', 'webhook')
  return {
    observers: {
      plantChanged: ({ change }) => changes.inc({ kind: change }),
      webhookSent: ({ webhook, isAccepted }) => sent.inc({ webhook, outcome: isAccepted ? 'accepted' : 'failed' }),
      changesCommitted: ({ durationMs, changes: count }) => {
        commits.observe(durationMs / 1_000)
        groups.observe(count)
      },
    } satisfies Observers,
    show: (webhooks: readonly WebhookFigures[]): void => {
      behind.reset()
      paused.reset()
      for (const { id: webhook, isPaused, behindMs } of webhooks) {
        paused.set({ webhook }, Number(isPaused))
        if (behindMs !== undefined) behind.set({ webhook }, behindMs / 1_000)
      }
    },
  }
}

export type Metrics = ReturnType<typeof createMetrics>

/** @param hasJwts whether to include the gauge of the identity provider's keys. */
export function createMetrics(version: string, hasJwts: boolean) {
  const registry = new Registry()
  const metrics = metricsOf(registry)
  const { gauge, counter, histogram } = metrics

  collectDefaultMetrics({ register: registry })
  // Gauges with counter names, which `promtool check metrics` rejects.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`)
  gauge('build_info', 'The version of the server', 'version').set({ version }, 1)
  const requests = counter('http_requests_total', 'Requests that were answered', 'operation', 'status')
  const durations = histogram(
    'http_request_duration_seconds',
    'From the head of a request to the end of its answer',
    durationBounds,
    'operation',
  )
  const refusals = counter('refusals_total', 'Answers that are errors, by the name of the error', 'error')
  // Each error starts at 0, so that its first occurrence is an increase.
  for (const error of Object.keys(errorNumbers)) refusals.inc({ error }, 0)
  const abortedHelp = 'Requests whose connection ended before their answer'
  const aborted = counter('http_requests_aborted_total', abortedHelp, 'reason')
  const changes = createChangeMetrics(metrics)
  const measured = gauges.map(([name, help, read]) => ({ metric: gauge(name, help), read }))
  const keys = hasJwts
    ? gauge('jwt_keys_available', 'Whether the keys of the identity provider could be renewed')
    : undefined
  keys?.set(1)

  const observers: Observers = {
    ...changes.observers,
    requestFinished: ({ operation = 'none', status, durationMs, isStream, error }) => {
      requests.inc({ operation, status })
      // A stream lasts as long as its client wants.
      if (isStream !== true) durations.observe({ operation }, durationMs / 1_000)
      if (error !== undefined) refusals.inc({ error })
    },
    requestRefused: ({ error }) => refusals.inc({ error }),
    requestAborted: ({ reason }) => aborted.inc({ reason }),
    jwtKeysAway: () => keys?.set(0),
    jwtKeysBack: () => keys?.set(1),
  }
  return {
    contentType: registry.contentType,
    observe: (event: ServiceEvent): void => (observers[event.kind] as Observer | undefined)?.(event),
    text: (figures: ServerFigures): Promise<string> => {
      for (const { metric, read } of measured) {
        const value = read(figures)
        if (value === undefined) metric.remove()
        else metric.set(value)
      }
      changes.show(figures.server.webhooks.figures)
      return registry.metrics()
    },
  }
}
