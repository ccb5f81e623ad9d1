// A client on bare sockets: sends exactly the given bytes, and checks every response against the served document.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorNumbers } from '../../src/domain/errors.ts'
import type { RowRequest } from '../../verify/message.ts'
import { plantJson } from '../../verify/plant.ts'
import { Conformance, type HttpResponse } from './conformance.ts'
import { until } from './time.ts'

export { type HttpResponse, plantJson, type RowRequest }

/** Whether a response leaves open what became of the request; every other refusal says that nothing was done. */
export function isInDoubt({ status, body }: HttpResponse): boolean {
  return status === 503 && JSON.parse(body).error === errorNumbers.storeUnavailable
}

/** How many responses came with each status. */
export function countStatuses(responses: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** The bytes of a request: by default a create with a token. */
export function encodeRequest(
  token: string,
  { method = 'POST', target = '/plants', headers, lines, body, chunkBytes }: RowRequest,
) {
  const fields: Record<string, string | undefined> = {
    Host: 'plants.example',
    Authorization: `Bearer ${token}`,
    ...(body !== undefined && {
      'Content-Type': 'application/json',
      ...(chunkBytes === undefined
        ? { 'Content-Length': String(Buffer.byteLength(body)) }
        : { 'Transfer-Encoding': 'chunked' }),
    }),
    ...headers,
  }
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`])),
    ...(lines ?? []),
  ]
  const bytes: Buffer = typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0))
  const framed = chunkBytes === undefined ? bytes : inChunks(bytes, chunkBytes)
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), framed])
}

function inChunks(bytes: Buffer, chunkBytes: number): Buffer {
  const starts = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) => index * chunkBytes)
  const chunks = starts.map((start) => {
    const chunk = bytes.subarray(start, start + chunkBytes)
    return Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')])
  })
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

const refusedPauseMs = 50
/** Long for a busy machine, but shorter than `unreadMsMax` and `keepAliveMsMax`, which end forgotten connections. */
const closedMsMax = 15_000

export class Client {
  readonly conformance: Conformance
  readonly #port: number
  readonly token: string

  static async connect(server: { readonly url: string; readonly port: number; readonly token: string }) {
    return new Client(server.port, server.token, await Conformance.fetch(server.url))
  }

  constructor(port: number, token: string, conformance: Conformance) {
    this.#port = port
    this.token = token
    this.conformance = conformance
  }

  /** Opens a connection; it is closed when its scope is left. */
  open(): Promise<Connection> {
    return Connection.open(this.#port, this.conformance, this.token)
  }

  /** Sends one request on a connection of its own. */
  async request(parts: RowRequest): Promise<HttpResponse> {
    await using connection = await this.open()
    // Without await the connection would be closed before its answer comes.
    return await connection.request(parts)
  }

  /** Creates a plant and gives the answer. */
  create(id: bigint | string, name: string, tag?: string, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.request({ body: plantJson(id, name, tag), headers })
  }
}

export class Connection implements AsyncDisposable {
  readonly #socket: Socket
  readonly #conformance: Conformance
  readonly #token: string
  #received = Buffer.alloc(0)
  #ended = false
  #error: Error | undefined
  #wake = Promise.withResolvers<void>()

  static async open(port: number, conformance: Conformance, token: string): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    const connection = new Connection(socket, conformance, token)
    await once(socket, 'connect')
    return connection
  }

  private constructor(socket: Socket, conformance: Conformance, token: string) {
    this.#socket = socket
    this.#conformance = conformance
    this.#token = token
    const wake = (): void => {
      this.#wake.resolve()
      this.#wake = Promise.withResolvers()
    }
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes])
      wake()
    })
    const end = (error?: Error): void => {
      this.#error ??= error
      this.#ended = true
      wake()
    }
    socket.on('end', end).on('error', end)
  }

  /** Sends a request and gives its answer, which the document must describe. */
  async request(parts: RowRequest): Promise<HttpResponse> {
    this.send(encodeRequest(this.#token, parts))
    return this.answerTo(parts.method ?? 'POST', parts.target ?? '/plants')
  }

  /** The same, but again while it is refused for the time being: with a 503 after which it may be repeated. */
  async requestUntilServed(parts: RowRequest): Promise<HttpResponse> {
    for (;;) {
      const response = await this.request(parts)
      if (response.status !== 503 || (isInDoubt(response) && parts.method !== 'GET')) return response
      await sleep(refusedPauseMs)
    }
  }

  send(bytes: Buffer | string): void {
    this.#socket.write(bytes)
  }

  /** Reads nothing more. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Ends the connection with a reset. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  /** No more bytes will be sent; answers can still come. */
  finish(): void {
    this.#socket.end()
  }

  /** The next answer, held to what the document says of a method at a target. */
  async answerTo(method: string, target: string): Promise<HttpResponse> {
    const response = await this.#readAnswer(method === 'HEAD')
    this.#conformance.check(method, target, response)
    return response
  }

  /** The next answer, to what never was a request of any operation. */
  answer(): Promise<HttpResponse> {
    return this.answerTo('', '')
  }

  async #readAnswer(isHead: boolean): Promise<HttpResponse> {
    for (;;) {
      const found = readAnswer(this.#received, isHead)
      if (found !== undefined) {
        const { length, ...answer } = found
        this.#received = this.#received.subarray(length)
        if (answer.status !== 100) return answer
      } else if (this.#ended) {
        const rest = JSON.stringify(this.#received.toString('latin1'))
        throw new Error(`the connection ended in the middle of an answer, with ${rest}`, { cause: this.#error })
      } else {
        await this.#wake.promise
      }
    }
  }

  /** Resolves once the server has closed the connection; fails when it sends anything more before, or is late. */
  async closed(): Promise<void> {
    await until('the server has closed the connection', () => this.#ended, closedMsMax)
    assert.equal(this.#received.toString('latin1'), '', 'bytes after the last answer')
    assert.equal(this.#error, undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy()
  }
}

/** The answer that some bytes begin with, and its length; undefined until all of it has come. */
export function readAnswer(bytes: Buffer, isHead: boolean): (HttpResponse & { readonly length: number }) | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  assert.equal(headers.size, lines.length, `a header field came twice: ${lines}`)
  const hasNoBody = isHead || status < 200 || status === 204 || status === 304
  const length = headEnd + 4 + (hasNoBody ? 0 : Number(headers.get('content-length') ?? 0))
  if (bytes.length < length) return undefined
  return { status, headers, body: bytes.toString('utf8', headEnd + 4, length), length }
}
