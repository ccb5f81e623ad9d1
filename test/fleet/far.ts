// A store behind a network with a delay, whose answers to COMMIT are lost, one after the other, for every kind of
// change.

import { randomBytes } from 'node:crypto'
import { AppError } from '../../src/domain/errors.ts'
import type { Store } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import { CuttingProxy } from '../support/proxy.ts'
import { openTestStore } from '../support/store.ts'

export interface LostAnswersReport {
  readonly lost: number
  /** Changes that were answered as unknown, or refused. */
  readonly refused: number
  /** What was answered and is not so. */
  readonly wrong: readonly string[]
}

/**
 * A kind of change: what it needs, what it is, and what has to be true of an answer; `direct` sees the database itself.
 */
interface Kind {
  prepare?(direct: Store, id: bigint): Promise<unknown>
  change(store: Store, id: bigint): Promise<unknown>
  isTrue(direct: Store, id: bigint, answer: unknown): Promise<boolean>
}

const there = (direct: Store, id: bigint): Promise<unknown> => direct.createPlant({ id, name: 'there' })
const nameOf = async (direct: Store, id: bigint): Promise<string | undefined> => (await direct.getPlant(id))?.name
const keyOf = (id: bigint) => ({ callerId: 'tok_1', key: `k${id}` })

const kinds: readonly Kind[] = [
  {
    change: (store, id) => store.createPlant({ id, name: 'n' }),
    isTrue: async (direct, id, answer) => answer === 'created' && (await nameOf(direct, id)) === 'n',
  },
  {
    prepare: there,
    change: (store, id) => store.createPlant({ id, name: 'n' }),
    isTrue: async (direct, id, answer) => answer === 'idTaken' && (await nameOf(direct, id)) === 'there',
  },
  {
    change: (store, id) => store.createPlant({ id, name: 'n' }, keyOf(id)),
    isTrue: async (direct, id, answer) =>
      answer === 'created' && (await direct.createPlant({ id, name: 'n' }, keyOf(id))) === 'replayed',
  },
  {
    prepare: there,
    change: (store, id) => store.replacePlant({ id, name: 'n' }),
    isTrue: async (direct, id, answer) => answer === undefined && (await nameOf(direct, id)) === 'n',
  },
  {
    change: (store, id) => store.replacePlant({ id, name: 'n' }),
    isTrue: async (direct, id, answer) => answer === 'unknownPlant' && (await nameOf(direct, id)) === undefined,
  },
  {
    prepare: there,
    change: (store, id) => store.deletePlant(id),
    isTrue: async (direct, id, answer) => answer === undefined && (await nameOf(direct, id)) === undefined,
  },
  {
    prepare: (direct, id) =>
      direct.createToken({
        id: `tok_${id}`,
        hash: randomBytes(32),
        name: 'n',
        scopes: ['plants:read'],
        createdAtMs: 1,
      }),
    change: (store, id) => store.revokeToken(`tok_${id}`, 7),
    isTrue: async (direct, id, answer) => {
      const token = (await direct.listTokens()).find((each) => each.id === `tok_${id}`)
      return answer === true && token?.revokedAtMs === 7
    },
  },
]

/**
 * Loses so many answers.
 *
 * @param place URL of a place in a database.
 * @param delayMs how long everything takes, either way.
 * @param isHasty whether the store has no time to find out what became of a change: the control.
 */
export async function loseAnswers(
  place: string,
  count: number,
  delayMs: number,
  isHasty = false,
): Promise<LostAnswersReport> {
  const url = new URL(place)
  await using proxy = await CuttingProxy.start(Number(url.port), delayMs)
  await using direct = await openTestStore(place)
  url.port = String(proxy.port)
  const hasty = { ...limits, databaseCommitMsMax: 8 * delayMs, databaseGraceMs: 8 * delayMs }
  await using store = await openTestStore(url.href, isHasty ? { limits: hasty } : {})
  const wrong: string[] = []
  let refused = 0
  for (let round = 0; round < count; round += 1) {
    const kind = kinds[round % kinds.length] as Kind
    const id = BigInt(round)
    await kind.prepare?.(direct, id)
    // The registration of a new connection is committed, too, and is not what is to be lost.
    await settle(store, 1_000_000n + id)
    proxy.cutNext('lostAnswer')
    const answer = await kind.change(store, id).catch((error: unknown) => {
      if (error instanceof AppError) return error.code
      throw error
    })
    if (answer === 'storeUnavailable' || answer === 'overloaded' || answer === 'storeAway') refused += 1
    else if (!(await kind.isTrue(direct, id, answer))) wrong.push(`${kind.change} was answered with ${answer}`)
  }
  return { lost: proxy.cuts, refused, wrong }
}

/** Commits something over the connection that there is by then. */
async function settle(store: Store, id: bigint): Promise<void> {
  for (;;) {
    const answer = await store.createPlant({ id, name: 'settled' }).catch((error: unknown) => {
      if (error instanceof AppError) return error.code
      throw error
    })
    if (answer === 'created' || answer === 'idTaken') return
  }
}
