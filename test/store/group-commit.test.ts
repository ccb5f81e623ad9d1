import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/domain/errors.ts'
import { GroupCommit } from '../../src/store/group-commit.ts'

const limits = { waitingJobsMax: 100, transactionJobsMax: 10 }

/** A commit that a test lets finish by hand, group by group. */
function manualCommit(): {
  readonly groups: (readonly number[])[]
  commit(jobs: readonly number[]): Promise<readonly string[]>
  finish(outcomes?: readonly string[] | Error): Promise<void>
} {
  const groups: (readonly number[])[] = []
  let pending: PromiseWithResolvers<readonly string[]> | undefined
  return {
    groups,
    commit: (jobs) => {
      assert.equal(pending, undefined, 'two groups at once')
      groups.push(jobs)
      pending = Promise.withResolvers()
      return pending.promise
    },
    finish: async (outcomes) => {
      const current = pending
      pending = undefined
      assert.ok(current)
      if (outcomes instanceof Error) current.reject(outcomes)
      else current.resolve(outcomes ?? (groups.at(-1) ?? []).map((job) => `outcome ${job}`))
      await turn()
    },
  }
}

/** Lets everything run that is ready to. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

describe('group commit', () => {
  test('after a group of which the outcome is not known those that wait are tried', async () => {
    let groups = 0
    const commit = async (jobs: readonly number[]): Promise<readonly number[]> => {
      groups += 1
      if (groups === 1) throw new AppError('storeUnavailable', 'not known')
      return jobs
    }
    const queue = new GroupCommit(commit, { waitingJobsMax: 10, transactionJobsMax: 1 })
    const results = await Promise.allSettled([queue.submit(1), queue.submit(2)])
    assert.equal((results[0] as PromiseRejectedResult).reason.code, 'storeUnavailable')
    assert.deepEqual(results[1], { status: 'fulfilled', value: 2 })
  })

  test('jobs that arrive during a commit form the next one, in order', async () => {
    const manual = manualCommit()
    const queue = new GroupCommit(manual.commit, limits)
    const first = queue.submit(1)
    await turn()
    const later = [2, 3, 4].map((job) => queue.submit(job))
    await turn()
    assert.deepEqual(manual.groups, [[1]])
    await manual.finish()
    assert.equal(await first, 'outcome 1')
    assert.deepEqual(manual.groups, [[1], [2, 3, 4]])
    await manual.finish()
    assert.deepEqual(await Promise.all(later), ['outcome 2', 'outcome 3', 'outcome 4'])
  })

  test('a group is no longer than its limit', async () => {
    const manual = manualCommit()
    const queue = new GroupCommit(manual.commit, limits)
    const all = Array.from({ length: 25 }, (_, job) => queue.submit(job))
    await turn()
    for (let group = 0; group < 3; group += 1) await manual.finish()
    await Promise.all(all)
    assert.deepEqual(
      manual.groups.map((group) => group.length),
      [10, 10, 5],
    )
  })

  test('a failed commit fails its group and what waits behind it; what comes later goes on', async () => {
    const manual = manualCommit()
    const queue = new GroupCommit(manual.commit, limits)
    const first = [1, 2].map((job) => queue.submit(job))
    await turn()
    const settled = Promise.allSettled([...first, queue.submit(3)])
    await manual.finish(new Error('the disk is gone'))
    assert.deepEqual(
      (await settled).map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
    const second = queue.submit(3)
    await turn()
    await manual.finish()
    assert.equal(await second, 'outcome 3')
  })

  for (const outcomes of [[], ['one'], ['one', 'two', 'three']]) {
    test(`${outcomes.length} outcomes for two jobs are a bug, and no job gets another's`, async () => {
      const manual = manualCommit()
      const queue = new GroupCommit(manual.commit, limits)
      const settled = Promise.allSettled([1, 2].map((job) => queue.submit(job)))
      await turn()
      await manual.finish(outcomes)
      for (const result of await settled) {
        assert.ok(result.status === 'rejected')
        assert.match(String(result.reason), /a commit of 2 jobs gave/)
      }
    })
  }
})
