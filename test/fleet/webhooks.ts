// Webhooks while servers are killed and frozen, with a receiver that fails often.

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Webhook as Verifier } from 'standardwebhooks'
import { type Received, type Receiver, startReceiver } from '../support/answering.ts'
import { type RunningServer, runHere, type ServerOptions, startServer } from '../support/program.ts'
import { until } from '../support/time.ts'
import { Changers, countWrong, type Fleet, note, type Told } from './changers.ts'

/** How long nothing comes once a sender is frozen. Shorter than a lease. */
const quietMs = 700
const limits = {
  webhookPollMs: 20,
  webhookRefreshMs: 100,
  webhookSaveMs: 200,
  webhookLeaseMs: 2_000,
  webhookLeaseMarginMs: 500,
  webhookAnswerMsMax: 100,
  webhookRetryMs: 1,
}
const usualClients = 8
const killMsMax = 400
const failureRate = 0.3
/** Changes that a server has read and not sent when it is frozen. */
const changesBehind = 200
const forgetful = fileURLToPath(new URL('forgetful-sender.ts', import.meta.url))
const named = fileURLToPath(new URL('named-sender.ts', import.meta.url))
/** Where `named-sender.ts` puts the process id. */
const pidField = 'x-test-pid'

/** What a receiver has handled. It verifies each signature, and knows changes by their ids. */
class Handled {
  readonly ids = new Set<string>()
  /** How often changes came that it had handled. */
  repeated = 0
  readonly histories = new Map<bigint, Told[]>()
  readonly #verifier: Verifier

  constructor(secret: string) {
    this.#verifier = new Verifier(secret)
  }

  handle({ id, headers, body }: Received): void {
    this.#verifier.verify(body, headers as Record<string, string>)
    if (this.ids.has(id)) {
      this.repeated += 1
      return
    }
    this.ids.add(id)
    const [, plant = '', name = ''] = /^\{"id":(\d+),"name":"([^"]*)"/.exec(body) ?? []
    note(this.histories, BigInt(plant), `${id.split('_')[0]} ${name}`)
  }
}

/**
 * Kills servers while clients change plants. The receiver fails three times in ten, or answers too late; and it is away
 * for a while.
 *
 * @param isForgetful the control: servers that store what they have read, but not what was not accepted yet.
 */
export async function killSenders(
  store: string,
  servers: number,
  kills: number,
  {
    awayMs,
    clients = usualClients,
    isForgetful = false,
  }: { readonly awayMs: number; readonly clients?: number; readonly isForgetful?: boolean },
) {
  const options: ServerOptions = { limits, ...(isForgetful && { before: ['--import', forgetful] }) }
  let isAway = false
  let handled: Handled | undefined
  await using receiver = await startReceiver((received, response) => {
    const draw = Math.random() / failureRate
    if (isAway) return void response.socket?.destroy()
    if (draw < 0.4) return void response.writeHead(500).end()
    handled?.handle(received)
    if (draw < 0.7) return void response.writeHead(503).end()
    if (draw < 1) return
    response.writeHead(200).end()
  })
  await using stack = new AsyncDisposableStack()
  const start = async (): Promise<RunningServer> => stack.use(await startServer(store, options))
  const fleet: RunningServer[] = []
  for (let count = 0; count < servers; count += 1) fleet.push(await start())
  const token = fleet.map((server) => server.token).join('')
  handled = await addWebhook(store, receiver)
  const seen = handled
  const changers = new Changers((): Fleet => ({ urls: fleet.map(({ url }) => url), token }), clients)
  for (let kill = 0; kill < kills; kill += 1) {
    if (isForgetful) {
      // The control has read and stored some of these by then, and sent none.
      isAway = true
      const behind = changers.done + changesBehind
      await until('changes wait', () => changers.done >= behind)
      await sleep(2 * killMsMax)
    } else {
      await sleep(Math.random() * killMsMax)
    }
    await fleet[kill % servers]?.stop('SIGKILL')
    if (isForgetful) isAway = false
    fleet[kill % servers] = await start()
    if (kill === Math.floor(kills / 2)) {
      isAway = true
      await sleep(awayMs)
      isAway = false
    }
  }
  await changers.end()
  if (isForgetful) await untilNothingComes(seen)
  else await untilHandled(seen, changers.done)
  // Requests that were not the first for their change; plants whose changes did not come, or in another order.
  return { changes: changers.done, repeated: seen.repeated, wrong: countWrong(changers.histories, seen.histories) }
}

