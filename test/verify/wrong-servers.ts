// Starts servers that do one thing wrong, each in front of one that does everything right.

import { once } from 'node:events'
import { Agent, type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorNumbers } from '../../src/domain/errors.ts'
import { listen } from '../support/answering.ts'

export interface Received {
  readonly method: string
  readonly target: string
  /** Names and values in turn, as they came. */
  readonly fields: readonly string[]
  readonly body: Buffer
}

export interface Answered {
  readonly status: number
  readonly fields: readonly string[]
  readonly body: Buffer
  /** Sent behind the head of an answer that must have no body. */
  readonly surplus?: Buffer
}

/** What a server answers; `forward` asks the one that does everything right. */
export type Behaviour = (
  received: Received,
  forward: (received: Received) => Promise<Answered>,
) => Promise<Answered | 'reset'>

/** Longer than a stream takes to have what was changed before. */
const streamMs = 500
/** More than a right server takes, so that this one refuses nothing by itself. */
const headerBytesMax = 65_536

/** Many runs share connections to the right server; the kit has one for each request. */
const agent = new Agent({ keepAlive: true })

/** Requests that may change plants, and have no answer yet. */
const changes = new Set<ClientRequest>()

/** @param right where the other server is. */
export async function startWrong(right: { readonly port: number }, behave: Behaviour) {
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: target = '', rawHeaders: fields } = incoming
    const received = { method, target, fields, body: Buffer.concat(await incoming.toArray()) }
    const ask = (changed: Received): Promise<Answered> => forward(right.port, changed)
    // A message that a change cannot read stays as it is.
    const answered = await (async () => behave(received, ask))().catch(() => ask(received))
    if (answered === 'reset') {
      incoming.socket.resetAndDestroy()
      return
    }
    if (answered.surplus !== undefined) {
      const lines = answered.fields.map((each, at) => (at % 2 === 0 ? `${each}: ` : `${each}\r\n`))
      incoming.socket.write(`HTTP/1.1 ${answered.status} Surplus\r\n${lines.join('')}\r\n`)
      incoming.socket.end(answered.surplus)
      return
    }
    response.sendDate = false
    response.writeHead(answered.status, withLength(answered))
    response.end(answered.body)
  }
  const server = createServer({ maxHeaderSize: headerBytesMax }, serve)
  // Node.js would refuse any other expectation by itself.
  server.on('checkExpectation', serve)
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function forward(port: number, { method, target, fields, body }: Received): Promise<Answered> {
  const isChunked = fields.some((each, at) => at % 2 === 0 && /^transfer-encoding$/i.test(each))
  const sized = isChunked ? fields : replaceField(fields, 'content-length', String(body.length))
  const headers = replaceField(sized, 'connection', 'keep-alive')
  const asked = request({ port, host: '127.0.0.1', method, path: target, headers, agent })
  asked.end(body)
  if (method !== 'GET') changes.add(asked)
  const [answer] = (await once(asked, 'response').finally(() => changes.delete(asked))) as [IncomingMessage]
  const isStream = answer.headers['content-type'] === 'text/event-stream'
  const bytes = isStream ? await beginningOf(answer) : Buffer.concat(await answer.toArray())
  return { status: answer.statusCode ?? 0, fields: replaceField(answer.rawHeaders, 'connection', 'close'), body: bytes }
}

/** What comes of a stream in a while. */
async function beginningOf(stream: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  await sleep(streamMs)
  // On a busy machine, a change that is made while the stream is open comes later.
  const isEarly = (): boolean => changes.size > 0 || !Buffer.concat(pieces).includes('data:')
  for (let waits = 1; waits < 5 && isEarly(); waits += 1) await sleep(streamMs)
  stream.destroy()
  return Buffer.concat(pieces)
}

/** An answer whose body was changed says how long it is now. */
function withLength({ fields, body }: Answered): string[] {
  return body.length === 0 ? [...fields] : replaceField(fields, 'content-length', String(body.length))
}

/** Gives a field that is there another value. */
export function replaceField(fields: readonly string[], name: string, value: string): string[] {
  return fields.map((each, at) => (at % 2 === 1 && fields[at - 1]?.toLowerCase() === name ? value : each))
}

/** Takes a second create of an id for an update. */
export const overwrites: Behaviour = async (received, forward) => {
  const answered = await forward(received)
  const id = /"id":(-?\d+)/.exec(received.body.toString())?.[1]
  const isTaken = answered.status >= 400 && answered.body.includes(`{"error":${errorNumbers.idTaken},`)
  if (!isTaken || id === undefined) return answered
  const put = await forward({ ...received, method: 'PUT', target: `/plants/${id}` })
  return {
    ...put,
    fields: [...put.fields.map((each) => (/^etag$/i.test(each) ? 'X-Was' : each)), 'Location', `/plants/${id}`],
  }
}

/** Does what another behaviour does with some of the requests. */
export function only(isMeant: (received: Received) => boolean, behave: Behaviour): Behaviour {
  return (received, forward) => (isMeant(received) ? behave(received, forward) : forward(received))
}
