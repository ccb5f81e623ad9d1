// Checks that requests can use the tables. It reads and writes no rows, so that no triggers fire.

import type { Connection, Statement } from './connection.ts'
import { failureOf } from './failures.ts'
import { tables } from './tables.ts'

const names = Object.keys(tables)
const columnsOf = (name: string): readonly string[] => Object.keys(tables[name]?.columns ?? {})

/**
 * One row per problem. A missing column, or a policy that hides rows, is an error for every statement that names the
 * columns, even if its condition is never true.
 */
const probe: Statement = {
  name: 'probe',
  text: `SELECT format('this user may not read and change the table %s', name) FROM unnest($1::text[]) AS name
      WHERE NOT (has_table_privilege(name, 'SELECT') AND has_table_privilege(name, 'INSERT')
        AND has_table_privilege(name, 'UPDATE') AND has_table_privilege(name, 'DELETE'))
    UNION ALL SELECT format('the column %s of the table %s needs a value, and plantstore gives it none', attname, name)
      FROM unnest($1::text[]) AS name JOIN pg_attribute ON attrelid = name::regclass
      WHERE attnum > 0 AND attnotnull AND NOT atthasdef AND attidentity = '' AND NOT attisdropped
        AND attname <> ALL($2::text[])
    ${names.map((name) => `UNION ALL SELECT concat(${columnsOf(name)}) FROM ${name} WHERE false`).join('\n')}`,
}

/**
 * Returns the problem that makes the tables unusable; undefined if there is none, or a lock prevents the check. Throws
 * errors that do not concern the tables, such as a lost connection.
 */
export async function findUnusable(prober: Connection): Promise<unknown> {
  try {
    const [problem] = await prober.query(probe, [names, names.flatMap(columnsOf)])
    return problem && new Error(String(problem[0]))
  } catch (error) {
    const failure = failureOf(error)
    if (failure === 'unusable' || failure === 'own') return error
    if (failure === 'locked') return undefined
    throw error
  }
}
