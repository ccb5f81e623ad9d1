// The tables: migrations.ts makes them, usability.ts checks the rights to them, summary.ts measures them.

interface Table {
  readonly columns: Readonly<Record<string, string>>
  readonly primaryKey?: string
  /** Statements that follow its creation. */
  readonly further?: readonly string[]
}

/** The tag of a plant, as its index has it. */
export const tagOfPlant = `((plant ->> 'tag') COLLATE "C")`

/**
 * By name. The C collation compares texts by their bytes, so that all engines sort alike. See registrations.ts for
 * `commit_mark` and `registrations`, and changes.ts for `changes`.
 */
export const tables: Readonly<Record<string, Table>> = {
  /** The version of the tables, and the oldest version of programs that can use them. */
  plantstore_schema: {
    columns: { one: 'int8 PRIMARY KEY', version: 'int8 NOT NULL', oldest_version: 'int8 NOT NULL' },
  },
  plants: {
    columns: {
      id: 'int8 PRIMARY KEY',
      // What the API answers: json, unlike jsonb, keeps each byte.
      plant: 'json NOT NULL',
      name_folded: 'text COLLATE "C" NOT NULL',
      commit_mark: 'int8 NOT NULL',
    },
    further: [
      // A folded name may be too long for an index.
      'CREATE INDEX plants_by_name ON plants (left(name_folded, 250))',
      `CREATE INDEX plants_by_tag ON plants (${tagOfPlant}, id) WHERE ${tagOfPlant} IS NOT NULL`,
    ],
  },
  tokens: {
    columns: {
      id: 'text COLLATE "C" PRIMARY KEY',
      hash: 'bytea NOT NULL UNIQUE',
      name: 'text COLLATE "C" NOT NULL',
      scopes: 'text COLLATE "C" NOT NULL',
      created_at_ms: 'int8 NOT NULL',
      expires_at_ms: 'int8',
      revoked_at_ms: 'int8',
      replaced_by: 'text COLLATE "C"',
      last_used_day: 'int8',
    },
  },
  idempotency_keys: {
    columns: {
      caller_id: 'text COLLATE "C" NOT NULL',
      key: 'text COLLATE "C" NOT NULL',
      fingerprint: 'bytea NOT NULL',
      created_at_ms: 'int8 NOT NULL',
      commit_mark: 'int8 NOT NULL',
    },
    primaryKey: 'caller_id, key',
    further: ['CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at_ms)'],
  },
  registrations: {
    columns: {
      id: 'text COLLATE "C" PRIMARY KEY',
      last_commit: 'int8 NOT NULL',
      taken_ids: 'int8[] NOT NULL',
      registered_at_ms: 'int8 NOT NULL',
    },
  },
  changes: {
    columns: {
      place: 'int8 GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY',
      first: 'int8 UNIQUE',
      changes: 'int8 NOT NULL',
      at_ms: 'int8 NOT NULL',
      // The bytes of the lines of all numbered rows so far, with those that were swept.
      end_bytes: 'int8',
      lines: 'text COLLATE "C" NOT NULL',
    },
    further: [
      'CREATE INDEX changes_without_number ON changes (place) WHERE first IS NULL',
      // The beginning of the log. Its time distinguishes the log from those of other stores.
      `INSERT INTO changes (first, changes, at_ms, end_bytes, lines)
        VALUES (1, 1, (extract(epoch FROM clock_timestamp()) * 1000)::int8, 0, '')`,
    ],
  },
  changes_end: {
    columns: { one: 'int8 PRIMARY KEY', next: 'int8 NOT NULL', bytes: 'int8 NOT NULL' },
    further: ['INSERT INTO changes_end VALUES (1, 2, 0)'],
  },
  webhooks: {
    columns: {
      place: 'int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
      id: 'text COLLATE "C" NOT NULL UNIQUE',
      version: 'int8 NOT NULL',
      // The webhook as JSON, without its id.
      content: 'text COLLATE "C" NOT NULL',
    },
  },
}

/** The statements that create a table. */
export function createTable(name: string): readonly string[] {
  const { columns, primaryKey, further } = tables[name] ?? {}
  const parts = Object.entries(columns ?? {}).map(([column, type]) => `${column} ${type}`)
  if (primaryKey !== undefined) parts.push(`PRIMARY KEY (${primaryKey})`)
  return [`CREATE TABLE ${name} (${parts.join(', ')})`, ...(further ?? [])]
}
