// Every bench by its name, which is also the name of its file. Running all of them takes about 36 minutes.

import { benchConnections } from './connections.ts'
import { benchContenders } from './contenders.ts'
import { benchCreate } from './create.ts'
import { benchGet } from './get.ts'
import { benchImport } from './import.ts'
import type { Effort } from './in-turn.ts'
import { benchList } from './list.ts'
import { benchLocked } from './locked.ts'
import { benchLone } from './lone.ts'
import { benchOptions } from './options.ts'
import { benchPagesBesideCreates } from './pages-beside-creates.ts'
import { benchPostgres } from './postgres.ts'
import type { Comparison } from './results.ts'
import { benchSearch } from './search.ts'
import { benchSize } from './size.ts'
import { benchStages } from './stages.ts'
import { benchStreams } from './streams.ts'

export type Bench = (effort: Effort) => AsyncGenerator<Comparison>

export const benches: Readonly<Record<string, Bench>> = {
  create: benchCreate,
  get: benchGet,
  stages: benchStages,
  list: benchList,
  contenders: benchContenders,
  connections: benchConnections,
  size: benchSize,
  lone: benchLone,
  'pages-beside-creates': benchPagesBesideCreates,
  streams: benchStreams,
  import: benchImport,
  search: benchSearch,
  postgres: benchPostgres,
  locked: benchLocked,
  options: benchOptions,
}
