// `--metrics-listen`: the figures move as the requests do, on both engines; and where OpenTelemetry's variables say so,
// traces are sent.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, test } from 'node:test'
import { limits } from '../../src/limits.ts'
import { expire, hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { Client, plantJson } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { makeFolder } from '../support/folder.ts'
import { type RunningServer, runProgram, startServer } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { assertPrompt, until } from '../support/time.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const listen = ['--metrics-listen', '127.0.0.1:0']

function metricsUrl({ output }: RunningServer): string {
  return /Its metrics are at (\S+)\n/.exec(output.stderr)?.[1] ?? assert.fail(output.stderr)
}

/** The values of all series, by their name with its labels. */
async function scrape(server: RunningServer): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(metricsUrl(server))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

describeOnEngines('--metrics-listen', (engine) => {
  test('counts what happens', async () => {
    await using place = await engine.makePlace()
    await using server = await startServer(place.store, { args: listen })
    const client = await Client.connect(server)
    const before = await scrape(server)
    assert.equal(before.get('plantstore_refusals_total{error="storeFull"}'), 0, 'the first one will be an increase')
    await using connection = await client.open()
    for (const id of [1n, 2n, 3n]) assert.equal((await connection.request({ body: plantJson(id, 'Aloe') })).status, 200)
    assert.equal((await connection.request({ body: plantJson(1n, 'Aloe') })).status, 409)
    assert.equal((await connection.request({ method: 'GET', target: '/plants/2' })).status, 200)
    assert.equal((await connection.request({ method: 'GET', target: '/plants' })).status, 200)
    assert.equal((await connection.request({ method: 'DELETE', target: '/plants/3' })).status, 204)
    assert.equal((await connection.request({ method: 'GET', target: '/nothing' })).status, 404)
    const broken = connect(server.port, '127.0.0.1').on('error', () => {})
    broken.end('no request\r\n\r\n').resume()
    await once(broken, 'close', { signal: AbortSignal.timeout(15_000) })

    let after = before
    const grew = (name: string): number =>
      (after.get(`plantstore_${name}`) ?? 0) - (before.get(`plantstore_${name}`) ?? 0)
    await until('all are counted', async () => {
      after = await scrape(server)
      return grew('refusals_total{error="malformedRequest"}') === 1
    })
    assert.deepEqual(
      {
        created: grew('http_requests_total{operation="createPlant",status="200"}'),
        refused: grew('http_requests_total{operation="createPlant",status="409"}'),
        got: grew('http_requests_total{operation="getPlant",status="200"}'),
        listed: grew('http_requests_total{operation="listPlants",status="200"}'),
        deleted: grew('http_requests_total{operation="deletePlant",status="204"}'),
        unknown: grew('http_requests_total{operation="none",status="404"}'),
        taken: grew('refusals_total{error="idTaken"}'),
        noPath: grew('refusals_total{error="unknownPath"}'),
        timed: grew('http_request_duration_seconds_count{operation="createPlant"}'),
        inAll: grew('http_request_duration_seconds_bucket{le="+Inf",operation="createPlant"}'),
        committed: grew('commit_changes_sum'),
        plants: grew('plants'),
      },
      {
        ...{ created: 3, refused: 1, got: 1, listed: 1, deleted: 1, unknown: 1, taken: 1, noPath: 1, timed: 4 },
        ...{ inAll: 4, committed: 5, plants: 2 },
      },
    )
    assert.ok((after.get('plantstore_connections') ?? 0) >= 1)
    assert.equal(grew('commit_duration_seconds_count'), grew('commit_changes_count'))
    assert.ok(grew('http_request_duration_seconds_sum{operation="createPlant"}') > 0)
    assert.equal(after.get('plantstore_store_available'), 1)
    assert.equal(after.get('plantstore_waiting_changes'), 0)
    assert.ok((after.get('plantstore_store_bytes') ?? 0) > 0)
    for (const name of ['store_log_bytes', 'disk_free_bytes', 'backup_timestamp_seconds']) {
      assert.equal(after.has(`plantstore_${name}`), engine.name === 'SQLite', name)
    }
    if (engine.name === 'SQLite') {
      assert.ok((after.get('plantstore_disk_free_bytes') ?? 0) > 0)
      assert.equal(after.get('plantstore_backup_timestamp_seconds'), 0)
      const beganSeconds = Date.now() / 1_000
      const backup = await runProgram(['backup', `${place.store}.copy`, '--store', place.store])
      assert.deepEqual([backup.status, backup.stderr.split('\n').length], [0, 2], backup.stderr)
      const told = (await scrape(server)).get('plantstore_backup_timestamp_seconds') ?? 0
      // The clock of a file system may be a tick behind.
      assert.ok(told > beganSeconds - 0.1 && told <= Date.now() / 1_000, `${told}`)
    }
    for (const name of [
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
    ]) {
      assert.ok(after.has(name), name)
    }
    assert.equal(await server.stop(), 0)
  })

  test('is text that Prometheus finds nothing wrong with', {
    skip: !hasPromtool && 'there is no promtool on this machine',
  }, async () => {
    await using place = await engine.makePlace()
    await using server = await startServer(place.store, { args: listen })
    const client = await Client.connect(server)
    await client.create(1n, 'Aloe')
    const input = await (await fetch(metricsUrl(server))).text()
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    assert.deepEqual([status, stdout + stderr], [0, ''])
  })
})

describe('--metrics-listen', () => {
  exhaustive.test('is answered beside connections that only wait', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'), { args: listen })
    const port = Number(new URL(metricsUrl(server)).port)
    const silent = Array.from({ length: 2 * limits.metricsConnectionsMax }, () => connect(port, '127.0.0.1'))
    try {
      await Promise.all(
        silent.map((socket) =>
          once(
            socket.on('error', () => {}),
            'connect',
          ),
        ),
      )
      assert.equal((await fetch(metricsUrl(server))).status, 200)
    } finally {
      for (const socket of silent) socket.destroy()
    }
  })

  test('has /metrics alone, and nothing of it at the address of the service', async () => {
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'), { args: listen })
    const url = metricsUrl(server)
    assert.equal((await fetch(url.replace('/metrics', '/plants'))).status, 404)
    assert.equal((await fetch(`${url}?name[]=x`)).status, 200)
    const posted = await fetch(url, { method: 'POST', body: 'x' })
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
    const head = await fetch(url, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    assert.equal((await fetch(`${server.url}/metrics`)).status, 404)
    assert.equal(await server.stop(), 0)
    await assert.rejects(fetch(url))
  })

  exhaustive.test(
    'answers while the server cannot take any more connections, and with any number of silent clients',
    async () => {
      await using folder = await makeFolder()
      await using server = await startServer(folder.file('plants.db'), { args: listen })
      const { port, hostname } = new URL(metricsUrl(server))
      const silent = Array.from({ length: 10 }, () => connect(Number(port), hostname).on('error', () => {}))
      await Promise.all(silent.map((socket) => once(socket, 'connect')))
      assert.equal((await scrape(server)).get('plantstore_plants'), 0)
      for (const socket of silent) socket.destroy()
      assert.equal(await server.stop(), 0)
    },
  )

  test('says when the certificate expires, also after it was renewed', {
    skip: !hasOpenssl && 'there is no openssl to make a certificate with',
  }, async () => {
    await using folder = await makeFolder()
    const files = makeCertificate(folder, 'first')
    const args = [...listen, '--tls-cert', files.cert, '--tls-key', files.key]
    await using server = await startServer(folder.file('plants.db'), { args })
    const expiry = async (): Promise<number> =>
      (await scrape(server)).get('plantstore_certificate_expiry_timestamp_seconds') ?? Number.NaN
    const twoDays = 2 * 24 * 3_600
    assert.ok(Math.abs((await expiry()) - Date.now() / 1_000 - twoDays) < 3_600)
    expire(files)
    server.process.kill('SIGHUP')
    await until('the new one is used', async () => (await expiry()) < Date.now() / 1_000)
  })

  exhaustive.test('is refused in one line where it cannot be', async () => {
    await using folder = await makeFolder()
    await using taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    for (const [address, expected, wanted] of [
      [`127.0.0.1:${port}`, 1, /the metrics cannot be served at 127\.0\.0\.1:\d+; .*EADDRINUSE/],
      ['no.such.host.invalid:1', 1, /the metrics cannot be served at no\.such/],
      ['9464', 2, /must be an address and a port/],
      [':9464', 2, /must be an address and a port/],
      ['127.0.0.1:99999', 2, /must be an address and a port/],
    ] as const) {
      const args = ['serve', '--port', '0', '--store', folder.file('plants.db'), '--metrics-listen', address]
      const { status, stderr } = await runProgram(args)
      assert.deepEqual([status, wanted.test(stderr)], [expected, true], stderr)
    }
  })
})

interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[]
}

