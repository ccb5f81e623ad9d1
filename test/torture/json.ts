// A million bodies that are nearly plants: judged by the decoder and the validator, and some of them by a server, each
// held to what JSON.parse and the rules of the reference make of it.

import { mutateBody } from '../json/mutate.ts'
import { expectAnswer, faultyDecoders, findOut, judgeMutated, type Tally } from '../json/mutated.ts'
import { Random } from '../power-loss/random.ts'
import { Client } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import type { Run, Torture, Verdict } from './torture.ts'

/** Of the bodies, one in so many is sent to a server, too. */
const sentOneIn = 50
const connections = 16
/** Between two of them, what is to be seen of a long run. */
const bodiesToldOf = 100_000

export const json: Torture = {
  name: 'json',
  counts: 'BODIES',
  usualCount: 1_000_000,
  shortCount: 20_000,
  isSeeded: true,
  run,
}

async function run({ count, seed, say }: Run): Promise<Verdict> {
  const judged = judgeAll(count, new Random(seed), say)
  const sent = await sendAll(Math.ceil(count / sentOneIn), new Random(seed))
  for (const line of [...judged.shown, ...sent.wrong]) say(`  ${line}`)
  const blind = findBlind(seed)
  const { answers, positions, different } = judged
  const kinds = `${answers[200]} plants, ${answers[40002]} other JSON, ${answers[40001]} no JSON`
  const places = `the place of ${positions} compared`
  const answered = `${sent.count} of them sent: ${sent.failures} answers 5xx, ${sent.wrong.length} other wrong ones`
  const faults = Object.keys(faultyDecoders).length
  const control = [`${faults} faulty decoders, ${blind.length} not found out`, ...blind].join('; one that ')
  say(`json: ${count} bodies, ${kinds}, ${places}, ${different} different; ${answered}; control: ${control}`)
  return different === 0 && sent.failures === 0 && sent.wrong.length === 0 && blind.length === 0 ? 'good' : 'bad'
}

function judgeAll(count: number, random: Random, say: Run['say']): Tally {
  const tally = judgeMutated(0, random)
  for (let done = 0; done < count; ) {
    const part = Math.min(bodiesToldOf, count - done)
    judgeMutated(part, random, undefined, tally)
    done += part
    if (done % bodiesToldOf === 0) say(`  ${done} bodies, ${tally.different} different`)
  }
  return tally
}

/** Sends the first of the same bodies to a server, over connections that are kept. */
async function sendAll(count: number, random: Random): Promise<{ count: number; failures: number; wrong: string[] }> {
  await using folder = await makeFolder()
  await using server = await startServer(folder.file('plants.db'), { args: ['--log', 'off'] })
  const client = await Client.connect(server)
  const [wrong, bodies]: [string[], Buffer[]] = [[], Array.from({ length: count }, () => mutateBody(random))]
  let failures = 0
  const sendSome = async (first: number): Promise<void> => {
    await using connection = await client.open()
    for (let index = first; index < bodies.length; index += connections) {
      const body = bodies[index] ?? Buffer.alloc(0)
      const { status, body: answer } = await connection.request({ body })
      if (status >= 500) failures += 1
      else if (!isExpected(status, answer, body)) wrong.push(`${status} ${answer}: ${body.toString('latin1')}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, first) => sendSome(first)))
  return { count, failures, wrong }
}

function isExpected(status: number, answer: string, body: Buffer): boolean {
  const expected = expectAnswer(body)
  // Ids come again and again.
  if (expected.answer === 200) return status === 200 || status === 409
  const { error, message } = JSON.parse(answer) as { error: number; message: string }
  return status === 400 && error === expected.answer && message === expected.message
}

/** The faults that mutated bodies do not find out. */
function findBlind(seed: number): string[] {
  return Object.entries(faultyDecoders)
    .filter(([, decode]) => !findOut(decode, new Random(seed)))
    .map(([fault]) => fault)
}
