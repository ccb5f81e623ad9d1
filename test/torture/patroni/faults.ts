// What befalls the cluster of three machines.

import { setTimeout as sleep } from 'node:timers/promises'
import type { PatroniCluster } from './cluster.ts'
import type { Machine } from './machines.ts'

export interface Fault {
  readonly name: string
  /** Whether another machine has to take over. */
  readonly takesOver: boolean
  /** @param primary the machine that has the role. Gives what ends the fault. */
  strike(cluster: PatroniCluster, primary: Machine): Promise<() => Promise<void>>
}

/** What the primary goes on with while its standbys do not hear it. */
const deafMs = 150
/** As systemd restarts what has failed. */
const restartMs = 100

/** The whole machine, in the middle of changes of which its standbys do not hear any more. */
const machineKilled: Fault = {
  name: 'the primary is switched off',
  takesOver: true,
  strike: (cluster, primary) => killMachine(cluster, primary, () => sleep(deafMs)),
}

export const faults: readonly Fault[] = [
  machineKilled,
  {
    name: 'switchover',
    takesOver: true,
    strike: async (cluster) => {
      await cluster.switchOver()
      return async () => {}
    },
  },
  {
    name: 'etcd of its leader is killed',
    takesOver: false,
    strike: async (cluster) => {
      const leader = await cluster.etcdLeader()
      leader.signal('SIGKILL', 'etcd')
      return async () => cluster.startEtcd(leader)
    },
  },
  {
    name: 'the primary freezes, and wakes up',
    takesOver: true,
    strike: async (_cluster, primary) => {
      primary.signal('SIGSTOP', 'patroni', 'postgres')
      return async () => primary.signal('SIGCONT', 'patroni', 'postgres')
    },
  },
  {
    name: 'Patroni of the primary freezes, PostgreSQL goes on',
    takesOver: true,
    strike: async (_cluster, primary) => {
      primary.signal('SIGSTOP', 'patroni')
      return async () => primary.signal('SIGCONT', 'patroni')
    },
  },
  {
    name: 'the primary is cut off from the other two',
    takesOver: true,
    strike: async (cluster, primary) => {
      for (const other of othersOf(cluster, primary)) await primary.cutOff(other)
      return async () => {
        for (const other of othersOf(cluster, primary)) await primary.mend(other)
      }
    },
  },
  {
    name: 'the connection of a server for changes goes silent',
    takesOver: false,
    strike: async (cluster, primary) => {
      const port = await cluster.silenceChanges(primary)
      return () => cluster.mendChanges(primary, port)
    },
  },
  {
    name: 'PostgreSQL and Patroni of the primary are killed',
    takesOver: false,
    strike: async (cluster, primary) => {
      primary.signal('SIGKILL', 'patroni', 'postgres')
      await sleep(restartMs)
      cluster.startPatroni(primary)
      return async () => {}
    },
  },
]

/** @param goOn resolves once the primary has gone on for long enough by itself. */
export async function killMachine(
  cluster: PatroniCluster,
  primary: Machine,
  goOn: () => Promise<unknown>,
): Promise<() => Promise<void>> {
  for (const other of othersOf(cluster, primary)) await primary.cutOff(other)
  await goOn()
  await primary.switchOff()
  return async () => {
    for (const other of othersOf(cluster, primary)) await primary.mend(other)
    await cluster.reboot(primary)
  }
}

function othersOf(cluster: PatroniCluster, machine: Machine): readonly Machine[] {
  return cluster.machines.filter((each) => each !== machine)
}
