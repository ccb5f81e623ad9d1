// The engine for PostgreSQL databases, which any number of servers may share.

import { join } from 'node:path'
import { OperatorError } from '../../domain/errors.ts'
import { shellWord } from '../../domain/shown.ts'
import type { Engine } from '../engine.ts'
import { describeUrl, settingsOf } from './connections/address.ts'

export const postgresEngine: Engine = {
  describe: describeUrl,
  mayBeThere: () => true,
  filesOf: () => [],
  open: async (place, options) => (await import('./store.ts')).openPostgresStore(place, options),
  backup: async (place, target) => {
    const file = 'file' in target ? target.file : join(target.folder, 'plants.dump')
    const url = shellWord(describeUrl(place))
    throw new OperatorError(
      `PostgreSQL's own tools make backups of ${describeUrl(place)}: pg_dump --format=custom --file=${shellWord(file)} ${url}`,
    )
  },
  restore: async (file, place) => {
    const [url, source] = [shellWord(describeUrl(place)), shellWord(file)]
    throw new OperatorError(
      `PostgreSQL's own tools restore ${describeUrl(place)}, with no server running: pg_restore --clean --if-exists --single-transaction --dbname=${url} ${source}`,
    )
  },
  check: async (place, options) => (await import('./bulk.ts')).checkPostgres(place, options),
  settingsOf,
}
