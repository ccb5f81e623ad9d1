// kill -9 of a server on SQLite under load, round after round.

import { killEarlyAck, killRounds } from '../crash/kill.ts'
import type { Run, Torture, Verdict } from './torture.ts'

const roundsToldOf = 50

export const kill: Torture = { name: 'kill', counts: 'ROUNDS', usualCount: 500, shortCount: 4, isSeeded: false, run }

async function run({ count, say }: Run): Promise<Verdict> {
  const { acknowledged, lost } = await killRounds(count, (round, acknowledged) => {
    if (round % roundsToldOf === 0) say(`  ${round} kills, ${acknowledged} plants acknowledged`)
  })
  const control = await killEarlyAck()
  say(
    `kill: ${count} kills, ${acknowledged} plants acknowledged, ${lost} lost; control: ${control.acknowledged} acknowledged too early, ${control.lost} lost`,
  )
  return lost === 0 && control.lost > 0 ? 'good' : 'bad'
}
