// The next change that a webhook sends, in each of its states, with a log in memory and a simulated clock.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Deliveries, type Delivery } from '../../src/deliver/deliveries.ts'
import type { PostAnswer } from '../../src/deliver/post.ts'
import { type ChangeKind, type ChangePage, changeKinds, type LoggedChange } from '../../src/domain/change.ts'
import { beginAfter, type WebhookProgress } from '../../src/domain/webhook.ts'
import { type Limits, limits } from '../../src/limits.ts'
import { Random } from '../power-loss/random.ts'
import { inRing } from '../support/ring.ts'

const [second, hour] = [1_000, 3_600_000]
/** Without chance: pauses are 0.9 to 1.1 times as long. */
const evenly = (): number => 0.5

/** A log, and a receiver that answers as the test says. */
class Bench {
  readonly log: LoggedChange[] = []
  readonly limits: Limits
  readonly kinds: readonly ChangeKind[]
  nowMs = 0
  /** The plants and numbers of what was accepted, in order. */
  readonly accepted: string[] = []
  sut: Deliveries

  constructor(own: Partial<Limits> = {}, kinds: readonly ChangeKind[] = changeKinds) {
    this.limits = { ...limits, ...own }
    this.kinds = kinds
    this.sut = this.begin(beginAfter('1-a'))
  }

  begin(progress: WebhookProgress): Deliveries {
    return new Deliveries(JSON.parse(JSON.stringify(progress)), this.kinds, this.limits, evenly)
  }

  /** Appends a change of each plant. */
  change(plants: readonly number[], kind: ChangeKind = 'created'): void {
    for (const id of plants) {
      const position = `${this.log.length + 2}-a`
      const plant = `{"id":${id},"name":"n"}`
      this.log.push({ position, kind, atMs: this.log.length, plant, json: '' })
    }
  }

  page(after: string | undefined, limit: number): ChangePage {
    const from = after === undefined ? 0 : Number(after.split('-')[0]) - 1
    const changes = this.log.slice(from, from + limit)
    return { changes, next: changes.at(-1)?.position ?? after ?? '1-a', isLast: from + limit >= this.log.length }
  }

  /** Reads what is wanted, and returns the next change to send, with its text. */
  next(room = 10): Delivery | undefined {
    let limit = this.sut.wanted(this.nowMs)
    while (limit > 0) {
      this.sut.add(this.page(this.sut.readTo, limit))
      limit = this.sut.wantsMore ? this.sut.wanted(this.nowMs) : 0
    }
    for (;;) {
      const delivery = this.sut.next(this.nowMs, room)
      if (delivery === undefined || delivery.change !== undefined) return delivery
      const page = this.page(delivery.lane.after, this.limits.webhookPage)
      if (this.sut.find(delivery, page, this.nowMs)) return delivery
    }
  }

  begun(room = 10): Delivery[] {
    const deliveries: Delivery[] = []
    for (let each = this.next(room); each !== undefined; each = this.next(room)) deliveries.push(each)
    return deliveries
  }

  accept(delivery: Delivery): void {
    this.accepted.push(nameOf(delivery))
    this.sut.settle(delivery, { status: 200, isAccepted: true, outcome: '200' }, this.nowMs, 0)
  }

  refuse(delivery: Delivery, refusal: Partial<PostAnswer> = { status: 500 }): number | undefined {
    return this.sut.settle(delivery, { isAccepted: false, outcome: 'no', ...refusal }, this.nowMs, 0)
  }

  /** Sends all that is due; `isRefused` says what is refused. */
  run(isRefused: (plantId: string) => boolean = () => false): void {
    for (let each = this.next(); each !== undefined; each = this.next()) {
      if (isRefused(each.lane.plantId)) this.refuse(each)
      else this.accept(each)
    }
  }
}

/** The plant of a delivery, and the number of its change. */
const nameOf = ({ lane, change }: Delivery): string => `${lane.plantId}:${change?.position.split('-')[0]}`

