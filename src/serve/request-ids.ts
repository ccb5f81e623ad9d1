// Names for requests: short, in order, and different from those of every other run.

import { randomBytes } from 'node:crypto'

export function newRequestIds(): () => string {
  const run = randomBytes(5).readUIntBE(0, 5).toString(36).padStart(8, '0')
  let count = 0
  return () => {
    count += 1
    return `${run}-${count.toString(36)}`
  }
}
