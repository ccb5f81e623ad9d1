// createPlant alone, and while clients follow the changes by streams, with the time until these have each change.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type Effort, type Measure, measureInTurn, underLoad } from './in-turn.ts'
import { findGenerator } from './load.ts'
import { here, makeStore, runCli, type ServerProcess, serving, startAll } from './process.ts'
import { createPlant } from './requests.ts'
import type { Comparison } from './results.ts'

const streams = 1_000
const streamsOfToken = 20
const connections = 16
const ratePerSecond = 100

export async function* benchStreams(effort: Effort): AsyncGenerator<Comparison> {
  await using store = await makeStore()
  await using followed = await makeStore()
  const tokens = Array.from({ length: streams / streamsOfToken }, (_, at) =>
    runCli(['token', 'create', '--name', `streams-${at}`, '--store', followed.path]).trim(),
  )
  await using servers = await startAll([serving(store), serving(followed)])
  const [alone, beside] = servers.all
  const load = (token: string) => ({ request: createPlant(token), connections, ratePerSecond })
  yield await measureInTurn(
    {
      title: `createPlant alone, and while ${streams} streams of changes are open`,
      setup: `${connections} connections by ${findGenerator().name} at ${ratePerSecond} requests a second`,
      measures: {
        alone: underLoad(alone, load(store.token)),
        'beside streams': followedBy(tokens, beside, underLoad(beside, load(followed.token))),
      },
    },
    effort,
  )
}

/** The streams are read by a process of their own. */
function followedBy(tokens: readonly string[], { url }: ServerProcess, measure: Measure): Measure {
  return async (seconds, isWarmUp) => {
    const reader = fork(here('stream-reader.ts'), [url, String(streamsOfToken), ...tokens])
    await once(reader, 'message')
    const round = await measure(seconds, isWarmUp)
    reader.send('end')
    const [{ events, eventP50Ms, eventP99Ms }] = await once(reader, 'message')
    const wanted = Math.floor((round.perSecond ?? 0) * seconds) * streams
    if (events < wanted) throw new Error(`${events} of ${wanted} events arrived`)
    return { ...round, eventP50Ms, eventP99Ms }
  }
}
