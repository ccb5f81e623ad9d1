// The short ways that an engine takes past the rules of the store, which have to come to the same.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Job, JobOf } from '../../src/store/ledger.ts'
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
        short.runner.endImport('COMMIT')
        assert.deepEqual(short.plants(), long.plants())
        assert.deepEqual(byPlant(short.changes()), byPlant(long.changes()))
      }),
    )
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
