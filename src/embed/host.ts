// The test thread's view of the server thread, which all its servers share.

import { Worker } from 'node:worker_threads'
import type { NewPlant } from '../client/client.ts'
import type { Scope } from '../domain/caller.ts'
import type { Fault } from './fault.ts'

/** The calls to the thread: what is asked, and what is answered. */
export interface Calls {
  start: (asked: Asked) => Started
  makeToken: (scopes: readonly Scope[]) => string
  fail: (fault: Fault) => void
  reset: (asked: undefined) => void
  stop: (asked: undefined) => void
}

export interface Asked {
  readonly file: string
  readonly document: string | undefined
  readonly plants: readonly NewPlant[]
}

export interface Started {
  readonly url: string
  readonly token: string
}

export interface CallMessage {
  readonly number: number
  /** The number of the server, chosen by `start`. */
  readonly server: number
  readonly name: keyof Calls
  readonly asked: unknown
}

/** An answer, or the message of an error. */
export interface Reply {
  readonly number: number
  readonly answer?: unknown
  readonly failure?: string
}

const file = new URL(import.meta.url.endsWith('.ts') ? 'host-thread.ts' : 'host-thread.js', import.meta.url)

export class Host {
  readonly #worker: Worker
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #asked = 0
  #failure: Error | undefined

  constructor() {
    // The thread does not inherit the flags of the test process, such as its runner's.
    this.#worker = new Worker(file, { execArgv: [] })
    this.#worker.on('message', ({ number, answer, failure }: Reply) => {
      const waiting = this.#waiting.get(number)
      this.#waiting.delete(number)
      if (this.#waiting.size === 0) this.#worker.unref()
      if (failure === undefined) waiting?.resolve(answer)
      else waiting?.reject(new Error(failure))
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
    asked: Parameters<Calls[Name]>[0],
  ): Promise<ReturnType<Calls[Name]>> {
    if (this.#failure !== undefined) throw this.#failure
    const number = ++this.#asked
    // Throws for values that cannot be cloned, such as a function.
    this.#worker.postMessage({ number, server, name, asked } satisfies CallMessage)
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(number, waiting)
    this.#worker.ref()
    return waiting.promise as Promise<ReturnType<Calls[Name]>>
  }

  /** Ends the thread after its last server stopped. */
  end(): void {
    this.#failure ??= new Error('this plant store was stopped')
    void this.#worker.terminate()
  }
}