/** A collector of OpenTelemetry that keeps the spans it is sent, and answers with a status. */
async function startCollector(status = 200) {
  const spans: SentSpan[] = []
  const resources: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    const { resourceSpans } = JSON.parse(body)
    for (const { resource, scopeSpans } of resourceSpans) {
      resources.push(JSON.stringify(resource.attributes))
      for (const scope of scopeSpans) spans.push(...scope.spans)
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

describe('OpenTelemetry', () => {
  const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const traceparent = `00-${trace.traceId}-${trace.spanId}-01`

  test('gets a span for each request, in the trace of its caller, and the log has the trace', async () => {
    using collector = await startCollector()
    await using folder = await makeFolder()
    await using server = await startServer(folder.file('plants.db'), {
      args: ['--log', 'all'],
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
        OTEL_SERVICE_NAME: 'garden',
      },
    })
    const client = await Client.connect(server)
    await using connection = await client.open()
    for (const id of [1n, 2n]) await connection.request({ body: plantJson(id, 'Aloe'), headers: { traceparent } })
    await connection.request({ method: 'GET', target: '/plants/1' })
    const unsampled = traceparent.replace(/01$/, '00')
    await connection.request({ method: 'GET', target: '/plants/2', headers: { traceparent: unsampled } })
    assert.equal(await server.stop(), 0)

    const created = collector.spans.filter(({ name }) => name === 'createPlant')
    assert.equal(created.length, 2)
    for (const span of created) {
      assert.deepEqual([span.traceId, span.parentSpanId, span.kind], [trace.traceId, trace.spanId, 2])
      const tookMs = Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6
      assert.ok(tookMs > 0 && tookMs < 60_000)
    }
    const attributes = new Map(created[0]?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
    assert.deepEqual(
      ['http.request.method', 'url.path', 'http.response.status_code', 'plantstore.plant_id'].map((key) =>
        attributes.get(key),
      ),
      ['POST', '/plants', 200, '1'],
    )
    const got = collector.spans.filter(({ name }) => name === 'getPlant')
    assert.equal(got.length, 1, 'the caller of the other did not want it recorded')
    assert.notEqual(got[0]?.traceId, trace.traceId)
    assert.match(collector.resources[0] ?? '', /"garden".*|deployment\.environment/)
    const lines = server.output.stdout.split('\n').filter((line) => line.includes('"operation":"createPlant"'))
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).traceId),
      [trace.traceId, trace.traceId],
    )
    assert.doesNotMatch(server.output.stdout + JSON.stringify(collector.spans), /plt_\w{9}/)
  })

  exhaustive.test('that refuses is told of once, and the server ends as ever', async () => {
    await using folder = await makeFolder()
    using collector = await startCollector(401)
    await using server = await startServer(folder.file('plants.db'), {
      // Otherwise spans wait for five seconds.
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1' },
    })
    while (collector.resources.length < 3) assert.equal((await fetch(`${server.url}/livez`)).status, 200)
    const isTold = (): boolean => server.output.stdout.includes('traces cannot be sent')
    await until('it is told', isTold)
    assert.equal((await fetch(`${server.url}/livez`)).status, 200)
    assert.equal(await server.stop(), 0, server.output.stderr)
    assert.equal(
      server.output.stdout.match(/"message":"traces cannot be sent and are dropped until they can be: /g)?.length,
      1,
    )
    assert.doesNotMatch(server.output.stderr, /^ +at |warning/m)
  })

  for (const [environment, warning] of [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as http:/],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://x' }, /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL such as/],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_SAMPLER: 'parentbased_traceid_ratio' },
      /OTEL_TRACES_SAMPLER must be one of always_on, .*, not parentbased_traceid_ratio; parentbased_always_on is used/,
    ],
    [
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: 'half',
      },
      /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not half; 1 is used/,
    ],
  ] as const) {
    exhaustive.test(
      `is not what ${Object.entries(environment).at(-1)?.join('=')} wants, which is said at the start`,
      async () => {
        await using folder = await makeFolder()
        await using server = await startServer(folder.file('plants.db'), { environment })
        assert.match(server.output.stdout, warning)
      },
    )
  }

  exhaustive.test('that cannot be reached, or never answers, holds up neither requests nor the end', async () => {
    await using folder = await makeFolder()
    const deaf = createServer(() => {}).listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    for (const url of ['http://127.0.0.1:1', `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`]) {
      await using server = await startServer(folder.file('plants.db'), {
        environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
      })
      assert.equal((await fetch(`${server.url}/livez`)).status, 200)
      const startedMs = performance.now()
      assert.equal(await server.stop(), 0)
      assertPrompt(startedMs, 3_000)
    }
    deaf.close()
    deaf.closeAllConnections()
  })
})
