// Queries of lists that are refused.

import { refusal } from '../checks.ts'
import type { Row } from '../row.ts'
import { row, type Source } from './building.ts'

export function queryRows(): readonly Row[] {
  const says: Source = {
    document: 'a query parameter that is unknown, or has a value that is not allowed, is refused with 400',
    where: 'the parameters of listPlants',
  }
  /** What some programs take for an integer, and what is behind or in front of one. */
  const odd = [
    '1_0',
    '1e1',
    '0x10',
    '0b1',
    '1n',
    '1L',
    '1.',
    '.1',
    '١',
    '１',
    '1,0',
    '1;0',
    "'1'",
    '"1"',
    '+1',
    '--1',
    '1-',
    '01',
  ]
  const oddOf = (name: string): string[] => odd.map((text) => `${name}=${encodeURIComponent(text)}`)
  return [
    ...oddOf('limit'),
    ...oddOf('after'),
    ...['limit=+1', 'limit=%201', 'limit=1e2', 'limit=1&limit=2', 'after=+1', 'after=1.0'],
    ...['limit=1%0A', 'limit=%0A1', 'limit=1%00', 'limit=1%20', 'after=1%0A', 'after=%0A1', 'after=1%20', 'after=%091'],
    ...['after=', 'after=-0', 'after=1&after=1', 'tag=a&tag=a', 'name=a&name=b', `name=${'a'.repeat(1_025)}`],
    ...['name=%ff', 'name=%00', 'tag=%ed%a0%80', 'tag=%', 'TAG=a', 'tag[]=a', '=a', 'after=1&before=2'],
    ...['limit=0', 'limit=-1', 'limit=1001', 'limit=1.5', 'limit=ten', 'limit=', 'limit=1&limit=1'],
    ...['after=x', 'after=9223372036854775808', 'tag=%00', `tag=${'a'.repeat(257)}`, 'tag=%ff', 'name=%zz'],
    ...['colour=green', 'Limit=1'],
  ].map((query) => {
    const request = { method: 'GET', target: `/plants?${query}` }
    return row(`the query ${query.slice(0, 30)} is refused`, says, [], { request, checks: refusal('invalidParameter') })
  })
}
