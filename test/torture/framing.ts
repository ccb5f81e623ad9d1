// The framing corpus over and over: cut into packets at random, left early, and beside each other. Afterwards the server
// has no descriptor and hardly more memory than before.

import { type FramingCase, reset } from '../http/framing/case.ts'
import { framingCorpus } from '../http/framing/corpus.ts'
import { FramingRunner, type FramingTarget, framingLimits, ofOnePacket } from '../http/framing/run.ts'
import { Random } from '../power-loss/random.ts'
import { makeFolder } from '../support/folder.ts'
import { startServer } from '../support/program.ts'
import { type KeepingServer, startKeepingServer } from './keeping.ts'
import { descriptorsOf, memoryOf } from './process-figures.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const framing: Torture = {
  name: 'framing',
  counts: 'CASES',
  usualCount: 10_000,
  shortCount: 300,
  isSeeded: true,
  run,
}

const atOnce = 32
/** By then the server has all that it keeps however many come. */
const warmShare = 0.2
const memoryGrownBytesMax = 30 * 1024 * 1024
/** Descriptors that it opens as it needs them, as those of its store. */
const descriptorsGrownMax = 2
const goneMsMax = 20_000
const controlGoneMsMax = 1_000
const lookMs = 50
const slowOneIn = 20
const leavesOneIn = 8
const cutOneIn = 2
const inUseOneIn = 2
const piecesMax = 6
const shownMax = 10
const controlCases = 150
const controlPatienceMs = 300

/** Cuts make a packet late on a machine that has other things to do: what is not slow must not be taken for it. */
const limits = { ...framingLimits, headersMsMax: 3_000, requestMsMax: 4_000, unreadMsMax: 4_000, keepAliveMsMax: 5_000 }

/** What V8 lets die young grows for as long as it may, which would hide what is kept. */
const smallYoung = ['--max-semi-space-size=2']

interface Seen {
  readonly wrong: readonly string[]
  readonly descriptorsGrown: number
  readonly memoryGrownBytes: number
}

async function run({ count, seed, say }: Run): Promise<Verdict> {
  const seen = await tortureService(count, new Random(seed))
  for (const wrong of seen.wrong.slice(0, shownMax)) say(`  ${wrong}`)
  const control = await tortureKeepingServer(new Random(seed))
  say(`framing: ${count} cases, ${told(seen)}; control, a server that keeps what it gets: ${told(control)}`)
  const isControlBad = control.wrong.length > 0 && hasLeaked(control)
  return seen.wrong.length === 0 && !hasLeaked(seen) && isControlBad ? 'good' : 'bad'
}

async function tortureService(count: number, random: Random): Promise<Seen> {
  await using folder = await makeFolder()
  await using server = await startServer(folder.file('plants.db'), {
    limits,
    args: ['--log', 'all'],
    before: smallYoung,
  })
  const seen = await torture(server.process.pid, count, random, new FramingRunner(server), goneMsMax)
  const failures = server.output.stdout.split('\n').filter((line) => /"status":500|smuggled/.test(line))
  return { ...seen, wrong: [...seen.wrong, ...failures] }
}

async function tortureKeepingServer(random: Random): Promise<Seen> {
  await using server: KeepingServer = await startKeepingServer()
  const target: FramingTarget = { port: server.port, token: 'none' }
  // Without await the server would be ended before.
  return await torture(
    server.process.pid,
    controlCases,
    random,
    new FramingRunner(target, controlPatienceMs),
    controlGoneMsMax,
  )
}

async function torture(
  pid: number | undefined,
  count: number,
  random: Random,
  runner: FramingRunner,
  goneMs: number,
): Promise<Seen> {
  const descriptorsBefore = await descriptorsOf(pid)
  const wrong: string[] = []
  const runSome = async (cases: number): Promise<void> => {
    let started = 0
    const runOne = async (): Promise<void> => {
      while (started < cases) {
        started += 1
        const drawn = draw(random)
        const isInUse = random.chance(1 / inUseOneIn)
        const found = await runner.run(drawn, isInUse, (bytes) => cutUp(bytes, random))
        if (found !== undefined) wrong.push(`${drawn.name}: ${found}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, runOne))
  }
  const warm = Math.floor(count * warmShare)
  await runSome(warm)
  const memoryBefore = await memoryOf(pid)
  await runSome(count - warm)
  const descriptorsGrown = await descriptorsLeft(pid, descriptorsBefore, goneMs)
  return { wrong, descriptorsGrown, memoryGrownBytes: (await memoryOf(pid)) - memoryBefore }
}

/** A case of the corpus, seldom a slow one; now and then its client leaves before it is done. */
function draw(random: Random): FramingCase {
  const wantsSlow = random.chance(1 / slowOneIn)
  const cases = framingCorpus.filter(({ isSlow = false, name }) => isSlow === wantsSlow && !ofOnePacket.includes(name))
  const drawn = random.pick(cases)
  if (!random.chance(1 / leavesOneIn)) return drawn
  const steps = drawn.steps.slice(0, random.below(drawn.steps.length + 1))
  // Nothing is known of the answers to what was cut off; there must be nothing but the first of them.
  return { ...drawn, name: `${drawn.name}, left`, steps: [...steps, reset], fate: 'left' }
}

function cutUp(bytes: Buffer, random: Random): readonly Buffer[] {
  if (bytes.length < 2 || !random.chance(1 / cutOneIn)) return [bytes]
  const cuts = Array.from({ length: random.between(1, piecesMax) }, () => random.between(1, bytes.length - 1))
  const ends = [...new Set(cuts), bytes.length].sort((one, other) => one - other)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

/** How many descriptors more a process has than before, once it had the time to close them. */
async function descriptorsLeft(pid: number | undefined, before: number, goneMs: number): Promise<number> {
  const deadlineMs = performance.now() + goneMs
  for (;;) {
    const grown = (await descriptorsOf(pid)) - before
    if (grown <= descriptorsGrownMax || performance.now() > deadlineMs) return grown
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

function hasLeaked({ descriptorsGrown, memoryGrownBytes }: Seen): boolean {
  return descriptorsGrown > descriptorsGrownMax || memoryGrownBytes > memoryGrownBytesMax
}

function told({ wrong, descriptorsGrown, memoryGrownBytes }: Seen): string {
  const mebibytes = (memoryGrownBytes / 1024 / 1024).toFixed(0)
  return `${wrong.length} not as designed, ${descriptorsGrown} descriptors and ${mebibytes} MiB more`
}
