// The metrics: which event each counts, and the gauges of a server. test/cli/metrics.test.ts has them over HTTP.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ServiceEvent } from '../../src/domain/events.ts'
import type { WebhookFigures } from '../../src/domain/webhook.ts'
import { createMetrics } from '../../src/observe/metrics.ts'

const [requestId, method, path] = ['r-1', 'GET', '/changes'] as const
const request = { requestId, method, operation: 'listChanges', path } as const
const finished = { kind: 'requestFinished', ...request, status: 200, durationMs: 2_000, bytes: 0 } as const
const delivery = { webhook: 'hook_1', name: 'n', position: '2-1', tries: 1, durationMs: 1 } as const
const sent = { kind: 'webhookSent', ...delivery, isAccepted: true, outcome: '200' } as const
const counts = 'http_requests_total{operation="listChanges",status="200"}'
const durations = 'http_request_duration_seconds_sum{operation="listChanges"}'

/** The values of all series, by their names without the prefix. */
async function seriesOf(
  metrics: ReturnType<typeof createMetrics>,
  figures: readonly WebhookFigures[] = [],
): Promise<ReadonlyMap<string, number>> {
  const text = await metrics.text({
    size: { plants: 3, bytes: 4_096, changesBytes: 77 },
    store: { waitingJobs: 5, isAvailable: false },
    server: {
      connections: { count: 2 },
      changeStreams: { count: 4 },
      webhooks: { figures },
      certificateExpiresAtMs: undefined,
    },
  })
  return new Map([...text.matchAll(/^plantstore_(\S+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]))
}

describe('the metrics', () => {
  const counted: readonly (readonly [event: ServiceEvent, series: Readonly<Record<string, number | undefined>>])[] = [
    [{ kind: 'plantChanged', change: 'replaced' }, { 'changes_total{kind="replaced"}': 1 }],
    [
      { kind: 'changesCommitted', changes: 3, durationMs: 2_000 },
      { commit_duration_seconds_sum: 2, commit_changes_sum: 3 },
    ],
    [finished, { [counts]: 1, [durations]: 2 }],
    // How long a stream took says nothing.
    [
      { ...finished, isStream: true },
      { [counts]: 1, [durations]: undefined },
    ],
    [{ ...finished, status: 503, error: 'overloaded' }, { 'refusals_total{error="overloaded"}': 1 }],
    [
      { kind: 'requestRefused', requestId, status: 408, error: 'requestTimeout' },
      { 'refusals_total{error="requestTimeout"}': 1 },
    ],
    [
      { kind: 'requestAborted', requestId, method, path, reason: 'notRead' },
      { 'http_requests_aborted_total{reason="notRead"}': 1 },
    ],
    [sent, { 'webhook_requests_total{webhook="hook_1",outcome="accepted"}': 1 }],
    [{ ...sent, isAccepted: false }, { 'webhook_requests_total{webhook="hook_1",outcome="failed"}': 1 }],
  ]

  for (const [event, expected] of counted) {
    test(`count ${event.kind} in ${Object.keys(expected).join(' and ')}`, async () => {
      const metrics = createMetrics('0.0.0', false)
      metrics.observe(event)
      const series = await seriesOf(metrics)
      for (const [name, value] of Object.entries(expected)) assert.equal(series.get(name), value, name)
    })
  }

  test('show the server as it is, and the webhooks that it has', async () => {
    const metrics = createMetrics('0.0.0', true)
    const series = await seriesOf(metrics, [
      { id: 'hook_1', isPaused: true, behindMs: undefined },
      { id: 'hook_2', isPaused: false, behindMs: 3_000 },
    ])
    const expected = { plants: 3, store_bytes: 4_096, changes_bytes: 77, waiting_changes: 5, store_available: 0 }
    for (const [name, value] of Object.entries({
      ...expected,
      ...{ connections: 2, change_streams: 4, jwt_keys_available: 1, 'build_info{version="0.0.0"}': 1 },
      ...{ 'webhook_paused{webhook="hook_1"}': 1, 'webhook_paused{webhook="hook_2"}': 0 },
      'webhook_behind_seconds{webhook="hook_2"}': 3,
    })) {
      assert.equal(series.get(name), value, name)
    }
    assert.ok(!series.has('webhook_behind_seconds{webhook="hook_1"}'), 'another server sends')
    metrics.observe({ kind: 'jwtKeysAway', place: 'p', cause: 'c' })
    const later = await seriesOf(metrics)
    assert.equal(later.get('jwt_keys_available'), 0)
    // They were removed.
    const left = [...later.keys()].filter((name) => name.startsWith('webhook_'))
    assert.deepEqual(left, [])
  })
})
