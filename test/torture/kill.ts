// kill -9 of servers under load, round after round: of one on a file, and of a fleet on PostgreSQL in turn.

import { killEarlyAck, killServers } from '../crash/kill.ts'
import { makeFolder } from '../support/folder.ts'
import { startDatabase } from '../support/postgres.ts'
import type { Run, Torture, Verdict } from './torture.ts'

const fleet = 2

export const kill: Torture = { name: 'kill', counts: 'ROUNDS', usualCount: 200, shortCount: 2, run }

async function run({ count, say }: Run): Promise<Verdict> {
  await using folder = await makeFolder()
  await using database = await startDatabase()
  let files = 0
  const makeFile = async (): Promise<string> => {
    files += 1
    return folder.file(`${files}.db`)
  }
  let isGood = true
  for (const [title, makeStore, servers] of [
    ['one file', makeFile, 1],
    ['fleet', () => database.makePlace(), fleet],
  ] as const) {
    const { acknowledged, lost, failed, replayed } = await killServers(await makeStore(), { kills: count, servers })
    const control = await killEarlyAck(makeStore, { kills: 1, servers })
    say(
      `kill: ${title}: ${count} kills, ${acknowledged} plants acknowledged, ${lost} lost, ${failed} creates repeated, ${replayed} of them done before; control: ${control.acknowledged} acknowledged too early, ${control.lost} lost`,
    )
    isGood &&= lost === 0 && control.lost > 0
  }
  return isGood ? 'good' : 'bad'
}
