// Every query of a list goes by its index, whatever the planner knows of its parameters.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { pageQueries } from '../../src/store/postgres/pages.ts'
import { startDatabase } from '../support/postgres.ts'
import { importPlants, openTestStore } from '../support/store.ts'

const plants = 30_000

/** The index of each query, and values as a page has them. */
const expected = {
  byId: ['plants_pkey', 5n, 101],
  byTag: ['plants_by_tag', 'tag 7', 5n, 101],
  rowsById: ['plants_pkey', 5n, 101],
  byName: ['plants_by_name', 'fern 77', 'fern 78', 10_001, 'fern 77', 'fern 78', 5n, null, 101],
  scan: ['plants_pkey', 5n, 10_000, 'fern', 'ferno', 101],
  scanByTag: ['plants_by_tag', 'tag 7', 5n, 10_000, 'fern', 'ferno', 101],
} as const satisfies Record<keyof typeof pageQueries, readonly [string, ...unknown[]]>

describe('the queries of lists, in PostgreSQL', async () => {
  const database = await startDatabase()
  const place = await database.makePlace()
  const client = new pg.Client({ connectionString: place })

  before(async () => {
    await using store = await openTestStore(place)
    const ids = [...Array(plants).keys()]
    const ferns = ids.map((id) => ({ id: BigInt(id), name: `Fern ${id}`, tag: `tag ${id % 100}` }))
    await importPlants(store, ferns)
    await client.connect()
    await client.query('ANALYZE plants')
  })

  after(async () => {
    await client.end()
    await database[Symbol.asyncDispose]()
  })

  for (const mode of ['force_generic_plan', 'force_custom_plan']) {
    for (const [name, text] of Object.entries(pageQueries)) {
      test(`${name} goes by its index, with ${mode}`, async () => {
        const [index, ...values] = expected[name as keyof typeof pageQueries]
        await client.query(`SET plan_cache_mode = ${mode}`)
        await client.query(`PREPARE page AS ${text}`)
        const literals = values.map((value) =>
          typeof value === 'string' ? client.escapeLiteral(value) : (value ?? 'NULL'),
        )
        const { rows } = await client.query(`EXPLAIN EXECUTE page (${literals.join(', ')})`)
        await client.query('DEALLOCATE page')
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
        assert.ok(plan.includes(index), plan)
        assert.doesNotMatch(plan, /Seq Scan on plants/, plan)
      })
    }
  }
})
