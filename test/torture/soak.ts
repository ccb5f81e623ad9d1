// A server at half of its capacity, beside odd clients, for minutes: memory, descriptors and log must not grow.

import { stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { untilWrong } from '../crash/control.ts'
import { framingCorpus, reset } from '../http/framing/corpus.ts'
import { cutUp, drawPieces, FramingRunner, ofOnePacket, timeToEnd } from '../http/framing/run.ts'
import { Random } from '../power-loss/random.ts'
import { encodeRequest, plantJson } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { descriptorsOf, memoryOf } from './process-figures.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const soak: Torture = { name: 'soak', counts: 'SECONDS', usualCount: 600, shortCount: 8, run }

const clients = 32
const warmUpMs = 3_000
const shareBad = 0.05
/** Clients on connections of their own: their share of all requests, and how many of them there are at once at most. */
const oddClients = [
  ['unread', 0.01, 40],
  ['pieces', 0.05, 100],
  ['framing', 0.02, 50],
] as const
type OddClient = (typeof oddClients)[number][0]
/** Twice as long as the longest limit of a connection. */
const piecesEndMs = 130_000
/** By then the server has cut off a client that reads nothing, or never had to. */
const unreadEndMs = 60_000
const leavesOneIn = 8
/** Those that wait for no limit of the server. */
const framingCases = framingCorpus.filter(({ isSlow, name }) => !isSlow && !ofOnePacket.includes(name))
/** Ids come again, so that the store stays of a size. */
const idsMax = 50_000
const grownMemoryMax = 0.15
/** In seconds, caches of pages and compiled code still fill. The control grows by a hundred MiB in them. */
const fillingBytes = 40 * 1024 * 1024
const grownDescriptorsMax = 60
const shownMax = 10
const logBytesMax = 192 * 1024 * 1024
const controlSecondsMax = 20
const leak = fileURLToPath(new URL('leak.ts', import.meta.url))

interface Sample {
  readonly memoryBytes: number
  readonly descriptors: number
  readonly logBytes: number
}

async function run({ count, say }: Run): Promise<Verdict> {
  const own = await soakServer(count * 1_000, {})
  const control = await untilWrong('growing', () =>
    soakServer(Math.min(count, controlSecondsMax) * 1_000, { NODE_OPTIONS: `--import ${leak}` }),
  )
  for (const failure of own.failures.slice(0, shownMax)) say(`  ${failure}`)
  say(`soak: ${own.requests} requests, ${own.failures.length} not as designed: ${describe(own.samples)}`)
  say(`soak: control, a server that keeps something of each request: ${describe(control.samples)}`)
  return own.failures.length === 0 && own.growing === 0 && control.growing > 0 ? 'good' : 'bad'
}

async function soakServer(durationMs: number, environment: NodeJS.ProcessEnv) {
  await using folder = await makeFolder()
  const store = folder.file('plants.db')
  await using server = await startServer(store, { environment })
  const load = new Load(server)
  await load.work(warmUpMs, 0)
  // Half of what it did when it was pressed: each client waits as long as it worked.
  const pauseMs = (warmUpMs * clients) / load.requests
  const samples: Sample[] = []
  const working = load.work(durationMs, pauseMs)
  const everyMs = Math.max(durationMs / 60, 200)
  for (let passedMs = 0; passedMs < durationMs; passedMs += everyMs) {
    await sleep(everyMs)
    samples.push(await sampleOf(server, store))
  }
  await working
  // Those that are under way when the server stops count for nothing.
  return { requests: load.requests, failures: [...load.failures], samples, growing: isFlat(samples) ? 0 : 1 }
}

class Load {
  readonly #server: RunningServer
  readonly #framing: FramingRunner
  readonly #random = new Random(Date.now())
  readonly #odd: Record<OddClient, number> = { unread: 0, pieces: 0, framing: 0 }
  requests = 0
  readonly failures: string[] = []

  constructor(server: RunningServer) {
    this.#server = server
    this.#framing = new FramingRunner(server)
  }

  /** Keeps all clients at work, each with a pause after every request. */
  async work(durationMs: number, pauseMs: number): Promise<void> {
    const endMs = performance.now() + durationMs
    const client = async (): Promise<void> => {
      while (performance.now() < endMs) {
        await this.#one()
        this.requests += 1
        if (pauseMs > 0) await sleep(2 * pauseMs * Math.random())
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
  }

  async #one(): Promise<void> {
    for (const [kind, share, atOnceMax] of oddClients) {
      if (!this.#random.chance(share) || this.#odd[kind] >= atOnceMax) continue
      this.#odd[kind] += 1
      void this.#behaveOddly(kind).finally(() => {
        this.#odd[kind] -= 1
      })
      return
    }
    const [method, target, body, token] = this.#random.chance(shareBad) ? this.#bad() : this.#good()
    const status = await this.#ask(method, target, body, token).catch(() => 0)
    if (status === 0 || status >= 500) this.failures.push(`${method} ${target}: ${status}`)
  }

  /** The server must end the connection by itself, or give each answer as designed. */
  async #behaveOddly(kind: OddClient): Promise<void> {
    const { port, token } = this.#server
    if (kind === 'unread') await this.#leaveUnread()
    else if (kind === 'framing') await this.#sendCase()
    else {
      const pieces = drawPieces(this.#random, token)
      if ((await timeToEnd(port, pieces, piecesEndMs)) >= piecesEndMs) this.failures.push(`no end after ${pieces}`)
    }
  }

  #good(): readonly [string, string, string | undefined, string] {
    const { token } = this.#server
    const id = BigInt(Math.floor(Math.random() * idsMax))
    const drawn = Math.random()
    if (drawn < 0.5) return ['POST', '/plants', plantJson(id, `plant ${id}`, `tag${id % 10n}`), token]
    if (drawn < 0.7) return ['GET', `/plants/${id}`, undefined, token]
    if (drawn < 0.8) return ['GET', `/plants?limit=100&after=${id}`, undefined, token]
    if (drawn < 0.85) return ['GET', `/plants?limit=20&name=plant%20${id % 100n}`, undefined, token]
    if (drawn < 0.92) return ['PUT', `/plants/${id}`, `{"name":"plant ${id} anew"}`, token]
    return ['DELETE', `/plants/${id}`, undefined, token]
  }

  #bad(): readonly [string, string, string | undefined, string] {
    const { token } = this.#server
    const kinds = [
      ['POST', '/plants', '{"id":', token],
      ['POST', '/plants', '{"id":"seven","name":"n"}', token],
      ['GET', '/plants/1', undefined, 'plt_wrong'],
      ['GET', `/nothing-${Math.random()}`, undefined, token],
    ] as const
    return kinds[Math.floor(Math.random() * kinds.length)] ?? kinds[0]
  }

  async #ask(method: string, target: string, body: string | undefined, token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${this.#server.url}${target}`, { method, headers, body: body ?? null })
    await response.arrayBuffer()
    return response.status
  }

  /** A case of the framing corpus, cut into packets at random; now and then its client leaves before it is done. */
  async #sendCase(): Promise<void> {
    const random = this.#random
    const drawn = random.pick(framingCases)
    const steps = drawn.steps.slice(0, random.below(drawn.steps.length + 1))
    const left = { ...drawn, name: `${drawn.name}, left`, steps: [...steps, reset], fate: 'left' } as const
    const sent = random.chance(1 / leavesOneIn) ? left : drawn
    const cut = (bytes: Buffer): readonly Buffer[] => (random.chance(0.5) ? cutUp(bytes, random) : [bytes])
    const wrong = await this.#framing.run(sent, random.chance(0.5), cut)
    if (wrong !== undefined) this.failures.push(`${sent.name}: ${wrong}`)
  }

  async #leaveUnread(): Promise<void> {
    const socket = connect(this.#server.port, '127.0.0.1').pause()
    socket.on('error', () => {})
    const document = encodeRequest('', { method: 'GET', target: '/openapi.json' })
    socket.write(Buffer.concat(Array.from({ length: 200 }, () => document)))
    await sleep(unreadEndMs, undefined, { ref: false })
    socket.destroy()
  }
}

