// A client of a stream of changes: its events in order, and whether it has ended.

import { until } from '../support/time.ts'

export class EventReader implements AsyncDisposable {
  /** Everything, as it came. */
  text = ''
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

  get #blocks(): readonly string[] {
    return this.text.split('\n\n').slice(0, -1)
  }

  get events(): readonly { readonly data: string }[] {
    return this.#blocks.flatMap((block) => [...block.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => ({ data })))
  }

  /** The last position, be it that of a block without an event; empty before the first. */
  get lastId(): string {
    return /^id: (.*)$/m.exec(this.#blocks.findLast((block) => block.includes('id: ')) ?? '')?.[1] ?? ''
  }

  get comments(): number {
    return this.#blocks.filter((block) => block.startsWith(':')).length
  }

  /** Resolves once there are that many events. */
  async untilCount(count: number): Promise<this> {
    await until(`${count} events`, () => this.events.length >= count)
    return this
  }

  async untilEnded(): Promise<void> {
    await until('the end of the stream', () => this.hasEnded)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#reading
  }

  async #read(response: Response): Promise<void> {
    try {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) this.text += piece
    } catch (cause) {
      this.failure = cause
    }
    this.hasEnded = true
  }
}
