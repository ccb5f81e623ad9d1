// Lost answers to COMMIT behind a network with a delay.

import { loseAnswers } from '../fleet/far.ts'
import { startDatabase } from '../support/postgres.ts'
import type { Run, Torture, Verdict } from './torture.ts'

const delayMs = 15
const controlRounds = 7

export const lostAnswers: Torture = {
  name: 'lost-answers',
  counts: 'ROUNDS',
  usualCount: 200,
  shortCount: 14,
  isSeeded: false,
  run,
}

async function run({ count, say }: Run): Promise<Verdict> {
  await using database = await startDatabase()
  const { lost, refused, wrong } = await loseAnswers(await database.makePlace(), count, delayMs)
  const control = await loseAnswers(await database.makePlace(), controlRounds, delayMs, true)
  for (const line of wrong) say(`lost-answers: ${line}`)
  say(
    `lost-answers: ${lost} answers lost with ${delayMs} ms each way, ${refused} refused, ${wrong.length} wrong; control: without time to look them up ${control.refused} of ${control.lost} refused, ${control.wrong.length} wrong`,
  )
  const isGood = lost === count && refused === 0 && wrong.length === 0
  return isGood && control.refused > 0 && control.wrong.length === 0 ? 'good' : 'bad'
}
