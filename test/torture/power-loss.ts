// Cuts the power of recorded servers many times, and of controls that must lose plants.

import { cutFailedSync, cutServers, type PowerLossReport } from '../power-loss/power-loss.ts'
import { Random } from '../power-loss/random.ts'
import { noStrace } from '../support/strace.ts'
import type { Run, Torture, Verdict } from './torture.ts'

const statesOfRecording = 500
const changesMax = [1_800, 400] as const

export const powerLoss: Torture = {
  name: 'power-loss',
  counts: 'STATES',
  usualCount: 2_000,
  shortCount: 60,
  isSeeded: true,
  run,
}

async function run({ count, seed, say }: Run): Promise<Verdict> {
  if (noStrace) {
    say(`power-loss: ${noStrace}`)
    return 'missing'
  }
  const random = new Random(seed)
  const reports: PowerLossReport[] = []
  for (let left = count; left > 0; left -= statesOfRecording) {
    const states = Math.min(left, statesOfRecording)
    // One in four is of a server whose sync fails.
    const changes = changesMax.map((max) => Math.min(10 * states, max))
    reports.push(await cutServers(Math.ceil(states * 0.75), changes, random))
    reports.push(await cutFailedSync(Math.floor(states * 0.25), 100, random))
  }
  for (const { own } of reports) if (own.first !== undefined) say(`  ${own.first}`)
  const sum = (of: 'own' | 'control', key: 'states' | 'bad' | 'lost'): number =>
    reports.reduce((total, report) => total + report[of][key], 0)
  const missed = reports.filter(({ control }) => control.lost === 0).length
  say(
    `power-loss: ${sum('own', 'states')} states, ${sum('own', 'bad')} bad, ${sum('own', 'lost')} of them without something acknowledged; ` +
      `controls: ${sum('control', 'states')} states, ${sum('control', 'bad')} bad; ${missed} controls lost nothing`,
  )
  return sum('own', 'bad') === 0 && missed === 0 ? 'good' : 'bad'
}
