// Servers behind the nginx and the HAProxy of deploy/ are stopped one after the other, under load.

import { untilWrong } from '../crash/control.ts'
import { proxyNames } from '../deploy/files.ts'
import { missingFor, stopServers } from '../deploy/stops.ts'
import { startDatabase } from '../support/postgres.ts'
import type { Run, Torture, Verdict } from './torture.ts'

/** Of a control. */
const kills = 2

export const stops: Torture = { name: 'stops', counts: 'ROUNDS', usualCount: 20, shortCount: 1, run }

async function run({ count, say }: Run): Promise<Verdict> {
  await using database = await startDatabase()
  const verdicts: Verdict[] = []
  for (const proxy of proxyNames) {
    const missing = missingFor(proxy)
    if (missing !== undefined) {
      say(`stops: ${missing}`)
      verdicts.push('missing')
      continue
    }
    const { requests, failed, failures } = await stopServers({ store: await database.makePlace(), proxy, stops: count })
    for (const [failure, times] of Object.entries(failures)) say(`  ${times} times ${failure}`)
    const control = await untilWrong('failed', async () =>
      stopServers({ store: await database.makePlace(), proxy, stops: kills, signal: 'SIGKILL' }),
    )
    const ofControl = `control, ${kills} kills: ${control.requests} requests, ${control.failed} failed`
    say(`stops: ${count} behind ${proxy}, ${requests} requests, ${failed} failed; ${ofControl}`)
    verdicts.push(failed === 0 && control.failed > 0 ? 'good' : 'bad')
  }
  return verdicts.includes('bad') ? 'bad' : verdicts.includes('missing') ? 'missing' : 'good'
}