describe('what a webhook sends', () => {
  test('is one change of a plant at a time, of several plants as many as there is room for', () => {
    const bench = new Bench()
    bench.change([1, 1, -1, 2, 3])
    const begun = bench.begun(3)
    assert.deepEqual(begun.map(nameOf), ['1:2', '-1:4', '2:5'])
    bench.accept(begun[0] as Delivery)
    assert.deepEqual(bench.begun(3).map(nameOf), ['1:3'])
  })

  test('is read in pages, no more than two of which wait', () => {
    const bench = new Bench({ webhookPage: 2 })
    bench.change([1, 2, 3, 4, 5, 6, 7, 8])
    const first = bench.next(1) as Delivery
    assert.equal(bench.sut.readTo, '5-a')
    bench.accept(first)
    bench.run()
    // Later ones, too, with no pause between the pages.
    bench.change([1, 2, 3])
    bench.sut.add(bench.page(bench.sut.readTo, 2))
    assert.ok(bench.sut.wantsMore)
  })

  test('are the changes of its kinds', () => {
    const bench = new Bench({}, ['deleted'])
    bench.change([1, 2])
    bench.change([1], 'deleted')
    bench.run()
    assert.deepEqual(bench.accepted, ['1:4'])
    assert.equal(bench.sut.takeProgress().after, '4-a')
    // Also when they are read again.
    bench.change([1], 'deleted')
    bench.change([1])
    bench.change([1], 'deleted')
    bench.refuse(bench.next() as Delivery)
    bench.nowMs += 6 * second
    bench.run()
    assert.deepEqual(bench.accepted, ['1:4', '1:5', '1:7'])
  })

  test('is nothing new beyond a number of blocked plants, until one is accepted', () => {
    const bench = new Bench({ webhookBlockedMax: 3 })
    bench.change([1, 2, 3, 4])
    for (const each of bench.begun(3)) bench.refuse(each, { status: 400 })
    bench.change([5])
    assert.equal(bench.next(), undefined)
    assert.equal(bench.sut.readTo, '5-a')
    bench.nowMs += 6 * second
    bench.accept(bench.next(1) as Delivery)
    assert.ok(bench.begun().map(nameOf).includes('4:5'))
  })

  test('leaves half of the room to others while blocked plants catch up', () => {
    const bench = new Bench()
    const plants = [1, 2, 3, 4]
    for (let round = 0; round < 20; round += 1) bench.change(plants)
    for (const each of bench.begun().slice(0, 4)) bench.refuse(each)
    bench.change([5, 6, 7, 8])
    bench.nowMs += 6 * second
    const begun = bench.begun(4).map(({ lane }) => Number(lane.plantId))
    assert.deepEqual(begun.map((plant) => plant > 4).sort(), [false, false, true, true])
  })

  test('is first of the plant that has been due for longer', () => {
    const bench = new Bench()
    bench.change([1, 2])
    const [first, other] = bench.begun() as [Delivery, Delivery]
    bench.refuse(first, { status: 500, retryAfterMs: 60 * second })
    bench.refuse(other)
    bench.nowMs += 61 * second
    assert.deepEqual(bench.begun().map(nameOf), ['2:3', '1:2'])
  })

  test('pauses longer after each failure, and gives a change up after three days; the next of its plant follows', () => {
    const bench = new Bench()
    bench.change([1, 1])
    const pauses: number[] = []
    for (let pauseMs: number | undefined = 0; pauseMs !== undefined; ) {
      bench.nowMs += pauseMs
      // Others are accepted: the receiver does not fail.
      bench.change([2])
      const begun = bench.begun()
      for (const each of begun) if (each.lane.plantId === '2') bench.accept(each)
      pauseMs = bench.refuse(begun.find(({ lane }) => lane.plantId === '1') as Delivery)
      if (pauseMs !== undefined) pauses.push(pauseMs)
    }
    const expected = [5, 30, 120, 600, 3_600, 10_800, 10_800].map((seconds) => seconds * second)
    assert.deepEqual(pauses.slice(0, 7), expected)
    const sum = pauses.reduce((all, each) => all + each)
    assert.ok(sum > 70 * hour && sum < 75 * hour, `${sum / hour} hours`)
    assert.equal(bench.refuse(bench.next() as Delivery), 5 * second)
    bench.nowMs += 5 * second
    bench.run()
    const ofBlocked = bench.accepted.filter((name) => name.startsWith('1:'))
    assert.deepEqual(ofBlocked, ['1:3'])
  })
})

