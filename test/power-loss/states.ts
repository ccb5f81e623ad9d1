// Cuts the power of a recorded load at random moments, opens the files, and looks for all that was acknowledged.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { namesOf, withoutId } from '../../src/domain/plant.ts'
import { openTestStore } from '../support/store.ts'
import { drawCut, SimulatedDisk, writeFiles } from './disk.ts'
import { type Difference, type KeptPlant, Ledger } from './ledger.ts'
import { Random } from './random.ts'
import { makeWorkFolder, type Recording, storeName } from './recorder.ts'

export interface Cuts {
  readonly states: number
  readonly seed: number
  /** The power is cut after this event. */
  readonly since: number
  /** It ends with the first loss. Without it, the files of the first bad state are kept for whoever looks into it. */
  readonly isControl: boolean
}

export interface CutsReport {
  states: number
  /** States that had lost something, made something up, or could not be opened. */
  bad: number
  /** Those of them in which something was missing that had been acknowledged. */
  lost: number
  /** What was wrong with the first bad state. */
  first: string | undefined
}

interface State {
  readonly files: ReadonlyMap<string, Buffer>
  readonly where: string
  readonly isTokenDue: boolean
  readonly compare: (found: ReadonlyMap<bigint, KeptPlant>) => Difference
}

interface Problem {
  readonly text: string
  readonly isLoss: boolean
}

const atOnce = 2

export async function cutPower(recording: Recording, { isControl, ...cuts }: Cuts): Promise<CutsReport> {
  await using work = await makeWorkFolder()
  const report: CutsReport = { states: 0, bad: 0, lost: 0, first: undefined }
  const drawn = drawStates(recording, cuts)
  const judgeSome = async (): Promise<void> => {
    for (const state of drawn) {
      report.states += 1
      const problem = await judge(state, work.file(`${report.states}`))
      if (problem === undefined) continue
      report.bad += 1
      if (problem.isLoss) report.lost += 1
      if (report.bad === 1 && !isControl) report.first = `${state.where}: ${problem.text}; ${await keep(state)}`
      if (report.lost > 0 && isControl) return
    }
  }
  await Promise.all(Array.from({ length: atOnce }, judgeSome))
  return report
}

function* drawStates(recording: Recording, { states, seed, since }: Omit<Cuts, 'isControl'>): Generator<State, void> {
  const { events, clients } = recording
  const random = new Random(seed)
  const ledger = new Ledger(clients, positionsOfAnswers(recording))
  const tokenShownAt = events.findIndex(({ kind }) => kind === 'tokenShown')
  const disk = new SimulatedDisk()
  for (const position of drawPositions(events, states, since, random)) {
    for (const event of events.slice(disk.position, position)) disk.apply(event)
    ledger.advance(position)
    yield {
      files: disk.afterCut(drawCut(random), random),
      where: `seed ${seed}, after event ${position} of ${events.length}`,
      isTokenDue: position > tokenShownAt,
      compare: ledger.expectation(),
    }
  }
}

async function judge({ files, isTokenDue, compare }: State, folder: string): Promise<Problem | undefined> {
  writeFiles(folder, files)
  try {
    const { plants, tokens } = await open(join(folder, storeName))
    if (isTokenDue && tokens === 0) return { text: 'the token that was printed is lost', isLoss: true }
    const { lost, invented } = compare(plants)
    if (lost.length > 0) {
      return { text: `${lost.length} acknowledged changes are lost, the first of plant ${lost[0]}`, isLoss: true }
    }
    if (invented.length === 0) return undefined
    return { text: `${invented.length} plants that nobody asked for, first ${invented[0]}`, isLoss: false }
  } catch (cause) {
    return { text: `not opened: ${cause instanceof Error ? cause.message : cause}`, isLoss: false }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Opens a store as a server does, and looks through its file once it is closed again. */
async function open(path: string): Promise<{ plants: ReadonlyMap<bigint, KeptPlant>; tokens: number }> {
  const plants = new Map<bigint, KeptPlant>()
  let tokens = 0
  {
    await using store = await openTestStore(path)
    for await (const lot of store.exportPlants())
      for (const { id, json } of lot) plants.set(id, namesOf(withoutId(json)))
    tokens = (await store.listTokens()).length
  }
  using database = new DatabaseSync(path, { readOnly: true })
  const [row] = database.prepare('PRAGMA integrity_check').all()
  assert.equal(row?.['integrity_check'], 'ok')
  return { plants, tokens }
}

async function keep({ files }: State): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-lost-'))
  writeFiles(folder, files)
  return `its files are in ${folder}`
}

function positionsOfAnswers({ events }: Recording): Map<string, number> {
  const positions = new Map<string, number>()
  for (const [at, event] of events.entries()) if (event.kind === 'answer') positions.set(event.requestId, at)
  return positions
}

/**
 * Moments between two events, in order. Most events are writes to the log, so one moment in four is drawn from among
 * the others: syncs, checkpoints, and changes of names.
 */
function drawPositions(events: Recording['events'], count: number, since: number, random: Random): number[] {
  const rare = events.flatMap((event, at) => {
    const isCommon = event.kind === 'answer' || (event.kind === 'write' && event.name.endsWith('-wal'))
    return at < since || isCommon ? [] : [at]
  })
  const draw = (): number =>
    rare.length > 0 && random.chance(0.25) ? random.pick(rare) + random.below(2) : random.between(since, events.length)
  return Array.from({ length: count }, draw).sort((a, b) => a - b)
}
