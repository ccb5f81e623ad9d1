// Queries of lists that are refused.

import { refusal } from '../checks.ts'
import type { Row } from '../row.ts'
import { row, type Source } from './building.ts'

export function queryRows(): readonly Row[] {
  const says: Source = {
    document: 'a query parameter that is unknown, or has a value that is not allowed, is refused with 400',
    where: 'the parameters of listPlants',
  }
  return [
    ...['limit=0', 'limit=-1', 'limit=1001', 'limit=1.5', 'limit=ten', 'limit=01', 'limit=', 'limit=1&limit=1'],
    ...['after=x', 'after=9223372036854775808', 'tag=%00', `tag=${'a'.repeat(257)}`, 'tag=%ff', 'name=%zz'],
    ...['colour=green', 'Limit=1'],
  ].map((query) => {
    const request = { method: 'GET', target: `/plants?${query}` }
    return row(`the query ${query.slice(0, 30)} is refused`, says, [], { request, checks: refusal('invalidParameter') })
  })
}
