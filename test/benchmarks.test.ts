// docs/benchmarks.md has the tables that `npm run bench -- plots` renders from docs/benchmarks/results.json.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withResults } from '../bench/document.ts'
import { type Comparison, contendersOf, type Results, readResults } from '../bench/results.ts'

const docs = fileURLToPath(new URL('../docs', import.meta.url))

const run = (...comparisons: readonly Comparison[]): Results => ({
  create: { date: '2026-11-22T04:49:24.654Z', machine: '2 cores', versions: { node: '26.10.0' }, comparisons },
})

const comparison = (title: string, rounds: Parameters<typeof contendersOf>[0], ratePerSecond?: number): Comparison => ({
  ...{ title, setup: '', connections: 64, contenders: contendersOf(rounds) },
  ...(ratePerSecond !== undefined && { ratePerSecond }),
})

const render = (results: Results): string =>
  withResults('<!-- create -->\n<!-- end of create -->\n', results).replace(/^<.*>$\n/gm, '')

describe('docs/benchmarks.md', () => {
  test('is what results.json renders to', async () => {
    const text = await readFile(`${docs}/benchmarks.md`, 'utf8')
    assert.equal(withResults(text, await readResults(`${docs}/benchmarks/results.json`)), text)
  })

  test('has one table for a comparison at the maximum and at an equal rate', () => {
    const maximum = new Map([
      ['bare', [{ perSecond: 40_000, p99Ms: 2, cpuMicroseconds: 20 }]],
      ['createPlant', [{ perSecond: 20_000, p99Ms: 4, cpuMicroseconds: 40 }]],
    ])
    const rated = new Map([
      ['bare', [{ perSecond: 6_000, p50Ms: 1, cpuMicroseconds: 25 }]],
      ['createPlant', [{ perSecond: 5_000, p50Ms: 2, cpuMicroseconds: 75 }]],
    ])
    const results = run(comparison('all', maximum), comparison('all, at an equal rate', rated, 6_000))
    assert.equal(
      render(results),
      `
**all**, 64 connections, once:

|  | requests/s | requests × | p99 ms | p50 ms at 6,000/s | CPU µs at 6,000/s | CPU × at 6,000/s |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| bare | 40,000 | 1.00 | 2.00 | 1.00 | 25.0 | 1.00 |
| createPlant | 20,000 | 0.50 | 4.00 | 2.00 | 75.0 | 3.00 |

createPlant answered only 5,000 of 6,000 requests/s.

`,
    )
  })

  test('says which benches ran on which machine', () => {
    const [create] = Object.values(run())
    assert.ok(create !== undefined)
    const get = { ...create, date: '2026-11-24T00:00:00.000Z' }
    const render = (results: Results): string => withResults('<!-- machine -->\n<!-- end of machine -->\n', results)
    assert.match(render({ create, get }), /^2026-11-22 to 2026-11-24, 2 cores; node 26\.10\.0\.$/m)
    const other = render({ create, get: { ...get, machine: '8 cores' } })
    assert.match(other, /^create: 2026-11-22, 2 cores; .*\n\nget: 2026-11-24, 8 cores; /m)
  })

  test('has no marks without results', () => {
    assert.throws(() => render({}), /marks for create/)
  })
})
