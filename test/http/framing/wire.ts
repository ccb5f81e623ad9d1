// A client on a bare socket that keeps every received byte, and parses the responses in them.

import { connect, type Socket } from 'node:net'

export interface WireAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export class Wire implements Disposable {
  readonly socket: Socket
  /** The places of the answers to HEAD, which have no body. */
  heads: readonly number[]
  /** Those that have come as a whole. */
  answers: WireAnswer[] = []
  hasEnded = false
  readonly #patienceMs: number
  #received = Buffer.alloc(0)
  #wake = Promise.withResolvers<void>()

  constructor(port: number, heads: readonly number[], patienceMs: number) {
    this.heads = heads
    this.#patienceMs = patienceMs
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    this.socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes])
      while (this.#takeAnswer());
      this.#awake()
    })
    const end = (): void => {
      this.hasEnded = true
      this.#awake()
    }
    // The server may reset a connection on which a client goes on sending; what has come by then is what counts.
    this.socket.on('error', end).on('end', end).on('close', end)
  }

  /** What came after the last whole answer. */
  get rest(): string {
    return this.#received.toString('latin1')
  }

  /** Waits until a condition holds; gives whether it does, before the connection ends and patience too. */
  async until(condition: () => boolean): Promise<boolean> {
    const deadlineMs = performance.now() + this.#patienceMs
    while (!condition()) {
      const leftMs = deadlineMs - performance.now()
      if (this.hasEnded || leftMs <= 0) return false
      const timer = setTimeout(() => this.#awake(), leftMs)
      await this.#wake.promise
      clearTimeout(timer)
    }
    return true
  }

  /** Waits until so many answers have come. */
  untilAnswers(count: number): Promise<boolean> {
    return this.until(() => this.answers.length >= count)
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #awake(): void {
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }

  #takeAnswer(): boolean {
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return false
    const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, headEnd).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    const headers = new Map(
      lines.map((line) => {
        const [name = '', value = ''] = line.split(/: *(.*)/)
        return [name.toLowerCase(), value]
      }),
    )
    const isBodiless = status < 200 || status === 204 || status === 304 || this.heads.includes(this.answers.length)
    const bodyEnd = headEnd + 4 + (isBodiless ? 0 : Number(headers.get('content-length') ?? 0))
    if (this.#received.length < bodyEnd) return false
    this.answers.push({ status, headers, body: this.#received.toString('utf8', headEnd + 4, bodyEnd) })
    this.#received = this.#received.subarray(bodyEnd)
    return true
  }
}