describe('a receiver that fails', () => {
  /** Refuses five changes in a row. */
  const failing = (refusal: Partial<PostAnswer> = {}): Bench => {
    const bench = new Bench()
    bench.change([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    for (const each of bench.begun(5)) bench.refuse(each, refusal)
    return bench
  }

  test('gets nothing for a pause, then one request at a time, each after a longer pause', () => {
    const bench = failing()
    for (const [at, pauseSeconds] of [5, 30, 120, 600, 3_600, 10_800].entries()) {
      bench.nowMs += pauseSeconds * second - 1
      assert.equal(bench.next(), undefined)
      bench.nowMs += 1
      const [probe, ...others] = bench.begun()
      assert.deepEqual([probe?.lane.plantId, others.length], [`${6 + at}`, 0])
      bench.refuse(probe as Delivery, {})
    }
    assert.equal(bench.sut.takeProgress().failures, 7)
    assert.equal(bench.sut.pause, undefined)
  })

  test('that accepts a change gets all others, those that it has refused at once', () => {
    const bench = failing({ status: 500, retryAfterMs: hour })
    for (const pauseMs of [5, 30]) {
      bench.nowMs += pauseMs * second
      bench.refuse(bench.next() as Delivery, {})
    }
    bench.nowMs += 120 * second
    bench.run()
    assert.deepEqual(new Set(bench.accepted.map((name) => Number(name.split(':')[0]))).size, 12)
    assert.equal(bench.sut.takeProgress().failures, 0)
  })

  test('is one again at once if it accepts what was in flight; what it refuses of that says nothing new', () => {
    const bench = new Bench()
    bench.change([1, 2, 3, 4, 5, 6, 7, 8])
    const begun = bench.begun(7)
    for (const each of begun.slice(0, 6)) bench.refuse(each)
    assert.equal(bench.sut.takeProgress().failures, 1)
    assert.equal(bench.next(), undefined)
    bench.accept(begun[6] as Delivery)
    assert.ok(bench.next())
  })

  test('is one that asks for a pause with 429 or 503: nothing is sent before', () => {
    for (const status of [429, 503]) {
      const bench = new Bench()
      bench.change([1, 2])
      bench.refuse(bench.next(1) as Delivery, { status, retryAfterMs: 60 * second })
      bench.nowMs += 60 * second - 1
      assert.equal(bench.next(), undefined)
      bench.nowMs += 1
      assert.ok(bench.next())
    }
    for (const refusal of [{ status: 429 }, { status: 500, retryAfterMs: 60 * second }]) {
      const bench = new Bench()
      bench.change([1, 2])
      bench.refuse(bench.next(1) as Delivery, refusal)
      assert.ok(bench.next())
    }
  })

  test('is paused for the first reason alone', () => {
    const lost = new Bench()
    lost.change([1])
    const delivery = lost.next() as Delivery
    lost.sut.lose()
    lost.refuse(delivery, { status: 410 })
    assert.equal(lost.sut.pause, 'lost')
  })

  test('takes no memory for texts: they are read again', () => {
    const bench = failing()
    bench.nowMs += 5 * second
    assert.equal(bench.sut.wanted(bench.nowMs), 0)
    const delivery = bench.sut.next(bench.nowMs, 10) as Delivery
    assert.equal(delivery.change, undefined)
    assert.equal(delivery.lane.after, '6-a')
    assert.ok(bench.sut.find(delivery, bench.page('6-a', 100), bench.nowMs))
    assert.equal(nameOf(delivery), '6:7')
    const unread = bench.begin({ ...beginAfter('13-a'), failures: 1 })
    assert.equal(unread.wanted(bench.nowMs), 1)
  })

  test('still fails after a restart', () => {
    const bench = failing()
    const progress = bench.sut.takeProgress()
    bench.sut = bench.begin(progress)
    assert.deepEqual(bench.sut.takeProgress(), progress)
    assert.equal(bench.begun().length, 1)
  })
})

describe('a change that cannot be read again', () => {
  const blocked = (): readonly [Bench, Delivery] => {
    const bench = new Bench()
    bench.change([1, 2, 1])
    for (const each of bench.begun())
      if (each.lane.plantId === '1') bench.refuse(each)
      else bench.accept(each)
    bench.nowMs += 6 * second
    const delivery = bench.sut.next(bench.nowMs, 10) as Delivery
    // A refused plant takes no memory for texts.
    assert.equal(delivery.change, undefined)
    return [bench, delivery]
  }

  test('now is read later', () => {
    const [bench, delivery] = blocked()
    assert.equal(bench.sut.find(delivery, undefined, bench.nowMs), false)
    assert.equal(bench.next(), undefined)
    bench.nowMs += 5 * second
    assert.equal(nameOf(bench.next() as Delivery), '1:2')
  })

  test('because it was swept is passed over: what the log has of its plant follows', () => {
    const [bench, delivery] = blocked()
    assert.equal(bench.sut.find(delivery, 'gone', bench.nowMs), false)
    bench.log.splice(0, 1)
    const again = bench.sut.next(bench.nowMs, 10) as Delivery
    assert.deepEqual([again.lane.after, again.lane.tries], [undefined, 0])
    const page = { changes: bench.log, next: bench.log.at(-1)?.position ?? '', isLast: true }
    assert.ok(bench.sut.find(again, page, bench.nowMs))
    assert.equal(nameOf(again), '1:4')
  })

  test('because all of its plant was swept leaves later ones of the plant, which are read once', () => {
    const [bench, delivery] = blocked()
    bench.change([1])
    assert.equal(bench.sut.find(delivery, 'gone', bench.nowMs), false)
    const again = bench.sut.next(bench.nowMs, 10) as Delivery
    assert.equal(bench.sut.find(again, bench.page('4-a', 10), bench.nowMs), false)
    assert.deepEqual(bench.begun().map(nameOf), ['1:5'])
  })

  test('because the log ends before it, as in a restored backup, is done', () => {
    const [bench, delivery] = blocked()
    bench.sut.takeProgress()
    assert.equal(bench.sut.find(delivery, { changes: [], next: '2-a', isLast: true }, bench.nowMs), false)
    assert.ok(bench.sut.isDirty)
    assert.deepEqual(bench.sut.takeProgress().blocked, [])
  })
})

describe('progress', () => {
  test('of a crash keeps what is known of a blocked plant, although its changes are read again', () => {
    const bench = new Bench()
    bench.change([1, 2, 1, 1])
    const blocked = [{ plantId: '1', after: '4-a', until: '5-a', atMs: 0, tries: 3 }]
    bench.sut = bench.begin({ ...beginAfter('1-a'), blocked })
    bench.run()
    assert.deepEqual(bench.accepted.toSorted(), ['1:5', '2:3'])
  })

  test('is stored only when it changes', () => {
    const bench = new Bench()
    bench.change([1])
    const delivery = bench.next() as Delivery
    assert.ok(bench.sut.isDirty)
    bench.sut.takeProgress()
    assert.equal(bench.sut.isDirty, false)
    bench.sut.add(bench.page(bench.sut.readTo, 10))
    assert.equal(bench.sut.isDirty, false)
    bench.accept(delivery)
    assert.ok(bench.sut.isDirty)
    bench.sut.takeProgress()
    bench.sut.noteUnstored()
    assert.ok(bench.sut.isDirty)
  })

  test('says how old the oldest change is that was not accepted', () => {
    const bench = new Bench()
    bench.change([1, 2, 1])
    assert.equal(bench.sut.behindMs(1_000), 0)
    const [first, other] = bench.begun() as [Delivery, Delivery]
    assert.equal(bench.sut.behindMs(1_000), 1_000)
    bench.accept(first)
    bench.refuse(other)
    assert.equal(bench.sut.behindMs(1_000), 999)
    assert.equal(bench.sut.behindMs(-5), 0)
  })

  test('loses and reorders nothing across failures, cuts, crashes and stops', () => {
    for (let seed = 1; seed <= inRing(200, 5_000); seed += 1) {
      const random = new Random(seed)
      const draw = (bound: number): number => random.below(bound)
      const bench = new Bench({ webhookPage: 1 + draw(6), webhookBlockedMax: 1 + draw(4), webhookTriesMax: 1_000 })
      const flying: Delivery[] = []
      let saved = bench.sut.takeProgress()
      let crashes = 0
      for (let step = 0; step < 300; step += 1) {
        if (step < 200 && draw(2) === 0) bench.change([draw(4)])
        bench.nowMs += draw(4) === 0 ? 4 * hour : 0
        const next = bench.next(1 + draw(3))
        if (next !== undefined) flying.push(next)
        const [ended] = draw(2) === 0 ? flying.splice(draw(flying.length), 1) : []
        if (ended !== undefined) {
          const outcome = step < 200 ? draw(4) : 0
          if (outcome <= 1) bench.accept(ended)
          else if (outcome === 2) bench.refuse(ended, draw(2) === 0 ? {} : { status: 503, retryAfterMs: draw(5_000) })
          else bench.sut.cut(ended)
        }
        if (draw(5) === 0) saved = bench.sut.takeProgress()
        if (draw(60) === 0) {
          if (draw(2) === 0) saved = bench.sut.takeProgress(true)
          else crashes += 1
          flying.length = 0
          bench.sut = bench.begin(saved)
        }
      }
      for (const each of flying) bench.accept(each)
      for (let round = 0; round < 50; round += 1) {
        bench.nowMs += 4 * hour
        bench.run()
      }
      const handled = [...new Set(bench.accepted)]
      for (const plant of ['0', '1', '2', '3']) {
        const written = bench.log.flatMap(({ plant: text, position }) =>
          text.startsWith(`{"id":${plant},`) ? [`${plant}:${Number.parseInt(position, 10)}`] : [],
        )
        const ofPlant = handled.filter((name) => name.startsWith(`${plant}:`))
        assert.deepEqual(ofPlant, written, `seed ${seed}`)
      }
      if (crashes === 0) assert.equal(handled.length, bench.accepted.length, `seed ${seed} repeats`)
    }
  })
})
