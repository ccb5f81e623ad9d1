// The rules of the store by themselves, and the short ways that an engine takes past them, which have to come to the
// same.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { namesOf, revisionOf } from '../../src/domain/plant.ts'
import { decide, type Job, type JobOf, lookupsOf, type Outcome } from '../../src/store/ledger.ts'
import { migrate } from '../../src/store/sqlite/file/migrations.ts'
import { TransactionRunner } from '../../src/store/sqlite/transaction.ts'
import { toPlant } from '../support/plants.ts'

const idempotencyKeyMs = 1_000

/** Few ids, so that they meet. */
const plant = fc.record({
  id: fc.bigInt({ min: -2n, max: 3n }),
  name: fc.constantFrom('Ficus', 'ficus', 'Ματθιόλα', ''),
  tag: fc.constantFrom(undefined, '', 'fig'),
})
const create = plant.map((fields): Job => ({ kind: 'createPlant', ...toPlant(fields), idempotencyKey: undefined }))
const bulk = fc.record({ fields: plant, onConflict: fc.constantFrom('fail', 'skip', 'replace') }).map(
  ({ fields, onConflict }): JobOf<'importPlant'> => ({
    kind: 'importPlant',
    ...toPlant(fields),
    onConflict: onConflict as 'fail',
  }),
)
/** Changes nothing, and keeps a batch from the short way of plain creates. */
const idle: Job = { kind: 'revokeToken', id: 'nobody', revokedAtMs: 0 }

describe('the short ways of SQLite', () => {
  test('plain creates come to what the ledger says', () => {
    fc.assert(
      fc.property(fc.array(fc.array(create, { maxLength: 8 }), { maxLength: 4 }), (batches) => {
        const [short, long] = [open(), open()]
        for (const jobs of batches) {
          assert.deepEqual(short.runner.run(jobs, 0), long.runner.run([...jobs, idle], 0).slice(0, -1))
        }
        assert.deepEqual(short.plants(), long.plants())
        assert.deepEqual(short.changes(), long.changes())
      }),
    )
  })

  test('an import comes to what the ledger says', () => {
    fc.assert(
      fc.property(fc.array(fc.array(bulk, { maxLength: 8 }), { maxLength: 4 }), (batches) => {
        const [short, long] = [open(), open()]
        for (const jobs of batches)
          assert.deepEqual(short.runner.import(jobs, 0), long.runner.run([...jobs, idle], 0).slice(0, -1))
        short.runner.commitImport()
        assert.deepEqual(short.plants(), long.plants())
        assert.deepEqual(byPlant(short.changes()), byPlant(long.changes()))
      }),
    )
  })
})

describe('the ledger', () => {
  const nothing = {
    plants: new Map(),
    keys: new Map(),
    tokens: new Map(),
    hasTokens: false,
    sweepable: [],
    webhooks: new Map(),
  }
  const outcomesOf = (jobs: readonly Job[], found: Partial<typeof nothing> = {}): readonly Outcome[] =>
    decide(jobs, { ...nothing, ...found }, idempotencyKeyMs).outcomes

  test('each job sees what the ones before it came to', () => {
    const named = (name: string) => toPlant({ id: 1n, name })
    const ifMatch = [revisionOf(named('n').json)]
    const jobs: readonly Job[] = [
      { kind: 'deletePlant', id: 1n, preconditions: {} },
      { kind: 'createPlant', ...named('n'), idempotencyKey: undefined },
      { kind: 'createPlant', ...named('n'), idempotencyKey: undefined },
      { kind: 'replacePlant', ...named('m'), preconditions: { ifMatch } },
      { kind: 'replacePlant', ...named('o'), preconditions: { ifMatch } },
      { kind: 'deletePlant', id: 1n, preconditions: {} },
      { kind: 'createPlant', ...named('last'), idempotencyKey: undefined },
    ]
    const { outcomes, effects } = decide(jobs, nothing, idempotencyKeyMs)
    assert.deepEqual(outcomes, ['notDone', 'created', 'idTaken', 'replaced', 'ifMatch', 'done', 'created'])
    assert.deepEqual(effects.inserted, [named('last')])
    assert.deepEqual([effects.updated, effects.deleted], [[], []])
    assert.deepEqual(
      effects.changes.map(({ kind, plant }) => [kind, namesOf(plant.json).name]),
      [
        ['created', 'n'],
        ['replaced', 'm'],
        ['deleted', 'm'],
        ['created', 'last'],
      ],
    )
  })

  test('a key holds from its first plant on, for as long as it is remembered', () => {
    const keyed = (id: bigint, fingerprint: number, atMs: number): Job => ({
      kind: 'createPlant',
      ...toPlant({ id, name: 'n' }),
      idempotencyKey: { callerId: 'c', key: 'k', fingerprint: Buffer.alloc(32, fingerprint), atMs },
    })
    assert.deepEqual(outcomesOf([keyed(1n, 1, 0), keyed(1n, 1, 1), keyed(2n, 2, 2)]), [
      'created',
      'replayed',
      'idempotencyKeyReused',
    ])
    const keys = new Map([['c k', { fingerprint: Buffer.alloc(32, 1), createdAtMs: 5_000 }]])
    assert.deepEqual(outcomesOf([keyed(1n, 1, 5_999)], { keys }), ['replayed'])
    assert.deepEqual(outcomesOf([keyed(1n, 1, 6_000)], { keys }), ['created'])
  })

  test('of two first tokens one is made, and a token may be revoked in the batch that makes it', () => {
    const token = (id: string): Job => ({
      kind: 'createToken',
      token: { id, hash: Buffer.from(id), name: 'n', scopes: ['plants:read'], createdAtMs: 0 },
      onlyFirst: true,
    })
    const jobs = [token('a'), token('b'), { kind: 'revokeToken', id: 'a', revokedAtMs: 1 } as const]
    assert.deepEqual(outcomesOf(jobs), ['done', 'notDone', 'done'])
  })

  test('everything that a batch has to know is looked up, each plant once', () => {
    const job: Job = { kind: 'deletePlant', id: 1n, preconditions: {} }
    assert.deepEqual(lookupsOf([job, job, idle]), {
      plants: [1n],
      keys: [],
      tokenIds: ['nobody'],
      tokenHashes: [],
      firstToken: false,
      sweeps: [],
      webhookIds: [],
    })
  })
})

/** An import decides about new plants first: only the changes of each plant have the order of its jobs. */
function byPlant(changes: readonly string[]): unknown {
  return Object.groupBy(changes, (line) => /"id":(-?\d+)/.exec(line)?.[1] ?? '')
}

function open() {
  const database = new DatabaseSync(':memory:')
  migrate(database, ':memory:')
  const lines = database.prepare('SELECT lines FROM changes ORDER BY first')
  const rows = database.prepare('SELECT id, plant, head FROM plants LEFT JOIN names USING (id) ORDER BY id, head')
  return {
    runner: new TransactionRunner(database, { idempotencyKeyMs, changeRowCharactersMax: 100 }),
    changes: () => lines.all().flatMap((row) => String(row['lines']).split('\n')),
    plants: () => rows.all(),
  }
}
