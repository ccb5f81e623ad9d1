// Webhooks: a receiver that fails often, while servers are killed and frozen.

import { untilWrong } from '../crash/control.ts'
import { freezeSender, killSenders } from '../fleet/webhooks.ts'
import { makeFolder } from '../support/folder.ts'
import { startDatabase } from '../support/postgres.ts'
import type { Run, Torture, Verdict } from './torture.ts'

const servers = 2
const controlKills = 2
/** Kills for each freeze, which takes much longer. */
const killsOfFreeze = 10
/** Well below the 53 s for which a webhook tries with these limits before it is paused. */
const awayMsMax = 30_000
const awayMsOfKill = 600

export const webhooks: Torture = { name: 'webhooks', counts: 'ROUNDS', usualCount: 100, shortCount: 2, run }

async function run({ count, say }: Run): Promise<Verdict> {
  await using folder = await makeFolder()
  await using database = await startDatabase()
  const awayMs = Math.min(count * awayMsOfKill, awayMsMax)
  const file = await killSenders(folder.file('plants.db'), 1, count, { awayMs })
  say(`  one file: ${count} kills, ${file.changes} changes, ${file.repeated} sent again, ${file.wrong} plants wrong`)
  const fleet = await killSenders(await database.makePlace(), servers, count, { awayMs })
  say(`  fleet: ${count} kills, ${fleet.changes} changes, ${fleet.repeated} sent again, ${fleet.wrong} plants wrong`)
  const forgetful = await untilWrong('wrong', (attempt) =>
    killSenders(folder.file(`control-${attempt}.db`), 1, controlKills, { awayMs: 0, isForgetful: true }),
  )
  say(`  control, servers that forget what was not accepted: ${forgetful.wrong} plants wrong`)
  const freezes = Math.ceil(count / killsOfFreeze)
  const frozen = await freezeSender(await database.makePlace(), freezes, false)
  say(`  ${freezes} freezes, ${frozen.changes} changes, ${frozen.late} sent late, ${frozen.wrong} plants wrong`)
  const blind = await untilWrong('late', async () => freezeSender(await database.makePlace(), 1, true))
  say(`  control, servers that do not notice: ${blind.late} sent late`)
  const isRight = file.wrong + fleet.wrong + frozen.wrong + frozen.late === 0
  return isRight && forgetful.wrong > 0 && blind.late > 0 ? 'good' : 'bad'
}
