// The power-loss torture: cuts the power of recorded servers and restores many times, and does the same with controls
// that have to lose.

import { fileURLToPath } from 'node:url'
import { Random } from '../power-loss/random.ts'
import { type Recording, recordServers, type ServerRun, whyNoRecording } from '../power-loss/recorder.ts'
import { cutRestore, recordRestores, withoutSyncs } from '../power-loss/restore.ts'
import { cutPower } from '../power-loss/states.ts'
import type { Tally } from '../power-loss/tally.ts'
import type { Run, Torture, Verdict } from './torture.ts'

interface Report {
  readonly tortured: readonly Tally[]
  readonly controls: readonly Tally[]
}

/** Below so many states a form is a short one. */
const longStatesMin = 1_000
/** Of the states asked for, so many are of servers that run well; the others are of servers whose sync fails. */
const shareOfPlain = 0.75
const recordingsOfEach = 3
/** Which sync of the thread that writes fails: one of the log, or now and then one of a checkpoint. */
const failingSync = { least: 12, most: 90 }
/** Before the first checkpoint, which is not needed for a control to lose. */
const failingSyncOfControl = { least: 12, most: 50 }
const controlStates = 60
const controlCutsEach = 10

export const powerLoss: Torture = {
  name: 'power-loss',
  counts: 'STATES',
  usualCount: 2_000,
  shortCount: 100,
  isSeeded: true,
  run,
}

async function run({ count: states, seed, say }: Run): Promise<Verdict> {
  const missing = whyNoRecording()
  if (missing !== undefined) {
    say(`power-loss: ${missing}`)
    return 'missing'
  }
  const random = new Random(seed)
  const isLong = states >= longStatesMin
  const ofPlain = Math.ceil(states * shareOfPlain)
  const reports = [
    tell('load', await torturePlain(ofPlain, isLong, random), say),
    tell('failed syncs', await tortureFailedSync(states - ofPlain, isLong, random), say),
    tell('restores', await tortureRestores(Math.ceil(states / 2_000), isLong, random), say),
  ]
  const all = reports.flatMap(({ tortured }) => tortured)
  say(`power-loss: ${count(all)}; controls: ${count(reports.flatMap(({ controls }) => controls))}`)
  const isGood = reports.every(({ controls }) => controls.every(({ lost }) => lost > 0))
  return isGood && all.every(({ bad }) => bad === 0) ? 'good' : 'bad'
}

/** Servers under load, the second of which goes on where SIGKILL left the first. Control: commits are not synced. */
async function torturePlain(states: number, isLong: boolean, random: Random): Promise<Report> {
  const runs: ServerRun[] = [{ changes: isLong ? 1_800 : 1_200 }, { changes: isLong ? 400 : 100 }]
  const each = isLong ? Math.ceil(states / recordingsOfEach) : states
  const tortured: Tally[] = []
  for (let left = states; left > 0; left -= each) {
    const recording = await recordServers(runs, drawSeed(random))
    tortured.push(
      await cutPower(recording, {
        states: Math.min(each, left),
        seed: drawSeed(random),
        sinceRun: 0,
        keepsFirst: true,
      }),
    )
  }
  const weak = await recordServers([{ changes: 300, environment: weakened('synchronous') }], drawSeed(random))
  const control = { states: controlStates, seed: drawSeed(random), sinceRun: 0, keepsFirst: false }
  return { tortured, controls: [await cutPower(weak, control)] }
}

/**
 * Servers whose disk fails one sync, and others that go on after them. Control: those write on in the log, part of
 * which is in memory only.
 */
async function tortureFailedSync(states: number, isLong: boolean, random: Random): Promise<Report> {
  const each = isLong ? Math.ceil(states / recordingsOfEach) : states
  const tortured: Tally[] = []
  const record = ({ least, most }: typeof failingSync, environment: NodeJS.ProcessEnv): Promise<Recording> => {
    const failing = { changes: Number.POSITIVE_INFINITY, failingSync: random.between(least, most), environment }
    return recordServers([failing, { changes: isLong ? 300 : 100, environment }], drawSeed(random))
  }
  for (let left = states; left > 0; left -= each) {
    const cuts = { states: Math.min(each, left), seed: drawSeed(random), sinceRun: 1, keepsFirst: true }
    tortured.push(await cutPower(await record(failingSync, {}), cuts))
  }
  const control = { states: controlStates, seed: drawSeed(random), sinceRun: 1, keepsFirst: false }
  return { tortured, controls: [await cutPower(await record(failingSyncOfControl, weakened('checkpoint')), control)] }
}

/** Restores into every kind of target. Control: none of what the restore writes is synced. */
async function tortureRestores(cutsEach: number, isLong: boolean, random: Random): Promise<Report> {
  const restores = await recordRestores(drawSeed(random))
  const steps = isLong ? 'all' : 'names'
  const tortured: Tally[] = []
  const controls: Tally[] = []
  for (const restore of restores) {
    tortured.push(await cutRestore(restore, { cutsEach, seed: drawSeed(random), steps, keepsFirst: true }))
    // One that was refused has nothing that could be lost.
    if (restore.recording.status !== 0) continue
    const control = { cutsEach: controlCutsEach, seed: drawSeed(random), steps: 'last', keepsFirst: false } as const
    controls.push(await cutRestore(withoutSyncs(restore), control))
  }
  return { tortured, controls }
}

function tell(title: string, { tortured, controls }: Report, say: Run['say']): Report {
  for (const { first } of tortured) if (first !== undefined) say(`  ${first}`)
  say(`  ${title}: ${count(tortured)}; control: ${count(controls)}`)
  return { tortured, controls }
}

function count(tallies: readonly Tally[]): string {
  const sum = (key: 'states' | 'bad' | 'lost'): number => tallies.reduce((total, tally) => total + tally[key], 0)
  return `${sum('states')} states, ${sum('bad')} bad, ${sum('lost')} of them without something acknowledged`
}

function drawSeed(random: Random): number {
  return random.below(2 ** 31)
}

function weakened(what: string): NodeJS.ProcessEnv {
  return {
    WEAKEN: what,
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('../power-loss/weaken.ts', import.meta.url))}`,
  }
}
