// Creates request ids: short, ascending, and distinct from those of other runs.

import { randomBytes } from 'node:crypto'

export function newRequestIds(): () => string {
  const run = randomBytes(5).readUIntBE(0, 5).toString(36).padStart(8, '0')
  let count = 0
  return () => {
    count += 1
    return `${run}-${count.toString(36)}`
  }
}
