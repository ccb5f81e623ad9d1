// Random pieces of random requests, and then nothing: in every state that bytes can bring a connection to, a clock runs
// that ends it.

import { setTimeout as sleep } from 'node:timers/promises'
import { drawPieces, pieceLimits, timeToEnd } from '../http/pieces.ts'
import { Random } from '../power-loss/random.ts'
import { makeFolder } from '../support/folder.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { descriptorsOf } from './process-figures.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const pieces: Torture = {
  name: 'pieces',
  counts: 'CASES',
  usualCount: 100_000,
  shortCount: 3_000,
  isSeeded: true,
  run,
}

const atOnce = 500
/** Far longer than any limit of the server: what has not ended by then has no clock. */
const patienceMs = 20_000
const controlCases = 100
const controlPatienceMs = 3_000
/** Descriptors that the server opens as it needs them. */
const descriptorsGrownMax = 4

interface Seen {
  readonly endless: number
  readonly slowestMs: number
  readonly descriptorsGrown: number
}

async function run({ count, seed, say }: Run): Promise<Verdict> {
  const own = await torture(count, seed, patienceMs, pieceLimits)
  const control = await torture(controlCases, seed, controlPatienceMs, { ...pieceLimits, connectionCheckMs: 600_000 })
  say(
    `pieces: ${count} connections, ${own.endless} did not end, the slowest after ${own.slowestMs.toFixed(0)} ms, ` +
      `${own.descriptorsGrown} descriptors more; control, without clocks: ${control.endless} of ${controlCases}`,
  )
  const isGood = own.endless === 0 && own.descriptorsGrown <= descriptorsGrownMax
  return isGood && control.endless > 0 ? 'good' : 'bad'
}

async function torture(
  count: number,
  seed: number,
  msMax: number,
  limits: Readonly<Record<string, number>>,
): Promise<Seen> {
  await using folder = await makeFolder()
  await using server = await startServer(folder.file('plants.db'), { limits })
  const random = new Random(seed)
  const before = await descriptorsOf(server.process.pid)
  const times: number[] = []
  let started = 0
  const runSome = async (): Promise<void> => {
    while (started < count) {
      started += 1
      times.push(await timeToEnd(server.port, drawPieces(random, server.token), msMax))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, runSome))
  const descriptorsGrown = (await descriptorsLeft(server, before + descriptorsGrownMax)) - before
  return {
    endless: times.filter((ms) => ms >= msMax).length,
    slowestMs: times.reduce((slowest, ms) => Math.max(slowest, ms), 0),
    descriptorsGrown,
  }
}

/** The descriptors of a server once it had the time to close those of connections. */
async function descriptorsLeft({ process: { pid } }: RunningServer, wanted: number): Promise<number> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    const descriptors = await descriptorsOf(pid)
    if (descriptors <= wanted || performance.now() >= deadlineMs) return descriptors
    await sleep(100)
  }
}
