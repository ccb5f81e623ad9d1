// Cuts the power, or kills the program, at every step of `plantstore restore --force`: the store's name has to hold all
// of the old store or all of the new one, never nothing and never a mixture.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Folder } from '../support/folder.ts'
import { toPlant } from '../support/plants.ts'
import { openTestStore } from '../support/store.ts'
import { drawCut, SimulatedDisk } from './disk.ts'
import { openAsServer } from './judge.ts'
import type { KeptPlant } from './ledger.ts'
import { Random } from './random.ts'
import { makeWorkFolder, type Recording, recordCommand, storeName } from './recorder.ts'
import { type Files, type Open, type Problem, Tally } from './tally.ts'

type Plants = ReadonlyMap<bigint, KeptPlant>

/** What a restore meets in the place of the store. */
export interface Target {
  readonly title: string
  readonly files: Files
  /** What the old store has; `damaged` when it cannot be read; undefined when there is none. */
  readonly old: Plants | 'damaged' | undefined
  readonly mayBeRefused: boolean
}

export interface RestoreTorture {
  readonly target: Target
  readonly recording: Recording & { readonly status: number | null }
  readonly restored: Plants
}

export interface RestoreCuts {
  readonly seed: number
  /** Power cuts after each step, besides a kill. */
  readonly cutsEach: number
  /**
   * After which steps: `names` are those around a rename, link or unlink, `last` is all that a restore leaves behind.
   */
  readonly steps: 'all' | 'names' | 'last'
  readonly keepsFirst: boolean
}

const plantsOfEach = 150
/** Bytes of a file's header that tell how it was last opened: one may be opened before it is found damaged. */
const openingBytes = [
  [18, 20],
  [24, 28],
  [92, 100],
] as const

/** Records a restore into each kind of target. */
export async function recordRestores(seed: number): Promise<RestoreTorture[]> {
  await using folder = await makeWorkFolder()
  const restored = plantsFrom(1_000_000n, 'new')
  await makeStoreFiles(folder, 'backup', restored)
  const tortures: RestoreTorture[] = []
  for (const target of await makeTargets(folder, new Random(seed))) {
    const backup = join(folder.path, 'backup', storeName)
    const argsOf = (place: string): string[] => ['restore', backup, '--store', join(place, storeName), '--force']
    const recording = await recordCommand(target.files, argsOf)
    assert.ok(recording.status === 0 || target.mayBeRefused, `a restore in the place of ${target.title} was refused`)
    tortures.push({ target, restored, recording })
  }
  return tortures
}

async function makeTargets(folder: Folder, random: Random): Promise<Target[]> {
  const old = plantsFrom(0n, 'old')
  const { closed, killed } = await makeStoreFiles(folder, 'old', old)
  const whole = closed.get(storeName) ?? Buffer.alloc(0)
  const damaged = (from: number, to: number): Files => {
    const bytes = Buffer.from(whole)
    for (let at = from; at < to; at += 1) bytes[at] = random.below(256)
    return new Map([[storeName, bytes]])
  }
  const orphan = new Map([...killed].filter(([name]) => name === `${storeName}-wal`))
  const targets: Omit<Target, 'mayBeRefused'>[] = [
    { title: 'no store', files: new Map(), old: undefined },
    { title: 'a store that was stopped', files: closed, old },
    { title: 'a store whose server was killed', files: killed, old },
    { title: 'a store damaged in its middle', files: damaged(8_192, whole.length - 8_192), old: 'damaged' },
    { title: 'a store damaged at its head', files: damaged(100, 4_096), old: 'damaged' },
  ]
  return [
    ...targets.map((target) => ({ ...target, mayBeRefused: false })),
    { title: 'the log of a store that is gone', files: orphan, old: undefined, mayBeRefused: true },
  ]
}

