// kill -9 of one server after the other of a fleet on PostgreSQL, under load.

import { killServers } from '../fleet/kill.ts'
import { startDatabase } from '../support/postgres.ts'
import type { Run, Torture, Verdict } from './torture.ts'

const controlKills = 3
/** A kill often misses the moment between an early answer and its commit. */
const controlsMax = 10

export const fleetKill: Torture = {
  name: 'fleet-kill',
  counts: 'ROUNDS',
  usualCount: 100,
  shortCount: 3,
  isSeeded: false,
  run,
}

async function run({ count, say }: Run): Promise<Verdict> {
  await using database = await startDatabase()
  const { acknowledged, lost, failed, replayed } = await killServers(await database.makePlace(), count)
  const control = { acknowledged: 0, lost: 0 }
  for (let times = 0; times < controlsMax && control.lost === 0; times += 1) {
    const killed = await killServers(await database.makePlace(), controlKills, true)
    control.acknowledged += killed.acknowledged
    control.lost += killed.lost
  }
  say(
    `fleet-kill: ${count} kills, ${acknowledged} plants acknowledged, ${lost} lost, ${failed} creates repeated, ${replayed} of them done before; control: ${control.acknowledged} acknowledged too early, ${control.lost} lost`,
  )
  return lost === 0 && control.lost > 0 ? 'good' : 'bad'
}
