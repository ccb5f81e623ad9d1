// deploy/monitoring: alerts and dashboard use only metrics that a server has, and each alert fires when it should.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { createMetrics } from '../../src/observe/metrics.ts'
import { root } from '../support/readme.ts'
import { readDeployed, replaceAll } from './files.ts'

const file = (name: string): string => `${root}/deploy/monitoring/${name}`
const noPromtool = spawnSync('promtool', ['--version']).status !== 0 && 'there is no promtool on this machine'

/** The names of all metrics, and those that Prometheus derives from them. */
async function knownNames(): Promise<ReadonlySet<string>> {
  const text = await createMetrics('1.0.0', true).text({
    size: { plants: 1, bytes: 1, logBytes: 1, changesBytes: 1, diskFreeBytes: 1, backedUpAtMs: 1 },
    store: { waitingJobs: 0, isAvailable: true },
    server: {
      connections: { count: 0 },
      changeStreams: { count: 0 },
      webhooks: { figures: [{ id: 'hook_1', isPaused: false, behindMs: 0 }] },
      certificateExpiresAtMs: 1,
    },
  })
  const described = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return new Set(
    described.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => `${name}${suffix}`) : [name],
    ),
  )
}

describe('deploy/monitoring', () => {
  for (const name of ['alerts.yml', 'alerts.test.yml', 'grafana.json']) {
    test(`${name} knows only metrics that there are`, async () => {
      const known = await knownNames()
      const text = await readFile(file(name), 'utf8')
      const used = new Set(text.match(/\b(?:plantstore|nodejs|process)_[a-z0-9_]+/g))
      assert.ok(used.size > 5)
      const unknown = [...used].filter((each) => !known.has(each))
      assert.deepEqual(unknown, [])
    })
  }

  test('docs/operating.md lists all metrics of the service, and no others', async () => {
    const known = new Set([...(await knownNames())].map((name) => name.replace(/_(bucket|sum|count)$/, '')))
    const text = await readFile(`${root}/docs/operating.md`, 'utf8')
    const listed = new Set(text.match(/(?<=^\| `)plantstore_[a-z_]+/gm))
    assert.deepEqual([...listed].sort(), [...known].filter((name) => name.startsWith('plantstore_')).sort())
  })

  test('prometheus.yml finds servers on machines and in Kubernetes, under the name that the alerts go by', () => {
    const machines = readDeployed('monitoring/prometheus.yml')
    const pods = replaceAll(machines, {
      '    static_configs:\n': '',
      "      - targets: ['127.0.0.1:13001', '127.0.0.1:13002']\n": '',
      '    # kubernetes': '    kubernetes',
      '    # relabel': '    relabel',
      '    #   ': '      ',
    })
    for (const text of [machines, pods]) {
      const [job] = parse(text).scrape_configs
      assert.match(readDeployed('monitoring/alerts.yml'), new RegExp(`up\\{job="${job.job_name}"\\}`))
    }
    const kept = parse(pods).scrape_configs[0].relabel_configs[0]
    const [deployment] = parseAllDocuments(readDeployed('kubernetes.yaml')).map((each) => each.toJS())
    const { metadata, spec } = deployment.spec.template
    const ports: readonly { readonly name: string; readonly containerPort: number }[] = spec.containers[0].ports
    const labels = ports.map(({ name }) => `${metadata.labels.app};${name}`)
    const scraped = labels.filter((each) => new RegExp(`^(?:${kept.regex})$`).test(each))
    assert.deepEqual(scraped, ['plantstore;metrics'])
    // Nor are they found a second time, under the name of another job.
    assert.equal(metadata.annotations?.['prometheus.io/scrape'], undefined)
  })

  test('the alerts fire for servers in trouble, and for no others', { skip: noPromtool }, () => {
    for (const [command, what, name] of [
      ['check', 'config', 'prometheus.yml'],
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ] as const) {
      // The rules are not where the configuration has them.
      const flags = what === 'config' ? ['--syntax-only'] : []
      const args = [command, what, ...flags, file(name)]
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
      assert.equal(status, 0, stdout + stderr)
    }
  })
})
