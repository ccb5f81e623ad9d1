// A client of a stream of changes: its events in order, and whether it has ended.

import { until } from '../support/time.ts'

export interface StreamedEvent {
  /** The last position that the stream has told. */
  readonly id: string
  readonly event: string
  readonly data: string
}

export class EventReader implements AsyncDisposable {
  readonly events: StreamedEvent[] = []
  /** Includes positions of blocks without an event. */
  lastId = ''
  comments = 0
  hasEnded = false
  failure: unknown
  readonly status: number
  readonly headers: Headers
  readonly #stopping: AbortController
  readonly #reading: Promise<void>

  static async open(url: string, token: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const stopping = new AbortController()
    const response = await fetch(url, {
      headers: { Accept: 'text/event-stream', Authorization: `Bearer ${token}`, ...headers },
      signal: stopping.signal,
    })
    return new EventReader(response, stopping)
  }

  private constructor(response: Response, stopping: AbortController) {
    this.status = response.status
    this.headers = response.headers
    this.#stopping = stopping
    this.#reading = this.#read(response)
  }

  /** Resolves with the events once there are that many. */
  async untilCount(count: number): Promise<readonly StreamedEvent[]> {
    await until(`${count} events`, () => this.events.length >= count)
    return this.events
  }

  async untilEnded(): Promise<void> {
    await until('the end of the stream', () => this.hasEnded)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#reading
  }

  async #read(response: Response): Promise<void> {
    let rest = ''
    try {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const blocks = `${rest}${piece}`.split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) this.#take(block)
      }
    } catch (cause) {
      this.failure = cause
    }
    this.hasEnded = true
  }

  #take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]))
    if (fields.has('')) this.comments += 1
    this.lastId = fields.get('id') ?? this.lastId
    const data = fields.get('data')
    if (data !== undefined) this.events.push({ id: this.lastId, event: fields.get('event') ?? '', data })
  }
}
