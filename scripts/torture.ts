// `npm run torture -- failover [ROUNDS]`: the failovers of the test run, many times over.

import { failOver } from '../test/fleet/failover.ts'

const [name = 'failover', roundsText = '20'] = process.argv.slice(2)
const rounds = Number(roundsText)
if (name !== 'failover' || !Number.isInteger(rounds) || rounds < 1) {
  process.stderr.write('usage: npm run torture -- failover [ROUNDS]\n')
  process.exit(2)
}
let acknowledgedInAll = 0
let lostInAll = 0
for (let round = 1; round <= rounds; round += 1) {
  const { acknowledged, lost, failed, backMs } = await failOver(true)
  acknowledgedInAll += acknowledged
  lostInAll += lost
  process.stdout.write(
    `${round}: ${acknowledged} acknowledged, ${lost} lost, ${failed} repeated, back ${backMs.toFixed(0)} ms after the promotion\n`,
  )
}
const { acknowledged, lost } = await failOver(false)
process.stdout.write(
  `${rounds} failovers to a synchronous standby: ${acknowledgedInAll} acknowledged, ${lostInAll} lost\n`,
)
process.stdout.write(`control, to an asynchronous standby: ${acknowledged} acknowledged, ${lost} lost\n`)
process.exitCode = lostInAll === 0 && lost > 0 ? 0 : 1
