import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Timer } from '../../src/domain/clock.ts'
import { AppError } from '../../src/domain/errors.ts'
import { GroupCommit } from '../../src/store/group-commit.ts'

const limits = { waitingJobsMax: 100, transactionJobsMax: 10, gatheringMsMax: 10 }

/** To it, no commit takes any time. */
const timeless: Timer = { wallMs: () => 0, monotonicMs: () => 0, after: () => () => {} }

/** A queue, and its groups so far, whose commits a test ends by hand. */
function begin(timer = timeless) {
  const groups: (PromiseWithResolvers<readonly string[]> & { readonly jobs: readonly number[] })[] = []
  const commit = (jobs: readonly number[]): Promise<readonly string[]> => {
    groups.push({ ...Promise.withResolvers<readonly string[]>(), jobs })
    return groups.at(-1)?.promise as Promise<readonly string[]>
  }
  return { groups, queue: new GroupCommit(commit, limits, () => {}, timer) }
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
    const queue = new GroupCommit(commit, { ...limits, transactionJobsMax: 1 })
    const results = await Promise.allSettled([queue.submit(1), queue.submit(2)])
    assert.equal((results[0] as PromiseRejectedResult).reason.code, 'storeUnavailable')
    assert.deepEqual(results[1], { status: 'fulfilled', value: 2 })
  })

  test('jobs that arrive during a commit form the next one, in order', async () => {
    const { groups, queue } = begin()
    const first = queue.submit(1)
    await turn()
    const later = [2, 3, 4].map((job) => queue.submit(job))
    await turn()
    const jobsOf = groups.map(({ jobs }) => jobs)
    assert.deepEqual(jobsOf, [[1]])
    groups[0]?.resolve(['one'])
    assert.equal(await first, 'one')
    await turn()
    assert.deepEqual(groups[1]?.jobs, [2, 3, 4])
    groups[1]?.resolve(['two', 'three', 'four'])
    assert.deepEqual(await Promise.all(later), ['two', 'three', 'four'])
  })

  test('a group is no longer than its limit', async () => {
    const lengths: number[] = []
    const commit = async (jobs: readonly number[]): Promise<readonly number[]> => {
      lengths.push(jobs.length)
      return jobs
    }
    const queue = new GroupCommit(commit, limits)
    await Promise.all(Array.from({ length: 25 }, (_, job) => queue.submit(job)))
    assert.deepEqual(lengths, [10, 10, 5])
  })

  test('a failed commit fails its group and what waits behind it; what comes later goes on', async () => {
    const { groups, queue } = begin()
    const first = [1, 2].map((job) => queue.submit(job))
    await turn()
    const settled = Promise.allSettled([...first, queue.submit(3)])
    groups[0]?.reject(new Error('the disk is gone'))
    assert.ok((await settled).every(({ status }) => status === 'rejected'))
    const second = queue.submit(3)
    await turn()
    groups[1]?.resolve(['three'])
    assert.equal(await second, 'three')
  })

  for (const outcomes of [[], ['one'], ['one', 'two', 'three']]) {
    test(`${outcomes.length} outcomes for two jobs are a bug, and no job gets another's`, async () => {
      const { groups, queue } = begin()
      const settled = Promise.allSettled([1, 2].map((job) => queue.submit(job)))
      await turn()
      groups[0]?.resolve(outcomes)
      for (const result of await settled) {
        assert.match(String((result as PromiseRejectedResult).reason), /a commit of 2 jobs gave/)
      }
    })
  }

  describe('callers who send their next job as soon as they have an answer', () => {
    const slowMs = 100
    /** Two callers wait for a commit of a third, which takes long and has ended. */
    async function answerOne() {
      let nowMs = 0
      let expire = (): void => {}
      const waits: number[] = []
      const after = (ms: number, callback: () => void): (() => void) => {
        waits.push(ms)
        expire = callback
        return () => {}
      }
      const timer = { wallMs: () => nowMs, monotonicMs: () => nowMs, after }
      const { groups, queue } = begin(timer)
      const sizes = (): readonly number[] => groups.map(({ jobs }) => jobs.length)
      /** Ends the newest commit, which has taken so long. */
      const answer = async (ms: number): Promise<void> => {
        nowMs += ms
        groups.at(-1)?.resolve(groups.at(-1)?.jobs.map(String) ?? [])
        await turn()
      }
      void queue.submit(0)
      await turn()
      for (const job of [1, 2]) void queue.submit(job)
      return { queue, sizes, waits, answer, expire: () => expire() }
    }

    test('share a batch with those who wait', async () => {
      const { queue, sizes, answer } = await answerOne()
      await answer(slowMs)
      assert.deepEqual(sizes(), [1])
      void queue.submit(0)
      await turn()
      assert.deepEqual(sizes(), [1, 3])
    })

    test('are waited for half as long as a commit took, at most 10 ms', async () => {
      const { queue, waits, answer } = await answerOne()
      await answer(10)
      void queue.submit(3)
      await turn()
      void queue.submit(4)
      await answer(slowMs)
      assert.deepEqual(waits, [5, 10])
    })

    test('are not waited for any more for a while if they do not come', async () => {
      const { queue, sizes, waits, answer, expire } = await answerOne()
      await answer(slowMs)
      expire()
      await turn()
      assert.deepEqual(sizes(), [1, 2])
      void queue.submit(3)
      await answer(slowMs)
      assert.deepEqual(sizes(), [1, 2, 1])
      for (let job = 4; job < 24; job += 1) {
        assert.equal(waits.length, 1)
        void queue.submit(job)
        await answer(slowMs)
      }
      assert.equal(waits.length, 2)
    })

    test('are not waited for after a fast commit, or when the queue closes', async () => {
      const fast = await answerOne()
      await fast.answer(1)
      assert.deepEqual(fast.sizes(), [1, 2])
      const closing = await answerOne()
      void closing.queue.close()
      await closing.answer(slowMs)
      assert.deepEqual(closing.sizes(), [1, 2])
    })
  })
})
