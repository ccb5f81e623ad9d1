// The log of changes: followers of a file and of a fleet, whose servers are killed.

import { untilWrong } from '../crash/control.ts'
import { killFleet, killOneFile } from '../fleet/changes.ts'
import { startDatabase } from '../support/postgres.ts'
import type { Run, Torture, Verdict } from './torture.ts'

const controlKills = 3

export const changes: Torture = { name: 'changes', counts: 'ROUNDS', usualCount: 200, shortCount: 2, run }

async function run({ count, say }: Run): Promise<Verdict> {
  const file = await killOneFile(count)
  say(`  one file: ${count} kills, ${file.changes} changes, each seen once and in order by a poller and a stream`)
  const late = await untilWrong('wrong', () => killOneFile(controlKills, true))
  say(`  control, a log outside of the transactions: ${late.wrong} plants of ${late.changes} changes seen wrongly`)
  await using database = await startDatabase()
  const fleet = await killFleet(database, count)
  say(
    `  fleet: ${count} kills, ${fleet.cuts} cuts, ${fleet.changes} changes, each seen once and in order by a poller and a stream`,
  )
  return late.wrong > 0 ? 'good' : 'bad'
}