/** The files of a store, as it was closed and as SIGKILL would have left them before. */
async function makeStoreFiles(folder: Folder, name: string, plants: Plants): Promise<{ closed: Files; killed: Files }> {
  const path = join(folder.path, name, storeName)
  const read = (): Files => {
    const names = readdirSync(join(folder.path, name)).filter((each) => !/-shm$|\.lock$/.test(each))
    return new Map(names.map((each) => [each, readFileSync(join(folder.path, name, each))]))
  }
  mkdirSync(join(folder.path, name))
  let killed: Files
  {
    await using store = await openTestStore(path)
    await Promise.all([...plants].map(([id, plant]) => store.createPlant(toPlant({ id, ...plant }))))
    killed = read()
  }
  return { closed: read(), killed }
}

function plantsFrom(first: bigint, tag: string): Plants {
  return new Map(
    Array.from({ length: plantsOfEach }, (_, index) => {
      const id = first + BigInt(index)
      return [id, { name: `plant ${id} ${'🌿'.repeat(index % 40)}`, tag }] as const
    }),
  )
}

/** The same with every sync left out: the control. */
export function withoutSyncs({ recording, ...rest }: RestoreTorture): RestoreTorture {
  const events = recording.events.filter(({ kind }) => kind !== 'sync')
  return { ...rest, recording: { ...recording, events } }
}

export async function cutRestore(torture: RestoreTorture, cuts: RestoreCuts): Promise<Tally> {
  const { target, recording } = torture
  const { events, initial } = recording
  const random = new Random(cuts.seed)
  const disk = new SimulatedDisk(initial)
  await using tally = await Tally.start(cuts.keepsFirst)
  for (let position = 0; position <= events.length; position += 1) {
    for (const event of events.slice(disk.position, position)) disk.apply(event)
    const isNearName = [events[position - 1], events[position]].some((event) => /name|link/.test(event?.kind ?? ''))
    const isLast = position === events.length
    if (!isLast && (cuts.steps === 'last' || (cuts.steps === 'names' && !isNearName))) continue
    const left = [{ how: 'a kill', files: withoutMemory(disk.files) }]
    for (let cut = 0; cut < cuts.cutsEach; cut += 1) {
      left.push({ how: 'a power cut', files: disk.afterCut(drawCut(random), random) })
    }
    const isDone = recording.status === 0 && isLast
    for (const { how, files } of left) {
      const where = `${target.title}, ${how} after event ${position} of ${events.length}`
      await tally.add(files, where, (open) => judge(torture, files, isDone, open))
    }
  }
  await tally.done()
  return tally
}

/** @param isDone whether the restore has said that it is done. */
async function judge(
  { target, restored }: RestoreTorture,
  files: Files,
  isDone: boolean,
  open: Open,
): Promise<Problem | undefined> {
  const problem = (text: string): Problem => ({ text, isLoss: isDone })
  const file = files.get(storeName)
  if ((file === undefined || file.length === 0) && target.old !== undefined) return problem('there is no store')
  if (target.old === 'damaged' && file !== undefined && isSameBut(file, target.files.get(storeName))) {
    return isDone ? problem('the damaged store is still there') : undefined
  }
  const found = await open(openAsServer)
  if (typeof found === 'string') return problem(found)
  if (found.integrity !== 'ok') return problem(`damaged: ${found.integrity}`)
  if (isSame(found.plants, restored)) return undefined
  if (target.old !== 'damaged' && isSame(found.plants, target.old ?? new Map())) {
    return isDone ? problem('the old store is still there') : undefined
  }
  return problem(`a mixture of ${found.plants.size} plants`)
}

function withoutMemory(files: Files): Files {
  return new Map([...files].filter(([name]) => !name.endsWith('-shm')))
}

function isSame(one: Plants, other: Plants): boolean {
  if (one.size !== other.size) return false
  return [...one].every(([id, { name, tag }]) => other.get(id)?.name === name && other.get(id)?.tag === tag)
}

/** Whether two files are the same but for how they were last opened. */
function isSameBut(one: Buffer, other: Buffer | undefined): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other ?? [])]
  for (const [from, to] of openingBytes) for (const bytes of [first, second]) bytes.fill(0, from, to)
  return first.equals(second)
}
