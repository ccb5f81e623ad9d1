// The latency of a create for a single client, compared with its two parts: a synced append on the same disk, and a
// request to a bare Fastify.

import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type Effort, type Measure, measureInTurn, underLoad } from './in-turn.ts'
import { findGenerator } from './load.ts'
import { here, makeStore, serving, startAll } from './process.ts'
import { createPlant } from './requests.ts'
import type { Comparison } from './results.ts'

export async function* benchLone(effort: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await using servers = await startAll([[here('contenders/fastify.ts')], serving(store)])
  const [fastify, service] = servers.all
  const load = { request: createPlant(store.token), connections: 1 }
  const comparison = await measureInTurn(
    {
      title: 'A client that is alone: createPlant beside a synced append of 4 KiB and a bare Fastify echo',
      setup: `1 connection by ${findGenerator().name}`,
      connections: 1,
      measures: {
        'synced append': syncing(store.file('appended')),
        'bare Fastify': underLoad(fastify, load),
        createPlant: underLoad(service, load),
      },
    },
    effort,
  )
  const [synced = Number.NaN, echo = Number.NaN, create = Number.NaN] = comparison.contenders.map(
    ({ medians }) => medians.p50Ms,
  )
  const share = (create / (synced + echo)).toFixed(2)
  yield { ...comparison, note: `p50 of createPlant is ${share} times that of the other two together.` }
}

function syncing(file: string): Measure {
  const run = promisify(execFile)
  return async (seconds) => {
    const command = [here('sync-appends.ts'), file, String(seconds)]
    const { stdout } = await run(process.execPath, command, { maxBuffer: 64 * 1024 * 1024 })
    await rm(file)
    const times: number[] = JSON.parse(stdout).sort((a: number, b: number) => a - b)
    const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN
    return { perSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999) }
  }
}
