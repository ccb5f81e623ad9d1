// The test thread's view of the server thread, which all its servers share.

import { Worker } from 'node:worker_threads'
import type { CallMessage, Calls, Reply } from './calls.ts'

const file = new URL(import.meta.url.endsWith('.ts') ? 'host-thread.ts' : 'host-thread.js', import.meta.url)

export class Host {
  readonly #worker: Worker
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #asked = 0
  #failure: Error | undefined

  constructor() {
    // The thread does not inherit the flags of the test process, such as its runner's.
    this.#worker = new Worker(file, { execArgv: [] })
    this.#worker.on('message', ({ number, ...told }: Reply) => {
      const waiting = this.#waiting.get(number)
      this.#waiting.delete(number)
      if (this.#waiting.size === 0) this.#worker.unref()
      if (told.failure === undefined) waiting?.resolve(told.answer)
      else waiting?.reject(new Error(told.failure))
    })
    this.#worker.on('error', (error) => {
      this.#failure = error instanceof Error ? error : new Error(String(error))
      for (const { reject } of this.#waiting.values()) reject(this.#failure)
    })
    // Lets a test exit that forgot to stop its server.
    this.#worker.unref()
  }

  async ask<Name extends keyof Calls>(
    server: number,
    name: Name,
    asked: Calls[Name]['asked'],
  ): Promise<Calls[Name]['answer']> {
    if (this.#failure !== undefined) throw this.#failure
    const number = ++this.#asked
    // Throws for values that cannot be cloned, such as a function.
    this.#worker.postMessage({ number, server, name, asked } satisfies CallMessage<Name>)
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(number, waiting)
    this.#worker.ref()
    return waiting.promise as Promise<Calls[Name]['answer']>
  }

  /** Ends the thread after its last server stopped. */
  end(): void {
    this.#failure ??= new Error('this plant store was stopped')
    void this.#worker.terminate()
  }
}
