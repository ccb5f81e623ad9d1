// `--metrics-listen`: the metrics follow the requests, on both engines.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { describe } from 'node:test'
import { listen as listenAt } from '../support/answering.ts'
import { expire, makeCertificate, noOpenssl } from '../support/certificate.ts'
import { Client, plantJson } from '../support/client.ts'
import { describeOnEngines } from '../support/engines.ts'
import { exhaustiveOnFolder, onFolder } from '../support/folder.ts'
import { runHere, runProgram, startServer } from '../support/program.ts'
import { serveHere } from '../support/service.ts'
import { until } from '../support/time.ts'

const noPromtool = spawnSync('promtool', ['--version']).status !== 0 && 'there is no promtool on this machine'
const listen = { metricsListen: '127.0.0.1:0' }

function metricsUrl(welcome: string): string {
  return /Its metrics are at (\S+)\n/.exec(welcome)?.[1] ?? assert.fail(welcome)
}

/** The values of all series, by their name with its labels. */
async function scrape(welcome: string): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(metricsUrl(welcome))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

describeOnEngines('--metrics-listen', (engine) => {
  engine.onPlace('counts what happens', async (place) => {
    await using server = await serveHere(place.store, {}, listen)
    const client = await Client.connect(server)
    const before = await scrape(server.welcome)
    assert.equal(before.get('plantstore_refusals_total{error="storeFull"}'), 0, 'the first one will be an increase')
    await using connection = await client.open()
    for (const id of [1n, 2n, 3n]) assert.equal((await connection.request({ body: plantJson(id, 'Aloe') })).status, 200)
    assert.equal((await connection.request({ body: plantJson(1n, 'Aloe') })).status, 409)
    assert.equal((await connection.request({ method: 'DELETE', target: '/plants/3' })).status, 204)
    assert.equal((await connection.request({ method: 'GET', target: '/nothing' })).status, 404)
    const broken = connect(server.port, '127.0.0.1').on('error', () => {})
    broken.end('no request\r\n\r\n').resume()
    await once(broken, 'close', { signal: AbortSignal.timeout(15_000) })

    let after = before
    const grew = (name: string): number =>
      (after.get(`plantstore_${name}`) ?? 0) - (before.get(`plantstore_${name}`) ?? 0)
    await until('all are counted', async () => {
      after = await scrape(server.welcome)
      return grew('refusals_total{error="malformedRequest"}') === 1
    })
    const growth = {
      'http_requests_total{operation="createPlant",status="200"}': 3,
      'http_requests_total{operation="none",status="404"}': 1,
      'refusals_total{error="idTaken"}': 1,
      'http_request_duration_seconds_bucket{le="+Inf",operation="createPlant"}': 4,
      plants: 2,
    }
    for (const [name, count] of Object.entries(growth)) assert.equal(grew(name), count, name)
    // The log may have been swept, too.
    assert.ok([5, 6].includes(grew('commit_changes_sum')))
    assert.ok((after.get('plantstore_connections') ?? 0) >= 1)
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
      const backup = await runHere(['backup', `${place.store}.copy`, '--store', place.store])
      assert.deepEqual([backup.status, backup.stderr.split('\n').length], [0, 2], backup.stderr)
      const told = (await scrape(server.welcome)).get('plantstore_backup_timestamp_seconds') ?? 0
      // The clock of a file system may be a tick behind.
      assert.ok(told > beganSeconds - 0.1 && told <= Date.now() / 1_000, `${told}`)
    }
    const ofProcess = ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']
    for (const name of ofProcess) assert.ok(after.has(name), name)
  })

  engine.onPlace('is text that Prometheus finds nothing wrong with', { skip: noPromtool }, async (place) => {
    await using server = await serveHere(place.store, {}, listen)
    const client = await Client.connect(server)
    await client.create(1n, 'Aloe')
    const input = await (await fetch(metricsUrl(server.welcome))).text()
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    assert.deepEqual([status, stdout + stderr], [0, ''])
  })
})

describe('--metrics-listen', () => {
  onFolder('has /metrics alone, and nothing of it at the address of the service', async (folder) => {
    await using server = await serveHere(folder.file('plants.db'), {}, listen)
    const url = metricsUrl(server.welcome)
    assert.equal((await fetch(url.replace('/metrics', '/plants'))).status, 404)
    assert.equal((await fetch(`${url}?name[]=x`)).status, 200)
    const posted = await fetch(url, { method: 'POST', body: 'x' })
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
    const head = await fetch(url, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    assert.equal((await fetch(`${server.url}/metrics`)).status, 404)
    const port = Number(new URL(url).port)
    const many = Array.from({ length: 30 }, () =>
      connect(port, '127.0.0.1')
        .on('error', () => {})
        .resume(),
    )
    // Earlier than the time limit of a request.
    await until('those past the limit are closed', () => many.filter(({ closed }) => closed).length >= 10, 5_000)
    for (const socket of many) socket.destroy()
    await server.stop()
    await assert.rejects(fetch(url))
  })

  onFolder('says when the certificate expires, also after it was renewed', { skip: noOpenssl }, async (folder) => {
    const files = makeCertificate(folder, 'first')
    const args = ['--metrics-listen', listen.metricsListen, '--tls-cert', files.cert, '--tls-key', files.key]
    await using server = await startServer(folder.file('plants.db'), { args })
    const expiry = async (): Promise<number> =>
      (await scrape(server.output.stderr)).get('plantstore_certificate_expiry_timestamp_seconds') ?? Number.NaN
    const twoDays = 2 * 24 * 3_600
    assert.ok(Math.abs((await expiry()) - Date.now() / 1_000 - twoDays) < 3_600)
    expire(files)
    server.process.kill('SIGHUP')
    await until('the new one is used', async () => (await expiry()) < Date.now() / 1_000)
  })

  exhaustiveOnFolder('is refused in one line where it cannot be', async (folder) => {
    await using taken = createServer()
    const port = await listenAt(taken)
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
