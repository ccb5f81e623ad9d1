// A primary that is frozen while its standby takes over, and wakes up as a second primary that takes changes, too.

import { AppError } from '../../src/domain/errors.ts'
import type { Store } from '../../src/domain/store.ts'
import { limits } from '../../src/limits.ts'
import { openAll } from '../support/open-all.ts'
import { type Cluster, makeCluster } from '../support/postgres.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'
import { untilStreaming } from './failover.ts'

export interface FormerPrimaryReport {
  readonly acknowledged: number
  /** Plants that were acknowledged and could not be read afterwards. */
  readonly missing: number
  /** Plants that were written to the former primary after it woke up. */
  readonly misplaced: number
}

const servers = 3
const quick = { ...limits, databaseProbeMsMax: 500, databaseConnectMsMax: 1_000 }

/**
 * @param isBlind whether the servers may not ask for the timeline of a primary: the control.
 * @param terminations how many connections to the new primary are ended.
 */
export async function wakeFormerPrimary(isBlind: boolean, terminations: number): Promise<FormerPrimaryReport> {
  await using former = await makeCluster()
  await former.start()
  await using standby = await makeCluster(former)
  await standby.start()
  await untilStreaming(former)
  await former.query('CREATE ROLE gardener LOGIN; GRANT ALL ON SCHEMA public TO gardener')
  if (isBlind) await former.query('REVOKE EXECUTE ON FUNCTION pg_walfile_name FROM PUBLIC')
  const hosts = [former, standby].map(({ port }) => `127.0.0.1:${port}`).join(',')
  const url = `postgres://gardener@${hosts}/postgres`
  const stores = await openAll(Array.from({ length: servers }, () => openTestStore(url, { limits: quick })))
  try {
    const clients = new Clients(stores)
    await clients.createOnEach()
    await until('the standby has them', async () => (await countPlants(standby)) === servers)
    former.signal('SIGSTOP')
    await standby.promote()
    await clients.createOnEach()
    former.signal('SIGCONT')
    for (let round = 0; round < terminations; round += 1) {
      await standby.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'plantstore' ORDER BY random() LIMIT 1`)
      await clients.createOnEach()
    }
    // While the new primary is away, the former one is the only one to be had.
    await standby.stop()
    const creating = clients.createOnEach()
    await until('a create is answered', () => clients.answers > 0)
    await standby.start()
    await creating
    const { acknowledged, missing } = await clients.read()
    return { acknowledged, missing, misplaced: (await countPlants(former)) - servers }
  } finally {
    await Promise.all(stores.map((store) => store.close()))
  }
}

/** Creates at every server, each create over and over until it is acknowledged. */
class Clients {
  readonly #stores: readonly Store[]
  #created = 0n
  /** Answers to the creates under way. */
  answers = 0

  constructor(stores: readonly Store[]) {
    this.#stores = stores
  }

  async createOnEach(): Promise<void> {
    this.answers = 0
    await Promise.all(
      this.#stores.map(async (store) => {
        const id = this.#created
        this.#created += 1n
        const key = { callerId: 't', key: `k${id}` }
        for (let isDone = false; !isDone; this.answers += 1) {
          isDone = await store.createPlant({ id, name: 'n' }, key).then(
            () => true,
            (error) => {
              if (error instanceof AppError && error.code !== 'idTaken') return false
              throw error
            },
          )
        }
      }),
    )
  }

  /** Reads all of them at every server. */
  async read(): Promise<{ acknowledged: number; missing: number }> {
    let missing = 0
    for (const store of this.#stores) {
      for (let id = 0n; id < this.#created; id += 1n) if ((await store.getPlant(id)) === undefined) missing += 1
    }
    return { acknowledged: Number(this.#created), missing }
  }
}

async function countPlants(cluster: Cluster): Promise<number> {
  return Number((await cluster.query('SELECT count(*) FROM plants'))[0]?.[0])
}
