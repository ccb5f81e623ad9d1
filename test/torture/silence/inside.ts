// What `npm run torture -- silence` does in its network namespace, with a number of faults: exits with 0 when all is
// well.

import { setTimeout as sleep } from 'node:timers/promises'
import { startDatabase } from '../../support/postgres.ts'
import { Firewall, type Way, ways } from './firewall.ts'
import { type Flow, type Struck, Subject } from './subject.ts'

interface Fault {
  readonly flow: Flow
  readonly way: Way
  readonly seconds: number
}

const secondsOfFaults = [5, 30, 120]
/** The last one meets all servers, and waits for the others. */
const flows: readonly Flow[] = ['changes', 'reads', 'look-up', 'prober', 'path']
const longestMsMax = 10_000
/** Without the mend nothing is noticed while the network is silent. */
const standStillShare = 0.9
const controlSecondsMin = 20

/** Every flow, with every way, for every time; the first ones are short and have all flows and ways among them. */
const faults: readonly Fault[] = secondsOfFaults.flatMap((seconds) =>
  ways.flatMap((_, round) =>
    flows.map((flow, index) => ({ flow, way: ways[(round + index) % ways.length] as Way, seconds })),
  ),
)

const say = (line: string): void => void process.stdout.write(`${line}\n`)

// Servers and databases are ended with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
process.exit((await main(Number(process.argv[2]))) ? 0 : 1)

async function main(count: number): Promise<boolean> {
  await using database = await startDatabase()
  const firewall = await Firewall.start(Number(new URL(database.url).port))
  const wanted = Array.from({ length: count }, (_, index) => faults[index % faults.length] as Fault)
  const control = await Subject.start('control', await database.makePlace(), firewall, {
    limits: { databaseSilenceMs: 1_000_000_000 },
  })
  const controlSeconds = Math.max(controlSecondsMin, ...wanted.map(({ seconds }) => seconds))
  const [stoodMs, ...isGood] = await Promise.all([
    control.standStill('both ways', controlSeconds),
    ...flows.slice(0, -1).map(async (flow) => strikeAll(flow, await database.makePlace(), firewall, wanted)),
  ])
  await control[Symbol.asyncDispose]()
  isGood.push(await strikeAll('path', await database.makePlace(), firewall, wanted))
  say(`silence: control, which asks no other connection: ${seconds(stoodMs)} without a create in ${controlSeconds} s`)
  return isGood.every(Boolean) && stoodMs >= standStillShare * controlSeconds * 1_000
}

/** All faults of a flow, one after the other. */
async function strikeAll(flow: Flow, place: string, firewall: Firewall, wanted: readonly Fault[]): Promise<boolean> {
  const own = wanted.filter((fault) => fault.flow === flow)
  if (own.length === 0) return true
  await using subject = await Subject.start(flow, place, firewall)
  const struck: Struck[] = []
  for (const fault of own) {
    const { longestMs, leftMs } = await subject.strike(flow, fault.way, fault.seconds)
    struck.push({ longestMs, leftMs })
    say(
      `  ${flow}, ${fault.way}, ${fault.seconds} s: at most ${seconds(longestMs)} without a create, nothing left after ${seconds(leftMs)}`,
    )
    await sleep(1_000)
  }
  const { acknowledged, failed, lost } = await subject.end()
  const longestMs = Math.max(0, ...struck.map((each) => each.longestMs))
  say(
    `silence: ${flow}, ${struck.length} times: at most ${seconds(longestMs)} without a create, ${acknowledged.size} plants acknowledged, ${lost} lost, ${failed} requests failed`,
  )
  return lost === 0 && longestMs < longestMsMax
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
