// Kills servers with SIGKILL under load, on a file or on one PostgreSQL, and looks for everything they acknowledged.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { Load } from '../fleet/load.ts'
import { type RunningServer, runHere, type ServerOptions, startServer } from '../support/program.ts'
import { findLost } from './burst.ts'
import { untilWrong } from './control.ts'

export interface Kills {
  readonly kills: number
  readonly servers: number
}

const clients = 16
const plantsMax = 500
/** A server whose database answers late exits, and its unit starts it again. Here, it waits for a busy machine. */
export const patient: ServerOptions = { environment: { PGCONNECT_TIMEOUT: '10' } }
const earlyAck = fileURLToPath(new URL('early-ack.ts', import.meta.url))

/**
 * Kills one server after the other, and starts another in its place each time. The store must be sound in the end.
 *
 * @param isEarly whether the servers say yes before the commit: the control.
 */
export async function killServers(store: string, { kills, servers }: Kills, isEarly = false) {
  const options: ServerOptions = isEarly ? { ...patient, before: ['--import', earlyAck] } : patient
  await using stack = new AsyncDisposableStack()
  const start = async (): Promise<RunningServer> => stack.use(await startServer(store, options))
  const fleet: RunningServer[] = []
  for (let count = 0; count < servers; count += 1) fleet.push(await start())
  const token = fleet.map((server) => server.token).join('')
  // On a file, creates come as fast as they can.
  const load = await Load.start(fleet, token, clients, { readsBack: !isEarly, ...(servers === 1 && { pauseMs: 0 }) })
  for (let kill = 0; kill < kills; kill += 1) {
    await load.untilMore(Math.ceil(Math.random() * plantsMax))
    const victim = kill % servers
    await fleet[victim]?.stop('SIGKILL')
    fleet[victim] = await start()
  }
  await load.untilMore(100)
  const { acknowledged, failed, replayed } = await load.end()
  assert.ok(failed > 0, 'the kills came when nothing was under way')
  for (const server of fleet) assert.equal(await server.stop(), 0)
  const lost = (await findLost(store, acknowledged)).length
  const { status, stdout, stderr } = await runHere(['check', '--store', store])
  assert.equal(status, 0, stdout + stderr)
  return { acknowledged: acknowledged.size, lost, failed, replayed }
}

/** The control: servers that say yes before the commit, each time on a new store, until they have lost something. */
export function killEarlyAck(makeStore: () => Promise<string>, each: Kills) {
  return untilWrong('lost', async () => killServers(await makeStore(), each, true))
}
