// A million bodies that are nearly plants: the decoder and the validator must judge each as the reference does.

import { faultyDecoders, findOut, judgeMutated, noTally } from '../json/mutated.ts'
import { Random } from '../power-loss/random.ts'
import type { Run, Torture, Verdict } from './torture.ts'

/** Bodies between two lines on the progress of a long run. */
const bodiesAtOnce = 100_000

export const json: Torture = {
  name: 'json',
  counts: 'BODIES',
  usualCount: 1_000_000,
  shortCount: 20_000,
  isSeeded: true,
  run,
}

async function run({ count, seed, say }: Run): Promise<Verdict> {
  const [tally, random] = [noTally(), new Random(seed)]
  for (let done = 0; done < count; ) {
    const part = Math.min(bodiesAtOnce, count - done)
    judgeMutated(part, random, undefined, tally)
    done += part
    if (done % bodiesAtOnce === 0) say(`  ${done} bodies, ${tally.different} different`)
  }
  const { answers, different, shown } = tally
  for (const line of shown) say(`  ${line}`)
  const faults = Object.entries(faultyDecoders)
  const undetected = faults.filter(([, decode]) => !findOut(decode, new Random(seed))).map(([fault]) => fault)
  const kinds = `${answers[200]} plants, ${answers[40002]} other JSON, ${answers[40001]} no JSON`
  const control = [`${faults.length} faulty decoders, ${undetected.length} not detected`, ...undetected].join('; ')
  say(`json: ${count} bodies, ${kinds}, ${different} different; control: ${control}`)
  return different === 0 && undetected.length === 0 ? 'good' : 'bad'
}
