// A look at all hosts of a database, for one that has taken over from a primary which does not know: its machine was
// frozen, or its cluster manager is gone. Such a primary still answers.

import { openOn } from './bulk.ts'
import type { DatabaseOptions } from './session-options.ts'

/** Connects to every host but the first, for `msMax` at most, so that the latest timeline is known (hosts.ts). */
export async function surveyHosts(options: DatabaseOptions, msMax: number): Promise<void> {
  const { address, hosts } = options
  if (address.hosts.length === 1) return
  const hasty = { ...options, address: { ...address, connectMsMax: msMax } }
  const looks = hosts.others.map(async (host) => {
    const connection = await openOn(hasty, host, msMax)
    await connection.close()
  })
  // A host that takes no changes has not taken over.
  await Promise.allSettled(looks)
}
