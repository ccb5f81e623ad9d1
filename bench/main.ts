// `npm run bench [-- NAME]`: measures one thing side by side with what it is compared to.

import { benchCreate } from './create.ts'
import { benchGet } from './get.ts'
import { benchImport } from './import.ts'
import { benchList } from './list.ts'
import { benchLocked } from './locked.ts'
import { benchPostgres } from './postgres.ts'
import { benchSearch } from './search.ts'

const benches: Readonly<Record<string, () => Promise<void>>> = {
  create: benchCreate,
  get: benchGet,
  import: benchImport,
  list: benchList,
  locked: benchLocked,
  postgres: benchPostgres,
  search: benchSearch,
}

const name = process.argv[2] ?? 'create'
const bench = benches[name]
if (bench === undefined) {
  process.stderr.write(`there is no bench ${name}, only ${Object.keys(benches).join(', ')}\n`)
  process.exitCode = 2
} else {
  await bench()
}
