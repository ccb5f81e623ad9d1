// Failovers from a primary that is killed under load, one after the other, and one from a primary that wakes up again.

import { failOver } from '../fleet/failover.ts'
import { wakeFormerPrimary } from '../fleet/former-primary.ts'
import { hasReplication } from '../support/postgres.ts'
import type { Run, Torture, Verdict } from './torture.ts'

/** Connections that are ended while there are two primaries. */
const terminations = 20

const controlRoundsMax = 5

export const failover: Torture = {
  name: 'failover',
  counts: 'ROUNDS',
  usualCount: 20,
  shortCount: 1,
  isSeeded: false,
  run,
}

async function run({ count, say }: Run): Promise<Verdict> {
  if (!hasReplication()) {
    say('failover: pg_basebackup is not to be had here')
    return 'missing'
  }
  let [acknowledgedInAll, lostInAll] = [0, 0]
  for (let round = 1; round <= count; round += 1) {
    const { acknowledged, lost, failed, backMs } = await failOver(true)
    acknowledgedInAll += acknowledged
    lostInAll += lost
    say(
      `  ${round}: ${acknowledged} acknowledged, ${lost} lost, ${failed} repeated, back ${backMs.toFixed(0)} ms after the promotion`,
    )
  }
  let control = await failOver(false)
  for (let round = 1; control.lost === 0 && round < controlRoundsMax; round += 1) control = await failOver(false)
  say(
    `failover: ${count} to a synchronous standby, ${acknowledgedInAll} plants acknowledged, ${lostInAll} lost; control, to an asynchronous one: ${control.acknowledged} acknowledged, ${control.lost} lost`,
  )
  const [woken, blind] = [await wakeFormerPrimary(false, terminations), await wakeFormerPrimary(true, terminations)]
  say(
    `failover: a former primary that wakes up: ${woken.acknowledged} plants acknowledged, ${woken.missing} reads without them, ${woken.misplaced} written to it; control, servers that may not ask for the timeline: ${blind.missing} and ${blind.misplaced}`,
  )
  const isLeft = woken.missing === 0 && woken.misplaced === 0
  return lostInAll === 0 && control.lost > 0 && isLeft && blind.missing + blind.misplaced > 0 ? 'good' : 'bad'
}
