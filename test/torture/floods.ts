// Clients that pipeline requests endlessly and read no response, with and without tokens, beside a well-behaved client.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, encodeRequest } from '../support/client.ts'
import { makeFolder } from '../support/folder.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { importPlants, openTestStore } from '../support/store.ts'
import { descriptorsOf, memoryOf } from './process-figures.ts'
import type { Run, Torture, Verdict } from './torture.ts'

export const floods: Torture = { name: 'floods', counts: 'CONNECTIONS', usualCount: 500, shortCount: 60, run }

const unread = fileURLToPath(new URL('unread.py', import.meta.url))
/** What Node.js reads at once. */
const packetBytes = 64 * 1024
const lookMs = 100
const answerMsMax = 1_000
/** Short runs share the machine with all tests, which may take it for a second. */
const answerMsShort = 5_000
const memoryBytesMax = 400 * 1024 * 1024
const goneMsMax = 90_000
const pagePlants = 1_000
/** Of the client that does nothing wrong. */
const honestConnectionsMax = 3
const plainMsMax = 20_000
const plainMsShort = 3_000
const impatientLimits = { keepAliveMsMax: 3_000, unreadMsMax: 3_000 }
const plainServer = `import { createServer } from 'node:http'
const server = createServer((request, response) => response.end('answer '.repeat(600)))
server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

async function run({ count, say }: Run): Promise<Verdict> {
  const isShort = count < floods.usualCount
  await using folder = await makeFolder()
  const store = folder.file('plants.db')
  await fill(store)
  // A few connections are served in a moment, and then only waited for.
  await using server = await startServer(store, isShort ? { limits: impatientLimits } : {})
  const page = encodeRequest(server.token, { method: 'GET', target: `/plants?limit=${pagePlants}` })
  // The thread that makes large pages has descriptors of its own. It makes the second one, whose size is known.
  const client = await Client.connect(server)
  for (let pages = 0; pages < 2; pages += 1)
    await client.request({ method: 'GET', target: `/plants?limit=${pagePlants}` })
  const attacks = [
    ['without a token', count, encodeRequest('', { method: 'GET', target: '/livez' })],
    ['that do not read pages', Math.ceil(count * 0.6), page],
  ] as const
  let isGood = true
  for (const [what, connections, request] of attacks) {
    const seen = await watch(server, connections, request)
    say(
      `  ${connections} connections ${what}: gone after ${(seen.goneMs / 1_000).toFixed(0)} s, ` +
        `livez took ${seen.slowestMs.toFixed(0)} ms at most, memory was ${toMiB(seen.memoryBytes)} MiB at most`,
    )
    isGood &&= seen.goneMs < goneMsMax && seen.slowestMs < (isShort ? answerMsShort : answerMsMax)
    isGood &&= seen.memoryBytes < memoryBytesMax
  }
  const plain = await floodPlainServer(count)
  say(`  control, a plain server of Node.js: ${toMiB(plain.memoryBytes)} MiB, ${plain.slowestMs.toFixed(0)} ms`)
  const isControlBad = plain.memoryBytes > memoryBytesMax || plain.slowestMs > answerMsMax
  // A few connections do a plain server no harm.
  return isGood && (isControlBad || isShort) ? 'good' : 'bad'
}

/** Plants as large as they may be, so that a page of them is. */
async function fill(path: string): Promise<void> {
  await using store = await openTestStore(path)
  const name = '\u{1f33f}'.repeat(512)
  const plants = Array.from({ length: pagePlants }, (_, id) => ({ id: BigInt(id), name, tag: name.slice(512) }))
  await importPlants(store, plants)
}

/** Gives the milliseconds after which the server had none of the connections any more. */
async function flood(server: RunningServer, connections: number, request: Buffer): Promise<number> {
  const before = await descriptorsOf(server.process.pid)
  const startedMs = performance.now()
  const clients = startClients(server.port, connections, request)
  const descriptors = (): Promise<number> => descriptorsOf(server.process.pid)
  while ((await descriptors()) < before + connections / 2) await sleep(lookMs)
  while ((await descriptors()) > before + honestConnectionsMax && performance.now() - startedMs < goneMsMax) {
    await sleep(lookMs)
  }
  clients.kill()
  return performance.now() - startedMs
}

function startClients(port: number, connections: number, request: Buffer): ChildProcess {
  const seconds = String(goneMsMax / 1_000)
  const args = [unread, String(port), String(connections), seconds]
  const clients = spawn('python3', args, { stdio: ['pipe', 'ignore', 'inherit'] })
  clients.stdin.on('error', () => {})
  clients.stdin.end(Buffer.concat(Array.from({ length: Math.floor(packetBytes / request.length) }, () => request)))
  return clients
}

interface Seen {
  readonly slowestMs: number
  readonly memoryBytes: number
}

/** Looks again and again how a server answers a client that does nothing wrong, until that is enough. */
async function look(pid: number | undefined, ask: () => Promise<unknown>, isEnough: (seen: Seen) => boolean) {
  let seen: Seen = { slowestMs: 0, memoryBytes: 0 }
  do {
    const [slowestMs, memoryBytes] = [await timeOf(ask), await memoryOf(pid)]
    seen = { slowestMs: Math.max(seen.slowestMs, slowestMs), memoryBytes: Math.max(seen.memoryBytes, memoryBytes) }
    await sleep(lookMs)
  } while (!isEnough(seen))
  return seen
}

/** Floods a server, and looks beside it. */
async function watch(server: RunningServer, connections: number, request: Buffer): Promise<Seen & { goneMs: number }> {
  const client = await Client.connect(server)
  let goneMs: number | undefined
  const flooding = flood(server, connections, request).then((ms) => {
    goneMs = ms
    return ms
  })
  const ask = () => client.request({ method: 'GET', target: '/livez' })
  return { ...(await look(server.process.pid, ask, () => goneMs !== undefined)), goneMs: await flooding }
}

async function floodPlainServer(connections: number): Promise<Seen> {
  const args = ['--input-type=module', '-e', plainServer]
  const plain = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [port] = await once(plain.stdout.setEncoding('utf8'), 'data')
    const clients = startClients(Number(port), connections, encodeRequest('', { method: 'GET', target: '/livez' }))
    const deadlineMs = performance.now() + (connections < floods.usualCount ? plainMsShort : plainMsMax)
    const isEnough = ({ memoryBytes, slowestMs }: Seen): boolean =>
      performance.now() >= deadlineMs || memoryBytes >= memoryBytesMax || slowestMs >= answerMsMax
    const seen = await look(plain.pid, () => fetch(`http://127.0.0.1:${Number(port)}/livez`), isEnough)
    clients.kill()
    return seen
  } finally {
    plain.kill('SIGKILL')
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

function toMiB(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0)
}