async function sampleOf({ process: child }: RunningServer, store: string): Promise<Sample> {
  return {
    memoryBytes: await memoryOf(child.pid),
    descriptors: await descriptorsOf(child.pid),
    logBytes: (await stat(`${store}-wal`)).size,
  }
}

/** The middle of the second quarter, by when all has warmed up, beside that of the last. */
function quarters(samples: readonly Sample[], figure: keyof Sample): readonly [early: number, late: number] {
  const of = (part: readonly Sample[]): number =>
    part.map((sample) => sample[figure]).toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? Number.NaN
  const quarter = Math.floor(samples.length / 4)
  return [of(samples.slice(quarter, 2 * quarter)), of(samples.slice(-quarter))]
}

function isFlat(samples: readonly Sample[]): boolean {
  const [earlyMemory, lateMemory] = quarters(samples, 'memoryBytes')
  const [earlyDescriptors, lateDescriptors] = quarters(samples, 'descriptors')
  return (
    lateMemory < earlyMemory + Math.max(earlyMemory * grownMemoryMax, fillingBytes) &&
    lateDescriptors < earlyDescriptors + grownDescriptorsMax &&
    samples.every(({ logBytes }) => logBytes < logBytesMax)
  )
}

function describe(samples: readonly Sample[]): string {
  const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0)
  const memory = quarters(samples, 'memoryBytes').map(mebibytes)
  const log = Math.max(...samples.map(({ logBytes }) => logBytes))
  return `memory ${memory.join(', then ')} MiB, descriptors ${quarters(samples, 'descriptors').join(', then ')}, log at most ${mebibytes(log)} MiB`
}
