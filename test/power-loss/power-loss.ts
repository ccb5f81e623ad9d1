// Cuts the power of healthy servers, of servers after a failed sync, and of controls, which must lose plants.

import { fileURLToPath } from 'node:url'
import type { Random } from './random.ts'
import { recordServers, type ServerRun } from './recorder.ts'
import { type Cuts, type CutsReport, cutPower } from './states.ts'

export interface PowerLossReport {
  readonly own: CutsReport
  readonly control: CutsReport
}

const controlStates = 60
/** Which sync of the thread that writes fails: one of the log, or now and then one of a checkpoint. */
const failingSync = { least: 12, most: 90 }
/** Before the first checkpoint, which is not needed for a control to lose. */
const failingSyncOfControl = { least: 12, most: 50 }

/** With the changes of each server; the next one goes on where SIGKILL left it. Control: commits are not synced. */
export async function cutServers(states: number, changes: readonly number[], random: Random): Promise<PowerLossReport> {
  const cut = async (runs: readonly ServerRun[], cuts: Pick<Cuts, 'states' | 'isControl'>) =>
    cutPower(await recordServers(runs, random.seed()), { ...cuts, seed: random.seed(), since: 0 })
  const weak = { changes: 200, environment: weakened('synchronous') }
  const runs = changes.map((each) => ({ changes: each }))
  const own = await cut(runs, { states, isControl: false })
  return { own, control: await cut([weak], { states: controlStates, isControl: true }) }
}

/** Control: a server after a failed sync goes on in the log, part of which is in memory only. */
export async function cutFailedSync(states: number, changes: number, random: Random): Promise<PowerLossReport> {
  const cut = async (syncs: typeof failingSync, environment: NodeJS.ProcessEnv, isControl: boolean) => {
    const failing = { changes: Number.POSITIVE_INFINITY, failingSync: random.between(syncs.least, syncs.most) }
    const runs = [failing, { changes }].map((each) => ({ ...each, environment }))
    const recording = await recordServers(runs, random.seed())
    const cuts = { states: isControl ? controlStates : states, seed: random.seed(), isControl }
    return cutPower(recording, { ...cuts, since: recording.lastStart })
  }
  return {
    own: await cut(failingSync, {}, false),
    control: await cut(failingSyncOfControl, weakened('checkpoint'), true),
  }
}

function weakened(what: string): NodeJS.ProcessEnv {
  return { WEAKEN: what, NODE_OPTIONS: `--import=${fileURLToPath(new URL('weaken.ts', import.meta.url))}` }
}
