// `npm run torture` runs the stress tests of docs/torture.md: many rounds of crashes, broken bodies and broken
// requests.

import { changes } from '../test/torture/changes.ts'
import { floods } from '../test/torture/floods.ts'
import { json } from '../test/torture/json.ts'
import { kill } from '../test/torture/kill.ts'
import { patroni } from '../test/torture/patroni.ts'
import { powerLoss } from '../test/torture/power-loss.ts'
import { soak } from '../test/torture/soak.ts'
import { stops } from '../test/torture/stops.ts'
import type { Torture, Verdict } from '../test/torture/torture.ts'
import { webhooks } from '../test/torture/webhooks.ts'

/** Those that take longest come first. */
const tortures: readonly Torture[] = [patroni, stops, webhooks, kill, changes, floods, soak, powerLoss, json]
/** The tests of a short run that run at the same time. */
const shortAtOnce = 3
/** Status 3 distinguishes missing programs from lost or wrong data. */
const status = { good: 0, bad: 1, usage: 2, missing: 3 } as const

// Exiting also stops servers and databases, each of which listens for it.
process.setMaxListeners(0)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(status.bad))

// Exits explicitly, because the thread of a store that failed on purpose lives as long as the process.
process.exit(await main(process.argv.slice(2)))

async function main(args: readonly string[]): Promise<number> {
  const [name = 'all', ...numbers] = args
  if (args.length === 0) {
    const verdicts: Verdict[] = []
    for (const torture of tortures) verdicts.push(await runOne(torture, torture.usualCount))
    return worst(verdicts)
  }
  if (name === 'short' && numbers.length === 0) {
    // Runs on every machine: a missing program is reported, but is not a failure.
    const verdicts = await runShort()
    return worst(verdicts.filter((verdict) => verdict !== 'missing'))
  }
  const torture = tortures.find((each) => each.name === name)
  const numbersMax = torture?.isSeeded ? 2 : 1
  if (
    torture === undefined ||
    numbers.length > numbersMax ||
    !numbers.every((text) => /^[1-9][0-9]{0,8}$/.test(text))
  ) {
    process.stderr.write(usage())
    return status.usage
  }
  const [count = torture.usualCount, seed] = numbers.map(Number)
  return worst([await runOne(torture, count, seed)])
}

/** Most tests wait for most of their time, so some run at once. Each reports when it ends. */
async function runShort(): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const left = tortures.values()
  const runSome = async (): Promise<void> => {
    for (const torture of left) {
      const lines: string[] = []
      verdicts.push(await runOne(torture, torture.shortCount, drawSeed(), (line) => lines.push(line)))
      say(lines.join('\n'))
    }
  }
  await Promise.all(Array.from({ length: shortAtOnce }, runSome))
  return verdicts
}

/** An exception counts as a failure and does not stop the other tests. */
async function runOne(torture: Torture, count: number, seed = drawSeed(), tell = say): Promise<Verdict> {
  const startedMs = performance.now()
  tell(`${torture.name}: ${count} ${torture.counts.toLowerCase()}${torture.isSeeded ? `, seed ${seed}` : ''}`)
  const verdict = await torture.run({ count, seed, say: tell }).catch((cause: unknown): Verdict => {
    tell(`${torture.name}: ${cause instanceof Error ? cause.stack : cause}`)
    return 'bad'
  })
  tell(`${torture.name}: ${verdict}, after ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`)
  return verdict
}

function worst(verdicts: readonly Verdict[]): number {
  return verdicts.includes('bad') ? status.bad : verdicts.includes('missing') ? status.missing : status.good
}

function drawSeed(): number {
  return 1 + Math.floor(Math.random() * 999_999_998)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function usage(): string {
  const lines = tortures.map(({ name, counts, isSeeded, usualCount }) => {
    const numbers = isSeeded ? `[${counts} [SEED]]` : `[${counts}]`
    return `  npm run torture -- ${`${name} ${numbers}`.padEnd(29)}default ${usualCount}\n`
  })
  return `usage:\n  npm run torture${' '.repeat(33)}all tests\n  npm run torture -- short${' '.repeat(24)}a few rounds of each\n${lines.join('')}`
}