/** Freezes the server that sends, and wakes it up again. With `isBlind` none notices that another has taken over. */
export async function freezeSender(store: string, freezes: number, isBlind: boolean) {
  // Long enough that a busy machine loses no lease by itself.
  const leases = { webhookLeaseMs: 5_000, webhookLeaseMarginMs: 1_500 }
  const options: ServerOptions = {
    limits: { ...limits, ...leases },
    args: ['--log', 'all'],
    before: ['--import', named],
  }
  // It looks for webhooks when it starts, and at no lease.
  const blind = { ...limits, ...leases, webhookRefreshMs: 1_000_000, webhookLeaseMarginMs: -600_000 }
  /** By plant, the place of the newest change that was handled since a server was frozen. */
  let places = new Map<string, bigint>()
  let [late, handled] = [0, undefined as Handled | undefined]
  let receivedMs = performance.now()
  let isAway = false
  /** The process id of the server that was frozen last. */
  let woken: number | undefined
  await using receiver = await startReceiver((received, response) => {
    receivedMs = performance.now()
    const plant = /^\{"id":(\d+)/.exec(received.body)?.[1] ?? ''
    const place = BigInt(/_(\d+)-/.exec(received.id)?.[1] ?? 0)
    // The server that takes over may repeat changes, but goes back no further once one of a plant is handled.
    // Another server may rightly go back: to what was stored when it took over.
    const isBehind = place < (places.get(plant) ?? 0n)
    if (isBehind && Number(received.headers[pidField]) === woken) late += 1
    if (isAway) return
    if (Math.random() < failureRate) return void response.writeHead(500).end()
    handled?.handle(received)
    if (place > (places.get(plant) ?? 0n)) places.set(plant, place)
    response.writeHead(200).end()
  })
  await using stack = new AsyncDisposableStack()
  // Clients use a server that is never frozen. It looks for webhooks once, before there is one.
  const first = stack.use(await startServer(store, { limits: { webhookRefreshMs: 1_000_000 } }))
  handled = await addWebhook(store, receiver)
  const fleet: RunningServer[] = []
  for (const own of [isBlind ? { ...options, limits: blind } : options, options])
    fleet.push(stack.use(await startServer(store, own)))
  const seen = handled
  const changers = new Changers((): Fleet => ({ urls: [first.url], token: first.token }), usualClients)
  for (let freeze = 0; freeze < freezes; freeze += 1) {
    const before = seen.ids.size
    await until('changes are sent', () => seen.ids.size > before + 50)
    const sender = await senderOf(fleet)
    // So that it has something to send when it wakes up.
    isAway = true
    const behind = changers.done + changesBehind
    await until('changes wait', () => changers.done >= behind)
    sender.process.kill('SIGSTOP')
    // What it has sent before has come by then, however slow this machine is. The next server waits for the lease.
    await until('nothing comes any more', () => performance.now() - receivedMs > quietMs)
    places = new Map()
    isAway = false
    const frozen = seen.ids.size
    await until('the other server sends', () => seen.ids.size > frozen + 100)
    woken = sender.process.pid
    sender.process.kill('SIGCONT')
    await sleep(500)
  }
  await changers.end()
  await untilHandled(seen, changers.done)
  // Late: requests for a change of a plant after a later change of it was handled.
  return { changes: changers.done, late, wrong: countWrong(changers.histories, seen.histories) }
}

/** Waits as long as more changes are handled. */
async function untilHandled({ ids }: Handled, changes: number): Promise<void> {
  while (ids.size < changes) {
    const before = ids.size
    await until('a change is handled', () => ids.size > before)
  }
}

/** Waits for what comes at all: the control never gets everything. */
async function untilNothingComes({ ids }: Handled): Promise<void> {
  for (let before = -1; ids.size > before; await sleep(5_000)) before = ids.size
}

async function addWebhook(store: string, { url }: Pick<Receiver, 'url'>): Promise<Handled> {
  const added = await runHere(['webhook', 'add', url, '--store', store])
  const [id = ''] = /hook_\w+/.exec(added.stderr) ?? []
  await runHere(['webhook', 'send', id, '--after', 'oldest', '--store', store])
  return new Handled(added.stdout.trim())
}

/** The server whose log says that it sends. */
async function senderOf(fleet: readonly RunningServer[]): Promise<RunningServer> {
  const sentBy = ({ output }: RunningServer): number => output.stdout.lastIndexOf('"webhookSent"')
  const before = fleet.map(sentBy)
  let sender: RunningServer | undefined
  await until('a server sends', () => {
    sender = fleet.find((server, index) => sentBy(server) > (before[index] ?? 0))
    return sender !== undefined
  })
  return sender as RunningServer
}
