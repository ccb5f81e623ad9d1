// Cuts the power of a recorded load at random moments, and looks for what was acknowledged before.

import assert from 'node:assert/strict'
import { drawCut, SimulatedDisk } from './disk.ts'
import { type Found, openAsServer, openAsSqlite } from './judge.ts'
import { Ledger } from './ledger.ts'
import { Random } from './random.ts'
import type { Recording } from './recorder.ts'
import { type Problem, Tally } from './tally.ts'

export interface Cuts {
  readonly states: number
  readonly seed: number
  /** The power is cut after this run began. */
  readonly sinceRun: number
  readonly keepsFirst: boolean
}

/** So many of the states are opened as a server does, the others by SQLite alone. */
const asServerChance = 0.5

export async function cutPower(recording: Recording, { states, seed, sinceRun, keepsFirst }: Cuts): Promise<Tally> {
  const { events, initial } = recording
  const random = new Random(seed)
  const ledger = new Ledger(recording.clients, positionsOfAnswers(recording))
  const tokenShownAt = events.findIndex(({ kind }) => kind === 'tokenShown')
  const disk = new SimulatedDisk(initial)
  await using tally = await Tally.start(keepsFirst)
  for (const position of drawPositions(recording, states, sinceRun, random)) {
    for (const event of events.slice(disk.position, position)) disk.apply(event)
    ledger.advance(position)
    const expected = ledger.expectation()
    // Before the first acknowledgement there may be no tables yet.
    const openAs = ledger.acknowledged === 0 || random.chance(asServerChance) ? openAsServer : openAsSqlite
    await tally.add(
      disk.afterCut(drawCut(random), random),
      `seed ${seed}, after event ${position} of ${events.length}`,
      async (open) => problemOf(await open(openAs), expected, position > tokenShownAt),
    )
  }
  await tally.done()
  return tally
}

function problemOf(
  found: Found | string,
  expected: ReturnType<Ledger['expectation']>,
  isTokenDue: boolean,
): Problem | undefined {
  if (typeof found === 'string') return { text: found, isLoss: false }
  const { integrity, plants, tokens } = found
  if (integrity !== 'ok') return { text: `damaged: ${integrity}`, isLoss: false }
  if (isTokenDue && tokens === 0) return { text: 'the token that was printed is lost', isLoss: true }
  const { lost, invented } = expected(plants)
  if (lost.length > 0) {
    return { text: `${lost.length} acknowledged changes are lost, the first of plant ${lost[0]}`, isLoss: true }
  }
  if (invented.length === 0) return undefined
  return { text: `${invented.length} plants that nobody asked for, first ${invented[0]}`, isLoss: false }
}

function positionsOfAnswers({ events, clients }: Recording): Map<string, number> {
  const positions = new Map<string, number>()
  for (const [at, event] of events.entries()) if (event.kind === 'answer') positions.set(event.requestId, at)
  for (const { requestId } of clients.flat()) {
    assert.ok(requestId === undefined || positions.has(requestId), 'an answer is not in the recording')
  }
  return positions
}

/**
 * Moments between two events, in order. Most events are writes to the log, so one moment in four is drawn from among
 * the others: syncs, checkpoints, and changes of names.
 */
function drawPositions({ events, starts }: Recording, count: number, sinceRun: number, random: Random): number[] {
  const start = starts[sinceRun] ?? 0
  const rare = events.flatMap((event, at) => {
    const isCommon = event.kind === 'answer' || (event.kind === 'write' && event.name.endsWith('-wal'))
    return at < start || isCommon ? [] : [at]
  })
  const draw = (): number =>
    rare.length > 0 && random.chance(0.25) ? random.pick(rare) + random.below(2) : random.between(start, events.length)
  return Array.from({ length: count }, draw).sort((a, b) => a - b)
}
