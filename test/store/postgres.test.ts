// The Store on PostgreSQL: the suite of all engines, and what is PostgreSQL's own.

import { after } from 'node:test'
import { startDatabase } from '../support/postgres.ts'
import { openTestStore } from '../support/store.ts'
import { storeSuite } from './suite.ts'

const database = await startDatabase()
after(() => database[Symbol.asyncDispose]())

storeSuite({
  name: 'PostgreSQL',
  makePlace: async () => {
    const place = await database.makePlace()
    return { open: (clock) => openTestStore(place, { clock }), [Symbol.asyncDispose]: async () => {} }
  },
})
