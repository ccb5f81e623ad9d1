// Detects a former primary: one that still answers although another host has taken over, for example because its
// machine was frozen or its cluster manager is gone.

import { openOn } from './bulk.ts'
import type { DatabaseOptions } from './session-options.ts'

/** Connects to every host but the first, for at most `msMax`, to learn the latest timeline (hosts.ts). */
export async function surveyHosts(options: DatabaseOptions, msMax: number): Promise<void> {
  const { address, hosts } = options
  if (address.hosts.length === 1) return
  const hasty = { ...options, address: { ...address, connectMsMax: msMax } }
  const looks = hosts.others.map(async (host) => {
    const connection = await openOn(hasty, host, msMax)
    await connection.close()
  })
  // Ignore failures: a host that takes no changes is no primary.
  await Promise.allSettled(looks)
}
